/* SPDX-License-Identifier: MIT */
/*
 * Records of epoch 1. The vectors were made with the Python package cryptography from the
 * definitions of RFC 5246 6.2.3.3, RFC 5288 3 and RFC 7905 2: one key block, cut by hand.
 */
#include "record.h"

#include <stdlib.h>

#include "../harness.h"

/* Octet i of the key block is 7 * i + 3. */
static void key_block(uint8_t block[static LEAT__DTLS_KEY_BLOCK_MAX])
{
    for (size_t i = 0; i < LEAT__DTLS_KEY_BLOCK_MAX; i++) {
        block[i] = (uint8_t)(7 * i + 3);
    }
}

static const struct {
    enum leat__dtls_aead aead;
    bool is_from_client, is_other_nonce; /* other: not ours, so it can be opened only */
    uint8_t type;
    uint64_t seq;
    const char *plain, *record;
} rows[] = {
    {LEAT__DTLS_AES_128_GCM, true, false, 21, 0x1, "0100",
     "15fefd0001000000000001001a000100000000000138a57384ccf9a241a68074bb3fea06bebca9"},
    {LEAT__DTLS_AES_128_GCM, true, false, 23, 0x102030405,
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
     "17fefd0001000102030405003900010001020304056cc33b0dcc3506811ff76cd5437cb330e8312028f11e"
     "729559681ed7bd45a32fc895b1ec04278923d7108117094459bd47"},
    {LEAT__DTLS_AES_128_GCM, true, false, 23, 0xffffffffffff, "",
     "17fefd0001ffffffffffff00180001ffffffffffffd504a2c7bbfb804bd593fb0f5985f1a2"},
    {LEAT__DTLS_AES_128_GCM, true, false, 22, 0x0,
     "1400000c000300000000000c000102030405060708090a0b",
     "16fefd000100000000000000300001000000000000a61e3fb9b835061ea5d8d0649173824d28cef98ad207"
     "11b7287a20f8bccf33006f674bc9008da21b"},
    {LEAT__DTLS_AES_128_GCM, false, false, 21, 0x1, "0100",
     "15fefd0001000000000001001a000100000000000161805e3b1f966a462103e1881962c7a1eae1"},
    {LEAT__DTLS_AES_128_GCM, false, false, 23, 0x102030405,
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
     "17fefd0001000102030405003900010001020304051c70de9fa37f3a099129a01f1b56a2d59afc219ef079"
     "42931b3115eff9a8574406c4923e08cfee48c9304f92962cb83efa"},
    {LEAT__DTLS_AES_128_GCM, false, false, 23, 0xffffffffffff, "",
     "17fefd0001ffffffffffff00180001ffffffffffff8de86142ae73a42df44f7feb74b9f199"},
    {LEAT__DTLS_AES_128_GCM, false, false, 22, 0x0,
     "1400000c000300000000000c000102030405060708090a0b",
     "16fefd0001000000000000003000010000000000002120ed8620276b6cc1c4d8b767077e84d8200c6020e1"
     "d5c658cd2f2f5ba736da0befc5b44912255c"},
    {LEAT__DTLS_AES_128_GCM, true, true, 23, 0x7, "7374617274732061742072616e646f6d",
     "17fefd00010000000000070028a1b2c3d4e5f60718291c1894ec1c63745126cb237b32bf07a46ccb732b05"
     "0f90cf59121766b6f853"},
    {LEAT__DTLS_AES_256_GCM, true, false, 21, 0x1, "0100",
     "15fefd0001000000000001001a0001000000000001538748eb5abc3572e6b98c0ed6a17a6910af"},
    {LEAT__DTLS_AES_256_GCM, true, false, 23, 0x102030405,
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
     "17fefd0001000102030405003900010001020304051fb9a6d79a29b5051d02babc1c88b2c1b950341ae7ff"
     "9883378239a1852b160acb711018fb096dca8eb69a2bf61b2cb20b"},
    {LEAT__DTLS_AES_256_GCM, true, false, 23, 0xffffffffffff, "",
     "17fefd0001ffffffffffff00180001ffffffffffff876b8fc86a0cdae3f4bcb8cd55cff5a7"},
    {LEAT__DTLS_AES_256_GCM, true, false, 22, 0x0,
     "1400000c000300000000000c000102030405060708090a0b",
     "16fefd000100000000000000300001000000000000a154719b419a3cda8c28080158531cd11a7d8cafc179"
     "81c7479fb487f74a186d359aa6f0f995fa41"},
    {LEAT__DTLS_AES_256_GCM, false, false, 21, 0x1, "0100",
     "15fefd0001000000000001001a0001000000000001ae874a96b7dde7a7bab80a6206d0bb34d634"},
    {LEAT__DTLS_AES_256_GCM, false, false, 23, 0x102030405,
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
     "17fefd00010001020304050039000100010203040556b48e9b38d3b3839ab99a4626f9a60a2c1d3cdbcfd9"
     "ac94b59b39ba625cb12eeea90de08ff00eec02475d38ccc0411bf3"},
    {LEAT__DTLS_AES_256_GCM, false, false, 23, 0xffffffffffff, "",
     "17fefd0001ffffffffffff00180001ffffffffffff8fb238c5a156e6ef42eb14df1653dfaa"},
    {LEAT__DTLS_AES_256_GCM, false, false, 22, 0x0,
     "1400000c000300000000000c000102030405060708090a0b",
     "16fefd000100000000000000300001000000000000eb0a5234cdfd0f87b8ce581af1a7d8d7eb66fcda2e35"
     "86a5838b8b694e301bff21793536c74e7e34"},
    {LEAT__DTLS_AES_256_GCM, true, true, 23, 0x7, "7374617274732061742072616e646f6d",
     "17fefd00010000000000070028a1b2c3d4e5f607180278ccd8a6bd45cdc881124b20f357fc022cbfb2baf5"
     "7a38883ad5da17616183"},
    {LEAT__DTLS_CHACHA20_POLY1305, true, false, 21, 0x1, "0100",
     "15fefd0001000000000001001254d3a5e5db395007747e903f6d941575eba4"},
    {LEAT__DTLS_CHACHA20_POLY1305, true, false, 23, 0x102030405,
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
     "17fefd0001000102030405003177957c74f6fbf51cf2fbe0b5c01b2b04e83638511573a30a73c3dd7a9bbd"
     "f1fd3c10ffe9ca4b1f43f973bf5582167629d9"},
    {LEAT__DTLS_CHACHA20_POLY1305, true, false, 23, 0xffffffffffff, "",
     "17fefd0001ffffffffffff00105bbf24b798f1566e2a1c777fc3abd7f1"},
    {LEAT__DTLS_CHACHA20_POLY1305, true, false, 22, 0x0,
     "1400000c000300000000000c000102030405060708090a0b",
     "16fefd00010000000000000028cace3ce96342cbf4425b52c99b8fefb3e4a54504640a125f17574ccad85b"
     "fe8a5b2ab8de169e3d8b"},
    {LEAT__DTLS_CHACHA20_POLY1305, false, false, 21, 0x1, "0100",
     "15fefd00010000000000010012c06c959b05ae5766bd38012d117fe919fa20"},
    {LEAT__DTLS_CHACHA20_POLY1305, false, false, 23, 0x102030405,
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
     "17fefd00010001020304050031c51d212b777e15c3218f6e47311e794db3b753a5dbc4de9a9d51eeba8d2b"
     "3e4a11fe20d6e0fb98af83f7db1660d0341e3c"},
    {LEAT__DTLS_CHACHA20_POLY1305, false, false, 23, 0xffffffffffff, "",
     "17fefd0001ffffffffffff0010025c5d7664a11b70fe95d9979a1ad1dc"},
    {LEAT__DTLS_CHACHA20_POLY1305, false, false, 22, 0x0,
     "1400000c000300000000000c000102030405060708090a0b",
     "16fefd000100000000000000281d03ca208341f7f362b0aa8691a5f50c0b865fb44e8810656dd1ab9c72e4"
     "3b661ce4b59c5cd33428"},
};

