/* SPDX-License-Identifier: MIT */
/**
 * @file  The system: loops, UDP in batches, Unix stream sockets, timers, signals, threads,
 * mailboxes. The only module that sees libuv.
 * @module io
 *
 * Everything but leat_mailbox_post and the clocks belongs to the thread that runs its loop. Objects
 * of a loop are closed asynchronously: after a close call no callback of the object comes any more
 * (but `closed` of a connection), and io frees it itself. An object is closed once; `events` tables
 * outlive what uses them.
 */
#ifndef LEAT_IO_H
#define LEAT_IO_H

#include <leat/addr.h>
#include <leat/error.h>
#include <leat/list.h>
#include <leat/sink.h>

/* ---- time ---- */
uint64_t leat_now_us(void);  /**< CLOCK_MONOTONIC */
uint64_t leat_unix_us(void); /**< CLOCK_REALTIME, for NTP timestamps and certificates only */

/* ---- loop ---- */
struct leat_loop;
/** NULL without memory or descriptors. Sets SIGPIPE to be ignored, unless the process handles it
 * already. */
struct leat_loop *leat_loop_new(void);
/** All objects of the loop must have been closed; runs it until their closing and submitted work
 * are done: what `done` and `closed` callbacks touch must live until this returns. */
void leat_loop_free(struct leat_loop *loop);
void leat_loop_run(struct leat_loop *loop); /**< until leat_loop_stop */
void leat_loop_stop(struct leat_loop *loop);
/** Called after each turn's callbacks, before the loop waits, and once more when leat_loop_run
 * ends: the place to send what a turn made. One a loop. */
void leat_loop_on_turn(struct leat_loop *loop, void (*turn)(void *data), void *data);
/** Up to the present turn. */
struct leat_loop_load leat_loop_load_of(const struct leat_loop *loop);
const char *leat_io_library_version(void); /**< "1.44.2" */

/* ---- timer: one shot at an absolute time ---- */
struct leat_timer;
struct leat_timer *leat_timer_new(struct leat_loop *loop, void (*fire)(void *data, uint64_t now_us),
                                  void *data);
/** Re-arm; UINT64_MAX disarms; a time in the past fires in the next turn. Never early. */
void leat_timer_set(struct leat_timer *t, uint64_t deadline_us);
void leat_timer_close(struct leat_timer *t); /**< NULL is fine, as for every close here */

/* ---- signals ---- */
struct leat_signal;
struct leat_signal *leat_signal_new(struct leat_loop *loop, int signum,
                                    void (*fire)(void *data, int signum), void *data);
void leat_signal_close(struct leat_signal *s);

/* ---- threads ---- */
struct leat_thread;
int leat_thread_start(struct leat_thread **out, const char *name, void (*run)(void *data),
                      void *data);
void leat_thread_join(struct leat_thread *t);
/** min(affinity, cgroup v2/v1 CPU quota rounded up), at least 1. */
unsigned leat_cpu_count(void);
/**
 * Run `work` on libuv's pool (whose threads have a lower scheduling priority than the loops), then
 * `done` on the loop's thread. `done` is always called, also when the loop is being shut down: then
 * leat_loop_free runs what was submitted. The pool is the process's; it has 4 threads, or
 * UV_THREADPOOL_SIZE of the environment as it is at the first submit.
 */
int leat_work_submit(struct leat_loop *loop, void (*work)(void *data), void (*done)(void *data),
                     void *data);

/* ---- mailbox: messages into a loop from any thread, in order, one wake-up a burst ---- */
struct leat_mailbox;
struct leat_mailbox *leat_mailbox_new(struct leat_loop *loop,
                                      void (*receive)(void *data, struct leat_list *message),
                                      void *data);
/** `message` is linked in until it is received; the receiver owns it then. Any thread, before the
 * close. */
void leat_mailbox_post(struct leat_mailbox *m, struct leat_list *message);
/** Messages not received yet are received first. */
void leat_mailbox_close(struct leat_mailbox *m);

/* ---- UDP ---- */
#define LEAT_UDP_BATCH 64
#define LEAT_UDP_MTU_MAX 2048 /**< longer datagrams are dropped and counted as truncated */
#define LEAT_UDP_SOCKETS_MAX 64

/**
 * A set of UDP sockets of one loop with one receive callback and one send batch. Receives with
 * recvmmsg and IP_PKTINFO / IPV6_RECVPKTINFO, so that every datagram has its true local address
 * also on a wildcard socket; sends with sendmmsg from the tuple's local address. A turn reads at
 * most a few batches a socket, so that timers and mailboxes run.
 */
struct leat_udp;
struct leat_udp *leat_udp_new(struct leat_loop *loop,
                              void (*receive)(void *data, struct leat_datagram *datagrams,
                                              size_t count, uint64_t now_us),
                              void *data);
