/* SPDX-License-Identifier: MIT */
/**
 * @file  SRTP and SRTCP of one peer (RFC 3711, 7714) over libsrtp2 with the crypto layer's ciphers
 * inside it.
 * @module srtp
 */
#ifndef LEAT_SRTP_H
#define LEAT_SRTP_H

#include <leat/crypto.h>
#include <leat/profile.h>

#define LEAT_SRTP_TRAILER_MAX 20 /**< octets that protection may add; leave this room */
#define LEAT_SRTP_REPLAY_WINDOW 1024
#define LEAT_SRTP_SSRCS_MAX 64 /**< default limit of incoming SSRCs a peer */

/** Process-wide set-up: libsrtp2's own, then our cipher and auth types with their known answers.
 * Once, before threads start, after leat_crypto_start. @return 0 or LEAT_E_CRYPTO. */
int leat_srtp_start(void);
void leat_srtp_stop(void);
const char *leat_srtp_library_version(void);

enum leat_srtp_verdict {
    LEAT_SRTP_OK,
    LEAT_SRTP_REPLAY, /**< seen before, or older than the window */
    LEAT_SRTP_AUTH_FAIL,
    LEAT_SRTP_MALFORMED,  /**< too short or broken before any crypto */
    LEAT_SRTP_SSRC_LIMIT, /**< a new SSRC over the peer's limit */
    LEAT_SRTP_INDEX_USED, /**< sending: the SSRC's index is used, or too old to know (RFC 3711 9.1)
                           */
    LEAT_SRTP_NO_ROOM,    /**< sending: out is too small */
    LEAT_SRTP_FAILED      /**< the library or a provider failed */
};

struct leat_srtp;

/** @param keys copied; the caller wipes its own
 *  @param ssrc_limit incoming SSRCs, RTP and RTCP together; above 0
 *  @return 0, LEAT_E_NOMEM, LEAT_E_INVALID or LEAT_E_CRYPTO. */
int leat_srtp_new(struct leat_srtp **out, const struct leat_srtp_keys *keys, size_t ssrc_limit);
void leat_srtp_free(struct leat_srtp *s); /**< NULL is fine; wipes */

/**
 * Check and remove SRTP protection, in place.
 *
 * Moves the replay window of the packet's SSRC on LEAT_SRTP_OK and on no other verdict (RFC
 * 3711 3.3). A new SSRC is tried with a roll-over counter of 0, then of 1 (a receiver that joins
 * just past the wrap), and leaves no state unless it authenticates.
 *
 * @param pkt  in: a whole SRTP packet (over 65535 octets is LEAT_SRTP_MALFORMED; over 2048 gets no
 *             second try). Out on LEAT_SRTP_OK: plain RTP. Undefined after any other verdict.
 * @param len  in; out on LEAT_SRTP_OK, else unchanged
 * @param is_new_ssrc  set to whether this packet is the first RTP of its SSRC that authenticated;
 *             may be NULL
 */
enum leat_srtp_verdict leat_srtp_unprotect(struct leat_srtp *s, uint8_t *pkt, size_t *len,
                                           bool *is_new_ssrc);
/** The same for SRTCP; a packet without the E bit is AUTH_FAIL (WebRTC encrypts always). An SSRC
 * that only sends RTCP counts towards the limit. Replay window 128 (libsrtp2's). */
enum leat_srtp_verdict leat_srtp_unprotect_rtcp(struct leat_srtp *s, uint8_t *pkt, size_t *len);

/**
 * Protect one plaintext RTP packet for this peer, out of place.
 *
 * No index twice: the packet's index (its sequence number, extended by what was sent before on its
 * SSRC) must not have been used under these keys. One above the highest by less than 2^15 never
 * was; of those below, the last LEAT_SRTP_REPLAY_WINDOW are known one by one and everything older
 * is refused. Once the packet fits, its index is used, whatever the verdict.
 *
 * @param plain  RTP whose header, CSRCs and extension block lie inside it, else LEAT_SRTP_MALFORMED
 * @param out  >= plain.len + LEAT_SRTP_TRAILER_MAX octets of room; must not overlap plain
 */
enum leat_srtp_verdict leat_srtp_protect(struct leat_srtp *s, struct leat_span plain, uint8_t *out,
                                         size_t cap, size_t *out_len);

#define LEAT_SRTP_BATCH_MAX 64 /**< packets that are protected at once; longer batches are cut */

/** One RTP packet for one receiver. */
struct leat_srtp_job {
    struct leat_srtp *session;
    struct leat_span header;  /**< with CSRCs and extension block; may stand at `out` already */
    struct leat_span payload; /**< the same memory for all receivers of a packet; padding included.
                                   May stand behind the header in `out`, must not overlap it else */
    uint8_t *out;             /**< room for header, payload and LEAT_SRTP_TRAILER_MAX octets */
    size_t cap;
    size_t out_len;                 /**< result, on LEAT_SRTP_OK */
    enum leat_srtp_verdict verdict; /**< result, as that of leat_srtp_protect */
};

/** Protect any number of packets, as leat_srtp_protect in the given order, out of place from their
 * plaintexts. Best in lots of 16. */
void leat_srtp_protect_batch(struct leat_srtp_job *jobs, size_t count);
enum leat_srtp_verdict leat_srtp_protect_rtcp(struct leat_srtp *s, struct leat_span plain,
                                              uint8_t *out, size_t cap, size_t *out_len);
enum leat_srtp_profile leat_srtp_profile_of(const struct leat_srtp *s);

#endif
