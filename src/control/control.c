/* SPDX-License-Identifier: MIT */
/*
 * Connections, time and the end. Output to a connection is bounded: the owner refuses what goes
 * over LEAT_CONTROL_QUEUE_MAX and the reader is cut off; others do not notice. The one thing that
 * may be longer is a snapshot of a large world: its lines wait in a backlog and follow as the
 * reader takes them, and so does what is sent behind them.
 *
 * A connection whose remote has finished sending is closed once everything it asked for is
 * answered; a subscriber's stays, for its events.
 */
#include "private.h"

#include <stdlib.h>

#define BACKLOG_POLL_US 5000u
#define BACKLOG_AHEAD 524288u /**< octets that the owner's queue is filled up to from a backlog */

int leat_control_new(struct leat_control **out, const struct leat_control_info *info,
                     const struct leat_control_port *port, struct leat_rng *rng, uint64_t now_us)
{
    uint8_t seed[32];
    if (info->workers == 0 || info->workers > LEAT_CONTROL_WORKERS_MAX) {
        return LEAT_E_INVALID;
    }
    struct leat_control *c = calloc(1, sizeof(*c));
    if (!c) {
        return LEAT_E_NOMEM;
    }
    c->info = *info;
    c->port = *port;
    c->rng = rng;
    c->start_us = now_us;
    c->oldest_seq = 1;
    c->drain_us = LEAT_NEVER;
    leat_list_init(&c->connections);
    leat_list_init(&c->requests);
    leat_list_init(&c->peers);
    leat_list_init(&c->leaving);
    leat_list_init(&c->ended);
    leat_rng_fill(rng, seed, sizeof(seed));
    leat_map_init(&c->by_id, seed);
    leat_map_init(&c->by_handle, seed + 16);
    leat_json_writer_init(&c->out);
    leat_json_writer_init(&c->line);
    leat_json_writer_init(&c->id);
    (void)leat_dtls_identity_hold(info->identity);
    *out = c;
    return 0;
}

static void free_connection(struct leat_control *c, struct leat_control_conn *conn)
{
    leat_list_remove(&conn->node);
    c->connection_count--;
    leat_json_lines_deinit(&conn->lines);
    free(conn->backlog);
    free(conn);
}

static void free_peers(struct leat_control *c, struct leat_list *peers)
{
    while (!leat_list_is_empty(peers)) {
        leat__control_world_remove(c, LEAT_CONTAINER(peers->next, struct leat__control_peer, node));
    }
}

void leat_control_free(struct leat_control *c)
{
    if (!c) {
        return;
    }
    while (!leat_list_is_empty(&c->requests)) {
        struct leat__control_request *r =
            LEAT_CONTAINER(c->requests.next, struct leat__control_request, node);
        leat_list_remove(&r->node);
        leat__control_request_free(r);
    }
    while (!leat_list_is_empty(&c->connections)) {
        free_connection(c, LEAT_CONTAINER(c->connections.next, struct leat_control_conn, node));
    }
    free_peers(c, &c->peers);
    free_peers(c, &c->leaving);
    leat__control_events_clear(c);
    leat_dtls_identity_free(c->info.identity);
    leat_map_deinit(&c->by_id);
    leat_map_deinit(&c->by_handle);
    leat_json_writer_deinit(&c->out);
    leat_json_writer_deinit(&c->line);
    leat_json_writer_deinit(&c->id);
    free(c);
}

void leat_control_set_identity(struct leat_control *c, const struct leat_dtls_identity *identity)
{
    (void)leat_dtls_identity_hold(identity);
    leat_dtls_identity_free(c->info.identity);
    c->info.identity = identity;
}

/* ---- connections ---- */

struct leat_control_conn *leat_control_conn_opened(struct leat_control *c, void *conn)
{
    struct leat_control_conn *opened = calloc(1, sizeof(*opened));
    if (!opened) {
        return NULL;
    }
    opened->conn = conn;
    leat_json_lines_init(&opened->lines);
    leat_list_add_tail(&c->connections, &opened->node);
    c->connection_count++;
    return opened;
}

static void close_connection(struct leat_control *c, struct leat_control_conn *conn)
{
    if (!conn->is_closing) {
        conn->is_closing = true;
        conn->is_subscribed = false;
        c->port.close(c->port.data, conn->conn);
    }
}

void leat__control_cut_off(struct leat_control *c, struct leat_control_conn *conn)
{
    if (!conn->is_closing) {
        c->cut_off++;
        close_connection(c, conn);
    }
}

void leat__control_close_if_idle(struct leat_control *c, struct leat_control_conn *conn)
{
    if (conn->is_ended && conn->pending == 0 && !conn->is_subscribed && conn->backlog_len == 0) {
        close_connection(c, conn);
    }
}

static void serve_lines(struct leat_control *c, struct leat_control_conn *conn, bool is_end,
                        uint64_t now_us)
{
    struct leat_span line;
    while (!conn->is_closing && leat_json_lines_next(&conn->lines, is_end, &line)) {
        leat__control_serve(c, conn, line, now_us);
    }
}

void leat_control_conn_octets(struct leat_control *c, struct leat_control_conn *conn,
                              struct leat_span octets, uint64_t now_us)
{
    if (conn->is_closing) {
        return;
    }
    int rc = leat_json_lines_add(&conn->lines, octets);
    serve_lines(c, conn, false, now_us);
    if (rc != 0 && !conn->is_closing) {
        if (rc == LEAT_E_RANGE) {
            leat__control_refuse_line(c, conn);
        }
        close_connection(c, conn);
    }
}

