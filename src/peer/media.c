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
        p->media_tuple = *tuple;
        p->media_us = now_us;
    }
    return verdict;
}

static enum leat_srtp_verdict send_protected(struct leat_peer *p, struct leat_span plain,
                                             struct leat_sink *out, bool is_rtcp)
{
    const struct leat_tuple *to = leat_ice_selected(&p->ice);
    if (p->srtp == NULL || p->state == LEAT_PEER_ENDED || to == NULL) {
        p->counters.send_no_tuple++;
        return LEAT_SRTP_FAILED;
    }
    size_t cap = plain.len + LEAT_SRTP_TRAILER_MAX;
    uint8_t *room = out->reserve(out, cap);
    if (room == NULL) {
        p->counters.send_sink_full++;
        return LEAT_SRTP_NO_ROOM;
    }
    size_t len = 0;
    enum leat_srtp_verdict verdict = is_rtcp
                                         ? leat_srtp_protect_rtcp(p->srtp, plain, room, cap, &len)
                                         : leat_srtp_protect(p->srtp, plain, room, cap, &len);
    if (verdict != LEAT_SRTP_OK) {
        if (verdict == LEAT_SRTP_INDEX_USED) {
            p->counters.send_index_used++;
        } else {
            p->counters.send_failed++;
        }
        return verdict;
    }
    out->commit(out, len, to);
    p->counters.datagrams_out++;
    p->counters.octets_out += len;
    return LEAT_SRTP_OK;
}

enum leat_srtp_verdict leat_peer_send_rtp(struct leat_peer *p, struct leat_span plain,
                                          struct leat_sink *out)
{
    return send_protected(p, plain, out, false);
}

enum leat_srtp_verdict leat_peer_send_rtcp(struct leat_peer *p, struct leat_span plain,
                                           struct leat_sink *out)
{
    return send_protected(p, plain, out, true);
}
