/* SPDX-License-Identifier: MIT */
/*
 * SDP text to a description (RFC 8866, with the attributes of RFC 8829 that decide something here).
 *
 * One pass over the lines. Before the first m= line attributes fill a template section; each m=
 * line starts as a copy of it, so that transport attributes, direction and extensions given for the
 * session hold for every section and the section's own ones replace them. Formats and SSRCs are
 * gathered and resolved when the section ends; the BUNDLE group when the text ends.
 *
 * Left out: everything that only a full ICE agent, a data channel or simulcast needs (candidates of
 * the remote, sctp, rid, simulcast). Unknown lines and attributes are skipped (RFC 8866 5).
 */
#include <leat/sdp.h>

#include <stdlib.h>

#include "format.h"
#include "text.h"

#define SSRCS_MAX 32 /**< SSRC lines and group members of one section that are looked at */

/** The SSRC attributes of one section (RFC 5576). */
struct ssrcs {
    size_t count, partner_count;
    uint32_t seen[SSRCS_MAX];     /**< in order of appearance, each once */
    uint32_t partners[SSRCS_MAX]; /**< carry repairs of another one */
};

struct parser {
    struct leat_sdp_desc *desc;
    struct leat_sdp_section session;  /**< the template */
    struct leat_sdp_section *section; /**< the running one, NULL before the first m= line */
    struct leat_span bundle;          /**< the mids of the first BUNDLE group, as text */
    size_t capacity;                  /**< of desc->sections */
    size_t line;
    char *why;
    /* of the running section */
    bool has_port, has_own_fingerprint, has_simulcast;
    struct leat__sdp_formats formats;
    struct ssrcs ssrcs;
};

static struct leat_sdp_section *target(struct parser *p)
{
    return p->section ? p->section : &p->session;
}

static int invalid(struct parser *p, const char *what)
{
    return leat__sdp_fail(LEAT_E_INVALID, p->why, "line %zu: %s", p->line, what);
}

static int take_result(struct parser *p, const char *wrong)
{
    return wrong ? invalid(p, wrong) : 0;
}

/* Attributes: one function each, given what stands behind the colon. */

static int on_mid(struct parser *p, struct leat_span value)
{
    struct leat_span mid = leat__sdp_trim(value);
    if (p->section == NULL) {
        return 0;
    }
    if (!leat_mid_is_valid(mid)) {
        return invalid(p, "mid is not 1 to 16 token characters");
    }
    (void)leat_text_copy(p->section->mid, sizeof(p->section->mid), mid);
    return 0;
}

static int on_group(struct parser *p, struct leat_span value)
{
    struct leat_span rest = value;
    struct leat_span semantics = leat__sdp_word(&rest);
    if (p->section == NULL && leat__sdp_is(semantics, "BUNDLE") && !p->desc->has_bundle) {
        p->desc->has_bundle = true;
        p->bundle = rest;
    }
    return 0;
}

static int on_ufrag(struct parser *p, struct leat_span value)
{
    struct leat_sdp_section *s = target(p);
    struct leat_span ufrag = leat__sdp_trim(value);
    if (!leat__sdp_is_printable(ufrag, false) ||
        !leat_text_copy(s->ufrag, sizeof(s->ufrag), ufrag)) {
        return invalid(p, "ice-ufrag is not 1 to 256 printable characters");
    }
    return 0;
}

static int on_pwd(struct parser *p, struct leat_span value)
{
    struct leat_sdp_section *s = target(p);
    struct leat_span pwd = leat__sdp_trim(value);
    if (!leat__sdp_is_printable(pwd, false) || !leat_text_copy(s->pwd, sizeof(s->pwd), pwd)) {
        return invalid(p, "ice-pwd is not 1 to 256 printable characters");
    }
    return 0;
}

static int on_ice_lite(struct parser *p, struct leat_span value)
{
    (void)value;
    p->desc->is_ice_lite = true;
    return 0;
}

/** 32 pairs of hex digits with colons between. */
static bool read_fingerprint(struct leat_span text, uint8_t out[static LEAT_SDP_FINGERPRINT_LEN])
{
    if (text.len != LEAT_SDP_FINGERPRINT_LEN * 3 - 1) {
        return false;
    }
    for (size_t i = 0; i < LEAT_SDP_FINGERPRINT_LEN; i++) {
        const char *pair = (const char *)text.data + 3 * i;
        bool is_last = i == LEAT_SDP_FINGERPRINT_LEN - 1;
        if (leat_hex_decode(pair, 2, &out[i], 1) != 1 || (!is_last && pair[2] != ':')) {
            return false;
        }
    }
    return true;
}

