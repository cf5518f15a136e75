/* SPDX-License-Identifier: MIT */
/*
 * Which indexes a sender may use. Every index that is given out is checked against a plain list of
 * all that were: a set without window and without tricks, which knows only RFC 3711 3.3.1 (the
 * index nearest to the highest one) and 9.1 (none twice).
 */
#include "outgoing.h"

#include <stdlib.h>

#include "harness.h"

#define WINDOW LEAT_SRTP_REPLAY_WINDOW
#define LAST ((1ull << 48) - 1)
#define REFUSED UINT64_MAX

/* The index that was given, or REFUSED; a refusal leaves no trace. */
static uint64_t take(struct leat__srtp_outgoing *o, uint64_t seq)
{
    struct leat__srtp_outgoing before = *o;
    uint64_t index;
    if (leat__srtp_outgoing_take(o, (uint16_t)seq, &index)) {
        return index;
    }
    LEAT_CHECK_MEM(o, sizeof(*o), &before, sizeof(before));
    return REFUSED;
}

/* A state as it is after many packets, with `index` the highest one and the only one of the window
 * that was used. */
static struct leat__srtp_outgoing state_at(uint64_t index)
{
    struct leat__srtp_outgoing o = {.index = index, .ssrc = 7, .is_taken = true, .has_rtp = true};
    o.used[index % WINDOW / 64] = 1ull << (index % 64);
    return o;
}

/* One row: from a highest index, the distance of the next sequence number and what it must mean. */
static const struct {
    uint64_t highest;
    int64_t step;
    uint64_t index;
} steps[] = {
    {100000, 1, 100001},
    {100000, 0, REFUSED},
    {100000, 32767, 132767},   /* the farthest that can be meant */
    {100000, 32768, REFUSED},  /* as far behind as ahead: too old to know */
    {100000, -32767, REFUSED}, /* too old */
    {100000, -1, 99999},
    {100000, -(WINDOW - 1), 100000 - (WINDOW - 1)},
    {100000, -WINDOW, REFUSED},
    {100000, -(WINDOW + 1), REFUSED},
    {65535, 1, 65536}, /* the roll-over counter rises */
    {65536, -1, 65535},
    {65536 * 5 - 1, 3, 65536 * 5 + 2},
    {65536 * 5 + 2, -3, 65536 * 5 - 1},
    {0, -1, REFUSED}, /* there is no index below 0 */
    {3, -3, 0},
    {3, -4, REFUSED},
    {0, 32767, 32767},
    {0xffffffff, 1, 0x100000000}, /* over 32 bits */
    {LAST - 1, 1, LAST},          /* RFC 3711 9.2 */
    {LAST, 1, REFUSED},
    {LAST, -1, LAST - 1},
    {LAST - 5, 32767, REFUSED},
    {LAST - 32767, 32767, LAST},
    {LAST - 32766, 32767, REFUSED},
};

static void take__one_step__index_as_meant(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(steps); i++) {
        struct leat__srtp_outgoing o = state_at(steps[i].highest);
        uint64_t seq = steps[i].highest + (uint64_t)steps[i].step;
        LEAT_CHECK_ROW(i, take(&o, seq) == steps[i].index);
        LEAT_CHECK_ROW(i, take(&o, seq) == REFUSED); /* never twice */
        uint64_t highest =
            steps[i].step > 0 && steps[i].index != REFUSED ? steps[i].index : steps[i].highest;
        LEAT_CHECK_ROW(i, o.index == highest);
        LEAT_CHECK_ROW(i, take(&o, highest) == REFUSED);
    }
}

static void take__first_number__is_its_index(void)
{
    static const uint16_t firsts[] = {0, 1, 32767, 32768, 65535};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(firsts); i++) {
        struct leat__srtp_outgoing o = {.is_taken = true};
        LEAT_CHECK_ROW(i, take(&o, firsts[i]) == firsts[i]);
        LEAT_CHECK_ROW(i, take(&o, firsts[i]) == REFUSED);
        uint64_t before = firsts[i] == 0 ? REFUSED : firsts[i] - 1u;
        LEAT_CHECK_ROW(i, take(&o, firsts[i] - 1u) == before);
    }
}

