/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

#define LIMIT (1u << 20)

struct world {
    struct leat_loop *loop;
    struct leat_unix_server *server;
    char folder[32], path[64];
    struct leat_conn *last;
    unsigned opened, ended, closed, turns;
    char text[256]; /* what came in, cut */
    size_t text_len;
    uint64_t sum; /* of what came in */
    size_t octets;
    bool is_echo, drain_at_end, close_at_end, close_when_opened, close_at_octets, stop_at_close;
    unsigned stop_at_opened;
};

static void on_opened(void *data, struct leat_conn *c)
{
    struct world *w = data;
    w->opened++;
    w->last = c;
    LEAT_CHECK(leat_conn_data(c) == NULL);
    leat_conn_set_data(c, w);
    if (w->close_when_opened) {
        leat_conn_close(c, false);
    }
    if (w->opened == w->stop_at_opened) {
        leat_loop_stop(w->loop);
    }
}

static void on_octets(void *data, struct leat_conn *c, struct leat_span octets)
{
    struct world *w = data;
    LEAT_CHECK(leat_conn_data(c) == w);
    for (size_t i = 0; i < octets.len; i++) {
        w->sum = w->sum * 31 + octets.data[i];
    }
    w->octets += octets.len;
    size_t room = sizeof(w->text) - 1 - w->text_len;
    size_t copied = octets.len < room ? octets.len : room;
    memcpy(w->text + w->text_len, octets.data, copied);
    w->text_len += copied;
    if (w->is_echo) {
        LEAT_CHECK_INT(leat_conn_write(c, octets.data, octets.len, LIMIT), LEAT_OK);
    }
    if (w->close_at_octets) {
        leat_conn_close(c, false);
    }
}

static void on_ended(void *data, struct leat_conn *c)
{
    struct world *w = data;
    w->ended++;
    if (w->drain_at_end) {
        LEAT_CHECK_INT(leat_conn_write(c, "bye", 3, LIMIT), LEAT_OK);
        leat_conn_close(c, true);
    }
    if (w->close_at_end) {
        leat_conn_close(c, false);
    }
}

static void on_closed(void *data, struct leat_conn *c)
{
    struct world *w = data;
    w->closed++;
    w->last = w->last == c ? NULL : w->last;
    if (w->stop_at_close) {
        leat_loop_stop(w->loop);
    }
}

static void on_turn(void *data)
{
    ((struct world *)data)->turns++;
}

static const struct leat_conn_events events = {on_opened, on_octets, on_ended, on_closed};

static void world_init(struct world *w)
{
    *w = (struct world){.loop = leat_loop_new(), .folder = "/tmp/leat-io-XXXXXX"};
    LEAT_CHECK(mkdtemp(w->folder) != NULL);
    (void)snprintf(w->path, sizeof(w->path), "%s/control", w->folder);
    leat_loop_on_turn(w->loop, on_turn, w);
}

static int world_listen(struct world *w, char why[static 256])
{
    why[0] = '\0';
    return leat_unix_listen(&w->server, w->loop, w->path, &events, w, why, 256);
}

static void world_open(struct world *w)
{
    char why[256];
    world_init(w);
    LEAT_CHECK_INT(world_listen(w, why), LEAT_OK);
}

static void world_close(struct world *w)
{
    leat_unix_server_close(w->server);
    leat_conn_close(w->last, false);
    leat_loop_free(w->loop);
    (void)unlink(w->path);
    LEAT_CHECK_INT(rmdir(w->folder), 0);
}

/** A connected plain socket, or -1. */
static int dial(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&name, sizeof(name)) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/** A socket file at the path, bound by a socket of a type. @return the socket */
static int plant(const char *path, int type)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    LEAT_CHECK_INT(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    return fd;
}

/* ---- paths ---- */

