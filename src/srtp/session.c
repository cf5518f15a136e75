/* SPDX-License-Identifier: MIT */
/*
 * SRTP and SRTCP of one peer.
 *
 *
 * Receiving is a table of streams, each a libsrtp2 session of one SSRC. libsrtp2 derives the keys
 * and does framing, indexes and replay windows; what stands here is what it leaves open. Shape,
 * lengths and the E bit are checked before libsrtp2 sees a packet. An SSRC becomes known with its
 * first packet that authenticates, RTP or RTCP (a subscriber that never sends RTP still sends
 * reports), up to the limit; a packet that fails leaves no state. The first RTP packet of an SSRC
 * is tried with a roll-over counter of 0 and then of 1: a receiver that lost the packets before the
 * wrap would else reject the stream for ever (RFC 3711 3.3.1). The second try has its own copy,
 * because GCM overwrites what it could not authenticate.
 *
 * Sending is ours: fanout.c.
 */
#include <leat/srtp.h>

#include <assert.h>
#include <stdlib.h>

#include "glue.h"
#include "packet.h"
#include "session.h"

#define RETRY_MAX 2048 /* longer packets get one try; media does not come in such sizes */

int leat_srtp_start(void)
{
    if (srtp_init() != srtp_err_status_ok) {
        return LEAT_E_CRYPTO;
    }
    if (leat__srtp_glue_install() != srtp_err_status_ok) {
        srtp_shutdown();
        return LEAT_E_CRYPTO;
    }
    return 0;
}

void leat_srtp_stop(void)
{
    srtp_shutdown();
}

const char *leat_srtp_library_version(void)
{
    return srtp_get_version_string();
}

int leat_srtp_new(struct leat_srtp **out, const struct leat_srtp_keys *keys, size_t ssrc_limit)
{
    *out = NULL;
    if (leat_srtp_profile_key_len(keys->profile) == 0 || ssrc_limit == 0) {
        return LEAT_E_INVALID;
    }
    size_t size = sizeof(struct leat_srtp) + leat__srtp_fanout_memory(keys->profile);
    struct leat_srtp *s = aligned_alloc(_Alignof(struct leat_srtp), size);
    if (s == NULL) {
        return LEAT_E_NOMEM;
    }
    memset(s, 0, size);
    s->profile = keys->profile;
    s->receive_master = keys->receive;
    s->ssrc_limit = ssrc_limit;
    int error = leat__srtp_fanout_init(&s->send, keys->profile, &keys->send, s->memory);
    if (error != 0) {
        leat_srtp_free(s);
        return error;
    }
    *out = s;
    return 0;
}

void leat_srtp_free(struct leat_srtp *s)
{
    if (s == NULL) {
        return;
    }
    leat__srtp_table_deinit(&s->receive);
    leat__srtp_fanout_deinit(&s->send);
    leat_wipe(s, sizeof(*s));
    free(s);
}

enum leat_srtp_profile leat_srtp_profile_of(const struct leat_srtp *s)
{
    return s->profile;
}

static enum leat_srtp_verdict verdict_of(srtp_err_status_t status)
{
    switch ((int)status) {
    case srtp_err_status_ok:
        return LEAT_SRTP_OK;
    case srtp_err_status_replay_fail:
    case srtp_err_status_replay_old:
    case srtp_err_status_pkt_idx_old:
        return LEAT_SRTP_REPLAY;
    case srtp_err_status_auth_fail:
    case srtp_err_status_cant_check:
        return LEAT_SRTP_AUTH_FAIL;
    case srtp_err_status_bad_param:
    case srtp_err_status_parse_err:
        return LEAT_SRTP_MALFORMED;
    default:
        return LEAT_SRTP_FAILED;
    }
}

/* ---- receiving ---- */

typedef srtp_err_status_t (*library_call)(srtp_t session, void *packet, int *len);

/* *len changes on LEAT_SRTP_OK only. */
static enum leat_srtp_verdict run(library_call call, srtp_t session, uint8_t *pkt, size_t *len)
{
    int octets = (int)*len;
    enum leat_srtp_verdict verdict = verdict_of(call(session, pkt, &octets));
    if (verdict == LEAT_SRTP_OK) {
        *len = (size_t)octets;
    }
    return verdict;
}

