/* SPDX-License-Identifier: MIT */
/* JSON of peers, tracks, senders, codecs and routes: the one place where their shapes are. */
#include "private.h"

#include <stdio.h>

void leat__control_put_fingerprint(struct leat_json_writer *w,
                                   const struct leat_dtls_identity *identity)
{
    uint8_t fingerprint[LEAT_FINGERPRINT_LEN];
    char text[LEAT_FINGERPRINT_TEXT_MAX];
    leat_dtls_identity_fingerprint(identity, fingerprint);
    leat_json_put_text(w, "fingerprint", leat_dtls_fingerprint_format(fingerprint, text));
}

void leat__control_put_addr(struct leat_json_writer *w, const char *key,
                            const struct leat_addr *addr)
{
    char text[LEAT_ADDR_TEXT_MAX];
    if (key) {
        leat_json_write_key(w, key);
    }
    if (addr->family == LEAT_FAMILY_NONE) {
        leat_json_write_null(w);
        return;
    }
    leat_json_open(w, '{');
    leat_json_put_text(w, "address", leat_addr_format_ip(addr, text));
    leat_json_put_u64(w, "port", addr->port);
    leat_json_close(w, '}');
}

void leat__control_put_candidates(struct leat_json_writer *w, const struct leat_control *c,
                                  unsigned worker)
{
    leat_json_write_key(w, "candidates");
    leat_json_open(w, '[');
    for (size_t i = 0; i < c->info.announce_counts[worker]; i++) {
        leat__control_put_addr(w, NULL, &c->info.announce[worker][i]);
    }
    leat_json_close(w, ']');
}

static void put_codecs(struct leat_json_writer *w, const struct leat_media_desc *media)
{
    leat_json_write_key(w, "codecs");
    leat_json_open(w, '[');
    for (size_t i = 0; i < media->codec_count; i++) {
        const struct leat_codec *codec = &media->codecs[i];
        leat_json_open(w, '{');
        leat_json_put_text(w, "name", leat_codec_text(codec->name));
        leat_json_put_u64(w, "pt", codec->pt);
        leat_json_put_u64(w, "clock", codec->clock_hz);
        if (leat_codec_kind(codec->name) == LEAT_KIND_AUDIO) {
            leat_json_put_u64(w, "channels", codec->channels);
        }
        if (codec->fmtp[0] != '\0') {
            leat_json_put_text(w, "parameters", codec->fmtp);
        }
        leat_json_close(w, '}');
    }
    leat_json_close(w, ']');
}

static void write_track(struct leat_json_writer *w, const struct leat_sdp_agreed *s,
                        enum leat_track_state state)
{
    leat_json_open(w, '{');
    leat_json_put_text(w, "mid", s->mid);
    leat_json_put_text(w, "kind", leat_kind_text(s->kind));
    put_codecs(w, &s->common);
    leat_json_write_key(w, "encodings");
    leat_json_open(w, '[');
    for (size_t i = 0; i < s->common.encoding_count; i++) {
        leat_json_open(w, '{');
        leat_json_put_u64(w, "ssrc", s->common.encodings[i].ssrc);
        leat_json_close(w, '}');
    }
    leat_json_close(w, ']');
    leat_json_put_bool(w, "active", (s->direction & LEAT_DIR_RECVONLY) != 0);
    leat_json_put_text(w, "state", leat_track_state_text(state));
    leat_json_close(w, '}');
}

static void write_sender(struct leat_json_writer *w, const struct leat_sdp_agreed *s)
{
    leat_json_open(w, '{');
    leat_json_put_text(w, "mid", s->mid);
    leat_json_put_text(w, "kind", leat_kind_text(s->kind));
    put_codecs(w, &s->common);
    leat_json_put_u64(w, "ssrc", s->ssrc);
    leat_json_put_text(w, "stream", s->stream);
    leat_json_put_bool(w, "active", (s->direction & LEAT_DIR_SENDONLY) != 0);
    leat_json_close(w, '}');
}