/* Exactly so long, so that a read past the end is seen. */
struct octets {
    uint8_t *data;
    size_t len;
};

static struct octets from_hex(const char *text)
{
    struct octets o = {malloc(strlen(text) / 2 + 1), strlen(text) / 2};
    LEAT_CHECK_INT(leat_hex_decode(text, strlen(text), o.data, o.len), o.len);
    return o;
}

static struct leat__dtls_protection side(enum leat__dtls_aead aead, bool is_client, uint64_t seq)
{
    struct leat__dtls_protection p;
    uint8_t block[LEAT__DTLS_KEY_BLOCK_MAX];
    key_block(block);
    leat__dtls_protection_init(&p, aead, block, is_client, seq);
    return p;
}

static struct leat__dtls_record parse(const void *data, size_t len)
{
    struct leat_reader r;
    struct leat__dtls_record rec;
    leat_reader_init(&r, data, len);
    LEAT_CHECK(leat__dtls_record_next(&r, &rec));
    LEAT_CHECK_INT(leat_reader_left(&r), 0);
    return rec;
}

static void seal__vectors__gives_the_records(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct octets plain = from_hex(rows[i].plain), expected = from_hex(rows[i].record);
        struct leat__dtls_protection p = side(rows[i].aead, rows[i].is_from_client, rows[i].seq);
        uint8_t out[256];
        for (int times = 0; times < 2 && !rows[i].is_other_nonce; times++) {
            p.send_seq = rows[i].seq; /* with a context of the moment, then perhaps a kept one */
            size_t len =
                leat__dtls_protection_seal(&p, rows[i].type, leat_span(plain.data, plain.len), out);
            LEAT_CHECK_MEM(out, len, expected.data, expected.len);
            LEAT_CHECK_INT(len, plain.len + leat__dtls_protection_overhead(&p));
            LEAT_CHECK(p.send_seq == rows[i].seq + 1);
        }
        leat__dtls_protection_deinit(&p);
        free(plain.data);
        free(expected.data);
    }
}