static void listen__path_too_long_or_empty__is_refused(void)
{
    struct world w;
    char why[256], path[LEAT_UNIX_PATH_MAX + 2];
    world_init(&w);
    int prefix = snprintf(path, sizeof(path), "%s/", w.folder);
    memset(path + prefix, 'x', sizeof(path) - (size_t)prefix);
    path[LEAT_UNIX_PATH_MAX + 1] = '\0';
    int result = leat_unix_listen(&w.server, w.loop, path, &events, &w, why, sizeof(why));
    LEAT_CHECK_INT(result, LEAT_E_RANGE);
    LEAT_CHECK_STR(why, "the socket path has 108 octets, at most 107 fit");
    result = leat_unix_connect(&w.last, w.loop, path, &events, &w, why, sizeof(why));
    LEAT_CHECK_INT(result, LEAT_E_RANGE);
    result = leat_unix_listen(&w.server, w.loop, "", &events, &w, why, sizeof(why));
    LEAT_CHECK_INT(result, LEAT_E_INVALID);
    path[LEAT_UNIX_PATH_MAX] = '\0'; /* the longest that fits is not cut */
    result = leat_unix_listen(&w.server, w.loop, path, &events, &w, why, sizeof(why));
    LEAT_CHECK_INT(result, LEAT_OK);
    LEAT_CHECK_INT(access(path, F_OK), 0);
    world_close(&w);
}

static void listen__free_path__mode_0600_whatever_the_umask_and_removed_at_close(void)
{
    mode_t before = umask(0);
    struct world w;
    world_open(&w);
    struct stat st;
    LEAT_CHECK_INT(lstat(w.path, &st), 0);
    LEAT_CHECK(S_ISSOCK(st.st_mode));
    LEAT_CHECK_INT(st.st_mode & 07777, 0600);
    LEAT_CHECK_INT(umask(before), 0); /* left alone */
    leat_unix_server_close(w.server);
    w.server = NULL;
    LEAT_CHECK_INT(access(w.path, F_OK), -1);
    world_close(&w);
}

static void listen__stale_socket__is_replaced(void)
{
    struct world w;
    char why[256];
    world_init(&w);
    (void)close(plant(w.path, SOCK_STREAM));
    LEAT_CHECK_INT(world_listen(&w, why), LEAT_OK);
    int fd = dial(w.path);
    w.stop_at_opened = 1;
    run_for(w.loop, 1000);
    LEAT_CHECK_INT(w.opened, 1);
    (void)close(fd);
    world_close(&w);
}

static void listen__live_socket__is_left_alone(void)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(types); i++) {
        struct world w;
        char why[256];
        world_init(&w);
        int fd = plant(w.path, types[i]);
        (void)listen(fd, 0);
        int full = dial(w.path); /* one fills the backlog of the stream socket */
        LEAT_CHECK_ROW(i, world_listen(&w, why) == LEAT_E_EXISTS);
        LEAT_CHECK_ROW(i, strstr(why, "another process listens there") != NULL);
        LEAT_CHECK_ROW(i, access(w.path, F_OK) == 0);
        (void)close(full);
        (void)close(fd);
        world_close(&w);
    }
}