void leat__control_put_media(struct leat_json_writer *w, const struct leat__control_peer *p)
{
    leat_json_write_key(w, "tracks");
    leat_json_open(w, '[');
    for (size_t i = 0; i < p->sdp.section_count; i++) {
        if (leat__control_has_track(&p->sdp.sections[i])) {
            write_track(w, &p->sdp.sections[i], p->sections[i].track_state);
        }
    }
    leat_json_close(w, ']');
    leat_json_write_key(w, "senders");
    leat_json_open(w, '[');
    for (size_t i = 0; i < p->sdp.section_count; i++) {
        if (leat__control_has_sender(&p->sdp.sections[i])) {
            write_sender(w, &p->sdp.sections[i]);
        }
    }
    leat_json_close(w, ']');
}

void leat__control_put_end(struct leat_json_writer *w, const char *key, const char *id,
                           const char *mid)
{
    leat_json_write_key(w, key);
    if (id[0] == '\0') {
        leat_json_write_null(w);
        return;
    }
    leat_json_open(w, '{');
    leat_json_put_text(w, "peer", id);
    leat_json_put_text(w, "mid", mid);
    leat_json_close(w, '}');
}

void leat__control_write_peer(struct leat_json_writer *w, const struct leat_control *c,
                              const struct leat__control_peer *p)
{
    leat_json_open(w, '{');
    leat_json_put_text(w, "id", p->id);
    leat_json_put_text(w, "group", p->group);
    leat_json_write_key(w, "data");
    leat_json_write_raw(w, leat_span_str(p->data ? p->data : "null"));
    leat_json_put_text(w, "kind", "webrtc");
    leat_json_put_u64(w, "worker", p->worker);
    leat_json_put_text(w, "state", leat_peer_state_text(p->state));
    leat_json_put_text(w, "reason", leat_peer_end_text(p->end));
    leat_json_put_u64(w, "created_us", leat__control_since_start(c, p->created_us));
    leat__control_put_media(w, p);
    leat__control_put_addr(w, "remote", &p->remote);
    if (p->state == LEAT_PEER_ENDED) {
        leat_json_write_key(w, "stats");
        leat_json_open(w, '[');
        leat__control_write_stats(w, c, p, p->final_stats, p->final_count, p->ended_us);
        leat_json_close(w, ']');
    }
    leat_json_close(w, '}');
}

void leat__control_write_route(struct leat_json_writer *w, const struct leat__control_peer *p,
                               size_t section)
{
    const struct leat__control_section *s = &p->sections[section];
    const struct leat__control_link *link = leat__control_link_of(s);
    enum leat_route_state state = s->route_state;
    if (link->from == 0) {
        state = LEAT_ROUTE_NONE;
    } else if (state == LEAT_ROUTE_NONE) { /* set, and the worker has not said more yet */
        state = link->is_paused ? LEAT_ROUTE_PAUSED : LEAT_ROUTE_WAITING;
    }
    leat_json_open(w, '{');
    leat__control_put_end(w, "to", p->id, p->sdp.sections[section].mid);
    leat__control_put_end(w, "from", link->from_id, link->from_mid);
    leat_json_put_bool(w, "paused", link->is_paused);
    leat_json_put_text(w, "state", leat_route_state_text(state));
    leat_json_put_text(w, "reason", s->route_reason ? s->route_reason : "");
    leat_json_close(w, '}');
}

void leat__control_write_routes(struct leat_json_writer *w, const struct leat_control *c,
                                const struct leat__control_peer *p,
                                const struct leat__control_filter *filter)
{
    for (size_t i = 0; i < p->sdp.section_count; i++) {
        const struct leat__control_link *link = leat__control_link_of(&p->sections[i]);
        const struct leat__control_peer *from = leat__control_find_handle(c, link->from);
        struct leat__control_subject subject = {p->id, p->group, link->from_id,
                                                from ? from->group : ""};
        if (link->from != 0 && leat__control_has_sender(&p->sdp.sections[i]) &&
            leat__control_filter_passes(filter, "route.state", &subject)) {
            leat__control_write_route(w, p, i);
        }
    }
}
