/* SPDX-License-Identifier: MIT */
/* An association after its handshake against a remote that has the keys: what each kind of record
 * does, and how often. */
#include "internal.h"

#include <stdlib.h>

#include "../harness.h"

#define CLOSE_NOTIFY "\1\0"
#define FINISHED "\x14\0\0\x0c\0\3\0\0\0\0\0\x0cverify_data."
#define FINISHED_LEN 24
#define CLIENT_HELLO "\1\0\0\4\0\4\0\0\0\0\0\4abcd"
#define CLIENT_HELLO_LEN 16

static const char flight[] = "the last flight";

struct lab {
    struct leat__dtls_established *e; /* ours, a server */
    struct leat__dtls_protection remote;
    struct leat__dtls_queue out;
    struct leat_dtls_counters counters;
    uint64_t now_us;
    enum leat_dtls_end end;
};

static void lab_init(struct lab *l, enum leat__dtls_aead aead, bool takes_data)
{
    uint8_t block[LEAT__DTLS_KEY_BLOCK_MAX];
    struct leat__dtls_outcome o;
    memset(l, 0, sizeof(*l));
    memset(&o, 0, sizeof(o));
    memset(block, 0x5a, sizeof(block));
    for (size_t i = 0; i < 16; i++) {
        block[i] = (uint8_t)i; /* so that the directions differ */
    }
    leat__dtls_protection_init(&l->remote, aead, block, true, 1);
    leat__dtls_protection_init(&o.protection, aead, block, false, 1);
    o.flight.data = malloc(sizeof(flight));
    o.flight.len = sizeof(flight);
    memcpy(o.flight.data, flight, sizeof(flight));
    l->e = leat__dtls_established_new(&o, takes_data);
    LEAT_CHECK(l->e != NULL && o.flight.data == NULL);
    l->e->out = &l->out;
    l->e->counters = &l->counters;
    l->now_us = 1000000;
}

static void lab_deinit(struct lab *l)
{
    leat__dtls_established_free(l->e);
    leat__dtls_protection_deinit(&l->remote);
    leat__dtls_queue_truncate(&l->out, 0);
}

static size_t seal(struct lab *l, uint8_t type, const char *plain, size_t len, uint8_t *out)
{
    size_t size = leat__dtls_protection_seal(&l->remote, type, leat_span(plain, len), out);
    LEAT_CHECK(size != 0);
    return size;
}

static enum leat_dtls_verdict give(struct lab *l, const uint8_t *data, size_t len)
{
    return leat__dtls_established_receive(l->e, leat_span(data, len), l->now_us, &l->end);
}

static enum leat_dtls_verdict send(struct lab *l, uint8_t type, const char *plain, size_t len)
{
    uint8_t record[1500];
    return give(l, record, seal(l, type, plain, len, record));
}

/* Our next datagram, opened. @return its type, 0 when there is none */
static uint8_t answer(struct lab *l, uint8_t *plain, size_t *len)
{
    struct leat__dtls_datagram d;
    struct leat_reader r;
    struct leat__dtls_record rec;
    if (!leat__dtls_queue_pop(&l->out, &d)) {
        return 0;
    }
    leat_reader_init(&r, d.data, d.len);
    uint8_t type = leat__dtls_record_next(&r, &rec) ? rec.type : 1;
    LEAT_CHECK_INT(leat__dtls_protection_open(&l->remote, &rec, plain, len), LEAT__DTLS_OPEN_OK);
    free(d.data);
    return type;
}

static void check_alert(struct lab *l, uint8_t level, uint8_t description)
{
    uint8_t plain[64] = {0};
    size_t len = 0;
    LEAT_CHECK_INT(answer(l, plain, &len), LEAT__DTLS_TYPE_ALERT);
    LEAT_CHECK(len == 2 && plain[0] == level && plain[1] == description);
}

static bool is_flight_sent(struct lab *l)
{
    struct leat__dtls_datagram d;
    if (!leat__dtls_queue_pop(&l->out, &d)) {
        return false;
    }
    LEAT_CHECK_MEM(d.data, d.len, flight, sizeof(flight));
    free(d.data);
    return true;
}

