/* SPDX-License-Identifier: MIT */
/*
 * Values under 16 have a bucket each. Above, an octave [2^e, 2^(e+1)) is cut into 16 equal steps,
 * so a bucket is at most 1/16 of its lower bound wide.
 */
#include <leat/hist.h>

#define STEP_BITS 4
#define STEPS (1u << STEP_BITS)
#define VALUE_MAX ((UINT64_C(1) << 48) - 1)

static unsigned bucket_of(uint64_t value)
{
    if (value < STEPS) {
        return (unsigned)value;
    }
    unsigned shift = 63 - (unsigned)__builtin_clzll(value) - STEP_BITS;
    return (shift + 1) * STEPS + (unsigned)(value >> shift) - STEPS;
}

/** The largest value that falls into the bucket. */
static uint64_t bucket_upper(unsigned bucket)
{
    if (bucket < STEPS) {
        return bucket;
    }
    unsigned shift = bucket / STEPS - 1;
    uint64_t lower = (uint64_t)(STEPS + bucket % STEPS) << shift;
    return lower + (UINT64_C(1) << shift) - 1;
}

static void add_saturating(uint32_t *bucket, uint32_t n)
{
    *bucket = n > UINT32_MAX - *bucket ? UINT32_MAX : *bucket + n;
}

void leat_hist_init(struct leat_hist *h)
{
    memset(h, 0, sizeof(*h));
}

void leat_hist_add(struct leat_hist *h, uint64_t value)
{
    value = value > VALUE_MAX ? VALUE_MAX : value;
    add_saturating(&h->buckets[bucket_of(value)], 1);
    h->count++;
    h->sum += value;
    h->max = value > h->max ? value : h->max;
}

uint64_t leat_hist_quantile(const struct leat_hist *h, unsigned permille)
{
    if (h->count == 0) {
        return 0;
    }
    /* The rank of the smallest value that at least permille/1000 of all values do not exceed. */
    uint64_t rank = h->count / 1000 * permille + (h->count % 1000 * permille + 999) / 1000;
    rank = rank == 0 ? 1 : rank;
    uint64_t seen = 0;
    for (unsigned i = 0; i < LEAT_HIST_BUCKETS; i++) {
        seen += h->buckets[i];
        if (seen >= rank) {
            uint64_t upper = bucket_upper(i);
            return upper < h->max ? upper : h->max;
        }
    }
    return h->max;
}

void leat_hist_merge(struct leat_hist *into, const struct leat_hist *from)
{
    for (unsigned i = 0; i < LEAT_HIST_BUCKETS; i++) {
        add_saturating(&into->buckets[i], from->buckets[i]);
    }
    into->count += from->count;
    into->sum += from->sum;
    into->max = from->max > into->max ? from->max : into->max;
}
