/* SPDX-License-Identifier: MIT */
/*
 * UDP sockets, send half: a sink over a batch that leaves by sendmmsg.
 *
 * Datagrams of one size that follow one another to one remote leave as one message with
 * UDP_SEGMENT: the network stack is walked once for all of them, which is most of what sending
 * costs. Only the last may be shorter.
 *
 * An error is one destination's: sendmmsg stops in front of the message that fails, the next call
 * returns its errno, it is counted and skipped, and the rest goes on. A run that is refused as a
 * run (no checksum offload, a segment over the route's MTU) is sent again one by one. A full socket
 * buffer is the socket's: what is left of its batch is dropped and counted, since waiting would
 * delay the receivers that are reachable and keeping would be a queue without a bound. Nothing is
 * held over a flush.
 */
#include "udp.h"

#include <assert.h>
#include <errno.h>
#include <netinet/udp.h>

#define RUN_MAX 64 /* UDP_MAX_SEGMENTS of Linux before 6.9 */
#define RUN_OCTETS_MAX 65000

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

/* ---- runs ---- */

static struct leat_addr *refused_at(struct leat_udp *u, const struct leat_addr *a)
{
    return &u->out.refused[leat_crc32(0, a->ip, sizeof(a->ip)) % LEAT__UDP_REFUSED];
}

static bool is_refused(struct leat_udp *u, const struct leat_addr *a)
{
    if (u->counters.gso_refused == 0) {
        return false;
    }
    const struct leat_addr *refused = refused_at(u, a);
    return refused->family == a->family && memcmp(refused->ip, a->ip, sizeof(a->ip)) == 0;
}

static bool is_same_way(const struct msghdr *a, const struct msghdr *b)
{
    return a->msg_namelen == b->msg_namelen &&
           memcmp(a->msg_name, b->msg_name, a->msg_namelen) == 0 &&
           a->msg_controllen == b->msg_controllen &&
           (a->msg_controllen == 0 ||
            memcmp(a->msg_control, b->msg_control, a->msg_controllen) == 0);
}

/* May `next` be one more segment of the message, whose segments are of `size` octets? */
static bool extends(const struct msghdr *message, size_t size, const struct msghdr *next)
{
    const struct iovec *last = &message->msg_iov[message->msg_iovlen - 1];
    return message->msg_iovlen < RUN_MAX && last->iov_len == size &&
           next->msg_iov->iov_len <= size && (message->msg_iovlen + 1) * size <= RUN_OCTETS_MAX &&
           is_same_way(message, next);
}

/* Say how long segments are, behind what the control message of the first datagram has. */
static void set_segment_size(struct msghdr *h, struct leat__control *control, size_t size)
{
    uint16_t octets = (uint16_t)size;
    struct cmsghdr *c = (struct cmsghdr *)(void *)(control->octets + h->msg_controllen);
    h->msg_control = control;
    h->msg_controllen += CMSG_SPACE(sizeof(octets));
    memset(c, 0, CMSG_SPACE(sizeof(octets)));
    c->cmsg_level = SOL_UDP;
    c->cmsg_type = UDP_SEGMENT;
    c->cmsg_len = CMSG_LEN(sizeof(octets));
    memcpy(CMSG_DATA(c), &octets, sizeof(octets));
}

static void end_message(struct leat__udp_send *out, size_t message)
{
    struct msghdr *h = &out->messages[message].msg_hdr;
    if (h->msg_iovlen > 1) {
        size_t at = (size_t)((union leat__sockaddr *)h->msg_name - out->names);
        set_segment_size(h, &out->controls[at], h->msg_iov->iov_len);
    }
}

/* Make messages of a socket's datagrams. @return how many. */
static size_t make_messages(struct leat_udp *u, const size_t *datagrams, size_t count)
{
    struct leat__udp_send *out = &u->out;
    size_t made = 0;
    for (size_t k = 0; k < count; k++) {
        const struct msghdr *next = &out->headers[datagrams[k]].msg_hdr;
        struct msghdr *last = made > 0 ? &out->messages[made - 1].msg_hdr : NULL;
        out->message_vectors[k] = *next->msg_iov;
        if (last != NULL && !out->is_gso_off && extends(last, last->msg_iov->iov_len, next) &&
            (last->msg_iovlen > 1 || !is_refused(u, &out->remotes[datagrams[k]]))) {
            last->msg_iovlen++;
            continue;
        }
        if (made > 0) {
            end_message(out, made - 1);
        }
        out->messages[made] = (struct mmsghdr){.msg_hdr = *next};
        out->messages[made].msg_hdr.msg_iov = &out->message_vectors[k];
        made++;
    }
    if (made > 0) {
        end_message(out, made - 1);
    }
    return made;
}