static enum leat_srtp_verdict unprotect_first_rtp(struct leat__srtp_stream *stream, uint8_t *pkt,
                                                  size_t *len)
{
    uint8_t copy[RETRY_MAX];
    bool may_retry = *len <= sizeof(copy);
    if (may_retry) {
        memcpy(copy, pkt, *len);
    }
    enum leat_srtp_verdict verdict = run(srtp_unprotect, stream->session, pkt, len);
    if (verdict != LEAT_SRTP_AUTH_FAIL || !may_retry) {
        return verdict;
    }
    memcpy(pkt, copy, *len);
    srtp_set_stream_roc(stream->session, stream->ssrc, 1);
    verdict = run(srtp_unprotect, stream->session, pkt, len);
    if (verdict != LEAT_SRTP_OK) {
        srtp_set_stream_roc(stream->session, stream->ssrc, 0);
    }
    return verdict;
}

/* A packet of an SSRC that nothing was received from: its stream stays when the packet
 * authenticates. */
static enum leat_srtp_verdict unprotect_unknown(struct leat_srtp *s, uint32_t ssrc,
                                                bool is_rtp_packet, uint8_t *pkt, size_t *len)
{
    if (s->receive.count >= s->ssrc_limit) {
        return LEAT_SRTP_SSRC_LIMIT;
    }
    struct leat__srtp_stream stream;
    if (leat__srtp_table_reserve(&s->receive) != 0 ||
        leat__srtp_stream_open(&stream, s->profile, &s->receive_master, ssrc,
                               LEAT_SRTP_REPLAY_WINDOW) != 0) {
        return LEAT_SRTP_FAILED;
    }
    enum leat_srtp_verdict verdict = is_rtp_packet
                                         ? unprotect_first_rtp(&stream, pkt, len)
                                         : run(srtp_unprotect_rtcp, stream.session, pkt, len);
    if (verdict == LEAT_SRTP_OK) {
        stream.has_rtp = is_rtp_packet;
        leat__srtp_table_add(&s->receive, &stream);
    } else {
        leat__srtp_stream_close(&stream);
    }
    return verdict;
}

enum leat_srtp_verdict leat_srtp_unprotect(struct leat_srtp *s, uint8_t *pkt, size_t *len,
                                           bool *is_new_ssrc)
{
    if (is_new_ssrc != NULL) {
        *is_new_ssrc = false;
    }
    size_t tag_len = s->send.rtp_tag_len;
    if (*len < tag_len || *len > LEAT__SRTP_PACKET_MAX ||
        leat__srtp_rtp_header_len(leat_span(pkt, *len - tag_len)) == 0) {
        return LEAT_SRTP_MALFORMED;
    }
    uint32_t ssrc = leat_get_u32(pkt + 8);
    struct leat__srtp_stream *stream = leat__srtp_table_get(&s->receive, ssrc);
    if (stream != NULL && stream->has_rtp) {
        return run(srtp_unprotect, stream->session, pkt, len);
    }
    enum leat_srtp_verdict verdict = stream != NULL ? unprotect_first_rtp(stream, pkt, len)
                                                    : unprotect_unknown(s, ssrc, true, pkt, len);
    if (verdict == LEAT_SRTP_OK) {
        if (stream != NULL) {
            stream->has_rtp = true;
        }
        if (is_new_ssrc != NULL) {
            *is_new_ssrc = true;
        }
    }
    return verdict;
}

enum leat_srtp_verdict leat_srtp_unprotect_rtcp(struct leat_srtp *s, uint8_t *pkt, size_t *len)
{
    size_t added = LEAT__SRTP_RTCP_TRAILER_LEN + s->send.rtcp_tag_len;
    if (*len < added || *len > LEAT__SRTP_PACKET_MAX ||
        !leat__srtp_is_rtcp(leat_span(pkt, *len - added))) {
        return LEAT_SRTP_MALFORMED;
    }
    /* The trailer word stands before the tag (RFC 3711 3.4), in AEAD profiles behind it (RFC
     * 7714 9.3). */
    size_t trailer_at = s->send.is_aead ? *len - LEAT__SRTP_RTCP_TRAILER_LEN : *len - added;
    if ((leat_get_u32(pkt + trailer_at) & LEAT__SRTP_E_BIT) == 0) {
        return LEAT_SRTP_AUTH_FAIL;
    }
    uint32_t ssrc = leat_get_u32(pkt + 4);
    struct leat__srtp_stream *stream = leat__srtp_table_get(&s->receive, ssrc);
    if (stream != NULL) {
        return run(srtp_unprotect_rtcp, stream->session, pkt, len);
    }
    return unprotect_unknown(s, ssrc, false, pkt, len);
}