/** Other hashes may stand beside SHA-256 (RFC 8122 5); of several SHA-256 ones the first counts. */
static int on_fingerprint(struct parser *p, struct leat_span value)
{
    struct leat_sdp_section *s = target(p);
    struct leat_span rest = value;
    struct leat_span hash = leat__sdp_word(&rest);
    uint8_t fingerprint[LEAT_SDP_FINGERPRINT_LEN];
    if (!leat__sdp_is_ignoring_case(hash, "sha-256")) {
        return 0;
    }
    if (!read_fingerprint(leat__sdp_trim(rest), fingerprint)) {
        return invalid(p, "fingerprint is not 32 hex octets with colons between");
    }
    if (!p->has_own_fingerprint) {
        memcpy(s->fingerprint, fingerprint, sizeof(fingerprint));
        s->has_fingerprint = true;
        p->has_own_fingerprint = true;
    }
    return 0;
}

static int on_setup(struct parser *p, struct leat_span value)
{
    static const struct {
        const char *text;
        enum leat_sdp_setup setup;
    } values[] = {
        {"actpass", LEAT_SETUP_ACTPASS},
        {"active", LEAT_SETUP_ACTIVE},
        {"passive", LEAT_SETUP_PASSIVE},
        {"holdconn", LEAT_SETUP_NONE},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(values); i++) {
        if (leat__sdp_is_ignoring_case(leat__sdp_trim(value), values[i].text)) {
            target(p)->setup = values[i].setup;
            return 0;
        }
    }
    return invalid(p, "setup is not actpass, active, passive or holdconn");
}

static bool read_direction(struct leat_span text, enum leat_direction *out)
{
    static const char *const names[] = {[LEAT_DIR_INACTIVE] = "inactive",
                                        [LEAT_DIR_SENDONLY] = "sendonly",
                                        [LEAT_DIR_RECVONLY] = "recvonly",
                                        [LEAT_DIR_SENDRECV] = "sendrecv"};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(names); i++) {
        if (leat__sdp_is(text, names[i])) {
            *out = (enum leat_direction)i;
            return true;
        }
    }
    return false;
}

static int on_rtcp_mux(struct parser *p, struct leat_span value)
{
    (void)value;
    target(p)->has_rtcp_mux = true;
    return 0;
}

static int on_rtcp_rsize(struct parser *p, struct leat_span value)
{
    (void)value;
    target(p)->has_rtcp_rsize = true;
    return 0;
}

static int on_bundle_only(struct parser *p, struct leat_span value)
{
    (void)value;
    if (p->section) {
        p->section->is_bundle_only = true;
    }
    return 0;
}

static int on_simulcast(struct parser *p, struct leat_span value)
{
    (void)value;
    p->has_simulcast = true;
    return 0;
}

/** Ids that are not served are kept as well, as long as there is room: they show a reused id. */
static int add_ext(struct parser *p, struct leat_sdp_ext ext)
{
    struct leat_sdp_section *s = target(p);
    size_t room = ext.name != LEAT_EXT_NONE ? LEAT_EXTS_MAX : LEAT_EXTS_MAX - (LEAT_EXT_COUNT - 1);
    for (size_t i = 0; i < s->ext_count; i++) {
        bool is_served = ext.name != LEAT_EXT_NONE || s->exts[i].name != LEAT_EXT_NONE;
        if (is_served && s->exts[i].id == ext.id && s->exts[i].name != ext.name) {
            return invalid(p, "one extmap id for two extensions");
        }
        if (ext.name != LEAT_EXT_NONE && s->exts[i].name == ext.name) {
            return 0;
        }
    }
    if (s->ext_count < room) {
        s->exts[s->ext_count++] = ext;
    }
    return 0;
}

