/* SPDX-License-Identifier: MIT */
/*
 * Clients as the daemon is told of them. Publishers and subscribers use other payload types and
 * extension ids for the same codecs and extensions, so that a daemon that does not map them is
 * found out.
 */
#include "member.h"

#include <stdio.h>
#include <stdlib.h>

#define PUBLISHER_VIDEO_PT 96
#define PUBLISHER_AUDIO_PT 111
#define PUBLISHER_MID_EXT 3
#define SUBSCRIBER_VIDEO_PT 100
#define SUBSCRIBER_AUDIO_PT 109
#define SUBSCRIBER_MID_EXT 9

static void init_common(struct leat_load_member *m, const char *group, const char *role,
                        unsigned index, struct leat_rng *rng)
{
    memset(m, 0, sizeof *m);
    m->index = (uint16_t)index;
    m->is_publisher = strcmp(role, "pub") == 0;
    (void)snprintf(m->id, sizeof m->id, "%s-%s-%u", group, role, index);
    leat_ice_local_make(&m->local, rng, 0, 0);
    m->rtcp_ssrc = leat_rng_u32(rng) | 1;
}

int leat_load_member_init_publisher(struct leat_load_member *m, const char *group, unsigned index,
                                    bool has_audio, struct leat_rng *rng)
{
    init_common(m, group, "pub", index, rng);
    m->count = has_audio ? 2 : 1;
    m->senders = calloc(m->count, sizeof *m->senders);
    if (m->senders == NULL) {
        return LEAT_E_NOMEM;
    }
    for (size_t i = 0; i < m->count; i++) {
        struct leat_load_sender *s = &m->senders[i];
        s->kind = i == 0 ? LEAT_KIND_VIDEO : LEAT_KIND_AUDIO;
        s->publisher = m->index;
        s->pt = i == 0 ? PUBLISHER_VIDEO_PT : PUBLISHER_AUDIO_PT;
        s->mid_ext = PUBLISHER_MID_EXT;
        (void)snprintf(s->mid, sizeof s->mid, "%u", (unsigned)i);
        s->ssrc = leat_rng_u32(rng) | 1;
        s->first_seq = (uint16_t)leat_rng_below(rng, 0x8000);
        s->first_timestamp = leat_rng_u32(rng);
    }
    return 0;
}

int leat_load_member_init_subscriber(struct leat_load_member *m, const char *group, unsigned index,
                                     const struct leat_load_member *publishers, size_t count,
                                     struct leat_rng *rng)
{
    size_t kinds = publishers[0].count;
    init_common(m, group, "sub", index, rng);
    m->count = count * kinds;
    m->streams = calloc(m->count, sizeof *m->streams);
    m->ssrcs = calloc(m->count, sizeof *m->ssrcs);
    if (m->streams == NULL || m->ssrcs == NULL) {
        return LEAT_E_NOMEM;
    }
    for (size_t i = 0; i < m->count; i++) {
        struct leat_load_stream *s = &m->streams[i];
        bool is_video = i < count;
        s->from = &publishers[i % count].senders[i / count];
        s->pt = is_video ? SUBSCRIBER_VIDEO_PT : SUBSCRIBER_AUDIO_PT;
        s->mid_ext = SUBSCRIBER_MID_EXT;
        (void)snprintf(s->mid, sizeof s->mid, "%c%u", is_video ? 'v' : 'a', (unsigned)(i % count));
        leat_load_stream_init(s);
    }
    return 0;
}

void leat_load_member_deinit(struct leat_load_member *m)
{
    if (m->has_client) {
        leat_client_deinit(&m->client);
    }
    free(m->senders);
    free(m->streams);
    free(m->ssrcs);
}

/* ---- requests ---- */

static void write_section(struct leat_json_writer *w, const char *mid, enum leat_kind kind,
                          uint8_t pt, uint8_t mid_ext, uint32_t ssrc)
{
    bool is_video = kind == LEAT_KIND_VIDEO;
    leat_json_open(w, '{');
    leat_json_put_text(w, "mid", mid);
    leat_json_put_text(w, "kind", leat_kind_text(kind));
    leat_json_put_text(w, "direction", ssrc != 0 ? "sendonly" : "recvonly");
    leat_json_put_bool(w, "rsize", true);
    leat_json_write_key(w, "codecs");
    leat_json_open(w, '[');
    leat_json_open(w, '{');
    leat_json_put_text(w, "name", is_video ? "VP8" : "opus");
    leat_json_put_u64(w, "pt", pt);
    leat_json_put_u64(w, "clock", is_video ? 90000 : 48000);
    if (is_video) {
        leat_json_put_bool(w, "pli", true);
        leat_json_put_bool(w, "fir", true);
    } else {
        leat_json_put_u64(w, "channels", 2);
    }
    leat_json_close(w, '}');
    leat_json_close(w, ']');
    leat_json_write_key(w, "extensions");
    leat_json_open(w, '[');
    leat_json_open(w, '{');
    leat_json_put_text(w, "uri", leat_ext_uri(LEAT_EXT_MID));
    leat_json_put_u64(w, "id", mid_ext);
    leat_json_close(w, '}');
    leat_json_close(w, ']');
    if (ssrc != 0) {
        leat_json_write_key(w, "encodings");
        leat_json_open(w, '[');
        leat_json_open(w, '{');
        leat_json_put_u64(w, "ssrc", ssrc);
        leat_json_close(w, '}');
        leat_json_close(w, ']');
    }
    leat_json_close(w, '}');
}

