/* SPDX-License-Identifier: MIT */
/**
 * @file  Log-linear histogram of unsigned values (microseconds, octets): 16 steps an octave, error
 * <= 1/16.
 * @module base
 */
#ifndef LEAT_HIST_H
#define LEAT_HIST_H

#include <leat/bytes.h>

#define LEAT_HIST_BUCKETS (16 + 16 * 44)

struct leat_hist {
    uint64_t count, sum, max;
    uint32_t buckets[LEAT_HIST_BUCKETS];
};

void leat_hist_init(struct leat_hist *h);
/** Values of 2^48 and above count as 2^48 - 1; a bucket stops at 2^32 - 1. */
void leat_hist_add(struct leat_hist *h, uint64_t value);
/** @param permille 0..1000. @return the upper bound of the bucket that holds that rank, at most
 * `max`; 0 when empty. */
uint64_t leat_hist_quantile(const struct leat_hist *h, unsigned permille);
void leat_hist_merge(struct leat_hist *into, const struct leat_hist *from);

#endif
