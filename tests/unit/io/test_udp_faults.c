/* SPDX-License-Identifier: MIT */
/* Faults that loopback does not have: this program's own sendmmsg and recvmmsg stand before the C
 * library's. */
#include "support.h"

#include <sys/syscall.h>

struct fault {
    int error; /* 0: pass at most `most` datagrams */
    unsigned most;
};

static const struct fault *script;
static size_t script_left;

static bool next_fault(struct fault *out)
{
    if (script_left == 0) {
        return false;
    }
    *out = *script++;
    script_left--;
    return true;
}

int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    struct fault f;
    if (next_fault(&f)) {
        if (f.error != 0) {
            errno = f.error;
            return -1;
        }
        count = f.most < count ? f.most : count;
    }
    return (int)syscall(SYS_sendmmsg, fd, messages, count, flags);
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout)
{
    struct fault f;
    if (next_fault(&f)) {
        errno = f.error;
        return -1;
    }
    return (int)syscall(SYS_recvmmsg, fd, messages, count, flags, timeout);
}

struct world {
    struct leat_loop *loop;
    struct leat_udp *udp;
    struct leat_tuple self; /* the socket sends to itself */
    size_t count;
    uint32_t numbers[LEAT_UDP_BATCH];
};

static void on_datagrams(void *data, struct leat_datagram *datagrams, size_t count, uint64_t now_us)
{
    struct world *w = data;
    (void)now_us;
    for (size_t i = 0; i < count && w->count < LEAT_UDP_BATCH; i++) {
        memcpy(&w->numbers[w->count++], datagrams[i].data, sizeof(uint32_t));
    }
}

static void world_open(struct world *w)
{
    char why[128];
    *w = (struct world){.loop = leat_loop_new()};
    w->udp = leat_udp_new(w->loop, on_datagrams, w);
    struct leat_addr a = addr_of("127.0.0.1", 0);
    LEAT_CHECK_INT(leat_udp_bind(w->udp, &a, 1 << 20, NULL, why, sizeof(why)), LEAT_OK);
    w->self.local = w->self.remote = *leat_udp_local(w->udp, 0);
    leat_udp_set_gso(w->udp, false); /* a message a datagram */
}

static void world_close(struct world *w)
{
    leat_udp_close(w->udp);
    leat_loop_free(w->loop);
}

/** Commit datagrams 0..count-1, flush them through the faults, then receive what got through. */
static void send_through(struct world *w, uint32_t count, const struct fault *faults,
                         size_t fault_count)
{
    struct leat_sink *sink = leat_udp_sink(w->udp);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *octets = sink->reserve(sink, 100);
        memset(octets, 0, 100);
        memcpy(octets, &i, sizeof(i));
        sink->commit(sink, 100, &w->self);
    }
    script = faults;
    script_left = fault_count;
    leat_udp_flush(w->udp);
    LEAT_CHECK_INT(script_left, 0);
    run_for(w->loop, 20);
}

static void send__buffer_full__rest_of_the_batch_is_dropped_and_counted(void)
{
    static const struct fault faults[] = {{.most = 7}, {.error = EAGAIN}};
    struct world w;
    world_open(&w);
    send_through(&w, 64, faults, LEAT_ARRAY_LEN(faults));
    const struct leat_udp_counters *c = leat_udp_counters(w.udp);
    LEAT_CHECK_INT(c->send_again, 57);
    LEAT_CHECK_INT(c->datagrams_out, 7);
    LEAT_CHECK_INT(c->octets_out, 700);
    LEAT_CHECK_INT(c->send_errors, 0);
    LEAT_CHECK_INT(w.count, 7);
    send_through(&w, 3, NULL, 0); /* nothing is held over, and the next batch leaves */
    LEAT_CHECK_INT(w.count, 10);
    world_close(&w);
}

static void send__interrupted_and_cut_short__nothing_is_lost(void)
{
    static const struct fault faults[] = {
        {.error = EINTR}, {.most = 1}, {.error = EINTR}, {.most = 2}};
    struct world w;
    world_open(&w);
    send_through(&w, 10, faults, LEAT_ARRAY_LEN(faults));
    LEAT_CHECK_INT(leat_udp_counters(w.udp)->datagrams_out, 10);
    LEAT_CHECK_INT(w.count, 10);
    for (uint32_t i = 0; i < w.count; i++) {
        LEAT_CHECK_ROW(i, w.numbers[i] == i);
    }
    world_close(&w);
}

