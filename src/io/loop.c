/* SPDX-License-Identifier: MIT */
/*
 * The loop: libuv's, with one hook before each wait and a list of calls for the next turn.
 *
 * A turn of libuv is: due timers, idle, prepare, wait, what became ready, closings (newer versions
 * run the timers after the wait). The prepare handle is therefore the one place that every turn
 * passes after all its callbacks and before it waits. The list of calls exists because libuv 1.44
 * runs a timer that a timer callback started with a timeout of 0 in the same turn, for ever if it
 * does so each time: no socket would be read again.
 */
#include "loop.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define POOL_NICE_ADDED 5
#define NICE_MAX 19
#define LOAD_WINDOW_US 10000000u

static uint64_t clock_us(clockid_t id)
{
    struct timespec t;
    int failed = clock_gettime(id, &t);
    assert(failed == 0);
    (void)failed;
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t leat_now_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

uint64_t leat_unix_us(void)
{
    return clock_us(CLOCK_REALTIME);
}

const char *leat_io_library_version(void)
{
    return uv_version_string();
}

void leat__io_why(char *why, size_t why_cap, const char *what, int error_number)
{
    char text[128];
    (void)snprintf(why, why_cap, "%s: %s", what, strerror_r(error_number, text, sizeof(text)));
}

/* What has passed since the turn before ended, less what libuv says was spent waiting. */
static void measure_turn(struct leat_loop *loop)
{
    uint64_t now_us = leat_now_us(), idle_us = uv_metrics_idle_time(&loop->uv) / 1000;
    uint64_t passed_us = now_us - loop->turn_end_us, waited_us = idle_us - loop->idle_us;
    uint64_t busy_us = passed_us > waited_us ? passed_us - waited_us : 0;
    bool is_first = loop->turn_end_us == 0;
    loop->turn_end_us = now_us;
    loop->idle_us = idle_us;
    if (is_first) {
        return;
    }
    loop->load.turns++;
    loop->load.busy_us += busy_us;
    if (busy_us > loop->load.longest_us) {
        loop->load.longest_us = busy_us;
    }
    if (now_us - loop->window_us >= LOAD_WINDOW_US) {
        bool is_next = now_us - loop->window_us < 2 * LOAD_WINDOW_US;
        loop->window_longest_us[1] = is_next ? loop->window_longest_us[0] : 0;
        loop->window_longest_us[0] = 0;
        loop->window_us = now_us;
    }
    if (busy_us > loop->window_longest_us[0]) {
        loop->window_longest_us[0] = busy_us;
    }
}

struct leat_loop_load leat_loop_load_of(const struct leat_loop *loop)
{
    const uint64_t *longest_us = loop->window_longest_us;
    struct leat_loop_load load = loop->load;
    load.longest_recent_us = longest_us[0] > longest_us[1] ? longest_us[0] : longest_us[1];
    return load;
}

static void on_prepare(uv_prepare_t *handle)
{
    struct leat_loop *loop = handle->data;
    if (loop->turn != NULL) {
        loop->turn(loop->turn_data);
    }
    measure_turn(loop);
    /* How long to wait is computed from the loop's clock next: it must not date from before the
     * callbacks. */
    uv_update_time(&loop->uv);
}

static void on_idle(uv_idle_t *handle)
{
    struct leat_loop *loop = handle->data;
    /* What is added meanwhile is for the turn after this one. */
    struct leat_list batch;
    leat_list_init(&batch);
    while (!leat_list_is_empty(&loop->later)) {
        struct leat_list *node = loop->later.next;
        leat_list_remove(node);
        leat_list_add_tail(&batch, node);
    }
    while (!leat_list_is_empty(&batch)) {
        struct leat__later *l = LEAT_CONTAINER(batch.next, struct leat__later, node);
        leat__later_remove(l);
        l->run(l);
    }
    if (leat_list_is_empty(&loop->later)) {
        (void)uv_idle_stop(&loop->idle);
    }
}

void leat__later_add(struct leat_loop *loop, struct leat__later *l)
{
    if (leat_list_is_empty(&l->node)) {
        leat_list_add_tail(&loop->later, &l->node);
        (void)uv_idle_start(&loop->idle, on_idle);
    }
}

/** libuv writes to stream sockets without MSG_NOSIGNAL: a reader that goes away must not end the
 * process. */
static void ignore_sigpipe(void)
{
    struct sigaction old;
    if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
        struct sigaction ignore = {.sa_handler = SIG_IGN};
        (void)sigaction(SIGPIPE, &ignore, NULL);
    }
}

struct leat_loop *leat_loop_new(void)
{
    struct leat_loop *loop = calloc(1, sizeof(*loop));
    if (loop == NULL || uv_loop_init(&loop->uv) != 0) {
        free(loop);
        return NULL;
    }
    (void)uv_loop_configure(&loop->uv, UV_METRICS_IDLE_TIME);
    ignore_sigpipe();
    leat_list_init(&loop->later);
    int nice = getpriority(PRIO_PROCESS, 0) + POOL_NICE_ADDED;
    loop->pool_nice = nice > NICE_MAX ? NICE_MAX : nice;
    (void)uv_idle_init(&loop->uv, &loop->idle);
    (void)uv_prepare_init(&loop->uv, &loop->prepare);
    loop->idle.data = loop->prepare.data = loop;
    (void)uv_prepare_start(&loop->prepare, on_prepare);
    return loop;
}

void leat_loop_free(struct leat_loop *loop)
{
    if (loop == NULL) {
        return;
    }
    uv_close((uv_handle_t *)&loop->prepare, NULL);
    uv_close((uv_handle_t *)&loop->idle, NULL);
    do {
        (void)uv_run(&loop->uv, UV_RUN_DEFAULT); /* returns early when a callback stops the loop */
    } while (uv_loop_alive(&loop->uv));
    int failed = uv_loop_close(&loop->uv);
    assert(failed == 0);
    (void)failed;
    free(loop);
}

void leat_loop_run(struct leat_loop *loop)
{
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
    if (loop->turn != NULL) {
        loop->turn(loop->turn_data); /* the last turn ended without coming to its prepare */
    }
}

void leat_loop_stop(struct leat_loop *loop)
{
    uv_stop(&loop->uv);
}

void leat_loop_on_turn(struct leat_loop *loop, void (*turn)(void *data), void *data)
{
    loop->turn = turn;
    loop->turn_data = data;
}