/** "3/sendonly urn:..." (RFC 8285 7) */
static int on_extmap(struct parser *p, struct leat_span value)
{
    uint32_t id;
    struct leat_sdp_ext ext = {.direction = LEAT_DIR_SENDRECV};
    struct leat_span rest = value;
    struct leat_span direction = leat__sdp_word(&rest);
    struct leat_span id_text = leat__sdp_until(&direction, '/');
    struct leat_span uri = leat__sdp_word(&rest);
    if (!leat__sdp_number(id_text, UINT16_MAX, &id) || uri.len == 0) {
        return invalid(p, "extmap that is not ID[/DIRECTION] URI");
    }
    if (direction.len != 0 && !read_direction(direction, &ext.direction)) {
        return invalid(p, "extmap with an unknown direction");
    }
    if (id == 0 || id > UINT8_MAX) {
        return 0;
    }
    ext.id = (uint16_t)id;
    ext.name = leat_ext_from_uri(uri);
    if (leat__sdp_is(uri, "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id")) {
        target(p)->rid_ext = ext;
    }
    return add_ext(p, ext);
}

static int on_rtpmap(struct parser *p, struct leat_span value)
{
    return p->section ? take_result(p, leat__sdp_formats_add_rtpmap(&p->formats, value)) : 0;
}

static int on_fmtp(struct parser *p, struct leat_span value)
{
    return p->section ? take_result(p, leat__sdp_formats_add_fmtp(&p->formats, value)) : 0;
}

static int on_feedback(struct parser *p, struct leat_span value)
{
    return p->section ? take_result(p, leat__sdp_formats_add_feedback(&p->formats, value)) : 0;
}

/** The stream of "STREAM TRACK"; "-" is none (RFC 8830 2). The first one of a section counts. */
static void take_stream(struct parser *p, struct leat_span msid)
{
    struct leat_span stream = leat__sdp_word(&msid);
    char *out = p->section->stream;
    if (out[0] == '\0' && !leat__sdp_is(stream, "-") && leat__sdp_is_printable(stream, false) &&
        stream.len <= LEAT_MSID_MAX) {
        (void)leat_text_copy(out, sizeof(p->section->stream), stream);
    }
}

static int on_msid(struct parser *p, struct leat_span value)
{
    if (p->section) {
        p->section->stream[0] = '\0'; /* stands above what an ssrc line said */
        take_stream(p, value);
    }
    return 0;
}

static void add_ssrc(uint32_t *list, size_t *count, uint32_t ssrc)
{
    for (size_t i = 0; i < *count; i++) {
        if (list[i] == ssrc) {
            return;
        }
    }
    if (ssrc != 0 && *count < SSRCS_MAX) {
        list[(*count)++] = ssrc;
    }
}

/** "1234 cname:x", "1234 msid:STREAM TRACK" */
static int on_ssrc(struct parser *p, struct leat_span value)
{
    uint32_t ssrc;
    struct leat_span rest = value;
    if (p->section == NULL) {
        return 0;
    }
    if (!leat__sdp_number(leat__sdp_word(&rest), UINT32_MAX, &ssrc)) {
        return invalid(p, "ssrc is not a number under 2^32");
    }
    add_ssrc(p->ssrcs.seen, &p->ssrcs.count, ssrc);
    struct leat_span attribute = leat__sdp_until(&rest, ':');
    if (leat__sdp_is(leat__sdp_trim(attribute), "msid")) {
        take_stream(p, rest);
    }
    return 0;
}

/** Of "FID primary rtx" (RFC 5576 4.2) and "FEC-FR primary fec" (RFC 5956 4.3) all but the first.
 */
static int on_ssrc_group(struct parser *p, struct leat_span value)
{
    struct leat_span rest = value;
    struct leat_span semantics = leat__sdp_word(&rest);
    if (p->section == NULL ||
        (!leat__sdp_is(semantics, "FID") && !leat__sdp_is(semantics, "FEC-FR") &&
         !leat__sdp_is(semantics, "FEC"))) {
        return 0;
    }
    bool is_first = true;
    for (struct leat_span word = leat__sdp_word(&rest); word.len != 0;
         word = leat__sdp_word(&rest)) {
        uint32_t ssrc;
        if (!leat__sdp_number(word, UINT32_MAX, &ssrc)) {
            return invalid(p, "ssrc-group with something else than numbers under 2^32");
        }
        if (!is_first) {
            add_ssrc(p->ssrcs.partners, &p->ssrcs.partner_count, ssrc);
        }
        is_first = false;
    }
    return 0;
}