static void listen__not_a_socket__is_left_alone(void)
{
    struct world w;
    char why[256], text[8] = "";
    world_init(&w);
    int fd = open(w.path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    LEAT_CHECK_INT(write(fd, "data", 4), 4);
    (void)close(fd);
    LEAT_CHECK_INT(world_listen(&w, why), LEAT_E_INVALID);
    fd = open(w.path, O_RDONLY | O_CLOEXEC);
    LEAT_CHECK_INT(read(fd, text, sizeof(text)), 4);
    (void)close(fd);
    (void)unlink(w.path);
    LEAT_CHECK_INT(symlink("/nonexistent", w.path), 0);
    LEAT_CHECK_INT(world_listen(&w, why), LEAT_E_INVALID);
    world_close(&w);
}

static void listen__second_server_on_the_path__is_refused_and_the_first_serves(void)
{
    struct world w;
    char why[256];
    world_open(&w);
    struct leat_unix_server *second = NULL;
    LEAT_CHECK_INT(leat_unix_listen(&second, w.loop, w.path, &events, &w, why, sizeof(why)),
                   LEAT_E_EXISTS);
    int fd = dial(w.path);
    LEAT_CHECK(fd >= 0);
    w.close_at_end = true;
    w.stop_at_opened = 2; /* the probe was a client, too */
    run_for(w.loop, 1000);
    LEAT_CHECK_INT(w.opened, 2);
    (void)close(fd);
    run_for(w.loop, 30);
    LEAT_CHECK_INT(w.closed, 2);
    world_close(&w);
}

static void listen__folder_missing__says_so(void)
{
    struct world w;
    char why[256];
    world_init(&w);
    int result = leat_unix_listen(&w.server, w.loop, "/nonexistent/leat/control", &events, &w, why,
                                  sizeof(why));
    LEAT_CHECK_INT(result, LEAT_E_IO);
    LEAT_CHECK_STR(why, "/nonexistent/leat/control: No such file or directory");
    world_close(&w);
}

/** In a child: listen, tell the result, hold it until told to end. */
static void race_one(const char *path, int start_fd, int result_fd)
{
    char octet, why[256];
    struct leat_loop *loop = leat_loop_new();
    struct leat_unix_server *server;
    (void)!read(start_fd, &octet, 1); /* returns when the parent closes its end */
    int result = leat_unix_listen(&server, loop, path, &events, NULL, why, sizeof(why));
    octet = (char)result;
    (void)!write(result_fd, &octet, 1);
    sleep_ms(1000);
    _exit(0);
}

static void listen__many_find_the_same_stale_socket__one_gets_it(void)
{
    enum { RACERS = 12 };
    struct world w;
    int start[2], results[2];
    pid_t children[RACERS];
    world_init(&w);
    (void)close(plant(w.path, SOCK_STREAM));
    LEAT_CHECK_INT(pipe(start) | pipe(results), 0);
    for (int i = 0; i < RACERS; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            (void)close(start[1]);
            race_one(w.path, start[0], results[1]);
        }
    }
    (void)close(start[1]);
    int winners = 0, others = 0;
    for (int i = 0; i < RACERS; i++) {
        char octet = 0;
        LEAT_CHECK_INT(read(results[0], &octet, 1), 1);
        winners += (signed char)octet == LEAT_OK;
        others += (signed char)octet == LEAT_E_EXISTS;
    }
    LEAT_CHECK_INT(winners, 1);
    LEAT_CHECK_INT(others, RACERS - 1);
    for (int i = 0; i < RACERS; i++) {
        LEAT_CHECK_INT(waitpid(children[i], NULL, 0), children[i]);
    }
    (void)close(start[0]);
    (void)close(results[0]);
    (void)close(results[1]);
    world_close(&w);
}

static void release_later(void *data)
{
    sleep_ms(150);
    (void)close(*(int *)data);
}

