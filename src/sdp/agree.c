/* SPDX-License-Identifier: MIT */
/*
 * An offer against what was agreed before (RFC 3264 6 and 8, RFC 8829 5.3, RFC 8843 7.3).
 *
 * A section is one of: new (an index that was not there before), live (agreed before and not
 * rejected), or ended (rejected before), and an offer may go on with it, end it (port 0), or give
 * an ended one to new media (reuse). What holds for a live one (mid, kind, payload types, extension
 * ids, SSRC, stream) is kept or the whole offer is refused: half of it would misroute media.
 *
 * One transport carries everything: of the acceptable sections those in the BUNDLE group are taken,
 * and without a group the first. Transport attributes come from the tagged section, the first
 * accepted one in the group's order (RFC 8843 7.3.1); as later offers may give them once only, from
 * another accepted one where it has none.
 *
 * The result is built in fresh memory and handed over whole, so that a failure changes nothing.
 */
#include <leat/sdp.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "codecs.h"
#include "text.h"

struct agreement {
    struct leat_sdp_session *after;
    const struct leat_sdp_session *before;
    const struct leat_sdp_desc *offer;
    const struct leat_sdp_policy *policy;
    const char **reason;
    char *why;
};

__attribute__((format(printf, 3, 4))) static int refuse(struct agreement *a, const char *reason,
                                                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(a->why, LEAT_SDP_WHY_MAX, format, arguments);
    va_end(arguments);
    *a->reason = reason;
    return LEAT_E_INVALID;
}

/** What was agreed at that index, NULL when it is new or had ended. */
static const struct leat_sdp_agreed *live_before(const struct agreement *a, size_t i)
{
    const struct leat_sdp_session *b = a->before;
    return b->is_agreed && i < b->section_count && !b->sections[i].is_rejected ? &b->sections[i]
                                                                               : NULL;
}

static int check_mids(struct agreement *a)
{
    const struct leat_sdp_desc *o = a->offer;
    for (size_t i = 0; i < o->section_count; i++) {
        for (size_t k = 0; k < i && o->sections[i].mid[0] != '\0'; k++) {
            if (strcmp(o->sections[i].mid, o->sections[k].mid) == 0) {
                return refuse(a, "duplicate_mid", "sections %zu and %zu both have mid %s", k, i,
                              o->sections[i].mid);
            }
        }
    }
    return 0;
}

/** Ids keep their meaning: no other id for the extension, no other extension for the id. */
static int check_ext_ids(struct agreement *a, size_t i, const struct leat_exts *ids)
{
    const struct leat_sdp_section *s = &a->offer->sections[i];
    for (int name = LEAT_EXT_NONE + 1; name < LEAT_EXT_COUNT; name++) {
        for (size_t k = 0; k < s->ext_count && ids->ids[name] != 0; k++) {
            bool is_same_id = s->exts[k].id == ids->ids[name];
            bool is_same_name = s->exts[k].name == (enum leat_ext_name)name;
            if (is_same_id != is_same_name) {
                return refuse(a, "extension_id_changed",
                              "section %zu (mid %s): extension id %u had another meaning", i,
                              s->mid, (unsigned)s->exts[k].id);
            }
        }
    }
    return 0;
}

static int check_section(struct agreement *a, size_t i)
{
    const struct leat_sdp_agreed *was = live_before(a, i);
    const struct leat_sdp_section *s = &a->offer->sections[i];
    uint8_t pt;
    if (was == NULL || s->is_rejected) {
        return 0;
    }
    if (strcmp(was->mid, s->mid) != 0) {
        return refuse(a, "mid_changed", "section %zu had mid %s, now %s", i, was->mid, s->mid);
    }
    if (was->kind != s->kind) {
        return refuse(a, "kind_changed", "section %zu (mid %s) was %s, now %s", i, s->mid,
                      leat_kind_text(was->kind), leat_kind_text(s->kind));
    }
    if (leat__sdp_codecs_changed(&was->common, s, &pt)) {
        return refuse(a, "payload_type_changed",
                      "section %zu (mid %s): payload type %u had another meaning", i, s->mid,
                      (unsigned)pt);
    }
    return check_ext_ids(a, i, &was->common.exts);
}

