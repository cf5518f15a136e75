/* SPDX-License-Identifier: MIT */
/**
 * @file  Sessions for bench_srtp: ours under a pinned provider, and packaged libsrtp2's, in one
 * process.
 */
#ifndef LEAT_BENCH_SRTP_SESSIONS_H
#define LEAT_BENCH_SRTP_SESSIONS_H

#include <srtp2/srtp.h>

#include <leat/srtp.h>

/** Who does the work of a row. */
struct candidate {
    const char *provider;
    const char *level; /**< pinned CPU level; NULL: the machine's */
    bool is_auto;      /**< whatever the crypto layer chooses; `provider` is just a name */
    bool is_stock;     /**< packaged libsrtp2 */
};

/** `count` peers, each with keys and an SSRC of its own. */
struct sessions {
    const struct candidate *candidate; /**< NULL: there is none here */
    enum leat_srtp_profile profile;
    size_t count;
    bool can_receive;
    struct leat_srtp **ours; /**< stock: the senders whose packets it receives, NULL without */
    srtp_t *stock;           /**< sends, or receives where can_receive is set; NULL for ours */
    uint16_t *seq;           /**< the next of each */
    uint32_t *order;         /**< all of them, shuffled */
    size_t at;               /**< where the next lot goes on */
};

/** SSRC of the peer at index i, the same for each candidate. */
uint32_t bench_ssrc(size_t i);
/** Keys of the peer at index i; it sends and receives under the same, so that it can open its own.
 */
void bench_keys(struct leat_srtp_keys *keys, enum leat_srtp_profile profile, size_t i);

/** Have libsrtp2 use its own types, or ours, for the sessions made from now on. */
bool bench_use_types(bool is_stock);
/** Make `c` the provider of contexts set up from now on and of what takes the present choice. */
bool bench_pin(const struct candidate *c);

/** Make the sessions, each with its first packet behind it so that every key is derived. Whatever
 * `s` held is freed first, unless it is just what is asked for. */
bool bench_sessions_take(struct sessions *s, const struct candidate *c,
                         enum leat_srtp_profile profile, size_t count, bool can_receive);
void bench_sessions_free(struct sessions *s);

/** One stock session as a WebRTC endpoint makes it. */
bool bench_stock_new(srtp_t *out, const struct leat_srtp_keys *keys, bool can_receive);

#endif