static void listen__folder_locked_by_another__waits_for_it(void)
{
    struct world w;
    char why[256];
    world_init(&w);
    int lock = open(w.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    LEAT_CHECK_INT(flock(lock, LOCK_EX), 0);
    struct leat_thread *t = NULL;
    uint64_t start_us = leat_now_us();
    LEAT_CHECK_INT(leat_thread_start(&t, "holder", release_later, &lock), 0);
    LEAT_CHECK_INT(world_listen(&w, why), LEAT_OK);
    LEAT_CHECK(leat_now_us() - start_us >= 150000);
    leat_thread_join(t);
    world_close(&w);
}

static void server__file_replaced_by_another__is_not_removed_at_close(void)
{
    struct world w;
    world_open(&w);
    char moved[80];
    (void)snprintf(moved, sizeof(moved), "%s.old", w.path);
    LEAT_CHECK_INT(rename(w.path, moved), 0); /* keeps the inode number in use */
    int fd = plant(w.path, SOCK_STREAM);
    leat_unix_server_close(w.server);
    w.server = NULL;
    LEAT_CHECK_INT(access(w.path, F_OK), 0);
    (void)close(fd);
    (void)unlink(moved);
    world_close(&w);
}

/* ---- connections ---- */

static void conn__client_of_the_module__talks_and_both_sides_close(void)
{
    struct world w, client = {0};
    char why[256];
    world_open(&w);
    w.is_echo = true;
    client.loop = w.loop;
    struct leat_conn *c = NULL;
    LEAT_CHECK_INT(leat_unix_connect(&c, w.loop, w.path, &events, &client, why, sizeof(why)),
                   LEAT_OK);
    LEAT_CHECK_INT(client.opened, 0); /* never from inside the call */
    LEAT_CHECK_INT(leat_conn_write(c, "hello", 5, LIMIT), LEAT_OK);
    client.close_at_octets = client.stop_at_close = true;
    run_for(w.loop, 1000);
    LEAT_CHECK_INT(client.opened, 1);
    LEAT_CHECK_STR(client.text, "hello");
    LEAT_CHECK_INT(client.closed, 1);
    run_for(w.loop, 20);
    LEAT_CHECK_INT(w.ended, 1);
    LEAT_CHECK_INT(w.closed, 1); /* the client is gone altogether: nothing is left to be read */
    world_close(&w);
}

static void connect__nobody_there__says_so(void)
{
    struct world w;
    char why[256], expected[128];
    world_init(&w);
    struct leat_conn *c = NULL;
    LEAT_CHECK_INT(leat_unix_connect(&c, w.loop, w.path, &events, &w, why, sizeof(why)), LEAT_E_IO);
    (void)snprintf(expected, sizeof(expected), "%s: No such file or directory", w.path);
    LEAT_CHECK_STR(why, expected);
    (void)close(plant(w.path, SOCK_STREAM));
    LEAT_CHECK_INT(leat_unix_connect(&c, w.loop, w.path, &events, &w, why, sizeof(why)), LEAT_E_IO);
    (void)snprintf(expected, sizeof(expected), "%s: Connection refused", w.path);
    LEAT_CHECK_STR(why, expected);
    world_close(&w);
}

static void connect__closed_before_it_opened__only_closed(void)
{
    struct world w, client = {0};
    char why[256];
    world_open(&w);
    client.loop = w.loop;
    struct leat_conn *c = NULL;
    LEAT_CHECK_INT(leat_unix_connect(&c, w.loop, w.path, &events, &client, why, sizeof(why)),
                   LEAT_OK);
    leat_conn_close(c, true);
    leat_conn_close(c, false);
    leat_conn_close(NULL, false);
    run_for(w.loop, 20);
    LEAT_CHECK_INT(client.opened, 0);
    LEAT_CHECK_INT(client.closed, 1);
    world_close(&w);
}

static void conn__closed_in_its_callbacks__nothing_more_but_closed(void)
{
    struct world w;
    world_open(&w);
    w.close_when_opened = w.stop_at_close = true;
    int fd = dial(w.path);
    LEAT_CHECK_INT(write(fd, "x", 1), 1);
    run_for(w.loop, 1000);
    LEAT_CHECK(w.opened == 1 && w.closed == 1 && w.octets == 0 && w.ended == 0);
    (void)close(fd);
    w.close_when_opened = false;
    w.close_at_octets = true;
    fd = dial(w.path);
    LEAT_CHECK_INT(write(fd, "x", 1), 1);
    run_for(w.loop, 1000);
    LEAT_CHECK(w.opened == 2 && w.closed == 2 && w.octets == 1 && w.ended == 0);
    (void)close(fd);
    world_close(&w);
}

static void conn__remote_ends_its_half__the_reply_still_goes_out(void)
{
    struct world w;
    world_open(&w);
    w.is_echo = w.drain_at_end = w.stop_at_close = true;
    int fd = dial(w.path);
    LEAT_CHECK_INT(write(fd, "request", 7), 7);
    LEAT_CHECK_INT(shutdown(fd, SHUT_WR), 0);
    run_for(w.loop, 1000);
    char text[32] = "";
    LEAT_CHECK_INT(read(fd, text, sizeof(text) - 1), 10);
    LEAT_CHECK_STR(text, "requestbye");
    LEAT_CHECK_INT(read(fd, text, sizeof(text)), 0);
    LEAT_CHECK_INT(w.ended, 1);
    LEAT_CHECK_INT(w.closed, 1);
    (void)close(fd);
    world_close(&w);
}

/** Octet i of a long stream, so that a hole or a swap shows. */
static uint8_t pattern(size_t i)
{
    return (uint8_t)(i * 7 + i / 251);
}

/** Write lines until the limit refuses one. @return octets accepted. */
static size_t write_until_refused(struct leat_conn *c, size_t limit)
{
    size_t accepted = 0;
    for (int i = 0; i < 100000; i++) {
        uint8_t line[1000];
        for (size_t k = 0; k < sizeof(line); k++) {
            line[k] = pattern(accepted + k);
        }
        int result = leat_conn_write(c, line, sizeof(line), limit);
        LEAT_CHECK(leat_conn_queued(c) <= limit);
        if (result != LEAT_OK) {
            LEAT_CHECK_INT(result, LEAT_E_RANGE);
            return accepted;
        }
        accepted += sizeof(line);
    }
    LEAT_CHECK(false);
    return accepted;
}

struct reader {
    int fd;
    size_t got, wrong;
};

static void read_all(void *data)
{
    struct reader *r = data;
    uint8_t octets[4096];
    for (ssize_t n; (n = read(r->fd, octets, sizeof(octets))) > 0;) {
        for (ssize_t i = 0; i < n; i++) {
            r->wrong += octets[i] != pattern(r->got++);
        }
    }
}

static void conn__slow_reader__is_bounded_and_gets_what_was_accepted(void)
{
    struct world w;
    world_open(&w);
    w.stop_at_opened = 1;
    struct reader r = {.fd = dial(w.path)};
    run_for(w.loop, 1000);
    size_t accepted = write_until_refused(w.last, LIMIT);
    LEAT_CHECK(accepted >= LIMIT - 1000);
    LEAT_CHECK(leat_conn_queued(w.last) > LIMIT - 1000);
    LEAT_CHECK_INT(leat_conn_write(w.last, "x", 1, 0), LEAT_E_RANGE);
    run_for(w.loop, 20);
    LEAT_CHECK(w.turns < 30);
    w.stop_at_close = true;
    leat_conn_close(w.last, true); /* drains */
    LEAT_CHECK_INT(leat_conn_write(w.last, "x", 1, LIMIT), LEAT_E_STATE);
    LEAT_CHECK_INT(w.closed, 0);
    struct leat_thread *t = NULL;
    LEAT_CHECK_INT(leat_thread_start(&t, "reader", read_all, &r), 0);
    run_for(w.loop, 4000);
    LEAT_CHECK_INT(w.closed, 1);
    leat_thread_join(t);
    LEAT_CHECK_INT(r.got, accepted);
    LEAT_CHECK_INT(r.wrong, 0);
    (void)close(r.fd);
    world_close(&w);
}

static void conn__one_large_write__arrives_whole(void)
{
    struct world w;
    world_open(&w);
    w.stop_at_opened = 1;
    struct reader r = {.fd = dial(w.path)};
    run_for(w.loop, 1000);
    uint8_t *octets = malloc(LIMIT);
    for (size_t i = 0; i < LIMIT; i++) {
        octets[i] = pattern(i);
    }
    LEAT_CHECK_INT(leat_conn_write(w.last, octets, LIMIT, LIMIT), LEAT_OK);
    free(octets);
    size_t queued = leat_conn_queued(w.last);
    LEAT_CHECK(queued > 0 && queued < LIMIT); /* the kernel took a part at once */
    w.stop_at_close = true;
    leat_conn_close(w.last, true);
    struct leat_thread *t = NULL;
    LEAT_CHECK_INT(leat_thread_start(&t, "reader", read_all, &r), 0);
    run_for(w.loop, 4000);
    leat_thread_join(t);
    LEAT_CHECK_INT(r.got, LIMIT);
    LEAT_CHECK_INT(r.wrong, 0);
    (void)close(r.fd);
    world_close(&w);
}

static void conn__reader_goes_away_while_draining__closed_at_once(void)
{
    struct world w;
    world_open(&w);
    w.stop_at_opened = 1;
    int fd = dial(w.path);
    run_for(w.loop, 1000);
    (void)write_until_refused(w.last, LIMIT);
    leat_conn_close(w.last, true);
    (void)close(fd);
    w.stop_at_close = true;
    run_for(w.loop, LEAT_CONN_DRAIN_MS / 2);
    LEAT_CHECK_INT(w.closed, 1);
    world_close(&w);
}

static void conn__reader_never_reads__draining_ends_all_the_same(void)
{
    struct world w;
    world_open(&w);
    w.stop_at_opened = 1;
    int fd = dial(w.path);
    run_for(w.loop, 1000);
    (void)write_until_refused(w.last, LIMIT);
    leat_conn_close(w.last, true);
    w.last = NULL;
    uint64_t start_us = leat_now_us();
    world_close(&w); /* a loop is not held up for ever */
    LEAT_CHECK_INT(w.closed, 1);
    LEAT_CHECK(leat_now_us() - start_us >= (LEAT_CONN_DRAIN_MS - 1) * 1000);
    (void)close(fd);
}

static void conn__reader_goes_away__closed_and_the_process_lives(void)
{
    struct world w;
    world_open(&w);
    w.stop_at_opened = 1;
    int fd = dial(w.path);
    run_for(w.loop, 1000);
    (void)write_until_refused(w.last, LIMIT);
    (void)close(fd);
    w.stop_at_close = true;
    run_for(w.loop, 2000);
    LEAT_CHECK_INT(w.closed, 1);
    w.stop_at_opened = 2;
    fd = dial(w.path);
    run_for(w.loop, 1000);
    LEAT_CHECK_INT(w.opened, 2);
    (void)close(fd); /* and when the write itself finds out */
    LEAT_CHECK_INT(leat_conn_write(w.last, "x", 1, LIMIT), LEAT_E_STATE);
    run_for(w.loop, 1000);
    LEAT_CHECK_INT(w.closed, 2);
    world_close(&w);
}

static void conn__server_closed__connections_live_on(void)
{
    struct world w;
    world_open(&w);
    w.is_echo = true;
    w.stop_at_opened = 1;
    int fd = dial(w.path);
    run_for(w.loop, 1000);
    leat_unix_server_close(w.server);
    w.server = NULL;
    LEAT_CHECK_INT(dial(w.path), -1);
    LEAT_CHECK_INT(write(fd, "still", 5), 5);
    run_for(w.loop, 30);
    char text[8] = "";
    LEAT_CHECK_INT(recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT), 5);
    LEAT_CHECK_STR(text, "still");
    (void)close(fd);
    world_close(&w);
}