static void alert__each_kind__ends_as_it_says(void)
{
    static const struct {
        const char *plain;
        size_t len;
        enum leat_dtls_end end;
        bool is_answered;
    } rows[] = {
        {"\1\0", 2, LEAT_DTLS_END_CLOSED, true},
        {"\2\0", 2, LEAT_DTLS_END_CLOSED, true},
        {"\2\x28", 2, LEAT_DTLS_END_ALERT, false},
        {"\1\x5a", 2, LEAT_DTLS_END_NONE, false}, /* user_canceled, a warning */
        {"\1\x64", 2, LEAT_DTLS_END_NONE, false}, /* no_renegotiation */
        {"\2", 1, LEAT_DTLS_END_NONE, false},
        {"\1\0\0", 3, LEAT_DTLS_END_NONE, false},
        {"", 0, LEAT_DTLS_END_NONE, false},
    };
    for (int aead = 0; aead < 3; aead++) {
        for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
            struct lab l;
            lab_init(&l, (enum leat__dtls_aead)aead, false);
            LEAT_CHECK_ROW(i, send(&l, 21, rows[i].plain, rows[i].len) == LEAT_DTLS_OK);
            LEAT_CHECK_ROW(i, l.end == rows[i].end);
            LEAT_CHECK_ROW(i, l.out.count == (rows[i].is_answered ? 1 : 0));
            if (rows[i].is_answered) {
                check_alert(&l, 1, 0);
            }
            lab_deinit(&l);
        }
    }
}

static void alert__in_the_clear_or_forged__does_nothing(void)
{
    struct lab l;
    uint8_t record[128];
    lab_init(&l, LEAT__DTLS_AES_128_GCM, false);
    size_t len = seal(&l, 21, "\2\x28", 2, record);
    record[len - 1] ^= 1;
    LEAT_CHECK_INT(give(&l, record, len), LEAT_DTLS_IGNORED);
    LEAT_CHECK_INT(l.counters.records_forged, 1);
    static const uint8_t plain[] = {21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 5, 0, 2, 2, 40};
    LEAT_CHECK_INT(give(&l, plain, sizeof(plain)), LEAT_DTLS_IGNORED);
    LEAT_CHECK_INT(give(&l, plain, sizeof(plain) - 1), LEAT_DTLS_MALFORMED);
    LEAT_CHECK_INT(l.counters.records_forged, 1);
    LEAT_CHECK(l.end == LEAT_DTLS_END_NONE && l.out.count == 0);
    lab_deinit(&l);
}

static void close_notify__replayed__is_not_looked_at(void)
{
    struct lab l;
    uint8_t record[128];
    lab_init(&l, LEAT__DTLS_AES_256_GCM, false);
    size_t len = seal(&l, 21, "\1\x5a", 2, record);
    LEAT_CHECK_INT(give(&l, record, len), LEAT_DTLS_OK);
    LEAT_CHECK_INT(give(&l, record, len), LEAT_DTLS_IGNORED);
    LEAT_CHECK_INT(l.counters.records_replayed, 1);
    lab_deinit(&l);
}

static void finished__again__brings_the_flight_at_most_every_50_ms(void)
{
    struct lab l;
    uint8_t record[128];
    lab_init(&l, LEAT__DTLS_AES_128_GCM, false);
    size_t len = seal(&l, 22, FINISHED, FINISHED_LEN, record);
    /* The handshake's own, in the datagram that ended it. */
    LEAT_CHECK_INT(leat__dtls_established_resume(l.e, leat_span(record, len), l.now_us, &l.end),
                   LEAT_DTLS_OK);
    LEAT_CHECK(!is_flight_sent(&l));
    static const struct {
        uint64_t after_us;
        bool is_new, is_answered; /* new: another record with the same message */
    } rows[] = {{0, false, true},     {0, false, false},     {49999, false, false},
                {0, true, false},     {1, true, true},       {50000, false, true},
                {49999, true, false}, {10000000, true, true}};
    unsigned answers = 0;
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        l.now_us += rows[i].after_us;
        LEAT_CHECK_ROW(i, (rows[i].is_new ? send(&l, 22, FINISHED, FINISHED_LEN)
                                          : give(&l, record, len)) == LEAT_DTLS_OK);
        LEAT_CHECK_ROW(i, is_flight_sent(&l) == rows[i].is_answered);
        answers += rows[i].is_answered ? 1 : 0;
    }
    LEAT_CHECK_INT(l.counters.flights_repeated, answers);
    LEAT_CHECK_INT(l.counters.records_replayed, 0);
    leat__dtls_established_forget_flight(l.e);
    l.now_us += 1000000;
    LEAT_CHECK_INT(give(&l, record, len), LEAT_DTLS_OK);
    LEAT_CHECK_INT(l.out.count, 0);
    lab_deinit(&l);
}

