/* SPDX-License-Identifier: MIT */
#include <leat/hist.h>

#include "harness.h"

static struct leat_hist hist, other;

/** The value's bucket bounds it from above by at most 1/16; the larger second value keeps `max` out
 * of it. */
static void check_bound(uint64_t value)
{
    leat_hist_init(&hist);
    leat_hist_add(&hist, value);
    leat_hist_add(&hist, UINT64_MAX);
    uint64_t upper = leat_hist_quantile(&hist, 500);
    LEAT_CHECK_ROW(value, upper >= value);
    LEAT_CHECK_ROW(value, upper - value <= value / 16);
}

static void hist__any_value__is_bounded_by_a_sixteenth(void)
{
    for (uint64_t v = 0; v < 5000; v++) {
        check_bound(v);
    }
    for (unsigned bit = 12; bit < 48; bit++) {
        uint64_t power = UINT64_C(1) << bit;
        check_bound(power - 1);
        check_bound(power);
        check_bound(power + 1);
        check_bound(power + power / 3);
    }
}

static void hist__values_under_32__are_exact(void)
{
    for (uint64_t v = 0; v < 32; v++) {
        leat_hist_init(&hist);
        leat_hist_add(&hist, v);
        leat_hist_add(&hist, 1000);
        LEAT_CHECK_ROW(v, leat_hist_quantile(&hist, 500) == v);
    }
}

static void hist__empty__is_zero(void)
{
    leat_hist_init(&hist);
    LEAT_CHECK_INT(leat_hist_quantile(&hist, 0), 0);
    LEAT_CHECK_INT(leat_hist_quantile(&hist, 1000), 0);
}

static void hist__too_large__counts_as_the_limit(void)
{
    leat_hist_init(&hist);
    leat_hist_add(&hist, UINT64_C(1) << 48);
    leat_hist_add(&hist, UINT64_MAX);
    LEAT_CHECK(leat_hist_quantile(&hist, 1000) == (UINT64_C(1) << 48) - 1);
    LEAT_CHECK(hist.sum == 2 * ((UINT64_C(1) << 48) - 1));
    LEAT_CHECK_INT(hist.buckets[LEAT_HIST_BUCKETS - 1], 2);
}

static void quantile__one_to_hundred__ranks(void)
{
    static const struct {
        unsigned permille;
        uint64_t exact;
    } rows[] = {{0, 1},    {1, 1},    {10, 1},    {11, 2},    {500, 50},
                {501, 51}, {990, 99}, {999, 100}, {1000, 100}};
    leat_hist_init(&hist);
    for (uint64_t v = 1; v <= 100; v++) {
        leat_hist_add(&hist, v);
    }
    LEAT_CHECK_INT(hist.count, 100);
    LEAT_CHECK_INT(hist.sum, 5050);
    LEAT_CHECK_INT(hist.max, 100);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        uint64_t q = leat_hist_quantile(&hist, rows[i].permille);
        LEAT_CHECK_ROW(i, q >= rows[i].exact && q - rows[i].exact <= rows[i].exact / 16);
    }
    LEAT_CHECK_INT(leat_hist_quantile(&hist, 1000), 100); /* not the bucket's 103 */
}

static void merge__two_halves__are_the_whole(void)
{
    struct leat_hist *whole = &hist;
    static struct leat_hist odd;
    leat_hist_init(whole);
    leat_hist_init(&other);
    leat_hist_init(&odd);
    for (uint64_t v = 0; v < 10000; v += 7) {
        leat_hist_add(whole, v);
        leat_hist_add(v % 2 ? &odd : &other, v);
    }
    leat_hist_merge(&other, &odd);
    LEAT_CHECK(memcmp(whole, &other, sizeof(other)) == 0);
}

static void merge__full_bucket__stops_at_its_limit(void)
{
    leat_hist_init(&hist);
    leat_hist_init(&other);
    hist.buckets[3] = UINT32_MAX - 1;
    other.buckets[3] = 5;
    leat_hist_merge(&hist, &other);
    LEAT_CHECK(hist.buckets[3] == UINT32_MAX);
    leat_hist_add(&hist, 3);
    LEAT_CHECK(hist.buckets[3] == UINT32_MAX);
}

LEAT_TESTS(LEAT_TEST(hist__any_value__is_bounded_by_a_sixteenth),
           LEAT_TEST(hist__values_under_32__are_exact), LEAT_TEST(hist__empty__is_zero),
           LEAT_TEST(hist__too_large__counts_as_the_limit),
           LEAT_TEST(quantile__one_to_hundred__ranks), LEAT_TEST(merge__two_halves__are_the_whole),
           LEAT_TEST(merge__full_bucket__stops_at_its_limit))
