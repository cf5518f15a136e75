/* SPDX-License-Identifier: MIT */
/* A client's socket is one of a set of 64 that share buffers; its port says whose a datagram is. */
#include "sockets.h"

#include <stdio.h>
#include <stdlib.h>

#define PORTS 65536
#define TRIES 16
#define BUFFER (4u << 20)

static void on_datagrams(void *data, struct leat_datagram *datagrams, size_t count, uint64_t now_us)
{
    struct leat_load_sockets *s = data;
    for (size_t i = 0; i < count; i++) {
        uint32_t owner = s->owners[datagrams[i].tuple.local.port];
        if (owner == 0) {
            s->stray++;
        } else {
            s->receive(s->data, owner - 1, &datagrams[i], now_us);
        }
    }
}

int leat_load_sockets_init(struct leat_load_sockets *s, struct leat_loop *loop,
                           void (*receive)(void *data, size_t owner, struct leat_datagram *d,
                                           uint64_t now_us),
                           void *data)
{
    *s = (struct leat_load_sockets){.loop = loop, .receive = receive, .data = data};
    s->owners = calloc(PORTS, sizeof *s->owners);
    return s->owners != NULL ? 0 : LEAT_E_NOMEM;
}

void leat_load_sockets_deinit(struct leat_load_sockets *s)
{
    for (size_t i = 0; i < s->set_count; i++) {
        leat_udp_close(s->sets[i]);
    }
    s->set_count = 0;
    free(s->owners);
    s->owners = NULL;
}

/** The set that has room for one more socket. */
static struct leat_udp *open_set(struct leat_load_sockets *s)
{
    if (s->set_count > 0 && s->bound < LEAT_UDP_SOCKETS_MAX) {
        return s->sets[s->set_count - 1];
    }
    if (s->set_count == LEAT_LOAD_SETS_MAX) {
        return NULL;
    }
    struct leat_udp *set = leat_udp_new(s->loop, on_datagrams, s);
    if (set != NULL) {
        s->sets[s->set_count++] = set;
        s->bound = 0;
    }
    return set;
}

struct leat_sink *leat_load_sockets_bind(struct leat_load_sockets *s, const struct leat_addr *ip,
                                         size_t owner, struct leat_addr *local, char *why,
                                         size_t why_cap)
{
    /* Two clients on different addresses of this machine could get one port: then once more. */
    for (int i = 0; i < TRIES; i++) {
        struct leat_udp *set = open_set(s);
        struct leat_addr any = *ip;
        any.port = 0;
        if (set == NULL) {
            (void)snprintf(why, why_cap, "too many sockets");
            return NULL;
        }
        if (leat_udp_bind(set, &any, BUFFER, NULL, why, why_cap) != 0) {
            return NULL;
        }
        *local = *leat_udp_local(set, s->bound++);
        if (s->owners[local->port] == 0) {
            s->owners[local->port] = (uint32_t)owner + 1;
            return leat_udp_sink(set);
        }
    }
    (void)snprintf(why, why_cap, "no free port");
    return NULL;
}

void leat_load_sockets_flush(struct leat_load_sockets *s)
{
    for (size_t i = 0; i < s->set_count; i++) {
        leat_udp_flush(s->sets[i]);
    }
}

void leat_load_sockets_drops(const struct leat_load_sockets *s, uint64_t *received, uint64_t *sent)
{
    *received = *sent = 0;
    for (size_t i = 0; i < s->set_count; i++) {
        const struct leat_udp_counters *c = leat_udp_counters(s->sets[i]);
        *received += c->kernel_drops;
        *sent += c->send_again + c->send_errors + c->send_no_socket;
    }
}
