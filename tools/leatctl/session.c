/* SPDX-License-Identifier: MIT */
/* The connection. Lines are put together here and not by leat_json_lines, whose bound is that of a
 * request: replies may be longer. */
#include "session.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void stop(struct leat_ctl_session *s, const char *why)
{
    if (!s->is_over) {
        s->is_over = true;
        (void)snprintf(s->why, sizeof s->why, "%s", why);
        leat_loop_stop(s->loop);
    }
}

static bool append(struct leat_ctl_session *s, const uint8_t *data, size_t len)
{
    if (len > LEAT_CTL_LINE_MAX - s->len) {
        stop(s, "the reply is too long");
        return false;
    }
    if (s->cap - s->len < len) {
        size_t cap = s->cap == 0 ? 65536 : s->cap;
        while (cap - s->len < len) {
            cap *= 2;
        }
        uint8_t *grown = realloc(s->text, cap);
        if (grown == NULL) {
            stop(s, "out of memory");
            return false;
        }
        s->text = grown;
        s->cap = cap;
    }
    memcpy(s->text + s->len, data, len);
    s->len += len;
    return true;
}

static void on_octets(void *data, struct leat_conn *c, struct leat_span octets)
{
    struct leat_ctl_session *s = data;
    (void)c;
    for (size_t at = 0; at < octets.len && !s->is_over;) {
        const uint8_t *end = memchr(octets.data + at, '\n', octets.len - at);
        size_t len = end != NULL ? (size_t)(end - octets.data) - at : octets.len - at;
        if (!append(s, octets.data + at, len)) {
            return;
        }
        at += len + (end != NULL ? 1 : 0);
        if (end == NULL || s->len == 0) {
            continue;
        }
        size_t line_len = s->len;
        s->len = 0;
        if (!s->line(s->data, leat_span(s->text, line_len))) {
            stop(s, "");
        }
    }
}

static void on_closed(void *data, struct leat_conn *c)
{
    struct leat_ctl_session *s = data;
    (void)c;
    s->conn = NULL;
    stop(s, "leatd closed the connection");
}

static void on_late(void *data, uint64_t now_us)
{
    (void)now_us;
    stop(data, "no reply from leatd");
}

static void on_signal(void *data, int signum)
{
    (void)signum;
    stop(data, "");
}

int leat_ctl_session_open(struct leat_ctl_session *s, const char *path)
{
    static const struct leat_conn_events events = {.octets = on_octets, .closed = on_closed};
    s->loop = leat_loop_new();
    s->timer = s->loop != NULL ? leat_timer_new(s->loop, on_late, s) : NULL;
    if (s->timer == NULL) {
        (void)snprintf(s->why, sizeof s->why, "out of memory");
        return LEAT_E_NOMEM;
    }
    return leat_unix_connect(&s->conn, s->loop, path, &events, s, s->why, sizeof s->why);
}

int leat_ctl_session_request(struct leat_ctl_session *s, const char *method,
                             struct leat_span params)
{
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    leat_json_open(&w, '{');
    leat_json_put_text(&w, "jsonrpc", "2.0");
    leat_json_put_i64(&w, "id", 1);
    leat_json_put_text(&w, "method", method);
    leat_json_write_key(&w, "params");
    leat_json_write_raw(&w, params);
    leat_json_close(&w, '}');
    int error = w.failed ? LEAT_E_NOMEM : w.len > LEAT_JSON_LINE_MAX ? LEAT_E_RANGE : 0;
    leat_json_write_raw(&w, leat_span_str("\n"));
    if (error == 0) {
        error = leat_conn_write(s->conn, w.text, w.len, w.len);
    }
    if (error != 0) {
        (void)snprintf(s->why, sizeof s->why, "%s",
                       error == LEAT_E_RANGE ? "the request is longer than leatd takes"
                                             : leat_error_text(error));
    }
    leat_json_writer_deinit(&w);
    return error;
}

int leat_ctl_session_run(struct leat_ctl_session *s, bool is_endless)
{
    if (is_endless) {
        s->interrupt = leat_signal_new(s->loop, SIGINT, on_signal, s);
        s->terminate = leat_signal_new(s->loop, SIGTERM, on_signal, s);
    } else {
        leat_timer_set(s->timer, leat_now_us() + LEAT_CTL_REPLY_US);
    }
    leat_loop_run(s->loop);
    return s->why[0] == '\0' ? 0 : LEAT_E_IO;
}

void leat_ctl_session_close(struct leat_ctl_session *s)
{
    s->is_over = true;
    leat_signal_close(s->interrupt);
    leat_signal_close(s->terminate);
    leat_timer_close(s->timer);
    leat_conn_close(s->conn, false);
    leat_loop_free(s->loop);
    free(s->text);
}