static void open__vectors__gives_the_plain_text(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct octets plain = from_hex(rows[i].plain), record = from_hex(rows[i].record);
        struct leat__dtls_protection p = side(rows[i].aead, !rows[i].is_from_client, 0);
        struct leat__dtls_record rec = parse(record.data, record.len);
        uint8_t out[256];
        size_t len;
        for (int times = 0; times < 2; times++) {
            p.receive_seq = 0;
            LEAT_CHECK_ROW(i,
                           leat__dtls_protection_open(&p, &rec, out, &len) == LEAT__DTLS_OPEN_OK);
            LEAT_CHECK_MEM(out, len, plain.data, plain.len);
        }
        LEAT_CHECK(p.receive_seq == rows[i].seq + 1);
        leat__dtls_protection_deinit(&p);
        free(plain.data);
        free(record.data);
    }
}

static void open__one_bit_wrong_anywhere__moves_nothing(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct octets record = from_hex(rows[i].record);
        struct leat__dtls_protection p = side(rows[i].aead, !rows[i].is_from_client, 0);
        struct leat__dtls_protection before = p;
        for (size_t bit = 0; bit < 8 * record.len; bit++) {
            if (bit / 8 == 11 || bit / 8 == 12) {
                continue; /* the length: another record, or none */
            }
            uint8_t out[256];
            size_t len = 99;
            record.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            struct leat__dtls_record rec = parse(record.data, record.len);
            enum leat__dtls_open_verdict expected = rec.epoch != 1 || rec.version != 0xfefd
                                                        ? LEAT__DTLS_OPEN_MALFORMED
                                                        : LEAT__DTLS_OPEN_FORGED;
            LEAT_CHECK_ROW(bit, leat__dtls_protection_open(&p, &rec, out, &len) == expected);
            LEAT_CHECK_ROW(bit, len == 0);
            record.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        LEAT_CHECK_MEM(&p, sizeof(p), &before, sizeof(before)); /* and no context was kept */
        leat__dtls_protection_deinit(&p);
        free(record.data);
    }
}

