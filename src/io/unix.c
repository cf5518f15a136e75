/* SPDX-License-Identifier: MIT */
/*
 * The listening half of Unix stream sockets.
 *
 * Listen: under a lock on the folder (so that of two daemons that find the same stale file only one
 * replaces it), probe what is at the path, remove it only when it is a socket that nobody answers
 * on, bind and listen. The file gets its mode from the descriptor, before bind: it never exists
 * with another one, and the process's umask is left alone.
 *
 * Accept is ours and not libuv's, which closes clients without a word when descriptors run out. A
 * descriptor is kept in reserve: it is given up to accept and close the one client that cannot be
 * served, and taken again. When even that fails, accepting rests for a moment instead of spinning
 * on a readable socket.
 */
#include "unix.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG 128
#define ACCEPTS_PER_TURN 16
#define REST_MS 100
#define LOCK_TRIES 50
#define LOCK_WAIT_NS 10000000

static_assert(sizeof(((struct sockaddr_un *)0)->sun_path) == LEAT_UNIX_PATH_MAX + 1,
              "the limit is the platform's");

struct leat_unix_server {
    uv_poll_t poll;
    uv_timer_t rest;
    struct leat_loop *loop;
    const struct leat_conn_events *events;
    void *events_data;
    uint64_t refused;
    int fd;
    int reserve_fd; /* -1 when it could not be taken again */
    bool is_closed;
    unsigned open_handles;
    char path[LEAT_UNIX_PATH_MAX + 1];
    dev_t device; /* of the socket file that we made */
    ino_t inode;
};

/* ---- accept ---- */

static void take_reserve(struct leat_unix_server *s)
{
    if (s->reserve_fd < 0) {
        s->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
}

/** With no descriptor left: let one client go. @return false when not even that was possible. */
static bool refuse_one(struct leat_unix_server *s)
{
    if (s->reserve_fd < 0) {
        return false;
    }
    (void)close(s->reserve_fd);
    s->reserve_fd = -1;
    int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0) {
        (void)close(fd);
        s->refused++;
    }
    take_reserve(s);
    return fd >= 0;
}

static void take(struct leat_unix_server *s, int fd)
{
    struct leat_conn *c = leat__conn_new(s->loop, fd, s->events, s->events_data);
    if (c == NULL) {
        (void)close(fd);
        s->refused++;
        return;
    }
    leat__conn_open(c);
}

static void on_connections(uv_poll_t *handle, int status, int events);

static void on_rested(uv_timer_t *timer)
{
    struct leat_unix_server *s = timer->data;
    take_reserve(s);
    (void)uv_poll_start(&s->poll, UV_READABLE, on_connections);
}

static void rest(struct leat_unix_server *s)
{
    (void)uv_poll_stop(&s->poll);
    (void)uv_timer_start(&s->rest, on_rested, REST_MS, 0);
}

static void on_connections(uv_poll_t *handle, int status, int events)
{
    struct leat_unix_server *s = handle->data;
    (void)events;
    if (status < 0) {
        rest(s);
        return;
    }
    for (int i = 0; i < ACCEPTS_PER_TURN && !s->is_closed; i++) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            take(s, fd);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR && errno != ECONNABORTED && !refuse_one(s)) {
            rest(s);
            return;
        }
    }
}

/* ---- listen ---- */

int leat__unix_check_path(const char *path, char *why, size_t why_cap)
{
    size_t len = strlen(path);
    if (len == 0) {
        (void)snprintf(why, why_cap, "the socket path is empty");
        return LEAT_E_INVALID;
    }
    if (len > LEAT_UNIX_PATH_MAX) {
        (void)snprintf(why, why_cap, "the socket path has %zu octets, at most %d fit", len,
                       LEAT_UNIX_PATH_MAX);
        return LEAT_E_RANGE;
    }
    return LEAT_OK;
}

/** Lock the folder that holds `path`, for half a second at most: a stranger's lock must not keep us
 * from starting. @return a descriptor to close, or -1. */
static int lock_folder(const char *path)
{
    char folder[LEAT_UNIX_PATH_MAX + 1];
    memcpy(folder, path, strlen(path) + 1);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        memcpy(folder, ".", 2);
    } else {
        slash[slash == folder] = '\0';
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = LOCK_WAIT_NS}, NULL);
    }
    return fd;
}

