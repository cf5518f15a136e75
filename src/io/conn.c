/* SPDX-License-Identifier: MIT */
/*
 * One connection over a Unix stream socket, of a server or a client.
 *
 *   new -> open (opened, octets...) -> ended (the remote sends no more) -> closing -> closed, freed
 *                   \________________________\__ draining (nothing is read; the queue goes out) __/
 *
 * The pipe is libuv's with ipc 0: descriptors that a remote passes along are discarded by the
 * kernel. What the kernel does not take at once is queued as a copy under the caller's limit. A
 * connection that is draining is closed after LEAT_CONN_DRAIN_MS even if its reader does not read,
 * or no shutdown would end.
 */
#include "unix.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct leat_conn {
    uv_pipe_t pipe;
    uv_timer_t drain_timer;
    struct leat__later opening; /* a client's `opened` */
    struct leat_loop *loop;
    const struct leat_conn_events *events;
    void *events_data;
    void *data;
    size_t queued;
    unsigned open_handles;
    bool is_closing;
    bool is_draining;
};

struct queued_write {
    uv_write_t req;
    size_t len;
    uint8_t octets[];
};

/* ---- close ---- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct leat_conn *c = handle->data;
    if (--c->open_handles == 0) {
        if (c->events->closed != NULL) {
            c->events->closed(c->events_data, c);
        }
        free(c);
    }
}

static void shut(struct leat_conn *c)
{
    if (c->is_closing) {
        return;
    }
    c->is_closing = true;
    leat__later_remove(&c->opening);
    uv_close((uv_handle_t *)&c->pipe, on_handle_closed);
    uv_close((uv_handle_t *)&c->drain_timer, on_handle_closed);
}

static void on_drain_timeout(uv_timer_t *timer)
{
    shut(timer->data);
}

void leat_conn_close(struct leat_conn *c, bool drain)
{
    if (c == NULL || c->is_closing) {
        return;
    }
    if (!drain || c->queued == 0) {
        shut(c);
    } else if (!c->is_draining) {
        c->is_draining = true;
        leat__later_remove(&c->opening);
        (void)uv_read_stop((uv_stream_t *)&c->pipe);
        uv_update_time(&c->loop->uv);
        (void)uv_timer_start(&c->drain_timer, on_drain_timeout, LEAT_CONN_DRAIN_MS, 0);
    }
}

/* ---- read ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct leat_conn *c = handle->data;
    (void)suggested;
    *buffer = uv_buf_init((char *)c->loop->read_buffer, sizeof(c->loop->read_buffer));
}

/* Whether the remote is gone altogether, not only done with sending. */
static bool has_hung_up(const struct leat_conn *c)
{
    uv_os_fd_t fd;
    if (uv_fileno((const uv_handle_t *)&c->pipe, &fd) != 0) {
        return false;
    }
    struct pollfd p = {.fd = fd};
    return poll(&p, 1, 0) == 1 && (p.revents & POLLHUP) != 0;
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct leat_conn *c = stream->data;
    if (count > 0) {
        c->events->octets(c->events_data, c, leat_span(buffer->base, (size_t)count));
    } else if (count == UV_EOF) {
        (void)uv_read_stop(stream);
        if (c->events->ended == NULL) {
            leat_conn_close(c, true);
            return;
        }
        c->events->ended(c->events_data, c);
        if (!c->is_closing && has_hung_up(c)) {
            shut(c); /* nobody is there to read what might still be written */
        }
    } else if (count < 0) {
        shut(c);
    }
}

/* ---- write ---- */

static void on_written(uv_write_t *req, int status)
{
    struct leat_conn *c = req->handle->data;
    struct queued_write *w = req->data;
    c->queued -= w->len;
    free(w);
    if (status < 0 || (c->is_draining && c->queued == 0)) {
        shut(c);
    }
}

