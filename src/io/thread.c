/* SPDX-License-Identifier: MIT */
/*
 * Threads that run loops, and jobs on libuv's pool.
 *
 * Pool threads take their lower priority at each job: one cheap system call against jobs of
 * milliseconds, and nothing to remember per thread.
 */
#include "loop.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

struct leat_thread {
    pthread_t id;
    void (*run)(void *data);
    void *data;
    char name[16]; /* what the kernel keeps */
};

static void *thread_main(void *arg)
{
    struct leat_thread *t = arg;
    (void)pthread_setname_np(pthread_self(), t->name);
    t->run(t->data);
    return NULL;
}

int leat_thread_start(struct leat_thread **out, const char *name, void (*run)(void *data),
                      void *data)
{
    struct leat_thread *t = calloc(1, sizeof(*t));
    if (t == NULL) {
        return LEAT_E_NOMEM;
    }
    t->run = run;
    t->data = data;
    size_t len = strnlen(name, sizeof(t->name) - 1);
    memcpy(t->name, name, len);
    if (pthread_create(&t->id, NULL, thread_main, t) != 0) {
        free(t);
        return LEAT_E_IO;
    }
    *out = t;
    return LEAT_OK;
}

void leat_thread_join(struct leat_thread *t)
{
    if (t != NULL) {
        (void)pthread_join(t->id, NULL);
        free(t);
    }
}

struct work {
    uv_work_t req;
    void (*work)(void *data);
    void (*done)(void *data);
    void *data;
    int nice;
};

static void on_pool_thread(uv_work_t *req)
{
    struct work *w = req->data;
    (void)setpriority(PRIO_PROCESS, 0, w->nice); /* of this thread only, on Linux */
    w->work(w->data);
}

static void on_done(uv_work_t *req, int status)
{
    struct work *w = req->data;
    (void)status; /* nothing here is cancelled */
    w->done(w->data);
    free(w);
}

int leat_work_submit(struct leat_loop *loop, void (*work)(void *data), void (*done)(void *data),
                     void *data)
{
    struct work *w = calloc(1, sizeof(*w));
    if (w == NULL) {
        return LEAT_E_NOMEM;
    }
    *w = (struct work){.work = work, .done = done, .data = data, .nice = loop->pool_nice};
    w->req.data = w;
    if (uv_queue_work(&loop->uv, &w->req, on_pool_thread, on_done) != 0) {
        free(w);
        return LEAT_E_IO;
    }
    return LEAT_OK;
}
