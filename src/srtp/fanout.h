/* SPDX-License-Identifier: MIT */
/**
 * @file  Sending: SRTP and SRTCP framing of our own (RFC 3711 3, RFC 7714 8 and 9), in batches over
 * many receivers.
 */
#ifndef LEAT_SRTP_FANOUT_H
#define LEAT_SRTP_FANOUT_H

#include "outgoing.h"

/** What protects one kind of packet, RTP or RTCP, for one receiver. */
struct leat__srtp_seal {
    union {
        struct leat_aes *aes; /**< CM */
        struct leat_gcm *gcm; /**< AEAD */
    };
    /** The salt and zeros as a 128-bit number in network order. */
    uint64_t salt_high, salt_low;
    struct leat_hmac_sha1 hmac; /**< CM */
};

/** The sending half of a peer's session. What a packet needs stands first: two cache lines. */
struct leat__srtp_fanout {
    _Alignas(64) struct leat__srtp_outgoing_table outgoing;
    bool is_aead;
    uint8_t rtp_tag_len, rtcp_tag_len;
    struct leat__srtp_seal rtp, rtcp;
};

/** What leat__srtp_fanout_init needs for the profile's keys, in whole cache lines. */
size_t leat__srtp_fanout_memory(enum leat_srtp_profile profile);
/** @param memory  cleared, begins a cache line, lives as long as f: best behind f, so that both are
 *                 in one page
 *  @return 0 or LEAT_E_CRYPTO; nothing to take down on the latter. */
int leat__srtp_fanout_init(struct leat__srtp_fanout *f, enum leat_srtp_profile profile,
                           const struct leat_srtp_master *master, uint8_t *memory);
/** Wipes. Fine after a failed init and on zeroed memory. */
void leat__srtp_fanout_deinit(struct leat__srtp_fanout *f);

#endif
