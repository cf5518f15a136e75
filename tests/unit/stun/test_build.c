/* SPDX-License-Identifier: MIT */
#include "stun_test.h"

struct built {
    uint8_t data[256];
    struct leat_writer w;
    struct leat_hmac_sha1 key;
};

static void begin(struct built *b, enum leat_stun_class class_)
{
    memset(b->data, 0xaa, sizeof(b->data));
    leat_hmac_sha1_init(&b->key, FIXTURE_PWD, strlen(FIXTURE_PWD));
    leat_writer_init(&b->w, b->data, sizeof(b->data));
    leat_stun_begin(&b->w, class_, 1, (const uint8_t *)FIXTURE_TID);
}

static void check_end(struct built *b, const char *expected_hex)
{
    struct octets expected = unhex(expected_hex);
    size_t len = leat_stun_end(&b->w, &b->key);
    LEAT_CHECK_MEM(b->data, len, expected.data, expected.len);
}

static void build__fixture_request__octet_identical(void)
{
    struct built b;
    begin(&b, LEAT_STUN_REQUEST);
    leat_stun_add_username(&b.w, leat_span_str("dmnU"), leat_span_str("peer"));
    leat_stun_add_u32(&b.w, LEAT_STUN_ATTR_PRIORITY, 0x6e7f1eff);
    leat_stun_add_u64(&b.w, LEAT_STUN_ATTR_ICE_CONTROLLING, 0x1122334455667788);
    leat_stun_add_flag(&b.w, LEAT_STUN_ATTR_USE_CANDIDATE);
    check_end(&b, P01);
}

static void build__fixture_replies__octet_identical(void)
{
    static const struct {
        const char *ip, *hex;
    } rows[] = {
        {"127.0.0.1", P01_REPLY_V4}, {"::ffff:127.0.0.1", P01_REPLY_V4}, {"::1", P01_REPLY_V6}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_addr mapped = addr(rows[i].ip, 50000);
        struct built b;
        begin(&b, LEAT_STUN_SUCCESS);
        leat_stun_add_xor_mapped(&b.w, &mapped, (const uint8_t *)FIXTURE_TID);
        check_end(&b, rows[i].hex);
    }
}

static void build__error_replies__as_another_implementation_makes_them(void)
{
    static const uint16_t unknown[] = {0x7ffe, 0x0101, 0x002a};
    struct built b;
    begin(&b, LEAT_STUN_ERROR);
    leat_stun_add_error(&b.w, 420, "Unknown Attribute");
    leat_stun_add_unknown(&b.w, unknown, 3);
    check_end(&b,
              "011100482112a4420102030405060708090a0b0c0009001500000414556e6b6e6f776e204174747269"
              "62757465000000000a00067ffe0101002a000000080014957e00c049104b33b762e5ff7d903ac7bc93"
              "e9858028000420b1a19f");
    begin(&b, LEAT_STUN_ERROR);
    leat_stun_add_error(&b.w, 487, "Role Conflict");
    check_end(&b,
              "011100382112a4420102030405060708090a0b0c0009001100000457526f6c6520436f6e666c696374"
              "0000000008001460ca0c5bd9eaab5d7338ffbf69ea75833bf90f378028000456178a32");
}

static void build__without_key__fingerprint_only(void)
{
    /* a Binding indication of another implementation */
    struct octets expected = unhex("001100082112a4420102030405060708090a0b0c802800044862c2c6");
    struct built b;
    begin(&b, LEAT_STUN_INDICATION);
    size_t len = leat_stun_end(&b.w, NULL);
    LEAT_CHECK_MEM(b.data, len, expected.data, expected.len);
}

static void build__type_bits__read_back(void)
{
    static const uint16_t methods[] = {0, 1, 3, 0x00f, 0x010, 0x070, 0x080, 0xfff};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(methods); i++) {
        for (int class_ = LEAT_STUN_REQUEST; class_ <= LEAT_STUN_ERROR; class_++) {
            struct built b;
            struct leat_stun_msg m;
            begin(&b, LEAT_STUN_REQUEST);
            leat_writer_init(&b.w, b.data, sizeof(b.data));
            leat_stun_begin(&b.w, (enum leat_stun_class)class_, methods[i],
                            (const uint8_t *)FIXTURE_TID);
            size_t len = leat_stun_end(&b.w, &b.key);
            LEAT_CHECK_ROW(i, leat_stun_parse(&m, leat_span(b.data, len)) == LEAT_STUN_OK);
            LEAT_CHECK_ROW(i, (int)m.class_ == class_ && m.method == methods[i]);
            LEAT_CHECK_ROW(i, leat_stun_check_integrity(&m, &b.key));
        }
    }
}

static void build__no_room__zero_at_every_size(void)
{
    struct octets whole = unhex(P01_REPLY_V6);
    struct leat_addr mapped = addr("::1", 50000);
    for (size_t cap = 0; cap <= whole.len; cap++) {
        struct built b;
        begin(&b, LEAT_STUN_SUCCESS);
        memset(b.data, 0xaa, sizeof(b.data));
        leat_writer_init(&b.w, b.data, cap);
        leat_stun_begin(&b.w, LEAT_STUN_SUCCESS, 1, (const uint8_t *)FIXTURE_TID);
        leat_stun_add_xor_mapped(&b.w, &mapped, (const uint8_t *)FIXTURE_TID);
        LEAT_CHECK_ROW(cap, leat_stun_end(&b.w, &b.key) == (cap == whole.len ? whole.len : 0));
        LEAT_CHECK_ROW(cap, b.data[cap] == 0xaa);
    }
}

static void build__long_username__refused(void)
{
    static const char text[509] = {0};
    for (size_t len = 503; len <= 504; len++) {
        uint8_t data[640];
        struct leat_writer w;
        leat_writer_init(&w, data, sizeof(data));
        leat_stun_begin(&w, LEAT_STUN_REQUEST, 1, (const uint8_t *)FIXTURE_TID);
        leat_stun_add_username(&w, leat_span_str("peer"), leat_span(text, len));
        LEAT_CHECK_ROW(len, (leat_stun_end(&w, NULL) != 0) == (len == 503));
    }
}

STUN_TESTS(LEAT_TEST(build__fixture_request__octet_identical),
           LEAT_TEST(build__fixture_replies__octet_identical),
           LEAT_TEST(build__error_replies__as_another_implementation_makes_them),
           LEAT_TEST(build__without_key__fingerprint_only), LEAT_TEST(build__type_bits__read_back),
           LEAT_TEST(build__no_room__zero_at_every_size), LEAT_TEST(build__long_username__refused))
