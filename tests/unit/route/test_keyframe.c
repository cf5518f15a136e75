/* SPDX-License-Identifier: MIT */
/* The limiter of keyframe requests, as a script of (time, what happens, what must follow). */
#include <leat/route.h>

#include "harness.h"

enum what { WANT, SEEN, TICK };

struct step {
    uint64_t at_ms;
    enum what what;
    bool is_sent;        /**< a request goes out now */
    int64_t deadline_ms; /**< afterwards; -1 = never */
};

static void run(const struct step *steps, size_t count)
{
    struct leat_keyframe_limiter l = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t now_us = steps[i].at_ms * 1000;
        bool is_sent = false;
        if (steps[i].what == WANT) {
            is_sent = leat_keyframe_want(&l, now_us);
        } else if (steps[i].what == TICK) {
            is_sent = leat_keyframe_tick(&l, now_us);
        } else {
            leat_keyframe_seen(&l);
        }
        uint64_t deadline = leat_keyframe_deadline(&l);
        LEAT_CHECK_ROW(i, is_sent == steps[i].is_sent);
        LEAT_CHECK_ROW(i, steps[i].deadline_ms < 0
                              ? deadline == LEAT_NEVER
                              : deadline == (uint64_t)steps[i].deadline_ms * 1000);
    }
}

static void limiter__many_causes__one_request_an_interval(void)
{
    static const struct step steps[] = {
        {1000, WANT, true, 2000},  {1010, WANT, false, 1400}, {1020, WANT, false, 1400},
        {1399, TICK, false, 1400}, {1400, TICK, true, 2400},  {1500, SEEN, false, -1},
        {1900, WANT, true, 2900},
    };
    run(steps, LEAT_ARRAY_LEN(steps));
}

static void limiter__no_keyframe__asks_again(void)
{
    static const struct step steps[] = {
        {1000, WANT, true, 2000}, {1999, TICK, false, 2000}, {2000, TICK, true, 3000},
        {3000, TICK, true, 4000}, {3100, SEEN, false, -1},   {9000, TICK, false, -1},
    };
    run(steps, LEAT_ARRAY_LEN(steps));
}

static void limiter__held_back_request__served_by_a_keyframe_before(void)
{
    static const struct step steps[] = {{1000, WANT, true, 2000},
                                        {1100, WANT, false, 1400},
                                        {1200, SEEN, false, -1},
                                        {1400, TICK, false, -1}};
    run(steps, LEAT_ARRAY_LEN(steps));
}

static void limiter__two_hundred_viewers__bounded_upstream(void)
{
    struct leat_keyframe_limiter l = {0};
    unsigned sent = 0;
    for (uint64_t ms = 1000; ms < 11000; ms++) { /* 200 viewers with 10 PLI a second for 10 s */
        for (int i = 0; i < 2; i++) {
            sent += leat_keyframe_want(&l, ms * 1000);
        }
        sent += leat_keyframe_tick(&l, ms * 1000);
    }
    LEAT_CHECK(sent <= 26);
    LEAT_CHECK(sent >= 24);
    LEAT_CHECK_INT(l.requested, 20000);
}

static void limiter__source_that_never_answers__given_up_until_asked_anew(void)
{
    struct leat_keyframe_limiter l = {0};
    unsigned sent = leat_keyframe_want(&l, 1000000);
    for (uint64_t s = 2; s < 100; s++) {
        sent += leat_keyframe_tick(&l, s * 1000000);
    }
    LEAT_CHECK_INT(sent, 1 + LEAT_KEYFRAME_GIVE_UP);
    LEAT_CHECK(leat_keyframe_want(&l, 200000000));
    LEAT_CHECK(leat_keyframe_tick(&l, 201000000));
}

LEAT_TESTS(LEAT_TEST(limiter__many_causes__one_request_an_interval),
           LEAT_TEST(limiter__no_keyframe__asks_again),
           LEAT_TEST(limiter__held_back_request__served_by_a_keyframe_before),
           LEAT_TEST(limiter__two_hundred_viewers__bounded_upstream),
           LEAT_TEST(limiter__source_that_never_answers__given_up_until_asked_anew))