/* ---- descriptors ---- */

/** Open descriptors of this process. @param highest gets the largest of them */
static unsigned open_fds(int *highest)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        int fd = atoi(e->d_name);
        if (e->d_name[0] != '.' && fd != dirfd(dir)) {
            count++;
            *highest = fd > *highest ? fd : *highest;
        }
    }
    (void)closedir(dir);
    return count;
}

static void server__descriptors_run_out__clients_are_refused_and_the_rest_lives(void)
{
    enum { CLIENTS = 100, ROOM = 4 };
    struct world w;
    world_open(&w);
    w.is_echo = true;
    w.stop_at_opened = 1;
    int living = dial(w.path);
    run_for(w.loop, 1000);
    int fds[CLIENTS], highest = 0;
    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = dial(w.path);
        LEAT_CHECK_ROW(i, fds[i] >= 0);
    }
    struct rlimit before, few;
    (void)open_fds(&highest);
    int fillers[1024], filled = 0; /* no free number below the highest in use */
    do {
        fillers[filled] = dup(living);
    } while (fillers[filled++] < highest && filled < 1024);
    highest = fillers[filled - 1] > highest ? fillers[filled - 1] : highest;
    LEAT_CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){.rlim_cur = (rlim_t)highest + 1 + ROOM, .rlim_max = before.rlim_max};
    LEAT_CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
    w.turns = 0;
    run_for(w.loop, 300);
    LEAT_CHECK_INT(w.opened, 1 + ROOM);
    LEAT_CHECK_INT(leat_unix_server_refused(w.server), CLIENTS - ROOM);
    LEAT_CHECK(w.turns < 60);
    LEAT_CHECK_INT(write(living, "on", 2), 2);
    run_for(w.loop, 30);
    char text[8] = "";
    LEAT_CHECK_INT(recv(living, text, sizeof(text), MSG_DONTWAIT), 2);
    LEAT_CHECK_INT(recv(fds[CLIENTS - 1], text, sizeof(text), MSG_DONTWAIT),
                   0); /* told, not left */
    LEAT_CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
    while (filled > 0) {
        (void)close(fillers[--filled]);
    }
    unsigned opened = w.opened;
    w.stop_at_opened = opened + 1;
    int late = dial(w.path);
    run_for(w.loop, 1000);
    LEAT_CHECK_INT(w.opened, opened + 1); /* as soon as there are some again */
    w.close_at_end = true;
    (void)close(late);
    (void)close(living);
    for (int i = 0; i < CLIENTS; i++) {
        (void)close(fds[i]);
    }
    run_for(w.loop, 100);
    LEAT_CHECK_INT(w.closed, w.opened);
    world_close(&w);
}