static void open__own_record_sent_back__is_forged(void)
{
    for (int aead = 0; aead < 3; aead++) {
        struct leat__dtls_protection p = side((enum leat__dtls_aead)aead, true, 5);
        uint8_t record[128], out[128];
        size_t len =
            leat__dtls_protection_seal(&p, LEAT__DTLS_TYPE_ALERT, leat_span("\1\0", 2), record);
        struct leat__dtls_record rec = parse(record, len);
        LEAT_CHECK_INT(leat__dtls_protection_open(&p, &rec, out, &len), LEAT__DTLS_OPEN_FORGED);
        leat__dtls_protection_deinit(&p);
    }
}

static void open__too_short_or_too_long__is_malformed(void)
{
    static uint8_t octets[LEAT__DTLS_RECORD_CONTENT_MAX], out[LEAT__DTLS_RECORD_CONTENT_MAX];
    for (int aead = 0; aead < 3; aead++) {
        struct leat__dtls_protection p = side((enum leat__dtls_aead)aead, true, 5);
        size_t added = leat__dtls_protection_overhead(&p) - LEAT__DTLS_RECORD_HEADER;
        const struct {
            size_t len;
            enum leat__dtls_open_verdict verdict;
        } lens[] = {{1, LEAT__DTLS_OPEN_MALFORMED},
                    {added - 1, LEAT__DTLS_OPEN_MALFORMED},
                    {added, LEAT__DTLS_OPEN_FORGED},
                    {16384 + added, LEAT__DTLS_OPEN_FORGED},
                    {16384 + added + 1, LEAT__DTLS_OPEN_MALFORMED}};
        for (size_t i = 0; i < LEAT_ARRAY_LEN(lens); i++) {
            struct leat__dtls_record rec = {23, 0xfefd,    1,
                                            0,  {NULL, 0}, leat_span(octets, lens[i].len)};
            size_t len;
            LEAT_CHECK_ROW(i, leat__dtls_protection_open(&p, &rec, out, &len) == lens[i].verdict);
        }
        leat__dtls_protection_deinit(&p);
    }
}

/* ---- numbers ---- */

static void window__numbers_in_any_order__each_is_taken_once(void)
{
    static const struct {
        uint64_t seq;
        bool is_taken;
    } steps[] = {
        {0, true},
        {0, false},
        {1, true},
        {1, false},
        {9, true},
        {8, true},
        {7, true},
        {7, false},
        {2, true},
        {65, true},
        {2, false},
        {3, true},
        {66, true},
        {2, false},
        /* too old */ {3, false},
        {4, true},
        {1000, true},
        {937, true},
        {936, false},
        {935, false}, /* 64 are looked at */
        {937, false},
        {1000, false},
        {999, true},
        {1064, true},
        {1000, false},
        {1001, true},
        {LEAT__DTLS_RECORD_SEQ_MAX, true},
        {LEAT__DTLS_RECORD_SEQ_MAX, false},
        {LEAT__DTLS_RECORD_SEQ_MAX - 63, true},
        {LEAT__DTLS_RECORD_SEQ_MAX - 64, false},
        {0, false},
    };
    struct leat__dtls_protection from = side(LEAT__DTLS_AES_128_GCM, true, 0);
    struct leat__dtls_protection to = side(LEAT__DTLS_AES_128_GCM, false, 0);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(steps); i++) {
        uint8_t record[128], out[128];
        from.send_seq = steps[i].seq;
        size_t len = leat__dtls_protection_seal(&from, LEAT__DTLS_TYPE_APPLICATION_DATA,
                                                leat_span("data", 4), record);
        struct leat__dtls_record rec = parse(record, len);
        LEAT_CHECK_ROW(i, leat__dtls_protection_open(&to, &rec, out, &len) ==
                              (steps[i].is_taken ? LEAT__DTLS_OPEN_OK : LEAT__DTLS_OPEN_REPLAYED));
    }
    leat__dtls_protection_deinit(&from);
    leat__dtls_protection_deinit(&to);
}

