/* SPDX-License-Identifier: MIT */
/* The record filter and the reassembly, on their own. */
#include "internal.h"

#include "flights.h"

static uint8_t pass[LEAT__DTLS_DATAGRAM_MAX];

static struct leat__dtls_filtered filter(struct leat__dtls_hello *h, enum leat__dtls_phase phase,
                                         const void *data, size_t len)
{
    /* a copy with nothing behind it, so that a read past the end is seen */
    uint8_t *exact = malloc(len ? len : 1);
    memcpy(exact, data, len);
    struct leat__dtls_filtered f =
        leat__dtls_filter(h, LEAT_DTLS_SERVER, phase, leat_span(exact, len), pass);
    free(exact);
    return f;
}

/* One record with one fragment of a message. @return octets. */
static size_t fragment(uint8_t *out, size_t cap, uint64_t seq, uint8_t type, uint16_t message_seq,
                       uint32_t total, uint32_t offset, uint32_t len, const uint8_t *body)
{
    struct leat_writer w;
    leat_writer_init(&w, out, cap);
    leat_write_u8(&w, 22);
    leat_write_u16(&w, 0xfeff);
    leat_write_u16(&w, 0);
    leat_write_u48(&w, seq);
    leat_write_u16(&w, (uint16_t)(12 + len));
    leat_write_u8(&w, type);
    leat_write_u24(&w, total);
    leat_write_u16(&w, message_seq);
    leat_write_u24(&w, offset);
    leat_write_u24(&w, len);
    leat_write_bytes(&w, body + offset, len);
    return w.failed ? 0 : leat_writer_len(&w);
}

static struct leat__dtls_filtered give(struct leat__dtls_hello *h, const uint8_t *body,
                                       uint32_t total, uint32_t offset, uint32_t len)
{
    static uint8_t datagram[LEAT__DTLS_DATAGRAM_MAX + 64];
    size_t size = fragment(datagram, sizeof(datagram), 0, 1, 0, total, offset, len, body);
    LEAT_CHECK(size != 0);
    return filter(h, h->is_whole ? LEAT__DTLS_HANDSHAKE : LEAT__DTLS_BEFORE, datagram, size);
}

static void check_record(const struct leat__dtls_hello *h, const uint8_t *body, size_t len)
{
    static uint8_t record[LEAT__DTLS_HELLO_RECORD_MAX];
    size_t size = leat__dtls_hello_record(h, record);
    LEAT_CHECK_INT(size, 25 + len);
    LEAT_CHECK_INT(record[0], 22);
    LEAT_CHECK_INT(leat_get_u16(record + 3), 0);
    LEAT_CHECK_INT(leat_get_u16(record + 11), 12 + len);
    LEAT_CHECK_INT(leat_get_u32(record + 13), 0x01000000 + len);
    LEAT_CHECK_INT(leat_get_u32(record + 17), 0);             /* message_seq, offset */
    LEAT_CHECK_INT(leat_get_u32(record + 21), (uint32_t)len); /* offset's end, length */
    LEAT_CHECK_MEM(record + 25, size - 25, body, len);
}

/* ---- captured flights ---- */

static void hello__captured_datagrams__yield_the_captured_hello(void)
{
    struct client_flight *clients;
    size_t count = flights_load(&clients);
    for (size_t i = 0; i < count; i++) {
        struct leat__dtls_hello h = {0};
        unsigned whole = 0;
        for (size_t k = 0; k < clients[i].datagram_count; k++) {
            struct leat__dtls_filtered f =
                filter(&h, h.is_whole ? LEAT__DTLS_HANDSHAKE : LEAT__DTLS_BEFORE,
                       clients[i].datagrams[k].data, clients[i].datagrams[k].len);
            LEAT_CHECK_ROW(i, f.is_hello_taken && f.len == 0);
            whole += f.is_hello_whole ? 1 : 0;
        }
        LEAT_CHECK_ROW(i, whole >= 2); /* the first and at least one retransmission */
        check_record(&h, clients[i].hello, clients[i].hello_len);
        leat__dtls_hello_deinit(&h);
    }
    free(clients);
}

