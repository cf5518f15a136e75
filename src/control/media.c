/* SPDX-License-Identifier: MIT */
/*
 * From a proposal (offer or parameter form) to what a worker is told: agreement, our SSRCs, the
 * answer's text, the media descriptions. Nothing here touches the world.
 *
 * An egress SSRC once used in a peer is never given out again there (RFC 3711 9.1): under the same
 * keys a second packet with the same index would reveal them.
 */
#include "private.h"

#include <stdlib.h>

void leat__control_proposal_read(struct leat_control *c, const struct leat__control_params *p,
                                 struct leat__control_proposal *out)
{
    char why[LEAT_SDP_WHY_MAX] = "";
    struct leat__control_params remote;
    struct leat_span offer;
    out->policy = c->info.policy;
    out->is_form = leat__control_params_has(p, "remote");
    static const enum leat_sdp_setup setups[] = {LEAT_SETUP_NONE, LEAT_SETUP_ACTIVE,
                                                 LEAT_SETUP_PASSIVE};
    int setup = leat__control_params_word(p, "setup", false, "auto active passive");
    if (setup >= 0) {
        out->policy.setup = setups[setup];
    }
    leat__control_read_codecs(p, &out->policy);
    if (leat__control_params_object(p, "remote", false, &remote)) {
        leat__control_read_remote(&remote, &out->desc);
    }
    if (leat__control_params_text(p, "offer", false, &offer)) {
        int rc = leat_sdp_parse(&out->desc, offer, why);
        if (rc == LEAT_E_NOMEM) {
            leat__control_fault_error(p->fault, rc, "reading the offer");
        } else if (rc != 0) {
            leat__control_fault_set(p->fault, LEAT__RPC_FAILED,
                                    rc == LEAT_E_RANGE ? "too_large" : "bad_sdp", "offer",
                                    "the offer cannot be read: %s", why);
        }
    }
}

int leat__control_agree(const struct leat__control_proposal *proposal,
                        const struct leat_sdp_session *before, struct leat_sdp_session *after,
                        struct leat__control_fault *fault)
{
    char why[LEAT_SDP_WHY_MAX] = "";
    const char *reason = "bad_sdp";
    int rc = leat_sdp_agree(after, before, &proposal->desc, &proposal->policy, &reason, why);
    if (rc == LEAT_E_INVALID || rc == LEAT_E_RANGE) {
        leat__control_fault_set(fault, LEAT__RPC_FAILED, rc == LEAT_E_RANGE ? "too_large" : reason,
                                proposal->is_form ? "remote" : "offer", "%s", why);
    } else if (rc != 0) {
        leat__control_fault_error(fault, rc, "agreeing on the offer");
    }
    return rc;
}

void leat__control_read_streams(const struct leat__control_params *p, struct leat_sdp_session *s)
{
    struct leat__control_params streams;
    char path[LEAT__CONTROL_FIELD_MAX];
    if (!leat__control_params_object(p, "streams", false, &streams)) {
        return;
    }
    for (const leat_json *m = leat_json_first(streams.object); m; m = leat_json_next(m)) {
        const char *mid = leat_json_key(m);
        struct leat_sdp_agreed *section = NULL;
        for (size_t i = 0; i < s->section_count; i++) {
            if (leat__control_has_sender(&s->sections[i]) && strcmp(s->sections[i].mid, mid) == 0) {
                section = &s->sections[i];
            }
        }
        char stream[LEAT_ID_MAX + 1];
        if (!leat__control_params_id(&streams, mid, true, stream)) {
            return;
        }
        if (!section) {
            leat__control_params_path(&streams, mid, path);
            leat__control_fault_set(p->fault, LEAT__RPC_FAILED, "no_such_sender", path,
                                    "no section \"%.16s\" takes media", mid);
            return;
        }
        (void)leat_text_copy(section->stream, sizeof(section->stream), leat_span_str(stream));
    }
}

/* ---- SSRCs ---- */

static bool is_declared(const struct leat_sdp_session *s, uint32_t ssrc)
{
    for (size_t i = 0; i < s->section_count; i++) {
        const struct leat_media_desc *common = &s->sections[i].common;
        for (size_t e = 0; e < common->encoding_count; e++) {
            if (common->encodings[e].ssrc == ssrc) {
                return true;
            }
        }
    }
    return false;
}

static bool is_used(const struct leat__control_peer *p, uint32_t ssrc)
{
    for (size_t i = 0; i < p->used_count; i++) {
        if (p->used_ssrcs[i] == ssrc) {
            return true;
        }
    }
    return false;
}