static int check_continuity(struct agreement *a)
{
    const struct leat_sdp_desc *o = a->offer;
    if (o->is_ice_lite) {
        return refuse(a, "ice_lite_remote", "both sides are ICE-lite: none would check");
    }
    if (a->before->is_agreed && o->section_count < a->before->section_count) {
        return refuse(a, "sections_removed", "%zu sections were agreed, %zu are offered",
                      a->before->section_count, o->section_count);
    }
    int status = check_mids(a);
    for (size_t i = 0; status == 0 && i < o->section_count; i++) {
        status = check_section(a, i);
    }
    return status;
}

/** The profiles that RFC 8829 5.1.2 wants accepted: all of them mean DTLS-SRTP over the transport.
 */
static bool is_rtp_profile(const char *protocol)
{
    static const char *const profiles[] = {
        "UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVP", "TCP/DTLS/RTP/SAVPF", "TCP/DTLS/RTP/SAVP",
        "RTP/SAVPF",         "RTP/SAVP",         "RTP/AVPF",           "RTP/AVP",
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(profiles); i++) {
        if (strcmp(protocol, profiles[i]) == 0) {
            return true;
        }
    }
    return false;
}

/** Why a section cannot be taken on its own account; "" when it can. */
static const char *fault_of(const struct leat_sdp_section *s, const struct leat_media_desc *common)
{
    if (s->is_rejected) {
        return "rejected_by_offer";
    }
    if ((s->kind != LEAT_KIND_AUDIO && s->kind != LEAT_KIND_VIDEO) ||
        !is_rtp_profile(s->protocol)) {
        return "unsupported";
    }
    if (s->mid[0] == '\0') {
        return "no_mid";
    }
    if (!s->has_rtcp_mux) {
        return "no_rtcp_mux";
    }
    return common->codec_count == 0 ? "no_common_codec" : "";
}

static void reject(struct leat_sdp_agreed *g, const char *why)
{
    g->is_rejected = true;
    (void)leat_text_copy(g->why_rejected, sizeof(g->why_rejected), leat_span_str(why));
}

static void judge_section(struct agreement *a, size_t i)
{
    const struct leat_sdp_section *s = &a->offer->sections[i];
    struct leat_sdp_agreed *g = &a->after->sections[i];
    memcpy(g->mid, s->mid, sizeof(g->mid));
    memcpy(g->media, s->media, sizeof(g->media));
    memcpy(g->protocol, s->protocol, sizeof(g->protocol));
    memcpy(g->first_format, s->first_format, sizeof(g->first_format));
    memcpy(g->common.mid, s->mid, sizeof(g->common.mid));
    g->kind = g->common.kind = s->kind;
    leat__sdp_codecs_choose(s, a->policy, &g->common);
    const char *fault = fault_of(s, &g->common);
    if (fault[0] != '\0') {
        reject(g, fault);
    }
}

/** Without a group: the section that carried before, else the first that has a transport. */
static size_t find_single(const struct agreement *a)
{
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < a->after->section_count; i++) {
        if (a->after->sections[i].is_rejected || a->offer->sections[i].is_bundle_only) {
            continue;
        }
        if (live_before(a, i) != NULL) {
            return i;
        }
        first = first == SIZE_MAX ? i : first;
    }
    return first;
}

static size_t find_tagged(const struct agreement *a)
{
    size_t tagged = SIZE_MAX;
    for (size_t i = 0; i < a->after->section_count; i++) {
        const struct leat_sdp_section *s = &a->offer->sections[i];
        if (!a->after->sections[i].is_rejected && s->is_bundled &&
            (tagged == SIZE_MAX || s->bundle_rank < a->offer->sections[tagged].bundle_rank)) {
            tagged = i;
        }
    }
    return tagged;
}

static int choose_sections(struct agreement *a)
{
    struct leat_sdp_session *after = a->after;
    for (size_t i = 0; i < after->section_count; i++) {
        judge_section(a, i);
    }
    size_t tagged = find_tagged(a);
    after->has_bundle = tagged != SIZE_MAX;
    if (!after->has_bundle) {
        tagged = find_single(a);
    }
    for (size_t i = 0; i < after->section_count; i++) {
        bool is_in = after->has_bundle ? a->offer->sections[i].is_bundled : i == tagged;
        if (!after->sections[i].is_rejected && !is_in) {
            reject(&after->sections[i], "not_bundled");
        }
    }
    if (tagged == SIZE_MAX) {
        return refuse(a, "no_media", "none of %zu sections can be accepted%s%s",
                      after->section_count, after->section_count != 0 ? ", the first: " : "",
                      after->section_count != 0 ? after->sections[0].why_rejected : "");
    }
    after->tagged_index = tagged;
    return 0;
}

