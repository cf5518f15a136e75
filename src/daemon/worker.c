/* SPDX-License-Identifier: MIT */
/*
 * The turn of a worker: bursts go into the shard as they are read; when the loop has nothing more
 * to call, one chunk of media is released, events and handshakes are taken out, everything goes to
 * the kernel in one batch, and the timer is set to the next deadline. If a chunk was not all, the
 * timer is set to now, so that the sockets are read before the next chunk.
 *
 * Handshakes run on the pool; a job that is out keeps the worker alive until it is back, also when
 * it is stopping.
 */
#include <stdio.h>
#include <stdlib.h>

#include <leat/log.h>

#include "worker.h"

#define WAITING_MAX 1024 /* peers in line for a handshake's job: half a second of one core */
#define PACKETS                                                                                    \
    4096 /* plaintext copies in flight: queues are emptied in the turn that fills them */

struct leat_worker {
    struct leat_worker_params params;
    struct leat_loop *loop;
    struct leat_udp *udp;
    struct leat_timer *timer;
    struct leat_mailbox *mailbox;
    struct leat_thread *thread;
    struct leat_sfu *sfu;
    struct leat_rng rng; /**< its thread's, handed over at the start */
    bool is_stopping;
};

struct handshake {
    struct leat_worker *worker;
    struct leat_sfu_job *job;
};

static void turn(void *data);

/** The last jobs are back: what they and the closing made goes out, then the loop ends. */
static void finish_if_stopped(struct leat_worker *w)
{
    if (w->is_stopping && leat_sfu_jobs_running(w->sfu) == 0) {
        turn(w);
        leat_loop_stop(w->loop);
    }
}

/* ---- handshakes ---- */

static void handshake_run(void *data)
{
    struct handshake *h = data;
    leat_sfu_job_run(h->job, leat_rng_thread());
}

static void handshake_done(void *data)
{
    struct handshake *h = data;
    struct leat_worker *w = h->worker;
    leat_sfu_job_done(w->sfu, h->job, leat_now_us(), leat_udp_sink(w->udp));
    free(h);
    finish_if_stopped(w);
}

static void start_handshakes(struct leat_worker *w, uint64_t now_us)
{
    struct leat_sfu_job *job;
    while ((job = leat_sfu_next_job(w->sfu, now_us)) != NULL) {
        struct handshake *h = malloc(sizeof *h);
        if (h != NULL) {
            *h = (struct handshake){w, job};
            if (leat_work_submit(w->loop, handshake_run, handshake_done, h) == 0) {
                continue;
            }
            free(h);
        }
        /* The pool cannot take it: better a late turn than a peer that hangs. */
        leat_sfu_job_run(job, &w->rng);
        leat_sfu_job_done(w->sfu, job, now_us, leat_udp_sink(w->udp));
    }
}

/* ---- the turn ---- */

static void send_events(struct leat_worker *w)
{
    struct leat_sfu_event event;
    while (leat_sfu_next_event(w->sfu, &event)) {
        struct leat_order *order = calloc(1, sizeof *order);
        if (order == NULL) {
            free(event.final_stats);
            leat_log(LEAT_LOG_ERROR, "event_lost", "worker=%u reason=no_memory", w->params.index);
            continue;
        }
        leat_list_init(&order->node);
        order->type = LEAT_ORDER_EVENT;
        order->worker = w->params.index;
        order->event = event;
        leat_mailbox_post(w->params.answers, &order->node);
    }
}

static void turn(void *data)
{
    struct leat_worker *w = data;
    uint64_t now_us = leat_now_us();
    bool has_more = leat_sfu_release(w->sfu, now_us, leat_udp_sink(w->udp));
    if (!w->is_stopping) {
        start_handshakes(w, now_us);
    }
    send_events(w);
    leat_udp_flush(w->udp);
    leat_timer_set(w->timer, has_more ? now_us : leat_sfu_deadline(w->sfu));
}

static void on_timer(void *data, uint64_t now_us)
{
    struct leat_worker *w = data;
    leat_sfu_tick(w->sfu, now_us, leat_unix_us(), leat_udp_sink(w->udp));
}

static void on_datagrams(void *data, struct leat_datagram *datagrams, size_t count, uint64_t now_us)
{
    struct leat_worker *w = data;
    leat_sfu_receive(w->sfu, datagrams, count, now_us, leat_udp_sink(w->udp));
}

/* ---- orders ---- */

static void answer(struct leat_worker *w, struct leat_order *order)
{
    order->worker = w->params.index;
    leat_mailbox_post(w->params.answers, &order->node);
}

