/* SPDX-License-Identifier: MIT */
/* Real sockets on loopback, and in a namespace where two addresses or an unreachable one are
 * needed. */
#include "support.h"

#include <dirent.h>

#define BUFFER (1 << 20)

struct seen {
    struct leat_tuple tuple;
    size_t len;
    uint32_t number;
};

struct world {
    struct leat_loop *loop;
    struct leat_udp *udp;
    struct seen seen[1024];
    size_t count, calls, stop_at, largest_turn, this_turn;
    unsigned turns;
    bool is_echo, is_closing;
};

static void send_to(struct leat_udp *u, const struct leat_tuple *tuple, uint32_t number, size_t len)
{
    struct leat_sink *sink = leat_udp_sink(u);
    uint8_t *octets = sink->reserve(sink, len);
    LEAT_CHECK(octets != NULL);
    memset(octets, 0x5a, len);
    memcpy(octets, &number, sizeof(number));
    sink->commit(sink, len, tuple);
}

static void on_datagrams(void *data, struct leat_datagram *datagrams, size_t count, uint64_t now_us)
{
    struct world *w = data;
    LEAT_CHECK(now_us <= leat_now_us() && count <= LEAT_UDP_BATCH);
    w->calls++;
    w->this_turn += count;
    for (size_t i = 0; i < count && w->count < LEAT_ARRAY_LEN(w->seen); i++) {
        struct seen *s = &w->seen[w->count++];
        *s = (struct seen){.tuple = datagrams[i].tuple, .len = datagrams[i].len};
        memcpy(&s->number, datagrams[i].data, sizeof(s->number));
        if (w->is_echo) {
            send_to(w->udp, &s->tuple, s->number, s->len);
        }
    }
    if (w->is_closing && w->udp != NULL) {
        leat_udp_close(w->udp);
        w->udp = NULL;
    }
    if (w->count == w->stop_at) {
        leat_loop_stop(w->loop);
    }
}

static void on_turn(void *data)
{
    struct world *w = data;
    w->turns++;
    w->largest_turn = w->this_turn > w->largest_turn ? w->this_turn : w->largest_turn;
    w->this_turn = 0;
    if (w->udp != NULL) {
        leat_udp_flush(w->udp);
    }
}

static void world_open(struct world *w)
{
    *w = (struct world){.loop = leat_loop_new()};
    w->udp = leat_udp_new(w->loop, on_datagrams, w);
    leat_loop_on_turn(w->loop, on_turn, w);
}

/** @return the port. */
static uint16_t world_bind(struct world *w, const char *ip, uint16_t port, size_t buffer)
{
    char why[128] = "";
    size_t granted = 0;
    struct leat_addr a = addr_of(ip, port);
    int result = leat_udp_bind(w->udp, &a, buffer, &granted, why, sizeof(why));
    LEAT_CHECK_INT(result, LEAT_OK);
    LEAT_CHECK_STR(why, "");
    LEAT_CHECK(granted > 0);
    const struct leat_addr *local = NULL;
    for (size_t i = 0; leat_udp_local(w->udp, i) != NULL; i++) {
        local = leat_udp_local(w->udp, i);
    }
    LEAT_CHECK(local != NULL && local->port != 0);
    return local != NULL ? local->port : 0;
}

static void world_close(struct world *w)
{
    leat_udp_close(w->udp);
    leat_loop_free(w->loop);
}

/* ---- remotes: plain sockets ---- */

static socklen_t name_of(struct leat_addr a, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof(*out));
    if (a.family == LEAT_FAMILY_V6) {
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(a.port)};
        memcpy(&v6.sin6_addr, a.ip, 16);
        memcpy(out, &v6, sizeof(v6));
        return sizeof(v6);
    }
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(a.port)};
    memcpy(&v4.sin_addr, a.ip, 4);
    memcpy(out, &v4, sizeof(v4));
    return sizeof(v4);
}