static bool has_ice(const struct leat_sdp_section *s)
{
    return s->ufrag[0] != '\0' && s->pwd[0] != '\0';
}

static bool has_fingerprint(const struct leat_sdp_section *s)
{
    return s->has_fingerprint;
}

static bool has_setup(const struct leat_sdp_section *s)
{
    return s->setup != LEAT_SETUP_NONE;
}

/** The tagged section, or another accepted one that has what is wanted, or NULL. */
static const struct leat_sdp_section *find_with(const struct agreement *a,
                                                bool (*has)(const struct leat_sdp_section *))
{
    const struct leat_sdp_section *tagged = &a->offer->sections[a->after->tagged_index];
    if (has(tagged)) {
        return tagged;
    }
    for (size_t i = 0; i < a->after->section_count; i++) {
        if (!a->after->sections[i].is_rejected && has(&a->offer->sections[i])) {
            return &a->offer->sections[i];
        }
    }
    return NULL;
}

static int agree_ice(struct agreement *a)
{
    struct leat_sdp_session *after = a->after;
    const struct leat_sdp_session *before = a->before;
    const struct leat_sdp_section *s = find_with(a, has_ice);
    if (s == NULL) {
        return refuse(a, "no_ice", "no accepted section has ice-ufrag and ice-pwd");
    }
    memcpy(after->remote_ufrag, s->ufrag, sizeof(after->remote_ufrag));
    memcpy(after->remote_pwd, s->pwd, sizeof(after->remote_pwd));
    after->is_ice_restart = before->is_agreed && (strcmp(before->remote_ufrag, s->ufrag) != 0 ||
                                                  strcmp(before->remote_pwd, s->pwd) != 0);
    return 0;
}

/** The role of a running association is answered whatever the offer says (RFC 8842 5.5). */
static int agree_dtls(struct agreement *a)
{
    struct leat_sdp_session *after = a->after;
    const struct leat_sdp_section *s = find_with(a, has_fingerprint);
    if (s == NULL) {
        return refuse(a, "no_fingerprint", "no accepted section has a sha-256 fingerprint");
    }
    memcpy(after->fingerprint, s->fingerprint, sizeof(after->fingerprint));
    if (a->before->is_agreed) {
        if (memcmp(a->before->fingerprint, s->fingerprint, sizeof(s->fingerprint)) != 0) {
            return refuse(a, "new_association", "the certificate fingerprint changed");
        }
        after->setup = a->before->setup;
        return 0;
    }
    s = find_with(a, has_setup);
    if (s == NULL) {
        return refuse(a, "no_setup", "no accepted section says setup");
    }
    bool is_active = s->setup == LEAT_SETUP_PASSIVE ||
                     (s->setup == LEAT_SETUP_ACTPASS && a->policy->setup == LEAT_SETUP_ACTIVE);
    after->setup = is_active ? LEAT_SETUP_ACTIVE : LEAT_SETUP_PASSIVE;
    return 0;
}

static enum leat_direction reversed(enum leat_direction d)
{
    switch (d) {
    case LEAT_DIR_SENDONLY:
        return LEAT_DIR_RECVONLY;
    case LEAT_DIR_RECVONLY:
        return LEAT_DIR_SENDONLY;
    case LEAT_DIR_INACTIVE:
    case LEAT_DIR_SENDRECV:
        break;
    }
    return d;
}

static void agree_exts(struct leat_sdp_agreed *g, const struct leat_sdp_section *s)
{
    for (size_t i = 0; i < s->ext_count; i++) {
        enum leat_ext_name name = s->exts[i].name;
        bool is_wanted = name != LEAT_EXT_NONE && s->exts[i].direction != LEAT_DIR_INACTIVE &&
                         (name != LEAT_EXT_AUDIO_LEVEL || s->kind == LEAT_KIND_AUDIO);
        if (is_wanted && g->common.exts.ids[name] == 0) {
            g->common.exts.ids[name] = (uint8_t)s->exts[i].id;
            g->ext_directions[name] = reversed(s->exts[i].direction);
        }
    }
    g->rid_ext = s->rid_ext;
    g->rid_ext.direction = reversed(s->rid_ext.direction);
}