static void window__handshake_record_again__is_repeated_and_told_apart(void)
{
    struct leat__dtls_protection from = side(LEAT__DTLS_AES_256_GCM, true, 3);
    struct leat__dtls_protection to = side(LEAT__DTLS_AES_256_GCM, false, 0);
    uint8_t record[128], out[128];
    size_t len, size = leat__dtls_protection_seal(&from, LEAT__DTLS_TYPE_HANDSHAKE,
                                                  leat_span("finished", 8), record);
    struct leat__dtls_record rec = parse(record, size);
    LEAT_CHECK_INT(leat__dtls_protection_open(&to, &rec, out, &len), LEAT__DTLS_OPEN_OK);
    for (int i = 0; i < 2; i++) {
        memset(out, 0, sizeof(out));
        LEAT_CHECK_INT(leat__dtls_protection_open(&to, &rec, out, &len), LEAT__DTLS_OPEN_REPEATED);
        LEAT_CHECK_MEM(out, len, "finished", 8);
        LEAT_CHECK(to.receive_seq == 4 && to.window == 1);
        to.receive_seq = 4;
    }
    record[size - 1] ^= 1;
    LEAT_CHECK_INT(leat__dtls_protection_open(&to, &rec, out, &len), LEAT__DTLS_OPEN_FORGED);
    leat__dtls_protection_deinit(&from);
    leat__dtls_protection_deinit(&to);
}

static void seal__numbers_used_up__refuses_for_good(void)
{
    for (int aead = 0; aead < 3; aead++) {
        struct leat__dtls_protection p =
            side((enum leat__dtls_aead)aead, true, LEAT__DTLS_RECORD_SEQ_MAX);
        uint8_t record[128];
        size_t len =
            leat__dtls_protection_seal(&p, LEAT__DTLS_TYPE_ALERT, leat_span("\1\0", 2), record);
        LEAT_CHECK(len != 0 && parse(record, len).seq == LEAT__DTLS_RECORD_SEQ_MAX);
        for (int i = 0; i < 3; i++) {
            LEAT_CHECK_INT(
                leat__dtls_protection_seal(&p, LEAT__DTLS_TYPE_ALERT, leat_span("\1\0", 2), record),
                0);
        }
        leat__dtls_protection_deinit(&p);
    }
}

static void seal__longest_plain_text__is_opened_and_one_more_is_refused(void)
{
    static uint8_t plain[16385], record[16384 + LEAT__DTLS_RECORD_OVERHEAD_MAX], out[16384 + 24];
    for (int aead = 0; aead < 3; aead++) {
        struct leat__dtls_protection from = side((enum leat__dtls_aead)aead, false, 9);
        struct leat__dtls_protection to = side((enum leat__dtls_aead)aead, true, 0);
        LEAT_CHECK_INT(leat__dtls_protection_seal(&from, 23, leat_span(plain, 16385), record), 0);
        LEAT_CHECK(from.send_seq == 9);
        size_t len = leat__dtls_protection_seal(&from, 23, leat_span(plain, 16384), record);
        struct leat__dtls_record rec = parse(record, len);
        LEAT_CHECK_INT(leat__dtls_protection_open(&to, &rec, out, &len), LEAT__DTLS_OPEN_OK);
        LEAT_CHECK_INT(len, 16384);
        leat__dtls_protection_deinit(&from);
        leat__dtls_protection_deinit(&to);
    }
}

/* ---- contexts ---- */

