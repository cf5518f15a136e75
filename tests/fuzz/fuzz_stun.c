/* SPDX-License-Identifier: MIT */
/*
 * STUN parser and ICE agent. The input is a list of records: one octet of control, one octet that
 * picks the tuple, two octets of length, then that many octets.
 *
 *     control bit 0   0: the octets are a datagram. 1: they are attributes, and the request around
 *                     them gets the header, a right USERNAME, MESSAGE-INTEGRITY and FINGERPRINT, so
 *                     that what lies behind authentication is reached
 *     control bit 1   an ICE restart comes before it; requests then use the new generation
 *     control 2..7    how far the clock goes on before it, in steps of 700 ms
 */
#include <leat/ice.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DATAGRAM_MAX 2048

struct fuzz_sink {
    struct leat_sink sink;
    uint8_t room[LEAT_STUN_REPLY_MAX];
};

struct run {
    struct leat_ice ice;
    struct leat_ice_local local;
    struct fuzz_sink out;
    uint64_t now_us;
    uint32_t number;
};

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static uint8_t *reserve(struct leat_sink *sink, size_t len)
{
    struct fuzz_sink *s = (struct fuzz_sink *)sink;
    return len <= sizeof(s->room) ? s->room : NULL;
}

/** Our own answers parse, and are no requests. */
static void commit(struct leat_sink *sink, size_t len, const struct leat_tuple *tuple)
{
    struct fuzz_sink *s = (struct fuzz_sink *)sink;
    struct leat_stun_msg m;
    (void)tuple;
    require(leat_stun_parse(&m, leat_span(s->room, len)) == LEAT_STUN_OK);
    require(m.class_ == LEAT_STUN_SUCCESS || m.class_ == LEAT_STUN_ERROR);
    require(m.integrity_offset != 0 && m.has_fingerprint);
}

static struct leat_tuple tuple_of(uint8_t pick)
{
    const uint8_t local[4] = {127, 0, 0, 1}, remote[4] = {127, 0, 0, (uint8_t)(1 + (pick >> 6))};
    const uint8_t remote_v6[16] = {[15] = 1};
    uint16_t port = (uint16_t)(50000 + (pick & 31));
    return (struct leat_tuple){leat_addr_v4(local, 3478), (pick & 32) != 0
                                                              ? leat_addr_v6(remote_v6, port, 0)
                                                              : leat_addr_v4(remote, port)};
}

static void make_local(struct run *r)
{
    const uint8_t seed[32] = {(uint8_t)++r->number};
    struct leat_rng rng;
    leat_rng_init_seeded(&rng, seed);
    leat_ice_local_make(&r->local, &rng, 1, 2);
}

static void check_state(const struct leat_ice *ice, uint64_t now_us)
{
    require(ice->tuple_count <= LEAT_ICE_TUPLES_MAX);
    require(ice->selected >= -1 && ice->selected < (int)ice->tuple_count);
    require((ice->selected >= 0) == (ice->tuple_count != 0));
    require(!ice->is_nominated || ice->selected >= 0);
    require(leat_ice_deadline(ice) > now_us);
}

static void give(struct run *r, struct leat_span datagram, uint8_t pick)
{
    struct leat_tuple tuple = tuple_of(pick);
    struct leat_ice_change change;
    struct leat_stun_msg m;
    if (leat_stun_parse(&m, datagram) == LEAT_STUN_OK &&
        leat_ice_check(&r->ice, &m, &tuple, r->now_us) == LEAT_ICE_OK) {
        leat_ice_accept(&r->ice, &m, &tuple, r->now_us, &r->out.sink, &change);
    }
}

/** A request with right credentials around any attributes. */
static struct leat_span wrap(struct run *r, struct leat_span attributes, uint8_t room[DATAGRAM_MAX])
{
    struct leat_writer w;
    uint8_t tid[LEAT_STUN_TID_LEN] = {0};
    leat_put_u32(tid, ++r->number % 40); /* repeats some */
    leat_writer_init(&w, room, DATAGRAM_MAX);
    leat_stun_begin(&w, LEAT_STUN_REQUEST, 1, tid);
    leat_stun_add_username(&w, leat_span_str(r->local.ufrag), leat_span_str("peer"));
    leat_write_bytes(&w, attributes.data, attributes.len / 4 * 4);
    return leat_span(room, leat_stun_end(&w, &r->ice.now.key));
}

static bool pass_time(struct run *r, unsigned steps)
{
    struct leat_ice_change change;
    r->now_us += steps * 700000u;
    do {
        if (!leat_ice_tick(&r->ice, r->now_us, &change)) {
            return false;
        }
    } while (change.tuple_removed);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_started;
    if (!is_started) {
        require(leat_crypto_start() == 0);
        is_started = true;
    }
    struct run r = {.out = {.sink = {.reserve = reserve, .commit = commit}}, .now_us = 1000000};
    struct leat_reader in;
    uint8_t room[DATAGRAM_MAX];
    make_local(&r);
    leat_ice_init(&r.ice, &r.local, leat_span_str("peer"), r.now_us);
    leat_reader_init(&in, data, size);
    while (leat_reader_left(&in) >= 4) {
        uint8_t control = leat_read_u8(&in);
        uint8_t pick = leat_read_u8(&in);
        size_t len = leat_read_u16(&in);
        size_t left = leat_reader_left(&in);
        struct leat_span octets = leat_read_span(&in, len < left ? len : left);
        if (!pass_time(&r, control >> 2)) {
            break;
        }
        if ((control & 2) != 0) {
            make_local(&r);
            leat_ice_restart(&r.ice, &r.local, leat_span_str("peer"), r.now_us);
        }
        give(&r, (control & 1) != 0 ? wrap(&r, octets, room) : octets, pick);
        check_state(&r.ice, r.now_us);
    }
    leat_ice_deinit(&r.ice);
    return 0;
}
