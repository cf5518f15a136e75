/* SPDX-License-Identifier: MIT */
/*
 * UDP sockets, send half: a sink over a batch that leaves by sendmmsg.
 *
 * An error is one destination's: sendmmsg stops in front of the datagram that fails, the next call
 * returns its errno, it is counted and skipped, and the rest goes on. A full socket buffer is the
 * socket's: what is left of its batch is dropped and counted, since waiting would delay the
 * receivers that are reachable and keeping would be a queue without a bound. Nothing is held over a
 * flush.
 */
#include "udp.h"

#include <assert.h>
#include <errno.h>

/** The socket bound to a local address, else the wildcard of its family and port. */
static const struct leat__udp_socket *socket_for(const struct leat_udp *u,
                                                 const struct leat_addr *local)
{
    const struct leat__udp_socket *wildcard = NULL;
    for (size_t i = 0; i < u->socket_count; i++) {
        const struct leat__udp_socket *s = u->sockets[i];
        if (s->local.port != local->port || s->local.family != local->family) {
            continue;
        }
        if (leat_addr_equal(&s->local, local)) {
            return s;
        }
        wildcard = s->is_wildcard ? s : wildcard;
    }
    return wildcard;
}

/** Make a datagram of a wildcard socket leave from `local`. */
static void set_source(struct msghdr *h, struct leat__control *control,
                       const struct leat_addr *local)
{
    memset(control, 0, sizeof(*control));
    h->msg_control = control;
    h->msg_controllen = sizeof(*control);
    struct cmsghdr *c = CMSG_FIRSTHDR(h);
    if (local->family == LEAT_FAMILY_V4) {
        struct in_pktinfo info = {0};
        memcpy(&info.ipi_spec_dst, local->ip, 4);
        c->cmsg_level = IPPROTO_IP;
        c->cmsg_type = IP_PKTINFO;
        c->cmsg_len = CMSG_LEN(sizeof(info));
        memcpy(CMSG_DATA(c), &info, sizeof(info));
        h->msg_controllen = CMSG_SPACE(sizeof(info));
    } else {
        struct in6_pktinfo info = {.ipi6_ifindex = local->scope};
        memcpy(&info.ipi6_addr, local->ip, 16);
        c->cmsg_level = IPPROTO_IPV6;
        c->cmsg_type = IPV6_PKTINFO;
        c->cmsg_len = CMSG_LEN(sizeof(info));
        memcpy(CMSG_DATA(c), &info, sizeof(info));
        h->msg_controllen = CMSG_SPACE(sizeof(info));
    }
}

static void count_sent(struct leat_udp *u, const struct mmsghdr *sent, size_t count)
{
    u->counters.datagrams_out += count;
    for (size_t i = 0; i < count; i++) {
        u->counters.octets_out += sent[i].msg_hdr.msg_iov->iov_len;
    }
}

static void send_run(struct leat_udp *u, int fd, size_t count)
{
    struct mmsghdr *run = u->out.run;
    for (size_t done = 0; done < count;) {
        u->counters.send_calls++;
        int sent = sendmmsg(fd, run + done, (unsigned)(count - done), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            count_sent(u, run + done, (size_t)sent);
            done += (size_t)sent;
        } else if (errno == EAGAIN) {
            u->counters.send_again += count - done;
            return;
        } else if (errno != EINTR) {
            u->counters.send_errors++;
            done++;
        }
    }
}

static void send_committed(struct leat_udp *u)
{
    struct leat__udp_send *out = &u->out;
    size_t left = out->count;
    out->count = 0;
    for (size_t i = 0; i < u->socket_count && left != 0; i++) {
        size_t run = 0, kept = 0;
        for (size_t k = 0; k < left; k++) {
            if (out->sockets[k] == u->sockets[i]) {
                out->run[run++] = out->headers[k];
            } else { /* close the gap: the next sockets look at fewer */
                out->headers[kept] = out->headers[k];
                out->sockets[kept++] = out->sockets[k];
            }
        }
        left = kept;
        send_run(u, u->sockets[i]->fd, run);
    }
}

static uint8_t *reserve(struct leat_sink *sink, size_t len)
{
    struct leat_udp *u = LEAT_CONTAINER(sink, struct leat_udp, sink);
    struct leat__udp_send *out = &u->out;
    if (len > LEAT_UDP_MTU_MAX || u->is_closed) {
        u->counters.batch_full++;
        return NULL;
    }
    if (out->next % LEAT_UDP_BATCH == 0) {
        send_committed(u);
        out->next %= LEAT__UDP_ROOMS;
    }
    out->len[out->next] = len;
    return out->octets[out->next++];
}

static void commit_room(struct leat_sink *sink, uint8_t *room, size_t len,
                        const struct leat_tuple *tuple)
{
    struct leat_udp *u = LEAT_CONTAINER(sink, struct leat_udp, sink);
    struct leat__udp_send *out = &u->out;
    size_t at = (size_t)(room - out->octets[0]) / LEAT_UDP_MTU_MAX;
    assert(at < LEAT__UDP_ROOMS && len <= out->len[at]);
    out->len[at] = 0;
    const struct leat__udp_socket *s = socket_for(u, &tuple->local);
    if (s == NULL || u->is_closed) {
        u->counters.send_no_socket++;
        return;
    }
    size_t i = out->count++;
    out->vectors[i] = (struct iovec){room, len};
    out->sockets[i] = s;
    struct msghdr *h = &out->headers[i].msg_hdr;
    *h = (struct msghdr){.msg_name = &out->names[i], .msg_iov = &out->vectors[i], .msg_iovlen = 1};
    h->msg_namelen = leat__addr_to_sockaddr(&tuple->remote, &out->names[i]);
    if (s->is_wildcard && !leat_addr_is_unspecified(&tuple->local)) {
        set_source(h, &out->controls[i], &tuple->local);
    }
}

static void commit(struct leat_sink *sink, size_t len, const struct leat_tuple *tuple)
{
    struct leat_udp *u = LEAT_CONTAINER(sink, struct leat_udp, sink);
    assert(u->out.next > 0);
    commit_room(sink, u->out.octets[u->out.next - 1], len, tuple);
}

void leat_udp_flush(struct leat_udp *u)
{
    send_committed(u);
    u->out.next = 0; /* the rooms that are warm */
}

struct leat_sink *leat_udp_sink(struct leat_udp *u)
{
    return &u->sink;
}

void leat__udp_send_init(struct leat_udp *u)
{
    u->sink = (struct leat_sink){.reserve = reserve, .commit = commit, .commit_room = commit_room};
}