static struct leat_addr addr_from(const struct sockaddr_storage *s)
{
    if (s->ss_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, s, sizeof(v6));
        return leat_addr_v6(v6.sin6_addr.s6_addr, ntohs(v6.sin6_port), 0);
    }
    struct sockaddr_in v4;
    uint8_t ip[4];
    memcpy(&v4, s, sizeof(v4));
    memcpy(ip, &v4.sin_addr, 4);
    return leat_addr_v4(ip, ntohs(v4.sin_port));
}

static int remote_open(const char *ip, struct leat_addr *self)
{
    struct sockaddr_storage name;
    socklen_t len = name_of(addr_of(ip, 0), &name);
    int fd = socket(name.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    LEAT_CHECK_INT(bind(fd, (struct sockaddr *)&name, len), 0);
    len = sizeof(name);
    LEAT_CHECK_INT(getsockname(fd, (struct sockaddr *)&name, &len), 0);
    *self = addr_from(&name);
    return fd;
}

static void remote_send(int fd, const char *ip, uint16_t port, uint32_t number, size_t len)
{
    static uint8_t octets[65507];
    struct sockaddr_storage name;
    socklen_t name_len = name_of(addr_of(ip, port), &name);
    memcpy(octets, &number, sizeof(number));
    LEAT_CHECK_INT(sendto(fd, octets, len, 0, (struct sockaddr *)&name, name_len), len);
}

/** @return the number in the next datagram, or -1 without one. */
static int64_t remote_receive(int fd, struct leat_addr *from)
{
    uint8_t octets[2048];
    struct sockaddr_storage name;
    socklen_t len = sizeof(name);
    ssize_t got =
        recvfrom(fd, octets, sizeof(octets), MSG_DONTWAIT, (struct sockaddr *)&name, &len);
    if (got < 4) {
        return -1;
    }
    if (from != NULL) {
        *from = addr_from(&name);
    }
    uint32_t number;
    memcpy(&number, octets, sizeof(number));
    return number;
}

/* ---- receive ---- */

static void udp__burst_of_mixed_sizes__order_count_and_truncated(void)
{
    struct world w;
    world_open(&w);
    uint16_t port = world_bind(&w, "127.0.0.1", 0, BUFFER);
    struct leat_addr self;
    int fd = remote_open("127.0.0.1", &self);
    for (uint32_t i = 0; i < 50; i++) {
        remote_send(fd, "127.0.0.1", port, i, 200);
        if (i == 20) {
            remote_send(fd, "127.0.0.1", port, 1000, 3000);
        }
        if (i == 40) {
            remote_send(fd, "127.0.0.1", port, 1001, 65507);
        }
    }
    w.stop_at = 50;
    run_for(w.loop, 1000);
    LEAT_CHECK_INT(w.count, 50);
    for (size_t i = 0; i < w.count; i++) {
        LEAT_CHECK_ROW(i, w.seen[i].number == i && w.seen[i].len == 200);
        LEAT_CHECK_ROW(i, leat_addr_equal(&w.seen[i].tuple.remote, &self));
    }
    const struct leat_udp_counters *c = leat_udp_counters(w.udp);
    LEAT_CHECK_INT(c->truncated, 2);
    LEAT_CHECK_INT(c->datagrams_in, 50);
    LEAT_CHECK_INT(c->octets_in, 50 * 200);
    LEAT_CHECK_INT(c->receive_errors + c->kernel_drops, 0);
    LEAT_CHECK(c->receive_calls <= 4);
    (void)close(fd);
    world_close(&w);
}

static void udp__at_the_size_limit__passes_and_one_more_does_not(void)
{
    struct world w;
    world_open(&w);
    uint16_t port = world_bind(&w, "127.0.0.1", 0, BUFFER);
    struct leat_addr self;
    int fd = remote_open("127.0.0.1", &self);
    remote_send(fd, "127.0.0.1", port, 1, LEAT_UDP_MTU_MAX);
    remote_send(fd, "127.0.0.1", port, 2, LEAT_UDP_MTU_MAX + 1);
    remote_send(fd, "127.0.0.1", port, 3, 4);
    w.stop_at = 2;
    run_for(w.loop, 1000);
    LEAT_CHECK_INT(w.count, 2);
    LEAT_CHECK_INT(w.seen[0].len, LEAT_UDP_MTU_MAX);
    LEAT_CHECK_INT(w.seen[1].number, 3);
    LEAT_CHECK_INT(leat_udp_counters(w.udp)->truncated, 1);
    (void)close(fd);
    world_close(&w);
}

static void udp__many_waiting__a_turn_reads_a_bounded_number(void)
{
    struct world w;
    world_open(&w);
    uint16_t port = world_bind(&w, "127.0.0.1", 0, BUFFER);
    struct leat_addr self;
    int fd = remote_open("127.0.0.1", &self);
    for (uint32_t i = 0; i < 300; i++) {
        remote_send(fd, "127.0.0.1", port, i, 20);
    }
    w.stop_at = 300;
    run_for(w.loop, 1000);
    LEAT_CHECK_INT(w.count, 300);
    LEAT_CHECK_INT(w.largest_turn, 4 * LEAT_UDP_BATCH);
    LEAT_CHECK_INT(w.seen[299].number, 299);
    (void)close(fd);
    world_close(&w);
}

static void udp__kernel_drops__are_counted_with_the_next_datagram(void)
{
    struct world w;
    world_open(&w);
    uint16_t port = world_bind(&w, "127.0.0.1", 0, 8192);
    struct leat_addr self;
    int fd = remote_open("127.0.0.1", &self);
    for (uint32_t i = 0; i < 200; i++) {
        remote_send(fd, "127.0.0.1", port, i, 1000);
    }
    run_for(w.loop, 30);
    const struct leat_udp_counters *c = leat_udp_counters(w.udp);
    LEAT_CHECK(c->datagrams_in > 0 && c->datagrams_in < 200);
    remote_send(fd, "127.0.0.1", port, 200, 1000);
    run_for(w.loop, 30);
    LEAT_CHECK_INT(c->datagrams_in + c->kernel_drops, 201);
    for (uint32_t i = 201; i < 300; i++) { /* the kernel's count goes on from the first loss */
        remote_send(fd, "127.0.0.1", port, i, 1000);
    }
    run_for(w.loop, 30);
    remote_send(fd, "127.0.0.1", port, 300, 1000);
    run_for(w.loop, 30);
    LEAT_CHECK_INT(c->datagrams_in + c->kernel_drops, 301);
    (void)close(fd);
    world_close(&w);
}

static void udp__closed_in_its_callback__no_more_callbacks(void)
{
    struct world w;
    world_open(&w);
    uint16_t port = world_bind(&w, "127.0.0.1", 0, BUFFER);
    struct leat_addr self;
    int fd = remote_open("127.0.0.1", &self);
    for (uint32_t i = 0; i < 3 * LEAT_UDP_BATCH; i++) {
        remote_send(fd, "127.0.0.1", port, i, 20);
    }
    w.is_echo = w.is_closing = true;
    run_for(w.loop, 50);
    LEAT_CHECK_INT(w.calls, 1);
    LEAT_CHECK_INT(remote_receive(fd, NULL), 0); /* what was committed before the close went out */
    (void)close(fd);
    world_close(&w);
}

/* ---- local addresses ---- */

/** A remote at `from` asks each of two addresses of a wildcard socket; the reply must come from the
 * one it asked. */
static void check_replies(const char *wildcard, const char *from, const char *const asked[2])
{
    struct world w;
    world_open(&w);
    uint16_t port = world_bind(&w, wildcard, 0, BUFFER);
    w.is_echo = true;
    struct leat_addr self, source;
    int fd = remote_open(from, &self);
    for (uint32_t i = 0; i < 2; i++) {
        remote_send(fd, asked[i], port, i, 100);
    }
    w.stop_at = 2;
    run_for(w.loop, 1000);
    LEAT_CHECK_INT(w.count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        struct leat_addr expected = addr_of(asked[i], port);
        LEAT_CHECK_ROW(i, leat_addr_equal(&w.seen[i].tuple.local, &expected));
        LEAT_CHECK_ROW(i, leat_addr_equal(&w.seen[i].tuple.remote, &self));
        LEAT_CHECK_ROW(i, remote_receive(fd, &source) == i);
        LEAT_CHECK_ROW(i, leat_addr_equal(&source, &expected));
    }
    (void)close(fd);
    world_close(&w);
}

static void udp__wildcard_on_loopback__reply_leaves_from_the_address_asked(void)
{
    static const char *const asked[2] = {"127.0.0.1", "127.0.0.2"};
    check_replies("0.0.0.0", "127.0.0.1", asked);
}

static void reply_in_namespace(void)
{
    static const char *const v4[2] = {"10.9.0.1", "10.9.0.2"};
    static const char *const v6[2] = {"fd00::1", "fd00::2"};
    check_replies("0.0.0.0", "10.9.0.1", v4);
    check_replies("0.0.0.0", "127.0.0.1", v4);
    if (add_lo_v6(v6[0]) && add_lo_v6(v6[1])) {
        check_replies("::", "fd00::1", v6);
        check_replies("::", "fd00::2", v6);
    } else {
        fprintf(stderr, "note: no IPv6 here, its checks are left out\n");
    }
}

static void udp__wildcard_and_two_addresses__reply_leaves_from_the_address_asked(void)
{
    in_namespace(reply_in_namespace);
}

static void udp__several_sockets__each_replies_from_its_own_address(void)
{
    struct world w;
    world_open(&w);
    uint16_t first = world_bind(&w, "127.0.0.1", 0, BUFFER);
    uint16_t second = world_bind(&w, "127.0.0.2", first, BUFFER);
    LEAT_CHECK_INT(second, first);
    w.is_echo = true;
    struct leat_addr self, source;
    int fd = remote_open("127.0.0.1", &self);
    for (uint32_t i = 0; i < 20; i++) {
        remote_send(fd, i % 2 == 0 ? "127.0.0.1" : "127.0.0.2", first, i, 100);
    }
    w.stop_at = 20;
    run_for(w.loop, 1000);
    unsigned replies = 0;
    for (int64_t number; (number = remote_receive(fd, &source)) >= 0; replies++) {
        LEAT_CHECK_INT(source.ip[3], number % 2 == 0 ? 1 : 2);
    }
    LEAT_CHECK_INT(replies, 20);
    struct leat_tuple foreign = {.local = addr_of("127.0.0.3", first), .remote = self};
    send_to(w.udp, &foreign, 1, 100);
    foreign.local = addr_of("127.0.0.1", (uint16_t)(first ^ 1));
    send_to(w.udp, &foreign, 1, 100);
    leat_udp_flush(w.udp);
    LEAT_CHECK_INT(leat_udp_counters(w.udp)->send_no_socket, 2);
    (void)close(fd);
    world_close(&w);
}

static void udp__bind__says_what_is_wrong(void)
{
    struct world w;
    world_open(&w);
    uint16_t port = world_bind(&w, "127.0.0.1", 0, BUFFER);
    char why[128], expected[128];
    struct leat_addr a = addr_of("127.0.0.1", port);
    LEAT_CHECK_INT(leat_udp_bind(w.udp, &a, BUFFER, NULL, why, sizeof(why)), LEAT_E_IO);
    (void)snprintf(expected, sizeof(expected), "127.0.0.1:%u: Address already in use", port);
    LEAT_CHECK_STR(why, expected);
    a = addr_of("192.0.2.1", 5000);
    LEAT_CHECK_INT(leat_udp_bind(w.udp, &a, BUFFER, NULL, why, sizeof(why)), LEAT_E_IO);
    LEAT_CHECK_STR(why, "192.0.2.1:5000: Cannot assign requested address");
    for (size_t i = 1; i < LEAT_UDP_SOCKETS_MAX; i++) {
        (void)world_bind(&w, "127.0.0.1", 0, 4096);
    }
    a = addr_of("127.0.0.1", 0);
    LEAT_CHECK_INT(leat_udp_bind(w.udp, &a, BUFFER, NULL, why, sizeof(why)), LEAT_E_RANGE);
    world_close(&w);
}

/* ---- send ---- */

static void udp__more_than_a_batch_in_one_turn__all_leave_in_order(void)
{
    struct world w;
    world_open(&w);
    uint16_t port = world_bind(&w, "127.0.0.1", 0, BUFFER);
    struct leat_tuple t = {.local = addr_of("127.0.0.1", port)};
    int fd = remote_open("127.0.0.1", &t.remote);
    for (uint32_t i = 0; i < 150; i++) {
        send_to(w.udp, &t, i, 100);
    }
    leat_udp_flush(w.udp);
    for (uint32_t i = 0; i < 150; i++) {
        LEAT_CHECK_ROW(i, remote_receive(fd, NULL) == i);
    }
    const struct leat_udp_counters *c = leat_udp_counters(w.udp);
    LEAT_CHECK_INT(c->send_calls, 3);
    LEAT_CHECK_INT(c->datagrams_out, 150);
    LEAT_CHECK_INT(c->octets_out, 150 * 100);
    (void)close(fd);
    world_close(&w);
}

static void udp__reservations__only_committed_ones_leave(void)
{
    struct world w;
    world_open(&w);
    uint16_t port = world_bind(&w, "127.0.0.1", 0, BUFFER);
    struct leat_tuple t = {.local = addr_of("127.0.0.1", port)};
    int fd = remote_open("127.0.0.1", &t.remote);
    struct leat_sink *sink = leat_udp_sink(w.udp);
    LEAT_CHECK(sink->reserve(sink, 100) != NULL);
    LEAT_CHECK(sink->reserve(sink, LEAT_UDP_MTU_MAX + 1) == NULL);
    LEAT_CHECK_INT(leat_udp_counters(w.udp)->batch_full, 1);
    send_to(w.udp, &t, 7, LEAT_UDP_MTU_MAX);
    LEAT_CHECK(sink->reserve(sink, 100) != NULL);
    leat_udp_flush(w.udp);
    LEAT_CHECK_INT(remote_receive(fd, NULL), 7);
    LEAT_CHECK_INT(remote_receive(fd, NULL), -1);
    (void)close(fd);
    world_close(&w);
}

/** 64 open at a time, over several turns of the ring, committed in another order than reserved. */
static void udp__many_open_reservations__leave_as_they_are_committed(void)
{
    struct world w;
    world_open(&w);
    uint16_t port = world_bind(&w, "127.0.0.1", 0, BUFFER);
    struct leat_tuple t = {.local = addr_of("127.0.0.1", port)};
    int fd = remote_open("127.0.0.1", &t.remote);
    struct leat_sink *sink = leat_udp_sink(w.udp);
    uint32_t sent = 0, received = 0;
    for (uint32_t round = 0; round < 3; round++) {
        uint8_t *rooms[LEAT_SINK_OPEN];
        LEAT_CHECK(sink->reserve(sink, 50) != NULL); /* never committed */
        for (size_t i = 0; i < LEAT_SINK_OPEN; i++) {
            rooms[i] = sink->reserve(sink, 100);
        }
        for (size_t i = 0; i < LEAT_SINK_OPEN; i++) {
            size_t at = (i * 7) % LEAT_SINK_OPEN;
            memset(rooms[at], 0, 100);
            memcpy(rooms[at], &sent, sizeof(sent));
            sent++;
            sink->commit_room(sink, rooms[at], 100, &t);
        }
    }
    leat_udp_flush(w.udp);
    for (; received < sent; received++) {
        LEAT_CHECK_ROW(received, remote_receive(fd, NULL) == received);
    }
    LEAT_CHECK_INT(leat_udp_counters(w.udp)->datagrams_out, sent);
    (void)close(fd);
    world_close(&w);
}

/** Sizes in the order of commit, and the messages that they make: a run goes on until a size grows,
 * and ends with one that is smaller. */
static void udp__runs_of_one_size__leave_as_one_message(void)
{
    static const size_t sizes[] = {200, 200, 200, 150, 150, 300, 300, 299, 300, 100};
    static const size_t messages = 4; /* 200 200 200 150, 150, 300 300 299, 300 100 */
    static const char *const wildcards[][2] = {
        {"0.0.0.0", "127.0.0.1"}, {"::", "::1"}, {"127.0.0.1", "127.0.0.1"}};
    for (size_t row = 0; row < LEAT_ARRAY_LEN(wildcards); row++) {
        struct world w;
        world_open(&w);
        uint16_t port = world_bind(&w, wildcards[row][0], 0, BUFFER);
        struct leat_tuple t = {.local = addr_of(wildcards[row][1], port)};
        struct leat_tuple other = t;
        int fd = remote_open(wildcards[row][1], &t.remote);
        int other_fd = remote_open(wildcards[row][1], &other.remote);
        for (uint32_t i = 0; i < LEAT_ARRAY_LEN(sizes); i++) {
            send_to(w.udp, &t, i, sizes[i]);
        }
        send_to(w.udp, &other, 77, 50);
        send_to(w.udp, &t, 99, 50);
        leat_udp_flush(w.udp);
        for (uint32_t i = 0; i < LEAT_ARRAY_LEN(sizes); i++) {
            struct leat_addr from;
            LEAT_CHECK_ROW(i, remote_receive(fd, &from) == i);
            LEAT_CHECK(leat_addr_equal(&from, &t.local));
        }
        LEAT_CHECK_INT(remote_receive(fd, NULL), 99);
        LEAT_CHECK_INT(remote_receive(other_fd, NULL), 77);
        const struct leat_udp_counters *c = leat_udp_counters(w.udp);
        LEAT_CHECK_INT(c->datagrams_out, LEAT_ARRAY_LEN(sizes) + 2);
        LEAT_CHECK_INT(c->gso_messages, messages - 1);
        LEAT_CHECK_INT(c->gso_datagrams, LEAT_ARRAY_LEN(sizes) - 1);
        (void)close(fd);
        (void)close(other_fd);
        world_close(&w);
    }
}

/** Ten rounds to 20 destinations of which one cannot be sent to: the 19 others get all. */
static void check_bad_among_20(struct leat_addr bad)
{
    struct world w;
    world_open(&w);
    struct leat_tuple t[20];
    uint16_t port = world_bind(&w, "127.0.0.1", 0, BUFFER);
    int fds[20];
    for (size_t i = 0; i < 20; i++) {
        t[i].local = addr_of("127.0.0.1", port);
        fds[i] = remote_open("127.0.0.1", &t[i].remote);
    }
    t[7].remote = bad;
    for (uint32_t round = 0; round < 10; round++) {
        for (size_t i = 0; i < 20; i++) {
            send_to(w.udp, &t[i], round, 300);
        }
        leat_udp_flush(w.udp);
    }
    for (size_t i = 0; i < 20; i++) {
        for (uint32_t round = 0; round < 10; round++) {
            LEAT_CHECK_ROW(i, remote_receive(fds[i], NULL) == (i == 7 ? -1 : (int64_t)round));
        }
        (void)close(fds[i]);
    }
    const struct leat_udp_counters *c = leat_udp_counters(w.udp);
    LEAT_CHECK_INT(c->send_errors, 10);
    LEAT_CHECK_INT(c->datagrams_out, 190);
    LEAT_CHECK_INT(c->send_again, 0);
    world_close(&w);
}

static void bad_in_namespace(void)
{
    check_bad_among_20(addr_of("10.200.0.1", 5000));      /* no route */
    check_bad_among_20(addr_of("255.255.255.255", 5000)); /* no permission, or no route */
}

static void udp__one_destination_fails__the_others_lose_nothing(void)
{
    check_bad_among_20(addr_of("127.0.0.1", 0));
    check_bad_among_20(addr_of("::1", 5000)); /* another family than the socket's */
    in_namespace(bad_in_namespace);
}

/* ---- errors that come back ---- */

static uint16_t closed_port(void)
{
    struct leat_addr a;
    (void)close(remote_open("127.0.0.1", &a));
    return a.port;
}

static void udp__remote_port_closed__no_spin_and_others_are_served(void)
{
    struct world w;
    world_open(&w);
    uint16_t port = world_bind(&w, "0.0.0.0", 0, BUFFER);
    struct leat_tuple gone = {.local = addr_of("127.0.0.1", port),
                              .remote = addr_of("127.0.0.1", closed_port())};
    struct leat_addr self;
    int fd = remote_open("127.0.0.1", &self);
    for (uint32_t i = 0; i < 5; i++) {
        send_to(w.udp, &gone, i, 100);
        leat_udp_flush(w.udp);
    }
    run_for(w.loop, 100);
    LEAT_CHECK(w.turns < 20);
    remote_send(fd, "127.0.0.1", port, 9, 100);
    w.stop_at = 1;
    run_for(w.loop, 1000);
    LEAT_CHECK_INT(w.count, 1);
    LEAT_CHECK_INT(leat_udp_counters(w.udp)->send_errors, 0);
    (void)close(fd);
    world_close(&w);
}

/** The descriptor of this process's socket with a local port. */
static int find_socket(uint16_t port)
{
    DIR *dir = opendir("/proc/self/fd");
    int found = -1;
    for (const struct dirent *e; found < 0 && (e = readdir(dir)) != NULL;) {
        struct sockaddr_storage name = {0};
        socklen_t len = sizeof(name);
        int fd = atoi(e->d_name);
        if (getsockname(fd, (struct sockaddr *)&name, &len) == 0 && name.ss_family == AF_INET &&
            addr_from(&name).port == port) {
            found = fd;
        }
    }
    (void)closedir(dir);
    return found;
}

static void udp__socket_in_error__is_counted_and_goes_on(void)
{
    struct world w;
    world_open(&w);
    uint16_t port = world_bind(&w, "127.0.0.1", 0, BUFFER);
    int on = 1; /* what the module never does, so that errors come back at all */
    LEAT_CHECK_INT(setsockopt(find_socket(port), IPPROTO_IP, IP_RECVERR, &on, sizeof(on)), 0);
    struct leat_tuple gone = {.local = addr_of("127.0.0.1", port),
                              .remote = addr_of("127.0.0.1", closed_port())};
    for (uint32_t i = 0; i < 5; i++) {
        send_to(w.udp, &gone, i, 100);
        leat_udp_flush(w.udp);
    }
    run_for(w.loop, 100);
    const struct leat_udp_counters *c = leat_udp_counters(w.udp);
    LEAT_CHECK(c->receive_errors > 0 && c->receive_errors < 20);
    LEAT_CHECK(w.turns < 40);
    struct leat_addr self;
    int fd = remote_open("127.0.0.1", &self);
    remote_send(fd, "127.0.0.1", port, 9, 100);
    w.stop_at = 1;
    run_for(w.loop, 1000);
    LEAT_CHECK_INT(w.count, 1);
    (void)close(fd);
    world_close(&w);
}

static void udp__no_socket__closes(void)
{
    struct world w;
    world_open(&w);
    LEAT_CHECK(leat_udp_local(w.udp, 0) == NULL);
    leat_udp_close(NULL);
    world_close(&w);
}

LEAT_TESTS(LEAT_TEST(udp__burst_of_mixed_sizes__order_count_and_truncated),
           LEAT_TEST(udp__at_the_size_limit__passes_and_one_more_does_not),
           LEAT_TEST(udp__many_waiting__a_turn_reads_a_bounded_number),
           LEAT_TEST(udp__kernel_drops__are_counted_with_the_next_datagram),
           LEAT_TEST(udp__closed_in_its_callback__no_more_callbacks),
           LEAT_TEST(udp__wildcard_on_loopback__reply_leaves_from_the_address_asked),
           LEAT_TEST(udp__wildcard_and_two_addresses__reply_leaves_from_the_address_asked),
           LEAT_TEST(udp__several_sockets__each_replies_from_its_own_address),
           LEAT_TEST(udp__bind__says_what_is_wrong),
           LEAT_TEST(udp__more_than_a_batch_in_one_turn__all_leave_in_order),
           LEAT_TEST(udp__reservations__only_committed_ones_leave),
           LEAT_TEST(udp__many_open_reservations__leave_as_they_are_committed),
           LEAT_TEST(udp__runs_of_one_size__leave_as_one_message),
           LEAT_TEST(udp__one_destination_fails__the_others_lose_nothing),
           LEAT_TEST(udp__remote_port_closed__no_spin_and_others_are_served),
           LEAT_TEST(udp__socket_in_error__is_counted_and_goes_on),
           LEAT_TEST(udp__no_socket__closes))
