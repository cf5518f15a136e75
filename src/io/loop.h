/* SPDX-License-Identifier: MIT */
/* What the files of io share: the loop's inside, and calls put off to the next turn. */
#ifndef LEAT__IO_LOOP_H
#define LEAT__IO_LOOP_H

#include <leat/io.h>

#include <uv.h>

#define LEAT__READ_BUFFER 65536

/** A call in the loop's next turn. Linked from leat__later until it runs or is removed. */
struct leat__later {
    struct leat_list node;
    void (*run)(struct leat__later *later);
};

struct leat_loop {
    uv_loop_t uv;
    uv_prepare_t prepare; /* before each wait; also keeps an otherwise empty loop running */
    uv_idle_t idle;       /* active while `later` holds something: the loop does not wait then */
    struct leat_list later;
    void (*turn)(void *data);
    void *turn_data;
    struct leat_loop_load load;
    uint64_t turn_end_us, idle_us;            /* of the turn before */
    uint64_t window_us, window_longest_us[2]; /* the running 10 s, and those before */
    int pool_nice;                            /* scheduling priority of pool threads */
    /* Of the stream being read: libuv fills and hands over one read at a time. */
    uint8_t read_buffer[LEAT__READ_BUFFER];
};

static inline void leat__later_init(struct leat__later *l, void (*run)(struct leat__later *later))
{
    leat_list_init(&l->node);
    l->run = run;
}

/** Fine when it waits already. */
void leat__later_add(struct leat_loop *loop, struct leat__later *l);
static inline void leat__later_remove(struct leat__later *l)
{
    leat_list_remove(&l->node);
}

/** "<what>: <text of error_number>" into why, cut to fit. */
void leat__io_why(char *why, size_t why_cap, const char *what, int error_number);

#endif