static const struct {
    const char *name;
    int (*read)(struct parser *p, struct leat_span value);
} attributes[] = {
    {"rtpmap", on_rtpmap},
    {"rtcp-fb", on_feedback},
    {"fmtp", on_fmtp},
    {"extmap", on_extmap},
    {"ssrc", on_ssrc},
    {"ssrc-group", on_ssrc_group},
    {"msid", on_msid},
    {"mid", on_mid},
    {"group", on_group},
    {"ice-ufrag", on_ufrag},
    {"ice-pwd", on_pwd},
    {"ice-lite", on_ice_lite},
    {"fingerprint", on_fingerprint},
    {"setup", on_setup},
    {"rtcp-mux", on_rtcp_mux},
    {"rtcp-rsize", on_rtcp_rsize},
    {"bundle-only", on_bundle_only},
    {"simulcast", on_simulcast},
};

static int read_attribute(struct parser *p, struct leat_span line)
{
    struct leat_span value = line;
    struct leat_span name = leat__sdp_trim(leat__sdp_until(&value, ':'));
    if (read_direction(name, &target(p)->direction)) {
        return 0;
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(attributes); i++) {
        if (leat__sdp_is(name, attributes[i].name)) {
            return attributes[i].read(p, value);
        }
    }
    return 0;
}

static void end_section(struct parser *p)
{
    struct leat_sdp_section *s = p->section;
    if (s == NULL) {
        return;
    }
    s->is_bundle_only = s->is_bundle_only && !p->has_port; /* RFC 8843 6: else without meaning */
    s->is_rejected = !p->has_port && !s->is_bundle_only;
    if (!p->has_simulcast) {
        s->rid_ext.id = 0;
    }
    leat__sdp_formats_resolve(&p->formats, s);
    for (size_t i = 0; i < p->ssrcs.count && s->encoding_count < LEAT_ENCODINGS_MAX; i++) {
        bool is_partner = false;
        for (size_t k = 0; k < p->ssrcs.partner_count; k++) {
            is_partner = is_partner || p->ssrcs.partners[k] == p->ssrcs.seen[i];
        }
        if (!is_partner) {
            s->encodings[s->encoding_count++].ssrc = p->ssrcs.seen[i];
        }
    }
}

/** A section more, as a copy of the template. */
static int start_section(struct parser *p)
{
    struct leat_sdp_desc *d = p->desc;
    if (d->section_count == LEAT_SECTIONS_MAX) {
        return leat__sdp_fail(LEAT_E_RANGE, p->why, "line %zu: more than %d sections", p->line,
                              LEAT_SECTIONS_MAX);
    }
    if (d->section_count == p->capacity) {
        size_t capacity = p->capacity != 0 ? p->capacity * 2 : 4;
        void *sections = realloc(d->sections, capacity * sizeof(*d->sections));
        if (sections == NULL) {
            return leat__sdp_fail(LEAT_E_NOMEM, p->why, "line %zu: out of memory", p->line);
        }
        d->sections = sections;
        p->capacity = capacity;
    }
    p->section = &d->sections[d->section_count++];
    *p->section = p->session;
    p->has_own_fingerprint = false;
    p->has_simulcast = false;
    memset(&p->formats, 0, sizeof(p->formats));
    memset(&p->ssrcs, 0, sizeof(p->ssrcs));
    return 0;
}

static enum leat_kind kind_of(struct leat_span media)
{
    for (int kind = LEAT_KIND_AUDIO; kind < LEAT_KIND_OTHER; kind++) {
        if (leat__sdp_is(media, leat_kind_text((enum leat_kind)kind))) {
            return (enum leat_kind)kind;
        }
    }
    return LEAT_KIND_OTHER;
}

static bool copy_word(char *out, size_t cap, struct leat_span word)
{
    return leat__sdp_is_printable(word, false) && leat_text_copy(out, cap, word);
}

static bool is_rtp(struct leat_span protocol)
{
    static const char family[] = "RTP/";
    for (size_t i = 0; i + sizeof(family) - 1 <= protocol.len; i++) {
        if (memcmp(protocol.data + i, family, sizeof(family) - 1) == 0) {
            return true;
        }
    }
    return false;
}

