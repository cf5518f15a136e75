/* SPDX-License-Identifier: MIT */
/**
 * @file  Two DTLS sessions of ours over a network with a virtual clock: each datagram takes
 * DELAY_US, and a rule of the test loses, duplicates or delays it. Jobs run inline.
 */
#ifndef LEAT_TEST_DTLS_NETWORK_H
#define LEAT_TEST_DTLS_NETWORK_H

#include <stdlib.h>

#include <leat/dtls.h>

#include "../harness.h"

#define NOW_S 1700000000u /* 2023-11-14 */
#define DELAY_US 10000u
#define NET_MAX 256

enum { SERVER, CLIENT };

struct end_point {
    struct leat_dtls *d;
    struct leat_dtls_identity *identity;
    bool is_connected, is_ended;
    unsigned connected_events, ended_events;
    struct leat_srtp_keys keys;
    enum leat_dtls_end end;
    uint64_t connected_us;
    size_t sent, largest; /* datagrams; octets */
};

struct flying {
    uint64_t due_us;
    int to;
    uint8_t data[LEAT_DTLS_MTU + 400];
    size_t len;
};

struct network {
    struct end_point ends[2];
    struct leat_rng rng;
    uint64_t now_us;
    struct flying flying[NET_MAX];
    size_t flying_count;
    /* @return copies to deliver (0: lost); *delay_us may be changed. NULL: all arrive */
    unsigned (*rule)(struct network *net, int from, size_t index, uint64_t *delay_us);
    void *rule_state;
};

static inline void net_rng(struct leat_rng *rng, uint8_t seed)
{
    uint8_t octets[32] = {seed, 0x5e};
    leat_rng_init_seeded(rng, octets);
}

/* LEAT_BACKENDS names the backends of server and client, as in "openssl mbedtls"; without it both
 * are mbedTLS. */
static inline enum leat_dtls_backend net_backend(int which)
{
    const char *names = getenv("LEAT_BACKENDS");
    const char *name = names && which == CLIENT ? strchr(names, ' ') + 1 : names;
    return name && strncmp(name, "openssl", 7) == 0 ? LEAT_DTLS_OPENSSL : LEAT_DTLS_MBEDTLS;
}

/* Identities are made once: they are immutable. */
static inline struct leat_dtls_identity *net_identity(int which)
{
    static struct leat_dtls_identity *identities[3];
    if (!identities[which]) {
        struct leat_rng rng;
        net_rng(&rng, (uint8_t)(200 + which));
        LEAT_CHECK_INT(leat_dtls_identity_new(&identities[which], &rng, NOW_S), 0);
        LEAT_CHECK_INT(leat_dtls_identity_set_backend(identities[which], net_backend(which)), 0);
    }
    return identities[which];
}

static inline void net_params(struct leat_dtls_params *p, int role, int own, int remote)
{
    memset(p, 0, sizeof(*p));
    p->identity = net_identity(own);
    p->role = role == SERVER ? LEAT_DTLS_SERVER : LEAT_DTLS_CLIENT;
    leat_dtls_identity_fingerprint(net_identity(remote), p->remote_fingerprint);
    p->profiles[0] = LEAT_SRTP_AEAD_AES_128_GCM;
    p->profiles[1] = LEAT_SRTP_AES128_CM_SHA1_80;
    p->profile_count = 2;
}

static inline void net_init(struct network *net, uint8_t seed)
{
    memset(net, 0, sizeof(*net));
    net_rng(&net->rng, seed);
    net->now_us = 1000000;
    for (int i = 0; i < 2; i++) {
        struct leat_dtls_params p;
        net_params(&p, i, i, 1 - i);
        LEAT_CHECK_INT(leat_dtls_new(&net->ends[i].d, &p, net->now_us), 0);
    }
}

static inline void net_deinit(struct network *net)
{
    leat_dtls_free(net->ends[0].d);
    leat_dtls_free(net->ends[1].d);
}

static inline void net_start(struct network *net)
{
    for (int i = 0; i < 2; i++) {
        leat_dtls_start(net->ends[i].d, net->now_us, net->now_us);
    }
}

static inline void net_post(struct network *net, int to, struct leat_span datagram,
                            uint64_t delay_us)
{
    if (net->flying_count == NET_MAX || datagram.len > sizeof(net->flying[0].data)) {
        leat_test_fail(__FILE__, __LINE__, "the network is full");
        return;
    }
    struct flying *f = &net->flying[net->flying_count++];
    f->due_us = net->now_us + delay_us;
    f->to = to;
    f->len = datagram.len;
    memcpy(f->data, datagram.data, datagram.len);
}

