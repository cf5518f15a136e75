/* SPDX-License-Identifier: MIT */
/**
 * @file  A media thread: one loop, its UDP sockets, its shard. It is talked to by orders through a
 * mailbox and answers with orders.
 * @module daemon
 */
#ifndef LEAT_DAEMON_WORKER_H
#define LEAT_DAEMON_WORKER_H

#include <leat/control.h>
#include <leat/io.h>
#include <leat/sfu.h>

enum leat_order_type {
    LEAT_ORDER_COMMAND, /**< to a worker: carry out; back from it: done */
    LEAT_ORDER_EVENT,   /**< from a worker */
    LEAT_ORDER_STOP,    /**< to a worker: close every peer, then end the thread */
    LEAT_ORDER_STOPPED  /**< from a worker: its last word */
};

/** What the mailboxes carry; heap, owned by whoever received it. */
struct leat_order {
    struct leat_list node;
    enum leat_order_type type;
    unsigned worker;
    struct leat_command *command;
    struct leat_sfu_event event;
};

struct leat_worker_params {
    unsigned index;
    uint32_t generation;
    size_t listen_count;
    struct leat_addr listen[LEAT_CONTROL_LISTEN_MAX]; /**< with this worker's ports */
    size_t receive_buffer;
    bool is_gso_off;
    size_t peers_max, handshakes;
    struct leat_mailbox *answers; /**< into the control loop */
};

struct leat_worker;

/** Bind the sockets, then start the thread. @param granted the least receive buffer that a socket
 * got
 *  @return 0, or an error with one sentence in `why` */
int leat_worker_start(struct leat_worker **out, const struct leat_worker_params *params,
                      size_t *granted, char *why, size_t why_cap);
/** From any thread. */
void leat_worker_post(struct leat_worker *w, struct leat_order *order);
/** After LEAT_ORDER_STOPPED: join and free. */
void leat_worker_free(struct leat_worker *w);

#endif