static void hello__captured_cut_at_every_size_forward_and_back__is_whole_once(void)
{
    struct client_flight *clients;
    size_t count = flights_load(&clients);
    for (size_t i = 0; i < count; i++) {
        uint32_t total = (uint32_t)clients[i].hello_len;
        for (uint32_t size = total / 15 + 1; size <= total; size += 1 + size / 7) {
            for (int back = 0; back < 2; back++) {
                struct leat__dtls_hello h = {0};
                unsigned whole = 0;
                uint32_t pieces = (total + size - 1) / size;
                for (uint32_t k = 0; k < pieces; k++) {
                    uint32_t offset = (back ? pieces - 1 - k : k) * size;
                    uint32_t len = total - offset < size ? total - offset : size;
                    /* each twice: a repeated fragment is fine */
                    whole += give(&h, clients[i].hello, total, offset, len).is_hello_whole;
                    if (!h.is_whole) {
                        LEAT_CHECK(give(&h, clients[i].hello, total, offset, len).is_hello_taken);
                    }
                }
                LEAT_CHECK_ROW(i, whole == 1);
                check_record(&h, clients[i].hello, total);
                leat__dtls_hello_deinit(&h);
            }
        }
    }
    free(clients);
}

static void hello__repeat_cut_elsewhere__is_whole_again(void)
{
    static uint8_t body[1461];
    for (size_t i = 0; i < sizeof(body); i++) {
        body[i] = (uint8_t)(i * 7);
    }
    struct leat__dtls_hello h = {0};
    LEAT_CHECK(!give(&h, body, 1461, 0, 1383).is_hello_whole);
    LEAT_CHECK(give(&h, body, 1461, 1383, 78).is_hello_whole);
    for (int i = 0; i < 3; i++) {
        LEAT_CHECK(!give(&h, body, 1461, 1163, 298).is_hello_whole);
        LEAT_CHECK(give(&h, body, 1461, 0, 1163).is_hello_whole);
    }
    check_record(&h, body, sizeof(body));
    leat__dtls_hello_deinit(&h);
}

/* ---- ranges ---- */

static void fragments__overlapping__must_agree(void)
{
    static uint8_t body[100], other[100];
    for (size_t i = 0; i < sizeof(body); i++) {
        body[i] = (uint8_t)i;
        other[i] = (uint8_t)(i == 45 ? 255 : i);
    }
    struct leat__dtls_hello h = {0};
    LEAT_CHECK(give(&h, body, 100, 10, 40).is_hello_taken);
    LEAT_CHECK(!give(&h, other, 100, 40, 20).is_hello_taken); /* octet 45 differs */
    LEAT_CHECK(give(&h, other, 100, 30, 15).is_hello_taken);  /* agrees */
    LEAT_CHECK(!give(&h, body, 101, 0, 10).is_hello_taken);   /* another length */
    LEAT_CHECK(give(&h, body, 100, 40, 60).is_hello_taken);
    LEAT_CHECK(give(&h, body, 100, 0, 11).is_hello_whole);
    check_record(&h, body, sizeof(body));
    LEAT_CHECK(!give(&h, other, 100, 0, 100).is_hello_taken); /* another hello */
    LEAT_CHECK(give(&h, body, 100, 0, 100).is_hello_whole);
    leat__dtls_hello_deinit(&h);
}