static void conn__remote_passes_descriptors__none_stays_open(void)
{
    enum { PASSED = 100 };
    struct world w;
    world_open(&w);
    w.stop_at_opened = 1;
    int fd = dial(w.path), highest = 0;
    run_for(w.loop, 1000);
    unsigned before = open_fds(&highest);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC), passed[PASSED];
    for (int i = 0; i < PASSED; i++) {
        passed[i] = null;
    }
    _Alignas(size_t) char control[CMSG_SPACE(sizeof(passed))] = {0};
    struct iovec vector = {.iov_base = (char[]){"gift"}, .iov_len = 4};
    struct msghdr h = {.msg_iov = &vector,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(passed));
    memcpy(CMSG_DATA(c), passed, sizeof(passed));
    LEAT_CHECK_INT(sendmsg(fd, &h, 0), 4);
    (void)close(null);
    run_for(w.loop, 30);
    LEAT_CHECK_STR(w.text, "gift");
    LEAT_CHECK_INT(open_fds(&highest), before);
    (void)close(fd);
    world_close(&w);
}

LEAT_TESTS(LEAT_TEST(listen__path_too_long_or_empty__is_refused),
           LEAT_TEST(listen__free_path__mode_0600_whatever_the_umask_and_removed_at_close),
           LEAT_TEST(listen__stale_socket__is_replaced),
           LEAT_TEST(listen__live_socket__is_left_alone),
           LEAT_TEST(listen__not_a_socket__is_left_alone),
           LEAT_TEST(listen__second_server_on_the_path__is_refused_and_the_first_serves),
           LEAT_TEST(listen__folder_missing__says_so),
           LEAT_TEST(listen__many_find_the_same_stale_socket__one_gets_it),
           LEAT_TEST(listen__folder_locked_by_another__waits_for_it),
           LEAT_TEST(server__file_replaced_by_another__is_not_removed_at_close),
           LEAT_TEST(conn__client_of_the_module__talks_and_both_sides_close),
           LEAT_TEST(connect__nobody_there__says_so),
           LEAT_TEST(connect__closed_before_it_opened__only_closed),
           LEAT_TEST(conn__closed_in_its_callbacks__nothing_more_but_closed),
           LEAT_TEST(conn__remote_ends_its_half__the_reply_still_goes_out),
           LEAT_TEST(conn__slow_reader__is_bounded_and_gets_what_was_accepted),
           LEAT_TEST(conn__one_large_write__arrives_whole),
           LEAT_TEST(conn__reader_goes_away_while_draining__closed_at_once),
           LEAT_TEST(conn__reader_never_reads__draining_ends_all_the_same),
           LEAT_TEST(conn__reader_goes_away__closed_and_the_process_lives),
           LEAT_TEST(conn__server_closed__connections_live_on),
           LEAT_TEST(server__descriptors_run_out__clients_are_refused_and_the_rest_lives),
           LEAT_TEST(conn__remote_passes_descriptors__none_stays_open))