static void agree_media(struct agreement *a, size_t i)
{
    const struct leat_sdp_section *s = &a->offer->sections[i];
    const struct leat_sdp_agreed *was = live_before(a, i);
    struct leat_sdp_agreed *g = &a->after->sections[i];
    if (g->is_rejected) {
        g->common.codec_count = 0;
        return;
    }
    g->direction = reversed(s->direction);
    g->common.is_active = g->direction != LEAT_DIR_INACTIVE;
    g->common.is_rsize = s->has_rtcp_rsize;
    g->common.encoding_count = s->encoding_count;
    memcpy(g->common.encodings, s->encodings, sizeof(g->common.encodings));
    memcpy(g->common.stream, s->stream, sizeof(g->common.stream));
    agree_exts(g, s);
    g->has_track = (g->direction & LEAT_DIR_RECVONLY) != 0 || (was != NULL && was->has_track);
    g->has_sender = (g->direction & LEAT_DIR_SENDONLY) != 0 || (was != NULL && was->has_sender);
    if (was != NULL && was->has_sender) {
        g->ssrc = was->ssrc;
        memcpy(g->stream, was->stream, sizeof(g->stream));
    }
    g->is_reused = was == NULL && a->before->is_agreed && i < a->before->section_count;
}

static bool is_stream_of_kind(const struct leat_sdp_session *s, enum leat_kind kind,
                              const char *stream)
{
    for (size_t i = 0; i < s->section_count; i++) {
        if (!s->sections[i].is_rejected && s->sections[i].kind == kind &&
            strcmp(s->sections[i].stream, stream) == 0) {
            return true;
        }
    }
    return false;
}

/**
 * The n-th sender of each kind gets stream n, so that pairs of audio and video are played in sync.
 * A number that a sender of the kind holds already is passed over.
 */
static void name_streams(struct leat_sdp_session *s)
{
    for (size_t i = 0; i < s->section_count; i++) {
        struct leat_sdp_agreed *g = &s->sections[i];
        char stream[LEAT_MSID_MAX + 1];
        if (g->is_rejected || !g->has_sender || g->stream[0] != '\0') {
            continue;
        }
        size_t n = 0;
        do {
            (void)snprintf(stream, sizeof(stream), "leat-%zu", n++);
        } while (is_stream_of_kind(s, g->kind, stream));
        memcpy(g->stream, stream, sizeof(stream));
    }
}

static int agree_sections(struct agreement *a)
{
    struct leat_sdp_session *after = a->after;
    size_t count = a->offer->section_count;
    if (count > LEAT_SECTIONS_MAX) {
        return leat__sdp_fail(LEAT_E_RANGE, a->why, "more than %d sections", LEAT_SECTIONS_MAX);
    }
    after->sections = calloc(count != 0 ? count : 1, sizeof(*after->sections));
    if (after->sections == NULL) {
        return leat__sdp_fail(LEAT_E_NOMEM, a->why, "out of memory");
    }
    after->section_count = count;
    int status = choose_sections(a);
    status = status != 0 ? status : agree_ice(a);
    status = status != 0 ? status : agree_dtls(a);
    for (size_t i = 0; status == 0 && i < count; i++) {
        agree_media(a, i);
    }
    if (status == 0) {
        name_streams(after);
    }
    return status;
}

int leat_sdp_agree(struct leat_sdp_session *after, const struct leat_sdp_session *before,
                   const struct leat_sdp_desc *offer, const struct leat_sdp_policy *policy,
                   const char **reason, char why[static LEAT_SDP_WHY_MAX])
{
    struct agreement a = {after, before, offer, policy, reason, why};
    memset(after, 0, sizeof(*after));
    *reason = "";
    why[0] = '\0';
    int status = check_continuity(&a);
    if (status == 0) {
        status = agree_sections(&a);
    }
    if (status != 0) {
        leat_sdp_session_deinit(after);
        return status;
    }
    after->is_agreed = true;
    after->origin_id = before->origin_id;
    after->version = before->version;
    return 0;
}

void leat_sdp_session_deinit(struct leat_sdp_session *s)
{
    free(s->sections);
    memset(s, 0, sizeof(*s));
}