static void fragments__more_holes_than_ranges__are_dropped_until_they_join(void)
{
    static uint8_t body[100];
    for (size_t i = 0; i < sizeof(body); i++) {
        body[i] = (uint8_t)(i ^ 0x5a);
    }
    struct leat__dtls_hello h = {0};
    for (uint32_t i = 0; i < 50; i++) { /* every other octet */
        LEAT_CHECK_ROW(i, give(&h, body, 100, 2 * i, 1).is_hello_taken ==
                              (i < LEAT__DTLS_HELLO_RANGES));
    }
    for (uint32_t i = 0; i < 99; i++) {
        LEAT_CHECK_ROW(i, give(&h, body, 100, i, 1).is_hello_taken);
    }
    LEAT_CHECK(give(&h, body, 100, 99, 1).is_hello_whole);
    check_record(&h, body, sizeof(body));
    leat__dtls_hello_deinit(&h);
}

static void fragments__out_of_bounds__are_dropped(void)
{
    static const struct {
        uint16_t message_seq;
        uint32_t total, offset, len;
    } rows[] = {
        {0, 100, 90, 11},                     /* past the end */
        {0, 100, 101, 0},                     /* starts past the end */
        {0, 100, 50, 0},                      /* empty */
        {0, 0, 0, 0},                         /* an empty hello */
        {1, 100, 0, 100},                     /* a second message */
        {0, LEAT_DTLS_HELLO_MAX + 1, 0, 100}, /* too long */
        {0, 0xffffff, 0xfffff0, 10},
        {0, 100, 0xffffff, 2},
    };
    static uint8_t body[16];
    uint8_t datagram[256];
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat__dtls_hello h = {0};
        struct leat_writer w;
        size_t len = fragment(datagram, sizeof(datagram), 0, 1, rows[i].message_seq, 0, 0, 0, body);
        leat_writer_init(&w, datagram + 13, sizeof(datagram) - 13);
        leat_write_u8(&w, 1);
        leat_write_u24(&w, rows[i].total);
        leat_write_u16(&w, rows[i].message_seq);
        leat_write_u24(&w, rows[i].offset);
        leat_write_u24(&w, rows[i].len);
        leat_write_zeros(&w, rows[i].len);
        len += rows[i].len;
        leat_put_u16(datagram + 11, (uint16_t)(12 + rows[i].len));
        struct leat__dtls_filtered f = filter(&h, LEAT__DTLS_BEFORE, datagram, len);
        LEAT_CHECK_ROW(i, !f.is_hello_taken && !f.is_hello_whole && f.is_well_formed);
        LEAT_CHECK_ROW(i, h.body == NULL);
        leat__dtls_hello_deinit(&h);
    }
}

static void fragments__two_in_one_record__are_both_taken(void)
{
    static const uint8_t body[60] = {9, 8, 7};
    uint8_t datagram[256], second[128];
    size_t len = fragment(datagram, sizeof(datagram), 0, 1, 0, 60, 0, 20, body);
    size_t more = fragment(second, sizeof(second), 0, 1, 0, 60, 20, 40, body) - 13;
    memcpy(datagram + len, second + 13, more);
    leat_put_u16(datagram + 11, (uint16_t)(len - 13 + more));
    struct leat__dtls_hello h = {0};
    LEAT_CHECK(filter(&h, LEAT__DTLS_BEFORE, datagram, len + more).is_hello_whole);
    check_record(&h, body, sizeof(body));
    leat__dtls_hello_deinit(&h);
}

/* ---- the filter ---- */