static void send__refused_in_the_middle__only_that_one_is_lost(void)
{
    static const int errors[] = {EPERM,  ENETUNREACH,  EHOSTUNREACH, EMSGSIZE,
                                 EINVAL, ECONNREFUSED, ENOBUFS};
    for (size_t e = 0; e < LEAT_ARRAY_LEN(errors); e++) {
        const struct fault faults[] = {{.most = 3}, {.error = errors[e]}};
        struct world w;
        world_open(&w);
        send_through(&w, 10, faults, LEAT_ARRAY_LEN(faults));
        LEAT_CHECK_ROW(e, leat_udp_counters(w.udp)->send_errors == 1);
        LEAT_CHECK_ROW(e, w.count == 9);
        for (uint32_t i = 0; i < w.count; i++) {
            LEAT_CHECK_ROW(e, w.numbers[i] == i + (i >= 3));
        }
        world_close(&w);
    }
}

static void receive__errors__are_counted_and_the_socket_goes_on(void)
{
    static const struct fault faults[] = {{.error = ECONNREFUSED}, {.error = EINTR},
                                          {.error = ENOMEM},       {.error = EHOSTUNREACH},
                                          {.error = EINTR},        {.error = EAGAIN}};
    struct world w;
    world_open(&w);
    send_through(&w, 1, NULL, 0);
    LEAT_CHECK_INT(w.count, 1);
    struct leat_sink *sink = leat_udp_sink(w.udp);
    memset(sink->reserve(sink, 100), 0, 100);
    sink->commit(sink, 100, &w.self);
    leat_udp_flush(w.udp);
    script = faults;
    script_left = LEAT_ARRAY_LEN(faults);
    run_for(w.loop, 50);
    LEAT_CHECK_INT(script_left, 0);
    LEAT_CHECK_INT(leat_udp_counters(w.udp)->receive_errors, 3);
    LEAT_CHECK_INT(w.count, 2);
    world_close(&w);
}

/** A run that is refused as a run leaves one by one, and from then on nobody tries again. */
static void send__run_refused__its_datagrams_leave_one_by_one(void)
{
    static const int errors[] = {EIO, EINVAL, EMSGSIZE};
    for (size_t e = 0; e < LEAT_ARRAY_LEN(errors); e++) {
        const struct fault fault = {.error = errors[e]};
        struct world w;
        world_open(&w);
        leat_udp_set_gso(w.udp, true);
        send_through(&w, 20, &fault, 1);
        const struct leat_udp_counters *c = leat_udp_counters(w.udp);
        LEAT_CHECK_INT(w.count, 20);
        LEAT_CHECK_INT(c->gso_refused, 1);
        LEAT_CHECK_INT(c->gso_messages, 0);
        LEAT_CHECK_INT(c->send_errors, 0);
        send_through(&w, 20, NULL, 0);
        LEAT_CHECK_INT(w.count, 40);
        LEAT_CHECK_INT(c->gso_refused, 1);
        LEAT_CHECK_INT(c->gso_messages, 0);
        LEAT_CHECK_INT(c->datagrams_out, 40);
        for (uint32_t i = 0; i < 40; i++) {
            LEAT_CHECK_INT(w.numbers[i], i % 20);
        }
        world_close(&w);
    }
}

/** Any other error of a run is its destination's: every datagram of it is counted. */
static void send__run_fails__counts_its_datagrams(void)
{
    static const struct fault unreachable[] = {{.error = ENETUNREACH}},
                              full[] = {{.error = EAGAIN}};
    struct world w;
    world_open(&w);
    leat_udp_set_gso(w.udp, true);
    send_through(&w, 20, unreachable, 1);
    send_through(&w, 30, full, 1);
    const struct leat_udp_counters *c = leat_udp_counters(w.udp);
    LEAT_CHECK_INT(w.count, 0);
    LEAT_CHECK_INT(c->send_errors, 20);
    LEAT_CHECK_INT(c->send_again, 30);
    LEAT_CHECK_INT(c->gso_refused, 0);
    send_through(&w, 10, NULL, 0);
    LEAT_CHECK_INT(w.count, 10);
    LEAT_CHECK_INT(c->gso_messages, 1);
    LEAT_CHECK_INT(c->gso_datagrams, 10);
    world_close(&w);
}

LEAT_TESTS(LEAT_TEST(send__buffer_full__rest_of_the_batch_is_dropped_and_counted),
           LEAT_TEST(send__interrupted_and_cut_short__nothing_is_lost),
           LEAT_TEST(send__refused_in_the_middle__only_that_one_is_lost),
           LEAT_TEST(receive__errors__are_counted_and_the_socket_goes_on),
           LEAT_TEST(send__run_refused__its_datagrams_leave_one_by_one),
           LEAT_TEST(send__run_fails__counts_its_datagrams))
