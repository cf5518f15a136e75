/* SPDX-License-Identifier: MIT */
/*
 * UDP sockets, receive half: recvmmsg into the set's own buffers when libuv's poll says readable.
 *
 * libuv's own UDP is not used: it does not tell the local address of a datagram, without which a
 * wildcard socket of a host with two addresses answers from the wrong one. A socket bound to one
 * address knows it; a wildcard socket gets it per datagram (IP_PKTINFO, IPV6_RECVPKTINFO). Losses
 * in the kernel are told by SO_RXQ_OVFL with the next datagram that gets through. IP_RECVERR is
 * never set, so that an ICMP error of one remote does not come back as the error of an unrelated
 * call; whatever error does come is counted, and the socket goes on.
 */
#include "udp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BATCHES_PER_TURN 4

struct leat_addr leat__addr_from_sockaddr(const union leat__sockaddr *s)
{
    if (s->any.sa_family == AF_INET) {
        uint8_t ip[4];
        memcpy(ip, &s->v4.sin_addr, sizeof(ip));
        return leat_addr_v4(ip, ntohs(s->v4.sin_port));
    }
    if (s->any.sa_family == AF_INET6) {
        return leat_addr_v6(s->v6.sin6_addr.s6_addr, ntohs(s->v6.sin6_port), s->v6.sin6_scope_id);
    }
    return (struct leat_addr){0};
}

socklen_t leat__addr_to_sockaddr(const struct leat_addr *a, union leat__sockaddr *out)
{
    memset(out, 0, sizeof(*out));
    if (a->family == LEAT_FAMILY_V4) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(a->port);
        memcpy(&out->v4.sin_addr, a->ip, 4);
        return sizeof(out->v4);
    }
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(a->port);
    out->v6.sin6_scope_id = a->scope;
    memcpy(&out->v6.sin6_addr, a->ip, 16);
    return sizeof(out->v6);
}

/* ---- receive ---- */

static void count_kernel_drops(struct leat__udp_socket *s, const struct cmsghdr *c)
{
    uint32_t drops;
    memcpy(&drops, CMSG_DATA(c), sizeof(drops));
    s->udp->counters.kernel_drops += drops - s->drops; /* the kernel's counter wraps at 2^32 */
    s->drops = drops;
}

/** Where a datagram was sent to; family NONE when a wildcard socket was not told. */
static struct leat_addr read_controls(struct leat__udp_socket *s, struct msghdr *h)
{
    struct leat_addr local = {0};
    if (!s->is_wildcard) {
        local = s->local;
    }
    for (const struct cmsghdr *c = CMSG_FIRSTHDR(h); c != NULL;
         c = CMSG_NXTHDR(h, (struct cmsghdr *)c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
            count_kernel_drops(s, c);
        } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            uint8_t ip[4];
            memcpy(&info, CMSG_DATA(c), sizeof(info));
            /* Not ipi_addr: of a broadcast that is the broadcast address, which nothing can be sent
             * from. */
            memcpy(ip, &info.ipi_spec_dst, sizeof(ip));
            local = leat_addr_v4(ip, s->local.port);
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof(info));
            local = leat_addr_v6(info.ipi6_addr.s6_addr, s->local.port, info.ipi6_ifindex);
        }
    }
    return local;
}

static void prepare_headers(struct leat__udp_receive *in)
{
    for (size_t i = 0; i < LEAT_UDP_BATCH; i++) {
        in->vectors[i] = (struct iovec){in->octets[i], LEAT_UDP_MTU_MAX};
        in->headers[i].msg_hdr = (struct msghdr){.msg_name = &in->names[i],
                                                 .msg_namelen = sizeof(in->names[i]),
                                                 .msg_iov = &in->vectors[i],
                                                 .msg_iovlen = 1,
                                                 .msg_control = &in->controls[i],
                                                 .msg_controllen = sizeof(in->controls[i])};
    }
}

/** The datagrams of a batch that are whole and have both addresses, in order. @return their number.
 */
static size_t collect(struct leat__udp_socket *s, size_t received)
{
    struct leat_udp *u = s->udp;
    size_t count = 0;
    for (size_t i = 0; i < received; i++) {
        struct mmsghdr *m = &u->in.headers[i];
        struct leat_tuple tuple = {.local = read_controls(s, &m->msg_hdr),
                                   .remote = leat__addr_from_sockaddr(&u->in.names[i])};
        if ((m->msg_hdr.msg_flags & MSG_TRUNC) != 0) {
            u->counters.truncated++;
        } else if (tuple.local.family == LEAT_FAMILY_NONE ||
                   tuple.remote.family == LEAT_FAMILY_NONE) {
            u->counters.receive_errors++;
        } else {
            u->counters.datagrams_in++;
            u->counters.octets_in += m->msg_len;
            u->in.datagrams[count++] =
                (struct leat_datagram){.data = u->in.octets[i], .len = m->msg_len, .tuple = tuple};
        }
    }
    return count;
}

/** @return whether there may be more. */
static bool receive_batch(struct leat__udp_socket *s)
{
    struct leat_udp *u = s->udp;
    prepare_headers(&u->in);
    u->counters.receive_calls++;
    int received = recvmmsg(s->fd, u->in.headers, LEAT_UDP_BATCH, MSG_DONTWAIT, NULL);
    if (received < 0) {
        if (errno == EAGAIN || errno == EINTR) {
            return errno == EINTR;
        }
        u->counters.receive_errors++;
        return true; /* the error is taken by now; datagrams may wait behind it */
    }
    size_t count = collect(s, (size_t)received);
    if (count != 0) {
        u->receive(u->data, u->in.datagrams, count, leat_now_us());
    }
    return received == LEAT_UDP_BATCH;
}