static void finished__of_the_handshake__has_its_number_taken(void)
{
    struct lab l;
    uint8_t record[128];
    lab_init(&l, LEAT__DTLS_AES_128_GCM, false);
    l.remote.send_seq = 7;
    size_t len = seal(&l, 22, FINISHED, FINISHED_LEN, record);
    (void)leat__dtls_established_resume(l.e, leat_span(record, len), l.now_us, &l.end);
    l.remote.send_seq = 7;
    LEAT_CHECK_INT(send(&l, 23, "data", 4), LEAT_DTLS_IGNORED);
    LEAT_CHECK_INT(l.counters.records_replayed, 1);
    lab_deinit(&l);
}

static void finished__forged__brings_nothing(void)
{
    struct lab l;
    uint8_t record[128];
    lab_init(&l, LEAT__DTLS_CHACHA20_POLY1305, false);
    size_t len = seal(&l, 22, FINISHED, FINISHED_LEN, record);
    for (size_t at = 13; at < len; at++) {
        record[at] ^= 0x40;
        LEAT_CHECK_ROW(at, give(&l, record, len) == LEAT_DTLS_IGNORED);
        record[at] ^= 0x40;
    }
    LEAT_CHECK_INT(l.counters.records_forged, len - 13);
    LEAT_CHECK_INT(l.out.count, 0);
    lab_deinit(&l);
}

static void renegotiation__asked_for_often__is_refused_once(void)
{
    struct lab l;
    lab_init(&l, LEAT__DTLS_AES_128_GCM, false);
    LEAT_CHECK_INT(send(&l, 22, "runt", 4), LEAT_DTLS_OK);
    LEAT_CHECK_INT(send(&l, 20, "\1", 1), LEAT_DTLS_OK); /* ChangeCipherSpec */
    LEAT_CHECK_INT(l.out.count, 0);
    for (int i = 0; i < 5; i++) {
        LEAT_CHECK_INT(send(&l, 22, CLIENT_HELLO, CLIENT_HELLO_LEN), LEAT_DTLS_OK);
        l.now_us += 1000000;
    }
    LEAT_CHECK_INT(l.out.count, 1);
    check_alert(&l, 1, 100);
    LEAT_CHECK(l.end == LEAT_DTLS_END_NONE);
    lab_deinit(&l);
}

static void data__with_and_without_a_taker__is_kept_to_a_bound(void)
{
    for (int takes = 0; takes < 2; takes++) {
        struct lab l;
        struct leat__dtls_datagram d;
        lab_init(&l, LEAT__DTLS_CHACHA20_POLY1305, takes == 1);
        LEAT_CHECK_INT(send(&l, 23, "", 0), LEAT_DTLS_OK);
        LEAT_CHECK_INT(l.counters.data_dropped, 0);
        for (char i = 0; i < LEAT_DTLS_QUEUE + 3; i++) {
            LEAT_CHECK_INT(send(&l, 23, &i, 1), LEAT_DTLS_OK);
        }
        LEAT_CHECK_INT(l.e->data.count, takes ? LEAT_DTLS_QUEUE : 0);
        LEAT_CHECK_INT(l.counters.data_dropped, takes ? 3 : LEAT_DTLS_QUEUE + 3);
        for (uint8_t i = 0; takes && i < LEAT_DTLS_QUEUE; i++) {
            LEAT_CHECK(leat__dtls_queue_pop(&l.e->data, &d));
            LEAT_CHECK_MEM(d.data, d.len, &i, 1);
            free(d.data);
        }
        LEAT_CHECK_INT(l.out.count, 0);
        lab_deinit(&l);
    }
}

