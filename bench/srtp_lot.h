/* SPDX-License-Identifier: MIT */
/**
 * @file  What bench_srtp times: lots of packets, made ready before and worked on within a timing.
 */
#ifndef LEAT_BENCH_SRTP_LOT_H
#define LEAT_BENCH_SRTP_LOT_H

#include "srtp_sessions.h"

#define LOT_HEADER_LEN 12

struct suite {
    const char *name;
    enum leat_srtp_profile profile;
    bool is_main; /**< crossed in full */
};

enum op { PROTECT, PROTECT_SINGLE, PROTECT_RTCP, UNPROTECT, SET_UP };

/** What a row measures, without its candidate: what the rows of a group have in common. */
struct point {
    enum op op;
    const struct suite *suite;
    unsigned octets, batch, sessions;
    bool is_cold;
};

/** Once, before any other call. */
void lot_init(void);
/** How many packets, or set-ups, one timing covers. */
size_t lot_len(const struct point *p);
/** Make all that a caller would have at hand, and the caches cold where the point says so. */
void lot_prepare(const struct point *p, struct sessions *s, size_t n);
/** What is timed. @return how many are known to have failed */
size_t lot_work(const struct point *p, struct sessions *s, size_t n);
/** After the timing. @return how many of ours failed */
size_t lot_failed(const struct sessions *s, size_t n);

#endif