/** Make way at `path` if nothing but a dead socket is there. */
static int clear_path(const char *path, char *why, size_t why_cap)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        return LEAT_OK; /* nothing there; bind will tell what else is wrong */
    }
    if (!S_ISSOCK(st.st_mode)) {
        (void)snprintf(why, why_cap, "%s: exists and is not a socket", path);
        return LEAT_E_INVALID;
    }
    int fd = leat__unix_dial(path);
    if (fd == -ECONNREFUSED) {
        if (unlink(path) != 0 && errno != ENOENT) {
            leat__io_why(why, why_cap, path, errno);
            return LEAT_E_IO;
        }
        return LEAT_OK;
    }
    if (fd == -ENOENT) {
        return LEAT_OK;
    }
    if (fd >= 0) {
        (void)close(fd);
    } else if (fd != -EAGAIN &&
               fd != -EPROTOTYPE) { /* these two: a live socket, full or of another type */
        leat__io_why(why, why_cap, path, -fd);
        return LEAT_E_IO;
    }
    (void)snprintf(why, why_cap, "%s: another process listens there", path);
    return LEAT_E_EXISTS;
}

static int open_listener(const char *path)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path, path, strlen(path));
    if (fchmod(fd, 0600) != 0 || bind(fd, (const struct sockaddr *)&name, sizeof(name)) != 0 ||
        listen(fd, BACKLOG) != 0) {
        int error = errno;
        (void)close(fd);
        return -error;
    }
    return fd;
}

/** Bind and fill in what belongs to the file. */
static int claim_path(struct leat_unix_server *s, char *why, size_t why_cap)
{
    int lock = lock_folder(s->path);
    int result = clear_path(s->path, why, why_cap);
    if (result == LEAT_OK) {
        s->fd = open_listener(s->path);
        struct stat st = {0};
        if (s->fd < 0) {
            leat__io_why(why, why_cap, s->path, -s->fd);
            result = LEAT_E_IO;
        } else if (lstat(s->path, &st) == 0) {
            s->device = st.st_dev;
            s->inode = st.st_ino;
        }
    }
    if (lock >= 0) {
        (void)close(lock);
    }
    return result;
}

int leat_unix_listen(struct leat_unix_server **out, struct leat_loop *loop, const char *path,
                     const struct leat_conn_events *events, void *data, char *why, size_t why_cap)
{
    int result = leat__unix_check_path(path, why, why_cap);
    if (result != LEAT_OK) {
        return result;
    }
    struct leat_unix_server *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        leat__io_why(why, why_cap, path, ENOMEM);
        return LEAT_E_NOMEM;
    }
    memcpy(s->path, path, strlen(path));
    s->loop = loop;
    s->events = events;
    s->events_data = data;
    s->reserve_fd = -1;
    result = claim_path(s, why, why_cap);
    if (result != LEAT_OK) {
        free(s);
        return result;
    }
    int failed = uv_poll_init(&loop->uv, &s->poll, s->fd);
    if (failed != 0) {
        leat__io_why(why, why_cap, path, -failed);
        (void)unlink(path);
        (void)close(s->fd);
        free(s);
        return LEAT_E_IO;
    }
    take_reserve(s);
    (void)uv_timer_init(&loop->uv, &s->rest);
    s->poll.data = s->rest.data = s;
    s->open_handles = 2;
    (void)uv_poll_start(&s->poll, UV_READABLE, on_connections);
    *out = s;
    return LEAT_OK;
}

uint64_t leat_unix_server_refused(const struct leat_unix_server *s)
{
    return s->refused;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct leat_unix_server *s = handle->data;
    if (--s->open_handles == 0) {
        free(s);
    }
}

void leat_unix_server_close(struct leat_unix_server *s)
{
    if (s == NULL) {
        return;
    }
    s->is_closed = true;
    /* Before the descriptor: while we still answer, nobody takes the file for a stale one and puts
     * his there. */
    struct stat st;
    if (lstat(s->path, &st) == 0 && st.st_dev == s->device && st.st_ino == s->inode) {
        (void)unlink(s->path);
    }
    uv_close((uv_handle_t *)&s->poll, on_handle_closed);
    uv_close((uv_handle_t *)&s->rest, on_handle_closed);
    (void)close(s->fd);
    if (s->reserve_fd >= 0) {
        (void)close(s->reserve_fd);
    }
}
