/* SPDX-License-Identifier: MIT */
/* What the tests of io share: a loop with a time limit, and a body that runs in a network namespace
 * of its own. */
#ifndef LEAT_TEST_IO_SUPPORT_H
#define LEAT_TEST_IO_SUPPORT_H

#include <leat/io.h>

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

static inline void sleep_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&t, &t) != 0) {
    }
}

static inline void stop_loop(void *data, uint64_t now_us)
{
    (void)now_us;
    leat_loop_stop(data);
}

/** Run until a callback stops the loop, `ms` at most. */
static inline void run_for(struct leat_loop *loop, uint64_t ms)
{
    struct leat_timer *limit = leat_timer_new(loop, stop_loop, loop);
    leat_timer_set(limit, leat_now_us() + ms * 1000);
    leat_loop_run(loop);
    leat_timer_close(limit);
}

static inline struct leat_addr addr_of(const char *ip, uint16_t port)
{
    struct leat_addr a;
    int result = leat_addr_parse(&a, ip, port);
    LEAT_CHECK_INT(result, LEAT_OK);
    return a;
}

/* ---- namespaces ---- */

struct in6_ifreq_of_kernel { /* <linux/ipv6.h> does not go together with <netinet/in.h> */
    struct in6_addr addr;
    uint32_t prefix_len;
    int index;
};

static inline bool set_lo(const char *name, uint32_t v4)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq r = {0};
    memcpy(r.ifr_name, name, strlen(name));
    bool ok = true;
    if (v4 != 0) {
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(v4)};
        memcpy(&r.ifr_addr, &a, sizeof(a));
        ok = ioctl(fd, SIOCSIFADDR, &r) == 0;
        a.sin_addr.s_addr = htonl(0xffffffff);
        memcpy(&r.ifr_netmask, &a, sizeof(a));
        ok = ok && ioctl(fd, SIOCSIFNETMASK, &r) == 0;
    } else {
        r.ifr_flags = IFF_UP;
        ok = ioctl(fd, SIOCSIFFLAGS, &r) == 0;
    }
    (void)close(fd);
    return ok;
}

/** Add an address to lo and wait until the kernel has made it usable, which it does on a thread of
 * its own. */
static inline bool add_lo_v6(const char *ip)
{
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct leat_addr a = addr_of(ip, 0);
    struct in6_ifreq_of_kernel r = {.prefix_len = 128, .index = (int)if_nametoindex("lo")};
    memcpy(&r.addr, a.ip, 16);
    bool ok = fd >= 0 && ioctl(fd, SIOCSIFADDR, &r) == 0;
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_scope_id = (uint32_t)r.index};
    memcpy(&name.sin6_addr, a.ip, 16);
    for (int i = 0; ok && i < 500 && bind(fd, (struct sockaddr *)&name, sizeof(name)) != 0; i++) {
        sleep_ms(10);
    }
    (void)close(fd);
    return ok;
}

#define NO_NAMESPACE 77

/**
 * Run `body` in a child with a network of its own: lo up, with 10.9.0.1, 10.9.0.2 and, where the
 * kernel has IPv6, fd00::1 and fd00::2. No other interface, no route. Says so when the system
 * allows no namespace.
 */
static inline void in_namespace(void (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0 && unshare(CLONE_NEWNET) != 0) {
            _exit(NO_NAMESPACE);
        }
        LEAT_CHECK(set_lo("lo", 0));
        LEAT_CHECK(set_lo("lo:1", 0x0a090001));
        LEAT_CHECK(set_lo("lo:2", 0x0a090002));
        body();
        fflush(NULL);
        _exit(leat_test_failures != 0);
    }
    int status = -1;
    LEAT_CHECK_INT(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_NAMESPACE) {
        fprintf(stderr, "note: no network namespace here, its checks are left out\n");
        return;
    }
    LEAT_CHECK_INT(status, 0);
}

#endif
