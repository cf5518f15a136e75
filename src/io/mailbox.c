/* SPDX-License-Identifier: MIT */
/*
 * Messages into a loop. Senders link them into `inbox` under a lock; the one that finds it empty
 * wakes the loop, which takes all at once. The messages being received are in `batch`, a member and
 * not a local, so that a close from inside a receive callback can still deliver them.
 */
#include "loop.h"

#include <pthread.h>
#include <stdlib.h>

struct leat_mailbox {
    uv_async_t uv;
    pthread_mutex_t lock; /* of inbox */
    struct leat_list inbox;
    struct leat_list batch;
    void (*receive)(void *data, struct leat_list *message);
    void *data;
};

/** Move what is in the inbox behind what is in the batch. */
static void take_inbox(struct leat_mailbox *m)
{
    (void)pthread_mutex_lock(&m->lock);
    struct leat_list *first = m->inbox.next, *last = m->inbox.prev;
    if (first != &m->inbox) {
        first->prev = m->batch.prev;
        m->batch.prev->next = first;
        last->next = &m->batch;
        m->batch.prev = last;
        leat_list_init(&m->inbox);
    }
    (void)pthread_mutex_unlock(&m->lock);
}

static void deliver(struct leat_mailbox *m)
{
    take_inbox(m);
    while (!leat_list_is_empty(&m->batch)) {
        struct leat_list *message = m->batch.next;
        leat_list_remove(message);
        m->receive(m->data, message);
    }
}

static void on_wake(uv_async_t *handle)
{
    deliver(handle->data);
}

struct leat_mailbox *leat_mailbox_new(struct leat_loop *loop,
                                      void (*receive)(void *data, struct leat_list *message),
                                      void *data)
{
    struct leat_mailbox *m = calloc(1, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    leat_list_init(&m->inbox);
    leat_list_init(&m->batch);
    m->receive = receive;
    m->data = data;
    if (uv_async_init(&loop->uv, &m->uv, on_wake) != 0) {
        free(m);
        return NULL;
    }
    m->uv.data = m;
    (void)pthread_mutex_init(&m->lock, NULL);
    return m;
}

void leat_mailbox_post(struct leat_mailbox *m, struct leat_list *message)
{
    (void)pthread_mutex_lock(&m->lock);
    bool was_empty = leat_list_is_empty(&m->inbox);
    leat_list_add_tail(&m->inbox, message);
    (void)pthread_mutex_unlock(&m->lock);
    if (was_empty) {
        (void)uv_async_send(&m->uv);
    }
}

static void on_closed(uv_handle_t *handle)
{
    struct leat_mailbox *m = handle->data;
    (void)pthread_mutex_destroy(&m->lock);
    free(m);
}

void leat_mailbox_close(struct leat_mailbox *m)
{
    if (m != NULL) {
        deliver(m);
        uv_close((uv_handle_t *)&m->uv, on_closed);
    }
}