void leat_load_member_write_create(const struct leat_load_member *m, struct leat_json_writer *w,
                                   const char *group, const char *fingerprint)
{
    leat_json_put_text(w, "id", m->id);
    leat_json_put_text(w, "group", group);
    leat_json_write_key(w, "remote");
    leat_json_open(w, '{');
    leat_json_write_key(w, "ice");
    leat_json_open(w, '{');
    leat_json_put_text(w, "ufrag", m->local.ufrag);
    leat_json_put_text(w, "pwd", m->local.pwd);
    leat_json_close(w, '}');
    leat_json_put_text(w, "fingerprint", fingerprint);
    leat_json_put_text(w, "setup", "active");
    leat_json_write_key(w, "sections");
    leat_json_open(w, '[');
    for (size_t i = 0; i < m->count; i++) {
        if (m->is_publisher) {
            const struct leat_load_sender *s = &m->senders[i];
            write_section(w, s->mid, s->kind, s->pt, s->mid_ext, s->ssrc);
        } else {
            const struct leat_load_stream *s = &m->streams[i];
            write_section(w, s->mid, s->from->kind, s->pt, s->mid_ext, 0);
        }
    }
    leat_json_close(w, ']');
    leat_json_close(w, '}');
}

static void write_end(struct leat_json_writer *w, const char *key, const char *peer,
                      const char *mid)
{
    leat_json_write_key(w, key);
    leat_json_open(w, '{');
    leat_json_put_text(w, "peer", peer);
    leat_json_put_text(w, "mid", mid);
    leat_json_close(w, '}');
}

void leat_load_member_write_routes(const struct leat_load_member *m, struct leat_json_writer *w,
                                   const struct leat_load_member *publishers)
{
    leat_json_write_key(w, "routes");
    leat_json_open(w, '[');
    for (size_t i = 0; i < m->count; i++) {
        const struct leat_load_stream *s = &m->streams[i];
        leat_json_open(w, '{');
        write_end(w, "to", m->id, s->mid);
        write_end(w, "from", publishers[s->from->publisher].id, s->from->mid);
        leat_json_close(w, '}');
    }
    leat_json_close(w, ']');
}

/* ---- results ---- */

static bool copy_text(const leat_json *j, char *out, size_t cap)
{
    struct leat_span text;
    return leat_json_string(j, &text) && leat_text_copy(out, cap, text);
}

static bool is_own(const struct leat_addr *addr, const struct leat_addr *own, size_t own_count)
{
    for (size_t i = 0; i < own_count; i++) {
        struct leat_addr ip = own[i];
        ip.port = addr->port;
        if (leat_addr_equal(&ip, addr)) {
            return true;
        }
    }
    return leat_addr_is_loopback(addr);
}

/** The best candidate that is this machine: loopback, else one of our own. */
static bool choose_candidate(const leat_json *candidates, const struct leat_addr *own,
                             size_t own_count, struct leat_addr *out)
{
    bool is_found = false;
    for (const leat_json *c = leat_json_first(candidates); c != NULL; c = leat_json_next(c)) {
        char ip[LEAT_ADDR_TEXT_MAX];
        int64_t port = 0;
        struct leat_addr addr;
        if (!copy_text(leat_json_get(c, "address"), ip, sizeof ip) ||
            !leat_json_int(leat_json_get(c, "port"), &port) || port < 1 || port > UINT16_MAX ||
            leat_addr_parse(&addr, ip, (uint16_t)port) != 0 || !is_own(&addr, own, own_count)) {
            continue;
        }
        if (!is_found || (leat_addr_is_loopback(&addr) && !leat_addr_is_loopback(out))) {
            *out = addr;
            is_found = true;
        }
    }
    return is_found;
}

/** The SSRCs of a subscriber's streams. */
static bool read_senders(struct leat_load_member *m, const leat_json *senders)
{
    size_t found = 0;
    for (const leat_json *e = leat_json_first(senders); e != NULL; e = leat_json_next(e)) {
        struct leat_span mid;
        int64_t ssrc = 0;
        if (!leat_json_string(leat_json_get(e, "mid"), &mid) ||
            !leat_json_int(leat_json_get(e, "ssrc"), &ssrc) || ssrc < 1 || ssrc > UINT32_MAX) {
            return false;
        }
        for (size_t i = 0; i < m->count; i++) {
            if (m->ssrcs[i] == 0 && leat_span_equal(mid, leat_span_str(m->streams[i].mid))) {
                m->ssrcs[i] = m->streams[i].ssrc = (uint32_t)ssrc;
                found++;
            }
        }
    }
    return found == m->count;
}

int leat_load_member_read_created(struct leat_load_member *m, const leat_json *result,
                                  const struct leat_addr *own, size_t own_count,
                                  struct leat_load_remote *remote, char *why, size_t why_cap)
{
    const leat_json *local = leat_json_get(result, "local");
    const leat_json *ice = leat_json_get(local, "ice");
    struct leat_span fingerprint;
    if (!copy_text(leat_json_get(ice, "ufrag"), remote->ufrag, sizeof remote->ufrag) ||
        !copy_text(leat_json_get(ice, "pwd"), remote->pwd, sizeof remote->pwd) ||
        !leat_json_string(leat_json_get(local, "fingerprint"), &fingerprint) ||
        !leat_dtls_fingerprint_parse(fingerprint, remote->fingerprint)) {
        (void)snprintf(why, why_cap, "peer.create answered without ICE or fingerprint");
        return LEAT_E_INVALID;
    }
    if (!choose_candidate(leat_json_get(local, "candidates"), own, own_count, &remote->addr)) {
        (void)snprintf(
            why, why_cap,
            "leatd announces no address of this machine, and leatload sends to no other");
        return LEAT_E_INVALID;
    }
    if (!m->is_publisher && !read_senders(m, leat_json_get(result, "senders"))) {
        (void)snprintf(why, why_cap, "peer.create does not name a sender for every section");
        return LEAT_E_INVALID;
    }
    return 0;
}