/* ---- sending ---- */

static void count_sent(struct leat_udp *u, const struct mmsghdr *sent, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t datagrams = sent[i].msg_hdr.msg_iovlen;
        u->counters.datagrams_out += datagrams;
        for (size_t k = 0; k < datagrams; k++) {
            u->counters.octets_out += sent[i].msg_hdr.msg_iov[k].iov_len;
        }
        if (datagrams > 1) {
            u->counters.gso_messages++;
            u->counters.gso_datagrams += datagrams;
        }
    }
}

static size_t datagrams_of(const struct mmsghdr *messages, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += messages[i].msg_hdr.msg_iovlen;
    }
    return sum;
}

/* The datagrams of a refused run, one by one. */
static void send_singly(struct leat_udp *u, int fd, const struct msghdr *run)
{
    for (size_t i = 0; i < run->msg_iovlen; i++) {
        struct mmsghdr one = {.msg_hdr = *run};
        one.msg_hdr.msg_iov = &run->msg_iov[i];
        one.msg_hdr.msg_iovlen = 1;
        one.msg_hdr.msg_controllen -= CMSG_SPACE(sizeof(uint16_t)); /* the segment size */
        if (one.msg_hdr.msg_controllen == 0) {
            one.msg_hdr.msg_control = NULL;
        }
        int sent;
        do {
            u->counters.send_calls++;
            sent = sendmmsg(fd, &one, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        } while (sent < 0 && errno == EINTR);
        if (sent == 1) {
            count_sent(u, &one, 1);
        } else if (errno == EAGAIN) {
            u->counters.send_again += run->msg_iovlen - i;
            return;
        } else {
            u->counters.send_errors++;
        }
    }
}

/* A message that failed. */
static void give_up(struct leat_udp *u, int fd, const struct msghdr *h)
{
    struct leat__udp_send *out = &u->out;
    if (h->msg_iovlen > 1 && (errno == EIO || errno == EINVAL || errno == EMSGSIZE)) {
        size_t at = (size_t)((union leat__sockaddr *)h->msg_name - out->names);
        u->counters.gso_refused++;
        *refused_at(u, &out->remotes[at]) = out->remotes[at];
        send_singly(u, fd, h);
    } else {
        u->counters.send_errors += h->msg_iovlen;
    }
}

static void send_messages(struct leat_udp *u, int fd, size_t count)
{
    struct mmsghdr *messages = u->out.messages;
    for (size_t done = 0; done < count;) {
        u->counters.send_calls++;
        int sent =
            sendmmsg(fd, messages + done, (unsigned)(count - done), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            count_sent(u, messages + done, (size_t)sent);
            done += (size_t)sent;
        } else if (errno == EAGAIN) {
            u->counters.send_again += datagrams_of(messages + done, count - done);
            return;
        } else if (errno != EINTR) {
            give_up(u, fd, &messages[done].msg_hdr);
            done++;
        }
    }
}

static void send_committed(struct leat_udp *u)
{
    struct leat__udp_send *out = &u->out;
    size_t count = out->count, left = count;
    out->count = 0;
    for (size_t i = 0; i < u->socket_count && left != 0; i++) {
        size_t datagrams[LEAT__UDP_ROOMS], of_socket = 0;
        for (size_t k = 0; k < count; k++) {
            if (out->sockets[k] == u->sockets[i]) {
                datagrams[of_socket++] = k;
            }
        }
        left -= of_socket;
        send_messages(u, u->sockets[i]->fd, make_messages(u, datagrams, of_socket));
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
    out->remotes[i] = tuple->remote;
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

void leat_udp_set_gso(struct leat_udp *u, bool is_on)
{
    u->out.is_gso_off = !is_on;
}

struct leat_sink *leat_udp_sink(struct leat_udp *u)
{
    return &u->sink;
}

void leat__udp_send_init(struct leat_udp *u)
{
    u->sink = (struct leat_sink){.reserve = reserve, .commit = commit, .commit_room = commit_room};
}