void leat_control_conn_ended(struct leat_control *c, struct leat_control_conn *conn,
                             uint64_t now_us)
{
    serve_lines(c, conn, true, now_us);
    conn->is_ended = true;
    leat__control_close_if_idle(c, conn);
}

void leat_control_conn_closed(struct leat_control *c, struct leat_control_conn *conn)
{
    leat__control_requests_forget(c, conn);
    free_connection(c, conn);
}

/* ---- output ---- */

static bool backlog_add(struct leat_control_conn *conn, const char *octets, size_t len)
{
    if (conn->backlog_cap - conn->backlog_len < len) {
        size_t cap = conn->backlog_cap != 0 ? conn->backlog_cap : 65536;
        while (cap - conn->backlog_len < len) {
            cap *= 2;
        }
        char *grown = realloc(conn->backlog, cap);
        if (!grown) {
            return false;
        }
        conn->backlog = grown;
        conn->backlog_cap = cap;
    }
    memcpy(conn->backlog + conn->backlog_len, octets, len);
    conn->backlog_len += len;
    return true;
}

void leat__control_write(struct leat_control *c, struct leat_control_conn *conn, const char *octets,
                         size_t len)
{
    if (conn->is_closing) {
        return;
    }
    bool is_taken;
    if (conn->backlog_len == 0) {
        is_taken = c->port.write(c->port.data, conn->conn, octets, len) == 0;
    } else {
        size_t unread = conn->backlog_len - conn->backlog_free;
        is_taken = unread <= LEAT_CONTROL_QUEUE_MAX - len && backlog_add(conn, octets, len);
    }
    if (!is_taken) {
        leat__control_cut_off(c, conn);
    }
}

void leat__control_write_bulk(struct leat_control *c, struct leat_control_conn *conn,
                              const char *octets, size_t len)
{
    if (!c->port.queued) {
        leat__control_write(c, conn, octets, len);
        return;
    }
    if (conn->is_closing) {
        return;
    }
    if (!backlog_add(conn, octets, len)) {
        leat__control_cut_off(c, conn);
        return;
    }
    conn->backlog_free = conn->backlog_len;
}

/** Hand on of a backlog what the owner's queue has room for. */
static void drain_backlog(struct leat_control *c, struct leat_control_conn *conn)
{
    size_t queued = c->port.queued(c->port.data, conn->conn);
    if (conn->is_closing || queued >= BACKLOG_AHEAD) {
        return;
    }
    size_t left = conn->backlog_len - conn->backlog_at;
    size_t room = BACKLOG_AHEAD - queued;
    size_t len = left < room ? left : room;
    if (c->port.write(c->port.data, conn->conn, conn->backlog + conn->backlog_at, len) != 0) {
        leat__control_cut_off(c, conn);
        return;
    }
    conn->backlog_at += len;
    if (conn->backlog_at == conn->backlog_len) {
        free(conn->backlog);
        conn->backlog = NULL;
        conn->backlog_at = conn->backlog_len = conn->backlog_cap = conn->backlog_free = 0;
    }
}

/* ---- time ---- */

static bool is_over(const struct leat_control *c, uint64_t now_us)
{
    return c->is_shutdown_wanted ||
           (c->is_draining && (c->live_count == 0 || now_us >= c->drain_us));
}

uint64_t leat_control_deadline(const struct leat_control *c)
{
    uint64_t deadline = leat__control_world_deadline(c);
    if (!c->is_shutdown_done && is_over(c, 0)) {
        return 0;
    }
    if (!c->is_shutdown_done && c->is_draining && c->drain_us < deadline) {
        deadline = c->drain_us;
    }
    for (struct leat_list *n = c->connections.next; n != &c->connections; n = n->next) {
        const struct leat_control_conn *conn = LEAT_CONTAINER(n, struct leat_control_conn, node);
        if (conn->backlog_len != 0 && !conn->is_closing && c->backlog_us < deadline) {
            deadline = c->backlog_us;
        }
    }
    return deadline;
}

void leat_control_tick(struct leat_control *c, uint64_t now_us)
{
    leat__control_world_expire(c, now_us);
    for (struct leat_list *n = c->connections.next; n != &c->connections; n = n->next) {
        struct leat_control_conn *conn = LEAT_CONTAINER(n, struct leat_control_conn, node);
        if (conn->backlog_len != 0 && !conn->is_closing) {
            drain_backlog(c, conn);
        }
        leat__control_close_if_idle(c, conn);
    }
    c->backlog_us = now_us + BACKLOG_POLL_US;
    if (!c->is_shutdown_done && is_over(c, now_us)) {
        c->is_shutdown_done = true;
        c->port.shutdown(c->port.data);
    }
}

/* ---- the end ---- */

void leat__control_set_draining(struct leat_control *c, bool is_draining, uint64_t deadline_us,
                                uint64_t now_us)
{
    c->drain_us = deadline_us;
    if (c->is_draining != is_draining) {
        c->is_draining = is_draining;
        leat__control_emit_daemon(c, now_us);
    }
}

void leat_control_drain(struct leat_control *c, uint64_t deadline_us, uint64_t now_us)
{
    leat__control_set_draining(c, true, deadline_us, now_us);
}

bool leat_control_is_draining(const struct leat_control *c)
{
    return c->is_draining;
}

size_t leat_control_live_peers(const struct leat_control *c)
{
    return c->live_count;
}