static void on_order(void *data, struct leat_list *message)
{
    struct leat_worker *w = data;
    struct leat_order *order = LEAT_CONTAINER(message, struct leat_order, node);
    uint64_t now_us = leat_now_us();
    if (order->type == LEAT_ORDER_STOP) {
        w->is_stopping = true;
        leat_sfu_close_all(w->sfu, LEAT_PEER_END_SHUTDOWN, now_us, leat_udp_sink(w->udp));
        free(order);
        finish_if_stopped(w);
        return;
    }
    leat_sfu_execute(w->sfu, order->command, now_us, leat_udp_sink(w->udp));
    order->command->sockets = *leat_udp_counters(w->udp);
    order->command->load = leat_loop_load_of(w->loop);
    answer(w, order); /* before the events that it caused, which leave at the end of the turn */
}

void leat_worker_post(struct leat_worker *w, struct leat_order *order)
{
    leat_mailbox_post(w->mailbox, &order->node);
}

/* ---- life ---- */

static void close_objects(struct leat_worker *w)
{
    leat_timer_close(w->timer);
    leat_mailbox_close(w->mailbox);
    leat_udp_close(w->udp);
    leat_sfu_free(w->sfu);
    leat_loop_free(w->loop);
    leat_rng_deinit(&w->rng);
}

static void run(void *data)
{
    struct leat_worker *w = data;
    leat_sfu_tick(w->sfu, leat_now_us(), leat_unix_us(), leat_udp_sink(w->udp));
    leat_loop_on_turn(w->loop, turn, w);
    leat_loop_run(w->loop);
    struct leat_order *last = calloc(1, sizeof *last);
    if (last == NULL) {
        abort(); /* nobody would join this thread; the supervisor starts us anew */
    }
    leat_list_init(&last->node);
    last->type = LEAT_ORDER_STOPPED;
    answer(w, last);
}

static int make_shard(struct leat_worker *w)
{
    int error = leat_rng_init(&w->rng);
    if (error != 0) {
        return error;
    }
    struct leat_sfu_params params = {
        .worker = w->params.index,
        .generation = w->params.generation,
        .peers_max = w->params.peers_max,
        .packets = PACKETS,
        .jobs_max = w->params.handshakes,
        .waiting_max = WAITING_MAX,
        .rng = &w->rng,
    };
    return leat_sfu_new(&w->sfu, &params);
}

static int bind_sockets(struct leat_worker *w, size_t *granted, char *why, size_t why_cap)
{
    *granted = SIZE_MAX;
    for (size_t i = 0; i < w->params.listen_count; i++) {
        size_t got = 0;
        char text[LEAT_ADDR_TEXT_MAX], reason[128];
        int error = leat_udp_bind(w->udp, &w->params.listen[i], w->params.receive_buffer, &got,
                                  reason, sizeof reason);
        if (error != 0) {
            (void)snprintf(why, why_cap, "cannot listen on UDP %s: %s",
                           leat_addr_format(&w->params.listen[i], text), reason);
            return error;
        }
        *granted = got < *granted ? got : *granted;
    }
    return 0;
}

int leat_worker_start(struct leat_worker **out, const struct leat_worker_params *params,
                      size_t *granted, char *why, size_t why_cap)
{
    struct leat_worker *w = calloc(1, sizeof *w);
    (void)snprintf(why, why_cap, "out of memory");
    if (w == NULL) {
        return LEAT_E_NOMEM;
    }
    w->params = *params;
    w->loop = leat_loop_new();
    if (w->loop == NULL) {
        free(w);
        return LEAT_E_NOMEM;
    }
    w->udp = leat_udp_new(w->loop, on_datagrams, w);
    w->timer = leat_timer_new(w->loop, on_timer, w);
    w->mailbox = leat_mailbox_new(w->loop, on_order, w);
    int error = w->udp == NULL || w->timer == NULL || w->mailbox == NULL ? LEAT_E_NOMEM : 0;
    if (error == 0) {
        leat_udp_set_gso(w->udp, !w->params.is_gso_off);
        error = make_shard(w);
    }
    if (error == 0) {
        error = bind_sockets(w, granted, why, why_cap);
    }
    if (error == 0) {
        char name[16];
        (void)snprintf(name, sizeof name, "leat-worker-%u", params->index);
        error = leat_thread_start(&w->thread, name, run, w);
    }
    if (error != 0) {
        close_objects(w);
        free(w);
        return error;
    }
    *out = w;
    return 0;
}

void leat_worker_free(struct leat_worker *w)
{
    if (w == NULL) {
        return;
    }
    leat_thread_join(w->thread);
    close_objects(w);
    free(w);
}
