/* SPDX-License-Identifier: MIT */
/* Signals as callbacks of a loop: libuv's handler writes to a pipe that the loop reads. */
#include "loop.h"

#include <stdlib.h>

struct leat_signal {
    uv_signal_t uv;
    void (*fire)(void *data, int signum);
    void *data;
};

static void on_signal(uv_signal_t *handle, int signum)
{
    struct leat_signal *s = handle->data;
    s->fire(s->data, signum);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

struct leat_signal *leat_signal_new(struct leat_loop *loop, int signum,
                                    void (*fire)(void *data, int signum), void *data)
{
    struct leat_signal *s = calloc(1, sizeof(*s));
    if (s == NULL || uv_signal_init(&loop->uv, &s->uv) != 0) {
        free(s);
        return NULL;
    }
    s->fire = fire;
    s->data = data;
    s->uv.data = s;
    if (uv_signal_start(&s->uv, on_signal, signum) != 0) {
        leat_signal_close(s);
        return NULL;
    }
    return s;
}

void leat_signal_close(struct leat_signal *s)
{
    if (s != NULL) {
        uv_close((uv_handle_t *)&s->uv, on_closed);
    }
}
