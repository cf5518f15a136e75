/* SPDX-License-Identifier: MIT */
/* Requests have ids that count up; the slot of a request is its id modulo their number, so that
 * replies in any order find it. */
#include "control.h"

#include <stdio.h>

#define QUEUE_MAX (8u << 20)

static void fail(struct leat_load_control *c, const char *why)
{
    if (c->conn == NULL) {
        return;
    }
    leat_load_control_close(c);
    c->gone(c->data, why);
}

static void take_reply(struct leat_load_control *c, const leat_json *message)
{
    int64_t id = 0;
    if (!leat_json_int(leat_json_get(message, "id"), &id) || id < 0) {
        fail(c, "a reply without our id");
        return;
    }
    struct leat_load_request *r = &c->requests[(uint64_t)id % LEAT_LOAD_REQUESTS_MAX];
    if (r->reply == NULL || r->id != (uint64_t)id) {
        fail(c, "a reply to no request of ours");
        return;
    }
    leat_load_reply reply = r->reply;
    r->reply = NULL;
    c->in_flight--;
    reply(c->data, r->index, leat_json_get(message, "result"), leat_json_get(message, "error"));
}

static void take_line(struct leat_load_control *c, struct leat_span line)
{
    char why[LEAT_JSON_WHY_MAX];
    struct leat_span method;
    leat_json *message = leat_json_parse(line, why);
    if (message == NULL) {
        fail(c, why);
        return;
    }
    if (leat_json_string(leat_json_get(message, "method"), &method)) {
        c->notified(c->data, method, leat_json_get(message, "params"));
    } else {
        take_reply(c, message);
    }
    leat_json_free(message);
}

static void on_octets(void *data, struct leat_conn *conn, struct leat_span octets)
{
    struct leat_load_control *c = data;
    struct leat_span line;
    (void)conn;
    int error = leat_json_lines_add(&c->lines, octets);
    while (c->conn != NULL && leat_json_lines_next(&c->lines, false, &line)) {
        take_line(c, line);
    }
    if (error != 0) {
        fail(c, "a line of the daemon is too long");
    }
}

static void on_closed(void *data, struct leat_conn *conn)
{
    struct leat_load_control *c = data;
    if (c->conn == conn) {
        c->conn = NULL;
        c->gone(c->data, "leatd closed the control connection");
    }
}

int leat_load_control_open(struct leat_load_control *c, struct leat_loop *loop, const char *path,
                           char *why, size_t why_cap)
{
    static const struct leat_conn_events events = {.octets = on_octets, .closed = on_closed};
    leat_json_lines_init(&c->lines);
    leat_json_writer_init(&c->out);
    return leat_unix_connect(&c->conn, loop, path, &events, c, why, why_cap);
}

void leat_load_control_close(struct leat_load_control *c)
{
    struct leat_conn *conn = c->conn;
    c->conn = NULL;
    leat_conn_close(conn, false);
}

void leat_load_control_deinit(struct leat_load_control *c)
{
    leat_json_lines_deinit(&c->lines);
    leat_json_writer_deinit(&c->out);
}

struct leat_json_writer *leat_load_control_begin(struct leat_load_control *c, const char *method)
{
    leat_json_writer_reset(&c->out);
    leat_json_open(&c->out, '{');
    leat_json_put_text(&c->out, "jsonrpc", "2.0");
    leat_json_put_u64(&c->out, "id", c->next_id);
    leat_json_put_text(&c->out, "method", method);
    leat_json_write_key(&c->out, "params");
    leat_json_open(&c->out, '{');
    return &c->out;
}

int leat_load_control_send(struct leat_load_control *c, leat_load_reply reply, size_t index)
{
    struct leat_load_request *r = &c->requests[c->next_id % LEAT_LOAD_REQUESTS_MAX];
    leat_json_close(&c->out, '}');
    leat_json_close(&c->out, '}');
    leat_json_write_raw(&c->out, leat_span_str("\n"));
    if (c->conn == NULL) {
        return LEAT_E_STATE;
    }
    if (r->reply != NULL) {
        return LEAT_E_RANGE;
    }
    if (c->out.failed) {
        return LEAT_E_NOMEM;
    }
    int error = leat_conn_write(c->conn, c->out.text, c->out.len, QUEUE_MAX);
    if (error == 0) {
        *r = (struct leat_load_request){reply, c->next_id++, index};
        c->in_flight++;
    }
    return error;
}
