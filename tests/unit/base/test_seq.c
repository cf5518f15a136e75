/* SPDX-License-Identifier: MIT */
#include <leat/bytes.h>
#include <leat/seq.h>

#include "harness.h"

static void seq16__pairs__compare_on_the_circle(void)
{
    static const struct {
        uint16_t a, b;
        int diff;
        bool newer;
    } rows[] = {
        {1, 0, 1, true},
        {0, 1, -1, false},
        {7, 7, 0, false},
        {0, 0xffff, 1, true},
        {0xffff, 0, -1, false},
        {0x7fff, 0, 0x7fff, true},
        {0x8001, 0, -0x7fff, false},
        {0x8000, 0, -0x8000, false},
        {0, 0x8000, -0x8000, false},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        LEAT_CHECK_ROW(i, leat_seq16_diff(rows[i].a, rows[i].b) == rows[i].diff);
        LEAT_CHECK_ROW(i, leat_seq16_newer(rows[i].a, rows[i].b) == rows[i].newer);
    }
}

static void seq32__over_the_wrap__signed_distance(void)
{
    LEAT_CHECK_INT(leat_seq32_diff(5, 0xfffffffb), 10);
    LEAT_CHECK_INT(leat_seq32_diff(0xfffffffb, 5), -10);
    LEAT_CHECK_INT(leat_seq32_diff(0x7fffffff, 0), INT32_MAX);
}

static void seq16_extend__around_wraps__nearest_number(void)
{
    static const struct {
        uint16_t seq;
        uint64_t highest, expected;
    } rows[] = {
        {1, 0, 1},
        {0xffff, 0, 0xffff}, /* nothing lies before zero */
        {0, 0xffff, 0x10000},
        {0xffff, 0x10000, 0xffff},
        {5, 0x1fffe, 0x20005},
        {0xfffe, 0x20005, 0x1fffe},
        {0x7fff, 0x30000, 0x37fff},
        {0x8001, 0x30000, 0x28001},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        LEAT_CHECK_ROW(i, leat_seq16_extend(rows[i].seq, rows[i].highest) == rows[i].expected);
    }
}

LEAT_TESTS(LEAT_TEST(seq16__pairs__compare_on_the_circle),
           LEAT_TEST(seq32__over_the_wrap__signed_distance),
           LEAT_TEST(seq16_extend__around_wraps__nearest_number))
