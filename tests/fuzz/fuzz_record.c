/* SPDX-License-Identifier: MIT */
/*
 * An established association against a remote that has the keys and anyone who has not. The first
 * octet chooses the suite; the rest are steps of an octet for what happens, one for how, one of
 * length, and as many octets: records that the remote seals around them, such records damaged or
 * repeated, and raw datagrams. Nothing that was not sealed may be taken, nothing twice but a
 * handshake record, and whatever is sent opens at the remote.
 */
#include <stdlib.h>

#include "internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    struct leat__dtls_established *e;
    struct leat__dtls_protection remote;
    struct leat__dtls_queue out;
    struct leat_dtls_counters counters;
    uint64_t now_us, again_us;
    uint8_t record[512]; /* the latest that was sealed */
    size_t record_len;
    enum leat_dtls_end end;
};

static const uint8_t flight[] = "the last flight";

static void must(bool is_true)
{
    if (!is_true) {
        abort();
    }
}

static void begin(struct run *r, enum leat__dtls_aead aead)
{
    uint8_t block[LEAT__DTLS_KEY_BLOCK_MAX];
    struct leat__dtls_outcome o;
    memset(r, 0, sizeof(*r));
    memset(&o, 0, sizeof(o));
    for (size_t i = 0; i < sizeof(block); i++) {
        block[i] = (uint8_t)i;
    }
    leat__dtls_protection_init(&r->remote, aead, block, true, 1);
    leat__dtls_protection_init(&o.protection, aead, block, false, 1);
    o.flight.data = malloc(sizeof(flight));
    must(o.flight.data != NULL);
    memcpy(o.flight.data, flight, sizeof(flight));
    o.flight.len = sizeof(flight);
    r->e = leat__dtls_established_new(&o, true);
    must(r->e != NULL);
    r->e->out = &r->out;
    r->e->counters = &r->counters;
    r->now_us = 1000;
}

/* From memory of exactly its length. */
static enum leat_dtls_verdict give(struct run *r, const uint8_t *data, size_t len, bool is_resumed)
{
    uint8_t *exact = malloc(len ? len : 1);
    must(exact != NULL);
    memcpy(exact, data, len);
    struct leat_span datagram = leat_span(exact, len);
    enum leat_dtls_verdict verdict =
        is_resumed ? leat__dtls_established_resume(r->e, datagram, r->now_us, &r->end)
                   : leat__dtls_established_receive(r->e, datagram, r->now_us, &r->end);
    free(exact);
    return verdict;
}

static void check_sent(struct run *r)
{
    struct leat__dtls_datagram d;
    while (leat__dtls_queue_pop(&r->out, &d)) {
        struct leat_reader reader;
        struct leat__dtls_record rec;
        uint8_t plain[LEAT_DTLS_DATA_MAX + LEAT__DTLS_RECORD_OVERHEAD_MAX];
        size_t len;
        must(d.len <= sizeof(plain));
        if (d.len == sizeof(flight) && memcmp(d.data, flight, d.len) == 0) {
            must(r->now_us >= r->again_us);
            r->again_us = r->now_us + LEAT_DTLS_FLIGHT_AGAIN_US;
        } else {
            leat_reader_init(&reader, d.data, d.len);
            must(leat__dtls_record_next(&reader, &rec) && leat_reader_left(&reader) == 0);
            must(leat__dtls_protection_open(&r->remote, &rec, plain, &len) == LEAT__DTLS_OPEN_OK);
        }
        free(d.data);
    }
    while (leat__dtls_queue_pop(&r->e->data, &d)) {
        free(d.data);
    }
}

static void step(struct run *r, uint8_t what, uint8_t how, struct leat_span octets)
{
    uint8_t damaged[sizeof(r->record)];
    switch (what % 6) {
    case 0: /* of nobody */
        must(give(r, octets.data, octets.len, how % 2 == 1) != LEAT_DTLS_OK);
        break;
    case 1: /* of the remote */
        r->record_len =
            leat__dtls_protection_seal(&r->remote, (uint8_t)(20 + how % 4), octets, r->record);
        must(give(r, r->record, r->record_len, how >= 0xf0) == LEAT_DTLS_OK);
        break;
    case 2: /* damaged on the way */
        memcpy(damaged, r->record, r->record_len);
        for (size_t i = 0; i < octets.len && i < r->record_len; i++) {
            damaged[(how + i) % r->record_len] ^= octets.data[i];
        }
        /* not memcmp: a fuzzer that watches it would learn the tag */
        must(leat_equal_ct(damaged, r->record, r->record_len) ||
             give(r, damaged, r->record_len, false) != LEAT_DTLS_OK);
        break;
    case 3: /* repeated */
        must(r->record_len == 0 || give(r, r->record, r->record_len, false) != LEAT_DTLS_OK ||
             r->record[0] == LEAT__DTLS_TYPE_HANDSHAKE);
        break;
    case 4: /* lost, or time passes */
        r->remote.send_seq += how % 100;
        r->now_us += how * 1000u;
        break;
    case 5:
        if (how == 0) {
            leat__dtls_established_forget_flight(r->e);
        }
        (void)leat__dtls_established_send(r->e, LEAT__DTLS_TYPE_APPLICATION_DATA, octets);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct leat_reader in;
    struct run r;
    leat_reader_init(&in, data, size);
    begin(&r, (enum leat__dtls_aead)(leat_read_u8(&in) % 3));
    while (leat_reader_left(&in) >= 3 && r.end == LEAT_DTLS_END_NONE) {
        uint8_t what = leat_read_u8(&in), how = leat_read_u8(&in);
        size_t len = leat_read_u8(&in);
        len = len < leat_reader_left(&in) ? len : leat_reader_left(&in);
        step(&r, what, how, leat_read_span(&in, len));
        check_sent(&r);
    }
    leat__dtls_established_free(r.e);
    leat__dtls_protection_deinit(&r.remote);
    return 0;
}
