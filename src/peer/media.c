/* SPDX-License-Identifier: MIT */
/*
 * The media half of a peer: opening what comes in and protecting what goes out. Only packets from a
 * valid tuple are opened, only after the keys are in place, and only an authentic one counts as
 * traffic of the tuple (RFC 3711 3.3). Nothing is sent before the remote's certificate was checked,
 * because there are no keys before.
 */
#include "private.h"

static void count_received(struct leat_peer_counters *c, enum leat_srtp_verdict verdict)
{
    switch (verdict) {
    case LEAT_SRTP_OK:
        break;
    case LEAT_SRTP_REPLAY:
        c->srtp_replay++;
        break;
    case LEAT_SRTP_AUTH_FAIL:
    case LEAT_SRTP_FAILED:
        c->srtp_auth_fail++;
        break;
    case LEAT_SRTP_MALFORMED:
        c->srtp_malformed++;
        break;
    case LEAT_SRTP_SSRC_LIMIT:
        c->srtp_ssrc_limit++;
        break;
    case LEAT_SRTP_INDEX_USED:
    case LEAT_SRTP_NO_ROOM:
        break; /* verdicts of sending */
    }
}

static void note_media(struct leat_peer *p, uint64_t now_us)
{
    if (p->times.media_us == 0) {
        p->times.media_us = now_us;
    }
}

enum leat_srtp_verdict leat_peer_unprotect(struct leat_peer *p, uint8_t *pkt, size_t *len,
                                           const struct leat_tuple *tuple, uint64_t now_us,
                                           bool is_rtcp)
{
    p->counters.datagrams_in++;
    p->counters.octets_in += *len;
    if (p->srtp == NULL || p->state == LEAT_PEER_ENDED ||
        !leat_ice_is_valid_tuple(&p->ice, tuple)) {
        p->counters.srtp_early++;
        return LEAT_SRTP_FAILED;
    }
    enum leat_srtp_verdict verdict = is_rtcp ? leat_srtp_unprotect_rtcp(p->srtp, pkt, len)
                                             : leat_srtp_unprotect(p->srtp, pkt, len, NULL);
    count_received(&p->counters, verdict);
    if (verdict == LEAT_SRTP_OK) {
        if (p->media_us == 0) {
            leat_dtls_settled(p->dtls);
        }
        p->media_tuple = *tuple;
        p->media_us = now_us;
        if (!is_rtcp) {
            note_media(p, now_us);
        }
    }
    return verdict;
}

/* Where media to the peer goes; NULL when nothing may be sent, which is counted. */
static const struct leat_tuple *destination(struct leat_peer *p)
{
    const struct leat_tuple *to = leat_ice_selected(&p->ice);
    if (p->srtp == NULL || p->state == LEAT_PEER_ENDED || to == NULL) {
        p->counters.send_no_tuple++;
        return NULL;
    }
    return to;
}

static uint8_t *room_for(struct leat_peer *p, size_t len, struct leat_sink *out)
{
    uint8_t *room = out->reserve(out, len + LEAT_SRTP_TRAILER_MAX);
    if (room == NULL) {
        p->counters.send_sink_full++;
    }
    return room;
}

static void count_sent(struct leat_peer *p, enum leat_srtp_verdict verdict, size_t len)
{
    if (verdict == LEAT_SRTP_OK) {
        p->counters.datagrams_out++;
        p->counters.octets_out += len;
    } else if (verdict == LEAT_SRTP_INDEX_USED) {
        p->counters.send_index_used++;
    } else {
        p->counters.send_failed++;
    }
}

uint8_t *leat_peer_batch_room(struct leat_peer_batch *b, struct leat_peer *p, size_t len,
                              struct leat_sink *out)
{
    uint8_t *room = destination(p) != NULL ? room_for(p, len, out) : NULL;
    if (room != NULL) {
        b->peers[b->count] = p;
        b->jobs[b->count].session = p->srtp;
        b->jobs[b->count].out = room;
        b->jobs[b->count].cap = len + LEAT_SRTP_TRAILER_MAX;
    }
    return room;
}

void leat_peer_batch_add(struct leat_peer_batch *b, size_t header_len, struct leat_span payload)
{
    struct leat_srtp_job *j = &b->jobs[b->count++];
    j->header = leat_span(j->out, header_len);
    j->payload = payload;
}

void leat_peer_batch_send(struct leat_peer_batch *b, uint64_t now_us, struct leat_sink *out)
{
    leat_srtp_protect_batch(b->jobs, b->count);
    for (size_t i = 0; i < b->count; i++) {
        const struct leat_srtp_job *j = &b->jobs[i];
        if (j->verdict == LEAT_SRTP_OK) {
            out->commit_room(out, j->out, j->out_len, leat_ice_selected(&b->peers[i]->ice));
            note_media(b->peers[i], now_us);
        }
        count_sent(b->peers[i], j->verdict, j->out_len);
    }
}

enum leat_srtp_verdict leat_peer_send_rtcp(struct leat_peer *p, struct leat_span plain,
                                           struct leat_sink *out)
{
    const struct leat_tuple *to = destination(p);
    if (to == NULL) {
        return LEAT_SRTP_FAILED;
    }
    uint8_t *room = room_for(p, plain.len, out);
    if (room == NULL) {
        return LEAT_SRTP_NO_ROOM;
    }
    size_t len = 0;
    enum leat_srtp_verdict verdict =
        leat_srtp_protect_rtcp(p->srtp, plain, room, plain.len + LEAT_SRTP_TRAILER_MAX, &len);
    if (verdict == LEAT_SRTP_OK) {
        out->commit(out, len, to);
    }
    count_sent(p, verdict, len);
    return verdict;
}