static void on_readable(uv_poll_t *handle, int status, int events);

/** libuv stops watching a socket in error. Take the error off it (POLLERR would come back at once)
 * and go on. */
static void recover(struct leat__udp_socket *s)
{
    s->udp->counters.receive_errors++;
    int error;
    socklen_t len = sizeof(error);
    (void)getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &len);
    for (int i = 0; i < LEAT_UDP_BATCH; i++) {
        if (recv(s->fd, s->udp->in.octets[0], LEAT_UDP_MTU_MAX, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
            break;
        }
    }
    (void)uv_poll_start(&s->poll, UV_READABLE, on_readable);
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    struct leat__udp_socket *s = handle->data;
    (void)events;
    if (status < 0) {
        recover(s);
    }
    for (int i = 0; i < BATCHES_PER_TURN && !s->udp->is_closed; i++) {
        if (!receive_batch(s)) {
            break;
        }
    }
}

/* ---- bind, close ---- */

static int set_option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value));
}

static int open_socket(const struct leat_addr *addr, size_t buffer)
{
    bool is_v6 = addr->family == LEAT_FAMILY_V6;
    int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    int failed = set_option(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
    if (is_v6) {
        failed |= set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    }
    if (leat_addr_is_unspecified(addr)) {
        failed |= is_v6 ? set_option(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1)
                        : set_option(fd, IPPROTO_IP, IP_PKTINFO, 1);
    }
    /* The kernel caps these in silence and doubles them: half of INT_MAX is the most it can take.
     */
    int octets = buffer < INT32_MAX / 2 ? (int)buffer : INT32_MAX / 2;
    failed |= set_option(fd, SOL_SOCKET, SO_RCVBUF, octets);
    failed |= set_option(fd, SOL_SOCKET, SO_SNDBUF, octets);
    union leat__sockaddr name;
    socklen_t len = leat__addr_to_sockaddr(addr, &name);
    if (failed != 0 || bind(fd, &name.any, len) != 0) {
        int error = errno;
        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/** What the kernel made of what was asked: the port, the buffer. */
static void read_back(struct leat__udp_socket *s, size_t *granted)
{
    union leat__sockaddr name = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t len = sizeof(name);
    if (getsockname(s->fd, &name.any, &len) == 0) {
        s->local.port = leat__addr_from_sockaddr(&name).port;
    }
    int octets = 0;
    len = sizeof(octets);
    if (granted != NULL) {
        *granted =
            getsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &octets, &len) == 0 ? (size_t)octets / 2 : 0;
    }
}

int leat_udp_bind(struct leat_udp *u, const struct leat_addr *addr, size_t buffer, size_t *granted,
                  char *why, size_t why_cap)
{
    char what[LEAT_ADDR_TEXT_MAX];
    (void)leat_addr_format(addr, what);
    if (u->socket_count == LEAT_UDP_SOCKETS_MAX) {
        (void)snprintf(why, why_cap, "%s: more than %d sockets", what, LEAT_UDP_SOCKETS_MAX);
        return LEAT_E_RANGE;
    }
    struct leat__udp_socket *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        leat__io_why(why, why_cap, what, ENOMEM);
        return LEAT_E_NOMEM;
    }
    s->fd = open_socket(addr, buffer);
    if (s->fd < 0) {
        leat__io_why(why, why_cap, what, errno);
        free(s);
        return LEAT_E_IO;
    }
    s->udp = u;
    s->local = *addr;
    s->is_wildcard = leat_addr_is_unspecified(addr);
    read_back(s, granted);
    int failed = uv_poll_init(&u->loop->uv, &s->poll, s->fd);
    if (failed != 0) {
        leat__io_why(why, why_cap, what, -failed);
        (void)close(s->fd);
        free(s);
        return LEAT_E_IO;
    }
    s->poll.data = s;
    (void)uv_poll_start(&s->poll, UV_READABLE, on_readable);
    u->sockets[u->socket_count++] = s;
    u->open_count++;
    return LEAT_OK;
}

struct leat_udp *leat_udp_new(struct leat_loop *loop,
                              void (*receive)(void *data, struct leat_datagram *datagrams,
                                              size_t count, uint64_t now_us),
                              void *data)
{
    struct leat_udp *u = calloc(1, sizeof(*u));
    if (u != NULL) {
        u->loop = loop;
        u->receive = receive;
        u->data = data;
        leat__udp_send_init(u);
    }
    return u;
}

const struct leat_addr *leat_udp_local(const struct leat_udp *u, size_t index)
{
    return index < u->socket_count ? &u->sockets[index]->local : NULL;
}

const struct leat_udp_counters *leat_udp_counters(const struct leat_udp *u)
{
    return &u->counters;
}

static void on_closed(uv_handle_t *handle)
{
    struct leat__udp_socket *s = handle->data;
    struct leat_udp *u = s->udp;
    free(s);
    if (--u->open_count == 0) {
        free(u);
    }
}

void leat_udp_close(struct leat_udp *u)
{
    if (u == NULL) {
        return;
    }
    leat_udp_flush(u);
    u->is_closed = true;
    if (u->socket_count == 0) {
        free(u);
        return;
    }
    for (size_t i = 0; i < u->socket_count; i++) {
        uv_close((uv_handle_t *)&u->sockets[i]->poll, on_closed);
        (void)close(u->sockets[i]->fd);
    }
}