/* Every index of the window once, in a scattered order, each refused the second time. */
static void take__whole_window_late__each_once(void)
{
    static const uint64_t highests[] = {WINDOW, 65536 + 17, 3 * 65536 - 1, LAST};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(highests); i++) {
        struct leat__srtp_outgoing o = state_at(highests[i]);
        for (uint64_t n = 1; n < WINDOW; n++) {
            uint64_t behind = n * 389 % WINDOW; /* odd factor: every one */
            LEAT_CHECK_ROW(i, take(&o, highests[i] - behind) == highests[i] - behind);
        }
        for (uint64_t behind = 0; behind < WINDOW; behind++) {
            LEAT_CHECK_ROW(i, take(&o, highests[i] - behind) == REFUSED);
        }
        LEAT_CHECK_ROW(i, o.index == highests[i]);
    }
}

/* After a step, what was skipped is free and what was used stays used, whatever bits the window's
 * earlier turn left behind. */
static void take__steps_of_all_sizes__skipped_are_free(void)
{
    for (uint64_t step = 1; step <= WINDOW + 2; step++) {
        struct leat__srtp_outgoing o = state_at(70000);
        for (uint64_t behind = 1; behind < WINDOW; behind++) {
            (void)take(&o, 70000 - behind);
        }
        uint64_t highest = 70000 + step;
        LEAT_CHECK_ROW(step, take(&o, highest) == highest);
        for (uint64_t behind = 1; behind < WINDOW; behind++) {
            uint64_t index = highest - behind;
            LEAT_CHECK_ROW(step, take(&o, index) == (index > 70000 ? index : REFUSED));
        }
    }
}

/* ---- a random walk beside a list of everything used ---- */

#define WALK_MAX (1u << 21)

static void take__random_walk__none_twice_and_none_wrongly_refused(void)
{
    uint8_t *used = calloc(WALK_MAX, 1);
    struct leat__srtp_outgoing o = {.is_taken = true};
    struct leat_rng rng;
    const uint8_t seed[32] = {1};
    uint64_t highest = 60000, given = 0, refused = 0;
    leat_rng_init_seeded(&rng, seed);
    LEAT_CHECK_INT(take(&o, highest), highest);
    used[highest] = 1;
    while (highest + 32768 < WALK_MAX) {
        uint32_t kind = leat_rng_below(&rng, 1000);
        int64_t step = kind < 600   ? 1 + (int64_t)leat_rng_below(&rng, 4)
                       : kind < 980 ? -(int64_t)leat_rng_below(&rng, WINDOW + 40)
                       : kind < 999 ? (int64_t)leat_rng_below(&rng, 2 * WINDOW)
                                    : (int64_t)leat_rng_below(&rng, 32768);
        uint64_t meant = highest + (uint64_t)step;
        bool is_free = step > -WINDOW && !used[meant];
        LEAT_CHECK_INT(take(&o, meant), is_free ? meant : REFUSED);
        used[meant] = 1;
        highest = step > 0 ? meant : highest;
        given += is_free;
        refused += !is_free;
    }
    LEAT_CHECK(given > 20000);
    LEAT_CHECK(refused > 1000);
    leat_rng_deinit(&rng);
    free(used);
}

/* ---- SRTCP ---- */

static void take_rtcp__up_to_31_bits__then_no_more(void)
{
    struct leat__srtp_outgoing o = {.is_taken = true};
    uint32_t index = 0;
    LEAT_CHECK(leat__srtp_outgoing_take_rtcp(&o, &index));
    LEAT_CHECK_INT(index, 1);
    LEAT_CHECK(leat__srtp_outgoing_take_rtcp(&o, &index));
    LEAT_CHECK_INT(index, 2);
    o.rtcp_index = 0x7ffffffe;
    LEAT_CHECK(leat__srtp_outgoing_take_rtcp(&o, &index));
    LEAT_CHECK_INT(index, 0x7fffffff);
    for (unsigned i = 0; i < 3; i++) {
        LEAT_CHECK(!leat__srtp_outgoing_take_rtcp(&o, &index));
    }
    LEAT_CHECK_INT(take(&o, 5), 5); /* RTP has a key of its own */
}

