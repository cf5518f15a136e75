/* SPDX-License-Identifier: MIT */
/**
 * @file  Serial arithmetic (RFC 1982) for 16-bit sequence numbers and 32-bit timestamps.
 * @module base
 */
#ifndef LEAT_SEQ_H
#define LEAT_SEQ_H

#include <stdbool.h>
#include <stdint.h>

/** a - b as the signed distance on the circle. */
static inline int16_t leat_seq16_diff(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(a - b);
}

static inline bool leat_seq16_newer(uint16_t a, uint16_t b)
{
    return leat_seq16_diff(a, b) > 0;
}

static inline int32_t leat_seq32_diff(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

/** Extend `seq` to 64 bits next to the highest extended number seen so far. */
static inline uint64_t leat_seq16_extend(uint16_t seq, uint64_t highest)
{
    int64_t v = (int64_t)highest + leat_seq16_diff(seq, (uint16_t)highest);
    return v < 0 ? (uint64_t)seq : (uint64_t)v;
}

#endif