static void datagram__with_many_records__ends_at_the_close(void)
{
    struct lab l;
    uint8_t d[512];
    lab_init(&l, LEAT__DTLS_AES_128_GCM, true);
    size_t len = seal(&l, 23, "one", 3, d);
    static const uint8_t other[] = {21, 0xfe, 0xfd, 0, 2, 0, 0, 0, 0, 0, 5, 0, 2, 2, 40};
    memcpy(d + len, other, sizeof(other)); /* of another epoch */
    len += sizeof(other);
    len += seal(&l, 21, CLOSE_NOTIFY, 2, d + len);
    len += seal(&l, 23, "two", 3, d + len);
    LEAT_CHECK_INT(give(&l, d, len), LEAT_DTLS_OK);
    LEAT_CHECK(l.end == LEAT_DTLS_END_CLOSED);
    LEAT_CHECK_INT(l.e->data.count, 1);
    check_alert(&l, 1, 0);
    lab_deinit(&l);
}

static void send__too_long_or_queue_full_or_numbers_used_up__is_an_error(void)
{
    static uint8_t data[LEAT_DTLS_DATA_MAX + 1];
    for (int aead = 0; aead < 3; aead++) {
        struct lab l;
        uint8_t plain[2 * LEAT_DTLS_DATA_MAX];
        size_t len, most = LEAT_DTLS_DATA_MAX;
        lab_init(&l, (enum leat__dtls_aead)aead, false);
        LEAT_CHECK_INT(leat__dtls_established_send(l.e, 23, leat_span(data, most + 1)),
                       LEAT_E_RANGE);
        LEAT_CHECK_INT(leat__dtls_established_send(l.e, 23, leat_span(data, most)), 0);
        LEAT_CHECK_INT(answer(&l, plain, &len), 23);
        LEAT_CHECK_MEM(plain, len, data, most);
        for (size_t i = 0; i < LEAT__DTLS_QUEUE_CAP; i++) {
            LEAT_CHECK_INT(leat__dtls_established_send(l.e, 23, leat_span(data, 1)), 0);
        }
        LEAT_CHECK_INT(leat__dtls_established_send(l.e, 23, leat_span(data, 1)), LEAT_E_AGAIN);
        l.e->protection.send_seq = LEAT__DTLS_RECORD_SEQ_MAX + 1;
        LEAT_CHECK_INT(leat__dtls_established_send(l.e, 23, leat_span(data, 1)), LEAT_E_CRYPTO);
        lab_deinit(&l);
    }
}

static void queue__truncated_to_any_count__keeps_the_oldest_and_goes_on(void)
{
    for (uint8_t count = 0; count <= 4; count++) {
        struct leat__dtls_queue q = {0};
        struct leat__dtls_datagram d;
        for (uint8_t i = 0; i < 4; i++) {
            LEAT_CHECK(leat__dtls_queue_push(&q, 4, leat_span(&i, 1)));
        }
        LEAT_CHECK(!leat__dtls_queue_push(&q, 4, leat_span("x", 1)));
        LEAT_CHECK(!leat__dtls_queue_push(&q, 5, leat_span("x", 0)));
        leat__dtls_queue_truncate(&q, count);
        LEAT_CHECK_INT(q.count, count);
        LEAT_CHECK(leat__dtls_queue_push(&q, 5, leat_span(&count, 1)));
        for (uint8_t i = 0; i <= count; i++) {
            LEAT_CHECK(leat__dtls_queue_pop(&q, &d));
            LEAT_CHECK_MEM(d.data, d.len, &i, 1);
            free(d.data);
        }
        LEAT_CHECK(!leat__dtls_queue_pop(&q, &d) && q.count == 0);
    }
}

LEAT_TESTS(LEAT_TEST(alert__each_kind__ends_as_it_says),
           LEAT_TEST(alert__in_the_clear_or_forged__does_nothing),
           LEAT_TEST(close_notify__replayed__is_not_looked_at),
           LEAT_TEST(finished__again__brings_the_flight_at_most_every_50_ms),
           LEAT_TEST(finished__of_the_handshake__has_its_number_taken),
           LEAT_TEST(finished__forged__brings_nothing),
           LEAT_TEST(renegotiation__asked_for_often__is_refused_once),
           LEAT_TEST(data__with_and_without_a_taker__is_kept_to_a_bound),
           LEAT_TEST(datagram__with_many_records__ends_at_the_close),
           LEAT_TEST(send__too_long_or_queue_full_or_numbers_used_up__is_an_error),
           LEAT_TEST(queue__truncated_to_any_count__keeps_the_oldest_and_goes_on))