static inline void net_take_events(struct network *net, struct end_point *e)
{
    struct leat_dtls_event event;
    while (leat_dtls_next_event(e->d, &event)) {
        if (event.type == LEAT_DTLS_EVENT_CONNECTED) {
            e->is_connected = true;
            e->connected_events++;
            e->keys = event.keys;
            e->connected_us = net->now_us;
        } else {
            e->is_ended = true;
            e->ended_events++;
            e->end = event.end;
        }
    }
}

static inline void net_send(struct network *net, int from)
{
    struct end_point *e = &net->ends[from];
    struct leat_span datagram;
    while (leat_dtls_next_datagram(e->d, &datagram)) {
        uint64_t delay_us = DELAY_US;
        unsigned copies = net->rule ? net->rule(net, from, e->sent, &delay_us) : 1;
        e->sent++;
        e->largest = datagram.len > e->largest ? datagram.len : e->largest;
        for (unsigned i = 0; i < copies; i++) {
            net_post(net, 1 - from, datagram, delay_us);
        }
    }
}

static inline void net_work(struct network *net, int which)
{
    struct end_point *e = &net->ends[which];
    while (leat_dtls_wants_job(e->d)) {
        leat_dtls_job_begin(e->d, net->now_us);
        leat_dtls_job_run(e->d, &net->rng);
        leat_dtls_job_end(e->d, net->now_us);
    }
    net_take_events(net, e);
    net_send(net, which);
}

/* The datagram that is due first, or NULL. Of equal ones the first posted. */
static inline struct flying *net_first(struct network *net)
{
    struct flying *first = NULL;
    for (size_t i = 0; i < net->flying_count; i++) {
        if (!first || net->flying[i].due_us < first->due_us) {
            first = &net->flying[i];
        }
    }
    return first;
}

/* One thing happens: an arrival or a deadline. @return false when nothing will before until_us. */
static inline bool net_step(struct network *net, uint64_t until_us)
{
    uint64_t next_us = LEAT_NEVER;
    struct flying *first = net_first(net);
    next_us = first ? first->due_us : next_us;
    for (int i = 0; i < 2; i++) {
        uint64_t deadline_us = leat_dtls_deadline(net->ends[i].d);
        next_us = deadline_us < next_us ? deadline_us : next_us;
    }
    if (next_us > until_us) {
        return false;
    }
    net->now_us = next_us > net->now_us ? next_us : net->now_us;
    if (first && first->due_us <= net->now_us) {
        struct flying f = *first;
        size_t at = (size_t)(first - net->flying);
        memmove(first, first + 1, (net->flying_count - at - 1) * sizeof(*first));
        net->flying_count--;
        (void)leat_dtls_receive(net->ends[f.to].d, leat_span(f.data, f.len), net->now_us);
    }
    for (int i = 0; i < 2; i++) {
        leat_dtls_tick(net->ends[i].d, net->now_us);
        net_work(net, i);
    }
    return true;
}

static inline void net_run(struct network *net, uint64_t duration_us)
{
    uint64_t until_us = net->now_us + duration_us;
    net_work(net, CLIENT);
    net_work(net, SERVER);
    while (net_step(net, until_us)) {
    }
    net->now_us = until_us;
}

/* The number of the first record of a datagram, which is of epoch 1. */
static inline uint64_t net_number(const struct flying *f)
{
    LEAT_CHECK(f->len > 13 && leat_get_u16(f->data + 3) == 1);
    return leat_get_u64(f->data + 3) & 0xffffffffffff;
}

static inline bool net_keys_mirror(const struct network *net)
{
    const struct leat_srtp_keys *a = &net->ends[SERVER].keys, *b = &net->ends[CLIENT].keys;
    static const struct leat_srtp_master zero;
    return a->profile == b->profile && a->profile != LEAT_SRTP_PROFILE_NONE &&
           memcmp(&a->send, &b->receive, sizeof(a->send)) == 0 &&
           memcmp(&a->receive, &b->send, sizeof(a->send)) == 0 &&
           memcmp(&a->send, &a->receive, sizeof(a->send)) != 0 &&
           memcmp(&a->send, &zero, sizeof(zero)) != 0;
}

static inline bool net_is_connected(const struct network *net)
{
    return net->ends[SERVER].is_connected && net->ends[CLIENT].is_connected &&
           leat_dtls_is_connected(net->ends[SERVER].d) &&
           leat_dtls_is_connected(net->ends[CLIENT].d);
}

#endif