/* ---- the table ---- */

/* Every SSRC's state is its own and outlives every growth. */
static void check_table(const uint32_t *ssrcs, uint32_t count)
{
    struct leat__srtp_outgoing_table t = {0};
    uint32_t index = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct leat__srtp_outgoing *o = leat__srtp_outgoing_get(&t, ssrcs[i]);
        LEAT_CHECK_ROW(i, o != NULL && !o->has_rtp && o->rtcp_index == 0 && t.count == i + 1);
        LEAT_CHECK_ROW(i, 2 * t.count <= t.capacity);
        (void)take(o, i);
        (void)take(o, i + 3);
        for (uint32_t n = 0; n <= i % 5; n++) {
            (void)leat__srtp_outgoing_take_rtcp(o, &index);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        leat__srtp_outgoing_fetch(&t, ssrcs[i]);
        struct leat__srtp_outgoing *o = leat__srtp_outgoing_get(&t, ssrcs[i]);
        LEAT_CHECK_ROW(i, o->ssrc == ssrcs[i] && o->index == (uint64_t)i + 3);
        LEAT_CHECK_ROW(i, take(o, i) == REFUSED && take(o, i + 3) == REFUSED);
        LEAT_CHECK_ROW(i, take(o, i + 1) == (uint64_t)i + 1);
        LEAT_CHECK_ROW(i, leat__srtp_outgoing_take_rtcp(o, &index) && index == i % 5 + 2);
    }
    LEAT_CHECK_INT(t.count, count);
    leat__srtp_outgoing_deinit(&t);
    LEAT_CHECK(t.slots == NULL && t.capacity == 0 && t.count == 0);
}

static void table__thousands_of_ssrcs__each_keeps_its_state(void)
{
    enum { COUNT = 5000 };
    static uint32_t ssrcs[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        ssrcs[i] = i * 2654435761u; /* 0 among them */
    }
    check_table(ssrcs, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        ssrcs[i] = 0xffffffffu - i;
    }
    check_table(ssrcs, COUNT);
}

/* As someone would choose them who wants every SSRC in one chain: all at home in one slot of the
 * largest table, found by looking where each lands in a table that holds nothing else. */
static void table__ssrcs_of_one_home__each_keeps_its_state(void)
{
    enum { COUNT = 100, CAPACITY = 256 };
    static uint32_t ssrcs[COUNT];
    static struct leat__srtp_outgoing slots[CAPACITY];
    struct leat__srtp_outgoing_table t = {.slots = slots, .capacity = CAPACITY};
    uint32_t count = 0;
    for (uint32_t ssrc = 1; count < COUNT; ssrc++) {
        struct leat__srtp_outgoing *o = leat__srtp_outgoing_get(&t, ssrc);
        ssrcs[count] = ssrc;
        count += o == &slots[CAPACITY - 1]; /* the chain goes over the end */
        memset(o, 0, sizeof(*o));
        t.count = 0;
    }
    check_table(ssrcs, COUNT);
}

static void table__never_used__may_be_fetched_and_taken_down(void)
{
    struct leat__srtp_outgoing_table t = {0};
    leat__srtp_outgoing_fetch(&t, 9);
    leat__srtp_outgoing_deinit(&t);
    LEAT_CHECK_INT(t.count, 0);
}

LEAT_TESTS(LEAT_TEST(take__one_step__index_as_meant), LEAT_TEST(take__first_number__is_its_index),
           LEAT_TEST(take__whole_window_late__each_once),
           LEAT_TEST(take__steps_of_all_sizes__skipped_are_free),
           LEAT_TEST(take__random_walk__none_twice_and_none_wrongly_refused),
           LEAT_TEST(take_rtcp__up_to_31_bits__then_no_more),
           LEAT_TEST(table__thousands_of_ssrcs__each_keeps_its_state),
           LEAT_TEST(table__ssrcs_of_one_home__each_keeps_its_state),
           LEAT_TEST(table__never_used__may_be_fetched_and_taken_down))
