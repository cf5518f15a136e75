/* SPDX-License-Identifier: MIT */
/**
 * @file  The SSRCs that one peer is sent, and which packet indexes each has used: no index twice
 * (RFC 3711 9.1, RFC 7714 8.4).
 */
#ifndef LEAT_SRTP_OUTGOING_H
#define LEAT_SRTP_OUTGOING_H

#include <leat/srtp.h>

struct leat__srtp_outgoing {
    uint64_t index; /**< the highest one used, when has_rtp */
    uint32_t ssrc;
    uint32_t rtcp_index; /**< the last one used; the first is 1 */
    bool is_taken;       /**< false: an empty slot */
    bool has_rtp;
    /** Which of the LEAT_SRTP_REPLAY_WINDOW indexes up to `index` are used, one bit each at its
     * remainder. */
    uint64_t used[LEAT_SRTP_REPLAY_WINDOW / 64];
};

/** Open addressing by SSRC, at most half full. An SSRC is never removed: what was used under a key
 * stays known as long as the key. */
struct leat__srtp_outgoing_table {
    struct leat__srtp_outgoing *slots;
    size_t capacity; /**< power of two, or 0 */
    size_t count;
};

/** The SSRC's entry, made when it is new. @return NULL when memory ends. Valid until the next
 * call. */
struct leat__srtp_outgoing *leat__srtp_outgoing_get(struct leat__srtp_outgoing_table *t,
                                                    uint32_t ssrc);
/** Ask for the cache line of an entry that will be wanted soon. */
void leat__srtp_outgoing_fetch(const struct leat__srtp_outgoing_table *t, uint32_t ssrc);
void leat__srtp_outgoing_deinit(struct leat__srtp_outgoing_table *t);

/** Use the index that `seq` means. @return false when it was used, when nobody knows any more, or
 * when the key has no index left. */
bool leat__srtp_outgoing_take(struct leat__srtp_outgoing *o, uint16_t seq, uint64_t *index);
/** Use the next SRTCP index. @return false when the key has none left. */
bool leat__srtp_outgoing_take_rtcp(struct leat__srtp_outgoing *o, uint32_t *index);

#endif