static int queue_write(struct leat_conn *c, const uint8_t *octets, size_t len)
{
    struct queued_write *w = malloc(sizeof(*w) + len);
    if (w == NULL) {
        return LEAT_E_NOMEM;
    }
    memcpy(w->octets, octets, len);
    w->len = len;
    w->req.data = w;
    uv_buf_t buffer = uv_buf_init((char *)w->octets, (unsigned)len);
    if (uv_write(&w->req, (uv_stream_t *)&c->pipe, &buffer, 1, on_written) != 0) {
        free(w);
        return LEAT_E_IO;
    }
    c->queued += len;
    return LEAT_OK;
}

int leat_conn_write(struct leat_conn *c, const void *octets, size_t len, size_t limit)
{
    if (c->is_closing || c->is_draining) {
        return LEAT_E_STATE;
    }
    if (len > limit || c->queued > limit - len || len > INT32_MAX) {
        return LEAT_E_RANGE;
    }
    size_t sent = 0;
    if (c->queued == 0 && len != 0) {
        uv_buf_t buffer = uv_buf_init((char *)octets, (unsigned)len);
        int result = uv_try_write((uv_stream_t *)&c->pipe, &buffer, 1);
        sent = result > 0 ? (size_t)result : 0;
        if (result < 0 && result != UV_EAGAIN) {
            shut(c);
            return LEAT_E_STATE;
        }
    }
    if (sent == len) {
        return LEAT_OK;
    }
    int result = queue_write(c, (const uint8_t *)octets + sent, len - sent);
    if (result != LEAT_OK) {
        shut(c); /* a stream with a hole is of no use to anyone */
    }
    return result;
}

size_t leat_conn_queued(const struct leat_conn *c)
{
    return c->queued;
}

void leat_conn_set_data(struct leat_conn *c, void *data)
{
    c->data = data;
}

void *leat_conn_data(const struct leat_conn *c)
{
    return c->data;
}

/* ---- open ---- */

void leat__conn_open(struct leat_conn *c)
{
    if (c->events->opened != NULL) {
        c->events->opened(c->events_data, c);
    }
    if (!c->is_closing && !c->is_draining) {
        (void)uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read);
    }
}

static void on_opening(struct leat__later *later)
{
    leat__conn_open(LEAT_CONTAINER(later, struct leat_conn, opening));
}

struct leat_conn *leat__conn_new(struct leat_loop *loop, int fd,
                                 const struct leat_conn_events *events, void *data)
{
    static const struct leat_conn_events nobody = {0};
    struct leat_conn *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        return NULL;
    }
    c->loop = loop;
    c->events = events;
    c->events_data = data;
    leat__later_init(&c->opening, on_opening);
    (void)uv_pipe_init(&loop->uv, &c->pipe, 0);
    (void)uv_timer_init(&loop->uv, &c->drain_timer);
    c->pipe.data = c->drain_timer.data = c;
    c->open_handles = 2;
    if (uv_pipe_open(&c->pipe, fd) != 0) {
        c->events = &nobody;
        shut(c);
        return NULL;
    }
    return c;
}

int leat__unix_dial(const char *path)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path, path, strlen(path));
    /* On a Unix socket this succeeds or fails at once; EAGAIN is a full backlog. */
    if (connect(fd, (const struct sockaddr *)&name, sizeof(name)) != 0) {
        int error = errno;
        (void)close(fd);
        return -error;
    }
    return fd;
}

int leat_unix_connect(struct leat_conn **out, struct leat_loop *loop, const char *path,
                      const struct leat_conn_events *events, void *data, char *why, size_t why_cap)
{
    int result = leat__unix_check_path(path, why, why_cap);
    if (result != LEAT_OK) {
        return result;
    }
    int fd = leat__unix_dial(path);
    if (fd < 0) {
        leat__io_why(why, why_cap, path, -fd);
        return LEAT_E_IO;
    }
    struct leat_conn *c = leat__conn_new(loop, fd, events, data);
    if (c == NULL) {
        leat__io_why(why, why_cap, path, ENOMEM);
        (void)close(fd);
        return LEAT_E_NOMEM;
    }
    leat__later_add(loop, &c->opening);
    *out = c;
    return LEAT_OK;
}