/** "audio 9 UDP/TLS/RTP/SAVPF 111 63" (RFC 8866 5.14) */
static int read_media(struct parser *p, struct leat_span line)
{
    struct leat_span rest = line;
    struct leat_span media = leat__sdp_word(&rest);
    struct leat_span port_text = leat__sdp_word(&rest);
    struct leat_span protocol = leat__sdp_word(&rest);
    struct leat_span formats = rest;
    struct leat_span first = leat__sdp_word(&rest);
    uint32_t port;
    end_section(p);
    int status = start_section(p);
    if (status != 0) {
        return status;
    }
    struct leat_sdp_section *s = p->section;
    if (!copy_word(s->media, sizeof(s->media), media) ||
        !leat__sdp_number(leat__sdp_until(&port_text, '/'), UINT16_MAX, &port) ||
        !copy_word(s->protocol, sizeof(s->protocol), protocol) ||
        !copy_word(s->first_format, sizeof(s->first_format), first)) {
        return invalid(p, "m= that is not MEDIA PORT PROTOCOL FORMAT...");
    }
    s->kind = kind_of(media);
    p->has_port = port != 0;
    if ((s->kind != LEAT_KIND_AUDIO && s->kind != LEAT_KIND_VIDEO) || !is_rtp(protocol)) {
        return 0;
    }
    const char *wrong = NULL;
    for (struct leat_span pt = leat__sdp_word(&formats); pt.len != 0 && wrong == NULL;
         pt = leat__sdp_word(&formats)) {
        wrong = leat__sdp_formats_add_pt(&p->formats, pt);
    }
    return take_result(p, wrong);
}

static int read_line(struct parser *p, struct leat_span line, bool is_first)
{
    if (line.len < 2 || line.data[1] != '=' || line.data[0] < 'a' || line.data[0] > 'z') {
        return invalid(p, "not of the form TYPE=VALUE");
    }
    struct leat_span value = {line.data + 2, line.len - 2};
    if (is_first) {
        bool is_version = line.data[0] == 'v' && leat__sdp_is(leat__sdp_trim(value), "0");
        return is_version ? 0 : invalid(p, "the text does not begin with v=0");
    }
    if (line.data[0] == 'm') {
        return read_media(p, value);
    }
    return line.data[0] == 'a' ? read_attribute(p, value) : 0;
}

static int read_lines(struct parser *p, struct leat_span text)
{
    bool is_first = true;
    while (text.len != 0) {
        p->line++;
        struct leat_span line = leat__sdp_until(&text, '\n');
        if (line.len != 0 && line.data[line.len - 1] == '\r') {
            line.len--;
        }
        if (line.len == 0) {
            continue; /* blank lines come from copying by hand, and mean nothing */
        }
        int status = read_line(p, line, is_first);
        if (status != 0) {
            return status;
        }
        is_first = false;
    }
    return is_first ? invalid(p, "the text does not begin with v=0") : 0;
}

/** Mark the sections whose mids the group names, with their place in it. */
static void resolve_bundle(struct parser *p)
{
    struct leat_span rest = p->bundle;
    uint16_t rank = 0;
    for (struct leat_span mid = leat__sdp_word(&rest); mid.len != 0 && rank < UINT16_MAX;
         mid = leat__sdp_word(&rest)) {
        for (size_t i = 0; i < p->desc->section_count; i++) {
            struct leat_sdp_section *s = &p->desc->sections[i];
            if (!s->is_bundled && leat__sdp_is(mid, s->mid)) {
                s->is_bundled = true;
                s->bundle_rank = rank;
            }
        }
        rank++;
    }
}

int leat_sdp_parse(struct leat_sdp_desc *out, struct leat_span text,
                   char why[static LEAT_SDP_WHY_MAX])
{
    memset(out, 0, sizeof(*out));
    why[0] = '\0';
    if (text.len > LEAT_SDP_TEXT_MAX) {
        return leat__sdp_fail(LEAT_E_RANGE, why, "line 1: the text is longer than %d octets",
                              LEAT_SDP_TEXT_MAX);
    }
    struct parser p = {.desc = out, .why = why, .session = {.direction = LEAT_DIR_SENDRECV}};
    int status = read_lines(&p, text);
    if (status != 0) {
        leat_sdp_desc_deinit(out);
        return status;
    }
    end_section(&p);
    resolve_bundle(&p);
    return 0;
}

void leat_sdp_desc_deinit(struct leat_sdp_desc *d)
{
    free(d->sections);
    memset(d, 0, sizeof(*d));
}
