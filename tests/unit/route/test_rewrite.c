/* SPDX-License-Identifier: MIT */
/* Numbers stay continuous for the receiver: inside a source, across sources, across restarts and
 * over the wrap. */
#include <leat/route.h>

#include "harness.h"

struct packet {
    bool is_new_source;
    uint16_t seq;
    uint32_t ts;
    uint64_t at_us;
    bool is_late;
    uint16_t out_seq;
    uint32_t out_ts;
};

static void run(const struct packet *packets, size_t count)
{
    struct leat_rewriter r;
    leat_rewriter_init(&r, 90000, 2000, 500);
    for (size_t i = 0; i < count; i++) {
        const struct packet *p = &packets[i];
        uint16_t seq = 0;
        uint32_t ts = 0;
        if (p->is_new_source) {
            leat_rewriter_new_source(&r);
        }
        enum leat_rewrite_verdict v = leat_rewriter_map(&r, p->seq, p->ts, p->at_us, &seq, &ts);
        LEAT_CHECK_ROW(i, (v == LEAT_REWRITE_LATE) == p->is_late);
        LEAT_CHECK_ROW(i, p->is_late || seq == p->out_seq);
        LEAT_CHECK_ROW(i, p->is_late || ts == p->out_ts);
    }
}

static void rewriter__one_source__keeps_gaps_and_order(void)
{
    static const struct packet packets[] = {
        {false, 100, 9000, 1000, false, 2000, 500},   {false, 101, 12000, 2000, false, 2001, 3500},
        {false, 104, 15000, 3000, false, 2004, 6500}, /* 102, 103 are missing: the receiver sees
                                                         that */
        {false, 103, 15000, 4000, false, 2003, 6500}, /* late, but inside this source */
        {false, 105, 18000, 5000, false, 2005, 9500},
    };
    run(packets, LEAT_ARRAY_LEN(packets));
}

static void rewriter__source_wraps__goes_on(void)
{
    static const struct packet packets[] = {
        {false, 65534, UINT32_MAX - 1000, 0, false, 2000, 500},
        {false, 65535, UINT32_MAX, 1000, false, 2001, 1500},
        {false, 1, 1999, 2000, false, 2003, 3500},
        {false, 0, 999, 3000, false, 2002, 2500},
    };
    run(packets, LEAT_ARRAY_LEN(packets));
}

static void rewriter__new_source__takes_next_number_and_time_that_passed(void)
{
    static const struct packet packets[] = {
        {false, 100, 9000, 1000000, false, 2000, 500},
        {true, 40000, 77, 1500000, false, 2001, 500 + 45000}, /* half a second at 90 kHz */
        {false, 40001, 3077, 1533000, false, 2002, 500 + 48000},
        {false, 39999, 0, 1534000, true, 0, 0}, /* from before the switch: its number is taken */
    };
    run(packets, LEAT_ARRAY_LEN(packets));
}

static void rewriter__source_restarts_on_its_ssrc__stays_continuous(void)
{
    static const struct packet packets[] = {
        {false, 100, 9000, 1000000, false, 2000, 500},
        {false, 30000, 5, 2000000, false, 2001, 90500},  /* a jump forward over the limit */
        {false, 10000, 5, 3000000, false, 2002, 180500}, /* and backward */
        {false, 10001, 3005, 3033000, false, 2003, 183500},
    };
    run(packets, LEAT_ARRAY_LEN(packets));
}

static void rewriter__switch_in_the_same_instant__timestamp_still_moves(void)
{
    static const struct packet packets[] = {
        {false, 7, 100, 1000, false, 2000, 500},
        {true, 7, 100, 1000, false, 2001, 501},
    };
    run(packets, LEAT_ARRAY_LEN(packets));
}

static void rewriter__skipped_packet__leaves_no_hole(void)
{
    struct leat_rewriter r;
    uint16_t seq;
    uint32_t ts;
    leat_rewriter_init(&r, 90000, 2000, 0);
    (void)leat_rewriter_map(&r, 10, 0, 0, &seq, &ts);
    leat_rewriter_skip(&r, 11);
    leat_rewriter_skip(&r, 12);
    LEAT_CHECK_INT(leat_rewriter_map(&r, 13, 0, 0, &seq, &ts), LEAT_REWRITE_OK);
    LEAT_CHECK_INT(seq, 2001);
    LEAT_CHECK_INT(leat_rewriter_map(&r, 9, 0, 0, &seq, &ts), LEAT_REWRITE_LATE);
}

static void rewriter__skip_behind_an_open_hole__keeps_the_hole(void)
{
    struct leat_rewriter r;
    uint16_t seq;
    uint32_t ts;
    leat_rewriter_init(&r, 90000, 2000, 0);
    (void)leat_rewriter_map(&r, 10, 0, 0, &seq, &ts);
    leat_rewriter_skip(&r, 12); /* 11 may still come */
    LEAT_CHECK_INT(leat_rewriter_map(&r, 11, 0, 0, &seq, &ts), LEAT_REWRITE_OK);
    LEAT_CHECK_INT(seq, 2001);
}

/** No number twice, whatever the source does: random walks with jumps, repeats of old numbers,
 * switches and skips. */
static void rewriter__random_sources__no_number_twice_in_a_window(void)
{
    uint64_t x = 88172645463325252u;
    for (int round = 0; round < 200; round++) {
        struct leat_rewriter r;
        uint16_t in = (uint16_t)round, out;
        uint32_t ts;
        static bool is_used[65536];
        memset(is_used, 0, sizeof is_used);
        leat_rewriter_init(&r, 90000, 1024, 0);
        uint16_t sent[400];
        size_t count = 0;
        uint16_t seen_highest = 0;
        for (int i = 0; i < 400; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            unsigned what = (unsigned)(x % 100);
            if (what < 3) {
                leat_rewriter_new_source(&r);
                in = (uint16_t)(x >> 20);
            } else if (what < 6) {
                leat_rewriter_skip(&r, ++in);
                continue;
            } else {
                in = (uint16_t)(in + 1 + (what < 12 ? x % 5 : 0));
            }
            if (leat_rewriter_map(&r, in, 0, (uint64_t)i * 1000, &out, &ts) == LEAT_REWRITE_OK) {
                LEAT_CHECK_ROW(round, !is_used[out]);
                LEAT_CHECK_ROW(round, count == 0 || leat_seq16_newer(out, seen_highest));
                is_used[out] = true;
                seen_highest = out;
                sent[count++] = out;
            }
        }
        LEAT_CHECK_ROW(round, count > 300 && sent[0] == 1024);
    }
}

LEAT_TESTS(LEAT_TEST(rewriter__one_source__keeps_gaps_and_order),
           LEAT_TEST(rewriter__source_wraps__goes_on),
           LEAT_TEST(rewriter__new_source__takes_next_number_and_time_that_passed),
           LEAT_TEST(rewriter__source_restarts_on_its_ssrc__stays_continuous),
           LEAT_TEST(rewriter__switch_in_the_same_instant__timestamp_still_moves),
           LEAT_TEST(rewriter__skipped_packet__leaves_no_hole),
           LEAT_TEST(rewriter__skip_behind_an_open_hole__keeps_the_hole),
           LEAT_TEST(rewriter__random_sources__no_number_twice_in_a_window))