/* Records as "type epoch content", a datagram each. */
static const struct {
    const char *hex;
    bool is_well_formed, passes_handshake, is_fatal;
} records[] = {
    /* ChangeCipherSpec, and two that are none */
    {"14fefd000000000000000100 0101", true, true, false},
    {"14fefd000000000000000100 0102", true, false, false},
    {"14fefd000000000000000100 020101", true, false, false},
    /* plaintext alerts: fatal, warning, runt, long */
    {"15fefd000000000000000100 020228", true, false, true},
    {"15fefd000000000000000100 020100", true, false, false},
    {"15fefd000000000000000100 0102", true, false, false},
    {"15fefd000000000000000100 03022800", true, false, false},
    /* application data in the clear */
    {"17fefd000000000000000100 0100", true, false, false},
    /* ClientKeyExchange; with a fragment past its end; cut; ServerHello; HelloRequest; unknown */
    {"16fefd000000000000000100 0e 10000002 0002 000000 000002 4142", true, true, false},
    {"16fefd000000000000000100 0e 10000002 0002 000001 000002 4142", true, false, false},
    {"16fefd000000000000000100 0d 10000002 0002 000000 000002 41", true, false, false},
    {"16fefd000000000000000100 0e 02000002 0001 000000 000002 4142", true, false, false},
    {"16fefd000000000000000100 0c 00000000 0001 000000 000000", true, false, false},
    {"16fefd000000000000000100 0e 63000002 0002 000000 000002 4142", true, false, false},
    /* runts of a handshake record */
    {"16fefd000000000000000100 0110", true, false, false},
    {"16fefd000000000000000100 0b 10000002 0002 000000 0000", true, false, false},
    /* Certificate and ClientKeyExchange in one record, and the second cut */
    {"16fefd000000000000000100 1b 0b000001 0001 000000 000001 41 10000002 0002 000000 000002 4142",
     true, true, false},
    {"16fefd000000000000000100 1a 0b000001 0001 000000 000001 41 10000002 0002 000000 000002 41",
     true, false, false},
    /* encrypted, whatever type */
    {"16fefd000100000000000000 0441424344", true, true, false},
    {"15fefd000100000000000000 0441424344", true, true, false},
    {"17fefd000100000000000000 0441424344", true, true, false},
    {"16feff000100000000000000 0441424344", true, true, false},
    /* epoch 2, TLS versions, DTLS 1.3's unified header, unknown types */
    {"16fefd000200000000000000 0441424344", false, false, false},
    {"160303000000000000000000 0101", false, false, false},
    {"16fefc000000000000000000 0101", false, false, false},
    {"2f00010203040506070809000102030405", false, false, false},
    {"18fefd000000000000000000 0101", false, false, false},
    /* no length, more length than octets, a cut header, nothing */
    {"14fefd000000000000000100 00", false, false, false},
    {"14fefd000000000000000100 0201", false, false, false},
    {"14fefd00000000000000010001", false, false, false},
    {"14fefd0000000000000001", false, false, false},
    {"14", false, false, false},
};

static size_t unhex(const char *hex, uint8_t *out, size_t cap)
{
    char packed[256];
    size_t n = 0;
    for (; *hex; hex++) {
        if (*hex != ' ') {
            packed[n++] = *hex;
        }
    }
    ptrdiff_t len = leat_hex_decode(packed, n, out, cap);
    LEAT_CHECK(len >= 0);
    return len > 0 ? (size_t)len : 0;
}

static void filter__one_record__passes_by_phase(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(records); i++) {
        uint8_t d[128];
        struct leat__dtls_hello h = {0};
        size_t len = unhex(records[i].hex, d, sizeof(d));
        struct leat__dtls_filtered before = filter(&h, LEAT__DTLS_BEFORE, d, len);
        struct leat__dtls_filtered during = filter(&h, LEAT__DTLS_HANDSHAKE, d, len);
        LEAT_CHECK_ROW(i, before.is_well_formed == records[i].is_well_formed);
        LEAT_CHECK_ROW(i, before.len == 0 && !before.is_fatal_alert);
        LEAT_CHECK_ROW(i, during.len == (records[i].passes_handshake ? len : 0));
        LEAT_CHECK_ROW(i, !records[i].passes_handshake || memcmp(pass, d, len) == 0);
        LEAT_CHECK_ROW(i, during.is_fatal_alert == records[i].is_fatal);
        LEAT_CHECK_ROW(i, h.body == NULL);
    }
}

