/* SPDX-License-Identifier: MIT */
/*
 * An agreement as the text of an answer (RFC 8829 5.3).
 *
 * What is answered is what is served: no transport-cc (extension or feedback), no goog-remb, no
 * bare nack, no RTX, no simulcast. A sender that is promised feedback which never comes starves.
 * Each accepted section carries the transport attributes and all candidates: clients differ in
 * which of the sections of a bundle they read them from.
 */
#include <leat/sdp.h>

#include <stdarg.h>
#include <stdio.h>

#include "text.h"

/** Text being written; once something did not fit nothing more is. */
struct output {
    char *text;
    size_t cap, len;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static void put(struct output *o, const char *format, ...)
{
    va_list arguments;
    if (o->failed) {
        return;
    }
    va_start(arguments, format);
    int len = vsnprintf(o->text + o->len, o->cap - o->len, format, arguments);
    va_end(arguments);
    if (len < 0 || (size_t)len >= o->cap - o->len) {
        o->failed = true;
        return;
    }
    o->len += (size_t)len;
}

uint32_t leat_sdp_candidate_priority(size_t index)
{
    const uint32_t host_preference = 126, component = 1;
    uint32_t local_preference = index < 65535 ? 65535 - (uint32_t)index : 0;
    return (host_preference << 24) + (local_preference << 8) + (256 - component);
}

/** The address alone: a zone means something on this machine only. */
static const char *format_ip(const struct leat_addr *addr, char out[static LEAT_ADDR_TEXT_MAX])
{
    struct leat_addr plain = *addr;
    plain.scope = 0;
    return leat_addr_format_ip(&plain, out);
}

static void put_session(struct output *o, const struct leat_sdp_session *s, uint64_t version)
{
    put(o, "v=0\r\no=- %llu %llu IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n",
        (unsigned long long)s->origin_id, (unsigned long long)version);
    if (s->has_bundle) { /* the tagged one first: RFC 8843 7.3.1 */
        put(o, "a=group:BUNDLE %s", s->sections[s->tagged_index].mid);
        for (size_t i = 0; i < s->section_count; i++) {
            if (!s->sections[i].is_rejected && i != s->tagged_index) {
                put(o, " %s", s->sections[i].mid);
            }
        }
        put(o, "\r\n");
    }
    put(o, "a=ice-lite\r\na=msid-semantic: WMS *\r\n");
}

static void put_rejected(struct output *o, const struct leat_sdp_agreed *g)
{
    put(o, "m=%s 0 %s %s\r\nc=IN IP4 0.0.0.0\r\n", g->media, g->protocol, g->first_format);
    if (g->mid[0] != '\0') {
        put(o, "a=mid:%s\r\n", g->mid);
    }
    if (g->kind != LEAT_KIND_APPLICATION) {
        put(o, "a=inactive\r\n");
    } else if (strcmp(g->protocol, "UDP/DTLS/SCTP") == 0) {
        /* Means nothing in a rejected section, but werift refuses the whole answer without it. */
        put(o, "a=sctp-port:5000\r\n");
    }
}

static void put_media_line(struct output *o, const struct leat_sdp_agreed *g,
                           const struct leat_sdp_local *local)
{
    const struct leat_addr *first = local->candidate_count != 0 ? &local->candidates[0] : NULL;
    char ip[LEAT_ADDR_TEXT_MAX];
    put(o, "m=%s %u %s", g->media, first ? (unsigned)first->port : 9U, g->protocol);
    for (size_t i = 0; i < g->common.codec_count; i++) {
        put(o, " %u", (unsigned)g->common.codecs[i].pt);
    }
    put(o, "\r\nc=IN %s %s\r\n", first && first->family == LEAT_FAMILY_V6 ? "IP6" : "IP4",
        first ? format_ip(first, ip) : "0.0.0.0");
}

static void put_transport(struct output *o, enum leat_sdp_setup setup,
                          const struct leat_sdp_local *local)
{
    char ip[LEAT_ADDR_TEXT_MAX];
    put(o, "a=ice-ufrag:%s\r\na=ice-pwd:%s\r\na=fingerprint:sha-256 %s\r\na=setup:%s\r\n",
        local->ufrag, local->pwd, local->fingerprint,
        setup == LEAT_SETUP_ACTIVE ? "active" : "passive");
    for (size_t i = 0; i < local->candidate_count; i++) {
        const struct leat_addr *c = &local->candidates[i];
        put(o, "a=candidate:%zu 1 udp %lu %s %u typ host\r\n", i + 1,
            (unsigned long)leat_sdp_candidate_priority(i), format_ip(c, ip), (unsigned)c->port);
    }
    put(o, "a=end-of-candidates\r\n");
}

static const char *direction_text(enum leat_direction d)
{
    switch (d) {
    case LEAT_DIR_SENDONLY:
        return "sendonly";
    case LEAT_DIR_RECVONLY:
        return "recvonly";
    case LEAT_DIR_SENDRECV:
        return "sendrecv";
    case LEAT_DIR_INACTIVE:
        break;
    }
    return "inactive";
}

static void put_ext(struct output *o, unsigned id, enum leat_direction d, const char *uri)
{
    if (id != 0 && d == LEAT_DIR_SENDRECV) {
        put(o, "a=extmap:%u %s\r\n", id, uri);
    } else if (id != 0) {
        put(o, "a=extmap:%u/%s %s\r\n", id, direction_text(d), uri);
    }
}

static void put_exts(struct output *o, const struct leat_sdp_agreed *g)
{
    for (int name = LEAT_EXT_NONE + 1; name < LEAT_EXT_COUNT; name++) {
        put_ext(o, g->common.exts.ids[name], g->ext_directions[name],
                leat_ext_uri((enum leat_ext_name)name));
    }
    put_ext(o, g->rid_ext.id, g->rid_ext.direction,
            "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id");
}

static void put_codec(struct output *o, const struct leat_codec *c)
{
    put(o, "a=rtpmap:%u %s/%lu", (unsigned)c->pt, leat_codec_text(c->name),
        (unsigned long)c->clock_hz);
    if (c->channels > 1) {
        put(o, "/%u", (unsigned)c->channels);
    }
    put(o, "\r\n");
    if (c->fmtp[0] != '\0') {
        put(o, "a=fmtp:%u %s\r\n", (unsigned)c->pt, c->fmtp);
    }
    if (c->has_pli) {
        put(o, "a=rtcp-fb:%u nack pli\r\n", (unsigned)c->pt);
    }
    if (c->has_fir) {
        put(o, "a=rtcp-fb:%u ccm fir\r\n", (unsigned)c->pt);
    }
}

/** The track id is the mid's, so it stays while the section lives. */
static void put_sender(struct output *o, const struct leat_sdp_agreed *g, const char *cname)
{
    if ((g->direction & LEAT_DIR_SENDONLY) == 0) {
        return;
    }
    put(o, "a=msid:%s leat-%s-%s\r\n", g->stream[0] != '\0' ? g->stream : "-",
        leat_kind_text(g->kind), g->mid);
    if (g->ssrc != 0) {
        put(o, "a=ssrc:%lu cname:%s\r\n", (unsigned long)g->ssrc, cname);
    }
}

static void put_accepted(struct output *o, const struct leat_sdp_session *s,
                         const struct leat_sdp_agreed *g, const struct leat_sdp_local *local)
{
    put_media_line(o, g, local);
    put_transport(o, s->setup, local);
    put(o, "a=mid:%s\r\na=%s\r\na=rtcp-mux\r\n", g->mid, direction_text(g->direction));
    if (g->common.is_rsize) {
        put(o, "a=rtcp-rsize\r\n");
    }
    put_exts(o, g);
    for (size_t i = 0; i < g->common.codec_count; i++) {
        put_codec(o, &g->common.codecs[i]);
    }
    put_sender(o, g, local->cname);
}

static bool has_valid_streams(const struct leat_sdp_session *s)
{
    for (size_t i = 0; i < s->section_count; i++) {
        const char *stream = s->sections[i].stream;
        if (stream[0] != '\0' && !leat__sdp_is_printable(leat_span_str(stream), false)) {
            return false;
        }
    }
    return true;
}

int leat_sdp_compose(struct leat_sdp_session *s, const struct leat_sdp_local *local, char *out,
                     size_t cap)
{
    struct output o = {.text = out, .cap = cap, .failed = cap == 0};
    if (!has_valid_streams(s)) {
        return LEAT_E_INVALID;
    }
    put_session(&o, s, s->version + 1);
    for (size_t i = 0; i < s->section_count; i++) {
        if (s->sections[i].is_rejected) {
            put_rejected(&o, &s->sections[i]);
        } else {
            put_accepted(&o, s, &s->sections[i], local);
        }
    }
    if (o.failed || o.len > INT32_MAX) {
        return LEAT_E_RANGE;
    }
    s->version++;
    return (int)o.len;
}
