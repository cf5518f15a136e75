/* SPDX-License-Identifier: MIT */
/*
 * Shared by the tests of the table in src/stun/ice_lite.c: an agent with a sink, and requests to
 * it.
 */
#ifndef LEAT_STUN_AGENT_H
#define LEAT_STUN_AGENT_H

#include "stun_test.h"

/* P01 with ICE-CONTROLLED and without USE-CANDIDATE. */
#define CONTROLLED                                                                                 \
    "000100442112a4420102030405060708090a0b0c00060009646d6e553a70656572000000002400046e7f1eff8029" \
    "00081122334455667788000800141a3609bba5ad0d87163b5834958ff94821682bc980280004fed4f9f6"

#define T0 1000000000u
#define MS 1000u
#define SECOND 1000000u
#define HIGH 0x6e7f1effu
#define LOW 0x6e001effu

struct agent {
    struct leat_ice ice;
    struct array_sink out;
    struct leat_ice_change change;
    struct leat_ice_local local; /* that requests name */
    const char *remote;
    uint32_t requests;
};

static inline struct agent new_agent(void)
{
    struct agent a = {
        .out = array_sink(), .local = local_of("dmnU", FIXTURE_PWD), .remote = "peer"};
    leat_ice_init(&a.ice, &a.local, leat_span_str(a.remote), T0);
    return a;
}

/** Check, and accept when it is authentic. */
static inline enum leat_ice_verdict give(struct agent *a, struct leat_span datagram,
                                         struct leat_tuple tuple, uint64_t now_us)
{
    struct leat_stun_msg m;
    LEAT_CHECK_INT(leat_stun_parse(&m, datagram), LEAT_STUN_OK);
    enum leat_ice_verdict v = leat_ice_check(&a->ice, &m, &tuple, now_us);
    memset(&a->change, 0, sizeof(a->change));
    if (v == LEAT_ICE_OK) {
        leat_ice_accept(&a->ice, &m, &tuple, now_us, &a->out.sink, &a->change);
    }
    return v;
}

static inline enum leat_ice_verdict give_hex(struct agent *a, const char *hex,
                                             struct leat_tuple tuple, uint64_t now_us)
{
    struct octets o = unhex(hex);
    return give(a, guarded(span_of(&o)), tuple, now_us);
}

/** A request under the agent's present `local` and `remote` with a given transaction number. */
static inline struct octets request(const struct agent *a, uint32_t number, uint32_t priority,
                                    bool use_candidate)
{
    struct octets o;
    struct leat_writer w;
    struct leat_hmac_sha1 key;
    uint8_t tid[LEAT_STUN_TID_LEN] = {0};
    leat_put_u32(tid + 8, number);
    leat_hmac_sha1_init(&key, a->local.pwd, strlen(a->local.pwd));
    leat_writer_init(&w, o.data, sizeof(o.data));
    leat_stun_begin(&w, LEAT_STUN_REQUEST, 1, tid);
    leat_stun_add_username(&w, leat_span_str(a->local.ufrag), leat_span_str(a->remote));
    if (priority != 0) {
        leat_stun_add_u32(&w, LEAT_STUN_ATTR_PRIORITY, priority);
    }
    leat_stun_add_u64(&w, LEAT_STUN_ATTR_ICE_CONTROLLING, 7);
    if (use_candidate) {
        leat_stun_add_flag(&w, LEAT_STUN_ATTR_USE_CANDIDATE);
    }
    o.len = leat_stun_end(&w, &key);
    return o;
}

/** A fresh request without, or with USE-CANDIDATE. */
static inline void check(struct agent *a, struct leat_tuple tuple, uint32_t priority,
                         uint64_t now_us)
{
    struct octets o = request(a, ++a->requests, priority, false);
    LEAT_CHECK_INT(give(a, span_of(&o), tuple, now_us), LEAT_ICE_OK);
}

static inline void nominate(struct agent *a, struct leat_tuple tuple, uint32_t priority,
                            uint64_t now_us)
{
    struct octets o = request(a, ++a->requests, priority, true);
    LEAT_CHECK_INT(give(a, span_of(&o), tuple, now_us), LEAT_ICE_OK);
}

static inline bool is_selected(const struct agent *a, struct leat_tuple tuple)
{
    const struct leat_tuple *s = leat_ice_selected(&a->ice);
    return s != NULL && leat_tuple_equal(s, &tuple);
}

static inline void check_reply(const struct agent *a, const char *hex)
{
    struct octets expected = unhex(hex);
    LEAT_CHECK_MEM(a->out.last, a->out.len, expected.data, expected.len);
}

#endif