static void filter__many_records__keeps_those_that_pass_together(void)
{
    uint8_t d[1024], expected[1024];
    size_t len = 0, expected_len = 0;
    for (size_t i = 0; i < LEAT_ARRAY_LEN(records); i++) {
        uint8_t one[128];
        size_t one_len = unhex(records[i].hex, one, sizeof(one));
        if (strncmp(records[i].hex, "2f", 2) == 0) {
            break; /* the records behind it have no length to go by */
        }
        memcpy(d + len, one, one_len);
        len += one_len;
        if (records[i].passes_handshake) {
            memcpy(expected + expected_len, one, one_len);
            expected_len += one_len;
        }
    }
    struct leat__dtls_hello h = {0};
    struct leat__dtls_filtered f = filter(&h, LEAT__DTLS_HANDSHAKE, d, len);
    LEAT_CHECK_MEM(pass, f.len, expected, expected_len);
    LEAT_CHECK(f.is_fatal_alert);
}

static void filter__client__takes_the_servers_messages_only(void)
{
    static const struct {
        uint8_t type;
        bool server, client;
    } rows[] = {{0, false, false}, {2, false, true},  {3, false, true},  {4, false, false},
                {11, true, true},  {12, false, true}, {13, false, true}, {14, false, true},
                {15, true, false}, {16, true, false}, {20, false, false}};
    static const uint8_t body[4] = {1, 2, 3, 4};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat__dtls_hello h = {0};
        uint8_t d[64];
        size_t len = fragment(d, sizeof(d), 0, rows[i].type, 1, 4, 0, 4, body);
        size_t server =
            leat__dtls_filter(&h, LEAT_DTLS_SERVER, LEAT__DTLS_HANDSHAKE, leat_span(d, len), pass)
                .len;
        size_t client =
            leat__dtls_filter(&h, LEAT_DTLS_CLIENT, LEAT__DTLS_HANDSHAKE, leat_span(d, len), pass)
                .len;
        LEAT_CHECK_ROW(i, (server != 0) == rows[i].server);
        LEAT_CHECK_ROW(i, (client != 0) == rows[i].client);
    }
    /* a ClientHello means nothing to a client */
    struct leat__dtls_hello h = {0};
    uint8_t d[64];
    size_t len = fragment(d, sizeof(d), 0, 1, 0, 4, 0, 4, body);
    struct leat__dtls_filtered f =
        leat__dtls_filter(&h, LEAT_DTLS_CLIENT, LEAT__DTLS_HANDSHAKE, leat_span(d, len), pass);
    LEAT_CHECK(f.len == 0 && !f.is_hello_taken);
}

static void filter__every_cut_of_the_captured_flights__stays_inside(void)
{
    struct client_flight *clients;
    size_t count = flights_load(&clients);
    for (size_t i = 0; i < count; i++) {
        for (size_t len = 0; len < clients[i].datagrams[0].len; len += 1 + len / 64) {
            struct leat__dtls_hello h = {0};
            struct leat__dtls_filtered f =
                filter(&h, LEAT__DTLS_BEFORE, clients[i].datagrams[0].data, len);
            LEAT_CHECK_ROW(i, len >= 13 || !f.is_well_formed);
            leat__dtls_hello_deinit(&h);
        }
    }
    free(clients);
}

/* ---- SRTP profiles of a hello ---- */

static const struct client_flight *client_named(const struct client_flight *clients, size_t count,
                                                const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(clients[i].name, name) == 0) {
            return &clients[i];
        }
    }
    leat_test_fail(__FILE__, __LINE__, name);
    return clients;
}

/* What the captured ones offer, by packet analysis: Chromium CM_80, GCM_256, GCM_128; Firefox
 * GCM_128, GCM_256, CM_80, CM_32; aiortc CM_80. */
