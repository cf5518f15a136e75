/* SPDX-License-Identifier: MIT */
/* A set of UDP sockets as its receive half (udp.c) and send half (udp_send.c) see it. */
#ifndef LEAT__IO_UDP_H
#define LEAT__IO_UDP_H

#include "loop.h"

#include <netinet/in.h>
#include <sys/socket.h>

union leat__sockaddr {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/** Room for the control messages of one datagram, aligned for a struct cmsghdr. */
struct leat__control {
    _Alignas(size_t)
        uint8_t octets[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(uint32_t))];
};

struct leat__udp_socket {
    uv_poll_t poll;
    struct leat_udp *udp;
    struct leat_addr local; /* with the port that the kernel gave */
    int fd;
    bool is_wildcard;
    uint32_t drops; /* last SO_RXQ_OVFL value */
};

struct leat__udp_receive {
    uint8_t octets[LEAT_UDP_BATCH][LEAT_UDP_MTU_MAX];
    struct mmsghdr headers[LEAT_UDP_BATCH];
    struct iovec vectors[LEAT_UDP_BATCH];
    union leat__sockaddr names[LEAT_UDP_BATCH];
    struct leat__control controls[LEAT_UDP_BATCH];
    struct leat_datagram datagrams[LEAT_UDP_BATCH];
};

/* Rooms are given out in a ring; each half that is full sends what was committed so far, so that a
 * room comes round again only after its datagram has left. */
#define LEAT__UDP_ROOMS (2 * LEAT_UDP_BATCH)

#define LEAT__UDP_REFUSED 64

struct leat__udp_send {
    uint8_t octets[LEAT__UDP_ROOMS][LEAT_UDP_MTU_MAX];
    size_t next;                 /* room that is given out next */
    size_t len[LEAT__UDP_ROOMS]; /* reserved octets of a room; 0: not open */
    struct mmsghdr headers[LEAT__UDP_ROOMS];
    struct iovec vectors[LEAT__UDP_ROOMS];
    union leat__sockaddr names[LEAT__UDP_ROOMS];
    struct leat__control controls[LEAT__UDP_ROOMS];
    struct leat_addr remotes[LEAT__UDP_ROOMS];
    const struct leat__udp_socket *sockets[LEAT__UDP_ROOMS];
    size_t count; /* committed datagrams */
    /* What one socket sends: messages of one datagram each, or of a run of them. */
    struct mmsghdr messages[LEAT__UDP_ROOMS];
    struct iovec message_vectors[LEAT__UDP_ROOMS];
    bool is_gso_off;
    struct leat_addr refused[LEAT__UDP_REFUSED]; /* by hash: addresses without segmentation */
};

struct leat_udp {
    struct leat_loop *loop;
    void (*receive)(void *data, struct leat_datagram *datagrams, size_t count, uint64_t now_us);
    void *data;
    struct leat_sink sink;
    struct leat_udp_counters counters;
    struct leat__udp_socket *sockets[LEAT_UDP_SOCKETS_MAX];
    size_t socket_count;
    size_t open_count; /* handles that libuv has not closed yet */
    bool is_closed;
    struct leat__udp_receive in;
    struct leat__udp_send out;
};

struct leat_addr leat__addr_from_sockaddr(const union leat__sockaddr *s);
socklen_t leat__addr_to_sockaddr(const struct leat_addr *a, union leat__sockaddr *out);
void leat__udp_send_init(struct leat_udp *u);

#endif