/** Bind one address (unspecified is a wildcard of its family; IPv6 sockets are V6ONLY). Receive and
 * send buffers of `buffer` octets are asked for.
 *  @param granted  gets the receive buffer that the kernel granted (the value it uses, before
 * doubling for overhead)
 *  @return 0, or LEAT_E_IO (with the errno's text in `why`), LEAT_E_RANGE (over
 * LEAT_UDP_SOCKETS_MAX), LEAT_E_NOMEM */
int leat_udp_bind(struct leat_udp *u, const struct leat_addr *addr, size_t buffer, size_t *granted,
                  char *why, size_t why_cap);
/** The address of the index-th bound socket, with the port the kernel gave for port 0; NULL past
 * the end. */
const struct leat_addr *leat_udp_local(const struct leat_udp *u, size_t index);
/** The batch as a sink. Reserve flushes by itself when the batch is full. */
struct leat_sink *leat_udp_sink(struct leat_udp *u);
void leat_udp_flush(
    struct leat_udp *u); /**< send what was committed; call at the end of each turn */
/** Runs of datagrams of one size to one remote leave as one message that the kernel or the device
 * cuts up (UDP_SEGMENT), on at first. An address that they are refused for gets them one by one
 * from then on. */
void leat_udp_set_gso(struct leat_udp *u, bool is_on);
const struct leat_udp_counters *leat_udp_counters(const struct leat_udp *u);
void leat_udp_close(struct leat_udp *u); /**< sends what was committed first */

/* ---- addresses of this host ---- */
/** Addresses of interfaces that are up, without link-local ones and without loopback other than
 * 127.0.0.1. @return count, capped. */
size_t leat_interface_addrs(struct leat_addr *out, size_t cap);

/* ---- Unix stream sockets ---- */
#define LEAT_UNIX_PATH_MAX 107
#define LEAT_CONN_DRAIN_MS 5000 /**< a draining connection is closed then, read or not */

struct leat_conn; /**< one connection, of a server or a client */

/** `data` is what leat_unix_listen or leat_unix_connect was given; `opened`, `ended` and `closed`
 * may be NULL (without `ended` the connection then drains and closes). */
struct leat_conn_events {
    void (*opened)(void *data, struct leat_conn *c);
    /** The span is valid until the callback returns. */
    void (*octets)(void *data, struct leat_conn *c, struct leat_span octets);
    /** The remote will send no more; what is queued for it still goes out. */
    void (*ended)(void *data, struct leat_conn *c);
    /** The connection is gone (also after leat_conn_close); c is freed when this returns. */
    void (*closed)(void *data, struct leat_conn *c);
};

struct leat_unix_server;
/**
 * Listen on `path` with mode 0600. A stale socket file (nobody answers) is replaced; a live one is
 * LEAT_E_EXISTS; anything that is not a socket is left alone (LEAT_E_INVALID); a path over
 * LEAT_UNIX_PATH_MAX is LEAT_E_RANGE. Running out of descriptors refuses connections, is counted
 * and logged at most once a minute by the owner through leat_unix_server_refused.
 */
int leat_unix_listen(struct leat_unix_server **out, struct leat_loop *loop, const char *path,
                     const struct leat_conn_events *events, void *data, char *why, size_t why_cap);
uint64_t leat_unix_server_refused(const struct leat_unix_server *s);
/** Stops listening and removes the socket file if it is still ours; connections live on. */
void leat_unix_server_close(struct leat_unix_server *s);

/** Client side. @return 0 (then `opened` follows in the next turn) or LEAT_E_IO / LEAT_E_RANGE /
 * LEAT_E_INVALID / LEAT_E_NOMEM with a text. */
int leat_unix_connect(struct leat_conn **out, struct leat_loop *loop, const char *path,
                      const struct leat_conn_events *events, void *data, char *why, size_t why_cap);

/** Queue octets (copied), the first of them at once when the kernel takes them. @return 0,
 * LEAT_E_RANGE when more than `limit` octets would wait here unread (nothing is queued then),
 * LEAT_E_STATE when the connection is closing or just broke, LEAT_E_NOMEM or LEAT_E_IO (it closes
 * then: part of the octets may be out). */
int leat_conn_write(struct leat_conn *c, const void *octets, size_t len, size_t limit);
size_t leat_conn_queued(const struct leat_conn *c);
/** A pointer of the owner's for this connection, NULL at first. */
void leat_conn_set_data(struct leat_conn *c, void *data);
void *leat_conn_data(const struct leat_conn *c);
/** Close at once (drops what is queued) or, with `drain`, when the queue is empty. `closed`
 * follows. */
void leat_conn_close(struct leat_conn *c, bool drain);

#endif
