/* SPDX-License-Identifier: MIT */
/*
 * One-shot timers at absolute microseconds over libuv's relative milliseconds.
 *
 * libuv counts from the loop's clock, which stands still during callbacks. Both that clock and ours
 * are CLOCK_MONOTONIC, so the deadline, rounded up to a millisecond, minus the loop's time gives
 * libuv exactly the deadline again, however stale the loop's time is.
 */
#include "loop.h"

#include <stdlib.h>

struct leat_timer {
    uv_timer_t uv;
    struct leat__later due; /* for a deadline that has passed */
    struct leat_loop *loop;
    uint64_t deadline_us; /* UINT64_MAX: not armed */
    void (*fire)(void *data, uint64_t now_us);
    void *data;
};

static void fire_or_rearm(struct leat_timer *t)
{
    uint64_t now_us = leat_now_us();
    uint64_t deadline_us = t->deadline_us;
    if (now_us < deadline_us) {
        leat_timer_set(t, deadline_us);
        return;
    }
    t->deadline_us = UINT64_MAX;
    t->fire(t->data, now_us);
}

static void on_timer(uv_timer_t *handle)
{
    fire_or_rearm(handle->data);
}

static void on_due(struct leat__later *later)
{
    fire_or_rearm(LEAT_CONTAINER(later, struct leat_timer, due));
}

struct leat_timer *leat_timer_new(struct leat_loop *loop, void (*fire)(void *data, uint64_t now_us),
                                  void *data)
{
    struct leat_timer *t = calloc(1, sizeof(*t));
    if (t == NULL) {
        return NULL;
    }
    t->loop = loop;
    t->deadline_us = UINT64_MAX;
    t->fire = fire;
    t->data = data;
    leat__later_init(&t->due, on_due);
    (void)uv_timer_init(&loop->uv, &t->uv);
    t->uv.data = t;
    return t;
}

void leat_timer_set(struct leat_timer *t, uint64_t deadline_us)
{
    t->deadline_us = deadline_us;
    leat__later_remove(&t->due);
    (void)uv_timer_stop(&t->uv);
    if (deadline_us == UINT64_MAX) {
        return;
    }
    uint64_t due_ms = deadline_us / 1000 + (deadline_us % 1000 != 0);
    uint64_t loop_ms = uv_now(&t->loop->uv);
    if (due_ms > loop_ms) {
        (void)uv_timer_start(&t->uv, on_timer, due_ms - loop_ms, 0);
    } else {
        leat__later_add(t->loop, &t->due);
    }
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void leat_timer_close(struct leat_timer *t)
{
    if (t != NULL) {
        leat__later_remove(&t->due);
        uv_close((uv_handle_t *)&t->uv, on_closed);
    }
}