static void context__kept_for_application_data_only(void)
{
    for (int aead = 0; aead < 3; aead++) {
        struct leat__dtls_protection from = side((enum leat__dtls_aead)aead, false, 0);
        struct leat__dtls_protection to = side((enum leat__dtls_aead)aead, true, 0);
        for (uint8_t type = 20; type <= 23; type++) {
            uint8_t record[128], out[128];
            size_t len = leat__dtls_protection_seal(&from, type, leat_span("x", 1), record);
            struct leat__dtls_record rec = parse(record, len);
            LEAT_CHECK_INT(leat__dtls_protection_open(&to, &rec, out, &len), LEAT__DTLS_OPEN_OK);
            LEAT_CHECK_ROW(type, (from.send.context != NULL) == (type == 23));
            LEAT_CHECK_ROW(type, (to.receive.context != NULL) == (type == 23));
            LEAT_CHECK_ROW(type, from.receive.context == NULL && to.send.context == NULL);
        }
        leat__dtls_protection_deinit(&from);
        leat__dtls_protection_deinit(&to);
        LEAT_CHECK(to.receive.context == NULL && to.receive.key[0] == 0 && to.send.iv[0] == 0);
    }
}

/* ---- records of a datagram ---- */

static void next__records_in_a_row__end_at_the_first_that_is_not_whole(void)
{
    static const struct {
        const char *hex;
        size_t count;
    } datagrams[] = {
        {"", 0},
        {"17", 0},
        {"17fefd0001000000000001000141", 1},
        {"17fefd000100000000000100014115fefd00000000000000020002"
         "0100",
         2},
        {"17fefd000100000000000100014115fefd0000000000000002000201", 1}, /* cut */
        {"17fefd000100000000000100014115fefd00000000000000020000", 1},   /* empty */
        {"17fefd0001000000000001000015fefd000000000000000200020100", 0},
        {"17fefd00010000000000010001", 0},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(datagrams); i++) {
        struct octets o = from_hex(datagrams[i].hex);
        struct leat_reader r;
        struct leat__dtls_record rec;
        size_t count = 0;
        leat_reader_init(&r, o.data, o.len);
        while (leat_reader_left(&r) != 0 && leat__dtls_record_next(&r, &rec)) {
            count++;
            LEAT_CHECK_INT(rec.seq, count);
            LEAT_CHECK_INT(rec.epoch, count == 1 ? 1 : 0);
            LEAT_CHECK_INT(rec.content.len, count);
            LEAT_CHECK_INT(rec.whole.len, 13 + count);
        }
        LEAT_CHECK_ROW(i, count == datagrams[i].count);
        free(o.data);
    }
    static uint8_t longest[13 + LEAT__DTLS_RECORD_CONTENT_MAX + 1];
    struct leat_reader r;
    struct leat__dtls_record rec;
    leat_put_u16(longest + 11, LEAT__DTLS_RECORD_CONTENT_MAX);
    leat_reader_init(&r, longest, sizeof(longest));
    LEAT_CHECK(leat__dtls_record_next(&r, &rec));
    leat_put_u16(longest + 11, LEAT__DTLS_RECORD_CONTENT_MAX + 1);
    leat_reader_init(&r, longest, sizeof(longest));
    LEAT_CHECK(!leat__dtls_record_next(&r, &rec));
}

LEAT_TESTS(LEAT_TEST(seal__vectors__gives_the_records),
           LEAT_TEST(open__vectors__gives_the_plain_text),
           LEAT_TEST(open__one_bit_wrong_anywhere__moves_nothing),
           LEAT_TEST(open__own_record_sent_back__is_forged),
           LEAT_TEST(open__too_short_or_too_long__is_malformed),
           LEAT_TEST(window__numbers_in_any_order__each_is_taken_once),
           LEAT_TEST(window__handshake_record_again__is_repeated_and_told_apart),
           LEAT_TEST(seal__numbers_used_up__refuses_for_good),
           LEAT_TEST(seal__longest_plain_text__is_opened_and_one_more_is_refused),
           LEAT_TEST(context__kept_for_application_data_only),
           LEAT_TEST(next__records_in_a_row__end_at_the_first_that_is_not_whole))