/** Zero stands for "none" everywhere. */
static uint32_t fresh_ssrc(struct leat_control *c, const struct leat__control_peer *p,
                           const struct leat_sdp_session *s)
{
    uint32_t ssrc;
    do {
        ssrc = leat_rng_u32(c->rng);
    } while (ssrc == 0 || ssrc == p->rtcp_ssrc || is_used(p, ssrc) || is_declared(s, ssrc));
    return ssrc;
}

int leat__control_choose_ssrcs(struct leat_control *c, struct leat__control_peer *p,
                               struct leat_sdp_session *s)
{
    uint32_t *grown =
        realloc(p->used_ssrcs, (p->used_count + s->section_count + 1) * sizeof(*p->used_ssrcs));
    if (!grown) {
        return LEAT_E_NOMEM;
    }
    p->used_ssrcs = grown;
    if (p->rtcp_ssrc == 0) {
        p->rtcp_ssrc = fresh_ssrc(c, p, s);
        p->used_ssrcs[p->used_count++] = p->rtcp_ssrc;
    }
    for (size_t i = 0; i < s->section_count; i++) {
        struct leat_sdp_agreed *section = &s->sections[i];
        if (leat__control_has_sender(section) && (section->ssrc == 0 || section->is_reused)) {
            section->ssrc = fresh_ssrc(c, p, s);
            p->used_ssrcs[p->used_count++] = section->ssrc;
        }
    }
    return 0;
}

/* ---- the answer ---- */

int leat__control_compose(struct leat_control *c, const struct leat__control_peer *p,
                          const struct leat_ice_local *local, struct leat_sdp_session *s,
                          char **answer)
{
    char *text = malloc(LEAT_SDP_TEXT_MAX);
    if (!text) {
        return LEAT_E_NOMEM;
    }
    uint8_t fingerprint[LEAT_FINGERPRINT_LEN];
    char fingerprint_text[LEAT_FINGERPRINT_TEXT_MAX];
    leat_dtls_identity_fingerprint(p->identity, fingerprint);
    struct leat_sdp_local ours = {.ufrag = local->ufrag,
                                  .pwd = local->pwd,
                                  .fingerprint =
                                      leat_dtls_fingerprint_format(fingerprint, fingerprint_text),
                                  .cname = p->cname,
                                  .candidate_count = c->info.announce_counts[p->worker]};
    memcpy(ours.candidates, c->info.announce[p->worker], sizeof(ours.candidates));
    int len = leat_sdp_compose(s, &ours, text, LEAT_SDP_TEXT_MAX);
    if (len < 0) {
        free(text);
        return len;
    }
    char *fitting = realloc(text, (size_t)len + 1);
    *answer = fitting ? fitting : text;
    return 0;
}

/* ---- what the worker gets ---- */

static void fill_desc(struct leat_media_desc *out, const struct leat_sdp_agreed *s,
                      enum leat_direction direction)
{
    *out = s->common;
    memcpy(out->mid, s->mid, sizeof(out->mid));
    out->kind = s->kind;
    out->is_active = (s->direction & direction) != 0;
}

int leat__control_fill_media(struct leat_command *command, const struct leat_sdp_session *s)
{
    command->tracks = calloc(s->section_count + 1, sizeof(*command->tracks));
    command->senders = calloc(s->section_count + 1, sizeof(*command->senders));
    if (!command->tracks || !command->senders) {
        return LEAT_E_NOMEM;
    }
    for (size_t i = 0; i < s->section_count; i++) {
        const struct leat_sdp_agreed *section = &s->sections[i];
        if (leat__control_has_track(section)) {
            fill_desc(&command->tracks[command->track_count++], section, LEAT_DIR_RECVONLY);
        }
        if (leat__control_has_sender(section)) {
            struct leat_media_desc *sender = &command->senders[command->sender_count++];
            fill_desc(sender, section, LEAT_DIR_SENDONLY);
            sender->encoding_count = 0;
            memset(sender->encodings, 0, sizeof(sender->encodings));
            sender->ssrc = section->ssrc;
            memcpy(sender->stream, section->stream, sizeof(sender->stream));
        }
    }
    return 0;
}

struct leat__control_section *
leat__control_carry_sections(const struct leat_sdp_session *to, const struct leat_sdp_session *from,
                             const struct leat__control_section *sections)
{
    struct leat__control_section *out = calloc(to->section_count + 1, sizeof(*out));
    for (size_t i = 0; out && i < to->section_count && i < from->section_count; i++) {
        if (!to->sections[i].is_rejected && !from->sections[i].is_rejected &&
            strcmp(to->sections[i].mid, from->sections[i].mid) == 0) {
            out[i] = sections[i];
        }
    }
    return out;
}