static void profile__of_captured_hellos__is_the_first_of_ours(void)
{
    const enum leat_srtp_profile cm_80 = LEAT_SRTP_AES128_CM_SHA1_80,
                                 cm_32 = LEAT_SRTP_AES128_CM_SHA1_32,
                                 gcm_128 = LEAT_SRTP_AEAD_AES_128_GCM,
                                 gcm_256 = LEAT_SRTP_AEAD_AES_256_GCM,
                                 none = LEAT_SRTP_PROFILE_NONE;
    const struct {
        const char *client;
        enum leat_srtp_profile ours[4];
        size_t count;
        enum leat_srtp_profile expected;
    } rows[] = {
        {"chromium156-default", {gcm_128, gcm_256, cm_80}, 3, gcm_128},
        {"chromium156-default", {gcm_256, gcm_128, cm_80}, 3, gcm_256},
        {"chromium156-default", {cm_32, cm_80}, 2, cm_80},
        {"chromium156-default", {cm_32}, 1, none},
        {"chromium156-default", {none}, 0, none},
        {"firefox153-default", {cm_32, gcm_128}, 2, cm_32},
        {"firefox153-default", {cm_80, gcm_128}, 2, cm_80},
        {"aiortc", {gcm_128, gcm_256, cm_32, cm_80}, 4, cm_80},
        {"aiortc", {gcm_128, gcm_256, cm_32}, 3, none},
    };
    struct client_flight *clients;
    size_t count = flights_load(&clients);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        const struct client_flight *c = client_named(clients, count, rows[i].client);
        uint8_t *exact = malloc(c->hello_len);
        memcpy(exact, c->hello, c->hello_len);
        struct leat__dtls_hello h = {.body = exact, .total = (uint16_t)c->hello_len};
        LEAT_CHECK_ROW(i, leat__dtls_hello_profile(&h, rows[i].ours, rows[i].count) ==
                              rows[i].expected);
        leat__dtls_hello_deinit(&h);
    }
    free(clients);
}

static void profile__of_a_hello_cut_anywhere__reads_nothing_behind_it(void)
{
    static const enum leat_srtp_profile ours[] = {LEAT_SRTP_AES128_CM_SHA1_80};
    struct client_flight *clients;
    size_t count = flights_load(&clients);
    for (size_t i = 0; i < count; i++) {
        unsigned found = 0;
        for (size_t len = 0; len <= clients[i].hello_len; len++) {
            uint8_t *exact = malloc(len ? len : 1);
            memcpy(exact, clients[i].hello, len);
            struct leat__dtls_hello h = {.body = exact, .total = (uint16_t)len};
            found += leat__dtls_hello_profile(&h, ours, 1) != LEAT_SRTP_PROFILE_NONE ? 1 : 0;
            leat__dtls_hello_deinit(&h);
        }
        LEAT_CHECK_ROW(i, found >= 1 && found < clients[i].hello_len);
    }
    free(clients);
}

LEAT_TESTS(LEAT_TEST(profile__of_captured_hellos__is_the_first_of_ours),
           LEAT_TEST(profile__of_a_hello_cut_anywhere__reads_nothing_behind_it),
           LEAT_TEST(hello__captured_datagrams__yield_the_captured_hello),
           LEAT_TEST(hello__captured_cut_at_every_size_forward_and_back__is_whole_once),
           LEAT_TEST(hello__repeat_cut_elsewhere__is_whole_again),
           LEAT_TEST(fragments__overlapping__must_agree),
           LEAT_TEST(fragments__more_holes_than_ranges__are_dropped_until_they_join),
           LEAT_TEST(fragments__out_of_bounds__are_dropped),
           LEAT_TEST(fragments__two_in_one_record__are_both_taken),
           LEAT_TEST(filter__one_record__passes_by_phase),
           LEAT_TEST(filter__many_records__keeps_those_that_pass_together),
           LEAT_TEST(filter__client__takes_the_servers_messages_only),
           LEAT_TEST(filter__every_cut_of_the_captured_flights__stays_inside))
