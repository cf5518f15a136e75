/* SPDX-License-Identifier: MIT */
#include "stun_test.h"

/* RFC 5769 2.1 to 2.3, password VOkJxbRl1RmTxUk/WvJxBt. */
static const char rfc_request[] = "000100582112a442b7e7a701bc34d686fa87dfae802200105354554e20746573"
                                  "7420636c69656e74002400046e0001ff"
                                  "80290008932ff9b151263b36000600096576746a3a6836765920202000080014"
                                  "9aeaa70cbfd8cb56781ef2b5b2d3f249"
                                  "c1b571a280280004e57a3bcf";
static const char rfc_response_v4[] =
    "0101003c2112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000080001a147e112a6"
    "43"
    "000800142b91f599fd9e90c38c7489f92af9ba53f06be7d780280004c07d4c96";
static const char rfc_response_v6[] =
    "010100482112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000140002a1470113a9"
    "fa"
    "a5d3f179bc25f4b5bed2b9d900080014a382954e4be67bf11784c97c8292c275bfe3ed4180280004c8fb0b4c";

static struct leat_hmac_sha1 key_of(const char *pwd)
{
    struct leat_hmac_sha1 key;
    leat_hmac_sha1_init(&key, pwd, strlen(pwd));
    return key;
}

static void parse__rfc5769_request__values_integrity_and_fingerprint(void)
{
    static const uint8_t tid[] = {0xb7, 0xe7, 0xa7, 0x01, 0xbc, 0x34,
                                  0xd6, 0x86, 0xfa, 0x87, 0xdf, 0xae};
    struct leat_hmac_sha1 key = key_of("VOkJxbRl1RmTxUk/WvJxBt");
    struct leat_hmac_sha1 other = key_of("VOkJxbRl1RmTxUk/WvJxBs");
    struct octets o = unhex(rfc_request);
    struct leat_stun_msg m;
    LEAT_CHECK_INT(leat_stun_parse(&m, guarded(span_of(&o))), LEAT_STUN_OK);
    LEAT_CHECK_INT(m.class_, LEAT_STUN_REQUEST);
    LEAT_CHECK_INT(m.method, 1);
    LEAT_CHECK_MEM(m.tid, LEAT_STUN_TID_LEN, tid, sizeof(tid));
    LEAT_CHECK_MEM(m.username.data, m.username.len, "evtj:h6vY", 9);
    LEAT_CHECK(m.has_priority && m.priority == 0x6e0001ff);
    LEAT_CHECK(m.has_controlled && m.tie_breaker == 0x932ff9b151263b36);
    LEAT_CHECK(!m.has_controlling && !m.use_candidate && !m.has_mapped);
    LEAT_CHECK_INT(m.unknown_count, 0);
    LEAT_CHECK(m.has_fingerprint);
    LEAT_CHECK(leat_stun_check_integrity(&m, &key));
    LEAT_CHECK(!leat_stun_check_integrity(&m, &other));
}

static void parse__rfc5769_responses__mapped_addresses(void)
{
    static const struct {
        const char *hex, *ip;
    } rows[] = {{rfc_response_v4, "192.0.2.1"},
                {rfc_response_v6, "2001:db8:1234:5678:11:2233:4455:6677"}};
    struct leat_hmac_sha1 key = key_of("VOkJxbRl1RmTxUk/WvJxBt");
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct octets o = unhex(rows[i].hex);
        struct leat_addr expected = addr(rows[i].ip, 32853);
        struct leat_stun_msg m;
        LEAT_CHECK_ROW(i, leat_stun_parse(&m, guarded(span_of(&o))) == LEAT_STUN_OK);
        LEAT_CHECK_ROW(i, m.class_ == LEAT_STUN_SUCCESS && m.method == 1);
        LEAT_CHECK_ROW(i, m.has_mapped && leat_addr_equal(&m.mapped, &expected));
        LEAT_CHECK_ROW(i, m.has_fingerprint && leat_stun_check_integrity(&m, &key));
    }
}

static void parse__fixture__use_candidate_and_controlling(void)
{
    struct octets o = unhex(P01);
    struct leat_stun_msg m;
    LEAT_CHECK_INT(leat_stun_parse(&m, guarded(span_of(&o))), LEAT_STUN_OK);
    LEAT_CHECK(m.use_candidate && m.has_controlling && !m.has_controlled);
    LEAT_CHECK(m.tie_breaker == 0x1122334455667788 && m.priority == 0x6e7f1eff);
    LEAT_CHECK_INT(m.integrity_offset, 60);
}

/* Type bits of RFC 8489 figure 3: class in bits 4 and 8, method around them. */
static void parse__type_bits__class_and_method(void)
{
    static const struct {
        const char *hex;
        enum leat_stun_class class_;
        uint16_t method;
    } rows[] = {
        {"000100002112a4420102030405060708090a0b0c", LEAT_STUN_REQUEST, 1},
        {"001100002112a4420102030405060708090a0b0c", LEAT_STUN_INDICATION, 1},
        {"010100002112a4420102030405060708090a0b0c", LEAT_STUN_SUCCESS, 1},
        {"011100002112a4420102030405060708090a0b0c", LEAT_STUN_ERROR, 1},
        {"000300002112a4420102030405060708090a0b0c", LEAT_STUN_REQUEST, 3},
        {"002000002112a4420102030405060708090a0b0c", LEAT_STUN_REQUEST, 0x10},
        {"3eef00002112a4420102030405060708090a0b0c", LEAT_STUN_REQUEST, 0xfff},
        {"3fff00002112a4420102030405060708090a0b0c", LEAT_STUN_ERROR, 0xfff},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct octets o = unhex(rows[i].hex);
        struct leat_stun_msg m;
        LEAT_CHECK_ROW(i, leat_stun_parse(&m, guarded(span_of(&o))) == LEAT_STUN_OK);
        LEAT_CHECK_ROW(i, m.class_ == rows[i].class_ && m.method == rows[i].method);
        LEAT_CHECK_ROW(i, m.username.data == NULL && m.integrity_offset == 0);
    }
}

#define HEAD(type, length) type length "2112a4420102030405060708090a0b0c"

static void parse__broken_messages__malformed(void)
{
    static const char *const rows[] = {
        "",
        "00",
        /* attribute length 0xffff */
        "0001000c2112a4420102030405060708090a0b0c0006ffff646d6e553a706565",
        /* 19 octets */
        "000100482112a4420102030405060708090a0b",
        /* cut before its value */
        "000100042112a4420102030405060708090a0b0c0006000c",
        /* MESSAGE-INTEGRITY of length 0, 19, 21, 32 */
        "000100042112a4420102030405060708090a0b0c00080000",
        HEAD("0001", "0018") "00080013"
                             "0000000000000000000000000000000000000000",
        HEAD("0001", "001c") "00080015"
                             "000000000000000000000000000000000000000000000000",
        HEAD("0001", "0024") "00080020"
                             "0000000000000000000000000000000000000000000000000000000000000000",
        /* ERROR-CODE of length 0, of class 2 and 7, of number 100 */
        "0111000c2112a4420102030405060708090a0b0c00090000802800043dd5b879",
        HEAD("0111", "0008") "0009000400000200",
        HEAD("0111", "0008") "0009000400000700",
        HEAD("0111", "0008") "0009000400000464",
        /* half an attribute header */
        HEAD("0001", "0004") "0006",
        HEAD("0001", "0002") "0006",
        /* first bits not zero, wrong cookie */
        HEAD("4001", "0000"),
        HEAD("8001", "0000"),
        "000100002112a4430102030405060708090a0b0c",
        /* value without its padding */
        HEAD("0001", "0008") "0006000561626364",
        HEAD("0001", "0006") "000600026162",
        /* fixed-size attributes of other sizes */
        HEAD("0001", "0008") "0024000300000000",
        HEAD("0001", "0008") "0024000800000000",
        HEAD("0001", "000c") "002400080000000000000000",
        HEAD("0001", "0008") "0025000100000000",
        HEAD("0001", "0008") "802a000400000000",
        HEAD("0001", "000c") "8029000700000000"
                             "00000000",
        /* XOR-MAPPED-ADDRESS: empty, unknown family, family and size apart */
        HEAD("0101", "0004") "00200000",
        HEAD("0101", "0008") "0020000400010000",
        HEAD("0101", "000c") "002000080003000000000000",
        HEAD("0101", "000c") "002000080002000000000000",
        HEAD("0101", "0018") "0020001400010000"
                             "00000000000000000000000000000000",
        /* FINGERPRINT of another size, FINGERPRINT not last, twice */
        HEAD("0001", "0004") "80280000",
        HEAD("0001", "000c") "8028000800000000"
                             "00000000",
        HEAD("0001", "0010") "8028000400000000"
                             "8022000461626364",
        HEAD("0001", "0010") "8028000400000000"
                             "8028000400000000",
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct octets o = unhex(rows[i]);
        struct leat_stun_msg m;
        LEAT_CHECK_ROW(i, leat_stun_parse(&m, guarded(span_of(&o))) == LEAT_STUN_MALFORMED);
    }
}

static void parse__header_length_is_not_the_datagrams__malformed(void)
{
    static const uint16_t lengths[] = {0, 0x44, 0x47, 0x49, 0x4c, 0xfffc, 0xffff};
    struct octets o = unhex(P01);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(lengths); i++) {
        struct leat_stun_msg m;
        leat_put_u16(o.data + 2, lengths[i]);
        LEAT_CHECK_ROW(i, leat_stun_parse(&m, guarded(span_of(&o))) == LEAT_STUN_MALFORMED);
    }
}

static void parse__username_at_the_limit__508_passes_509_does_not(void)
{
    for (size_t len = 507; len <= 514; len++) {
        struct octets o = unhex(HEAD("0001", "0000"));
        size_t padded = (len + 3) / 4 * 4;
        memset(o.data + 20, 'a', 4 + padded);
        leat_put_u16(o.data + 2, (uint16_t)(4 + padded));
        leat_put_u16(o.data + 20, 0x0006);
        leat_put_u16(o.data + 22, (uint16_t)len);
        o.len = 24 + padded;
        struct leat_stun_msg m;
        enum leat_stun_verdict expected = len <= 508 ? LEAT_STUN_OK : LEAT_STUN_MALFORMED;
        LEAT_CHECK_ROW(len, leat_stun_parse(&m, guarded(span_of(&o))) == expected);
    }
}

static void parse__wrong_fingerprint__told_apart(void)
{
    struct octets o = unhex(P01);
    struct leat_stun_msg m;
    o.data[91] = 0xeb;
    LEAT_CHECK_INT(leat_stun_parse(&m, guarded(span_of(&o))), LEAT_STUN_BAD_FINGERPRINT);
}

static void parse__repeated_attribute__first_counts(void)
{
    struct octets o = unhex(HEAD("0001", "0038") "0024000400000001"
                                                 "0024000400000002"
                                                 "0006000361626300"
                                                 "0006000364656600"
                                                 "802a00080000000000000005"
                                                 "802900080000000000000006");
    struct leat_stun_msg m;
    LEAT_CHECK_INT(leat_stun_parse(&m, guarded(span_of(&o))), LEAT_STUN_OK);
    LEAT_CHECK_INT(m.priority, 1);
    LEAT_CHECK_MEM(m.username.data, m.username.len, "abc", 3);
    LEAT_CHECK_INT(m.tie_breaker, 5);
    LEAT_CHECK(m.has_controlled && m.has_controlling);
}

/* Behind MESSAGE-INTEGRITY only FINGERPRINT is heard (RFC 8489 14.5). */
static void parse__attributes_behind_integrity__ignored(void)
{
    struct octets o = unhex(HEAD("0001", "0030") "00080014"
                                                 "0000000000000000000000000000000000000000"
                                                 "00250000"
                                                 "7ffe0000"
                                                 "0024000400000009"
                                                 "00080004"
                                                 "00000000");
    struct leat_stun_msg m;
    LEAT_CHECK_INT(leat_stun_parse(&m, guarded(span_of(&o))), LEAT_STUN_OK);
    LEAT_CHECK(!m.use_candidate && !m.has_priority && m.unknown_count == 0);
    LEAT_CHECK_INT(m.integrity_offset, 20);
}

static void parse__unknown_required__listed_once_and_capped(void)
{
    struct octets o = unhex(HEAD("0001", "0000"));
    struct leat_stun_msg m;
    uint8_t *at = o.data + 20;
    for (uint16_t i = 0; i < 24; i++, at += 4) {
        leat_put_u16(at, (uint16_t)(0x7000 + i / 2)); /* each twice */
        leat_put_u16(at + 2, 0);
    }
    o.len = 20 + 96;
    leat_put_u16(o.data + 2, 96);
    LEAT_CHECK_INT(leat_stun_parse(&m, guarded(span_of(&o))), LEAT_STUN_OK);
    LEAT_CHECK_INT(m.unknown_count, LEAT_STUN_UNKNOWN_MAX);
    for (size_t i = 0; i < m.unknown_count; i++) {
        LEAT_CHECK_ROW(i, m.unknown[i] == 0x7000 + i);
    }
}

/* Known to RFC 8489 but without use here, and optional ones. */
static void parse__known_or_optional_attributes__not_unknown(void)
{
    static const uint16_t types[] = {0x0001, 0x000a, 0x0014, 0x0015, 0x001c, 0x001d, 0x001e,
                                     0x8000, 0x8022, 0x802c, 0xc057, 0xc070, 0xffff};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(types); i++) {
        struct octets o = unhex(HEAD("0001", "0004") "00000000");
        struct leat_stun_msg m;
        leat_put_u16(o.data + 20, types[i]);
        LEAT_CHECK_ROW(i, leat_stun_parse(&m, guarded(span_of(&o))) == LEAT_STUN_OK);
        LEAT_CHECK_ROW(i, m.unknown_count == 0);
    }
}

static void parse__error_response__code(void)
{
    struct octets o = unhex(HEAD("0111", "0018") "00090011"
                                                 "00000457"
                                                 "526f6c6520436f6e666c696374"
                                                 "000000");
    struct leat_stun_msg m;
    LEAT_CHECK_INT(leat_stun_parse(&m, guarded(span_of(&o))), LEAT_STUN_OK);
    LEAT_CHECK_INT(m.error_code, 487);
}

static void parse__v4_mapped_inside_v6__canonical(void)
{
    /* ::ffff:127.0.0.1 masked with cookie and transaction id */
    struct octets o = unhex(HEAD("0101", "0018") "002000140002e242"
                                                 "2112a442010203040506f8f7760a0b0d");
    struct leat_addr expected = addr("127.0.0.1", 50000);
    struct leat_stun_msg m;
    LEAT_CHECK_INT(leat_stun_parse(&m, guarded(span_of(&o))), LEAT_STUN_OK);
    LEAT_CHECK(m.has_mapped && leat_addr_equal(&m.mapped, &expected));
}

static void parse__every_truncation__malformed(void)
{
    struct octets o = unhex(P01);
    for (size_t len = 0; len < o.len; len++) {
        struct leat_stun_msg m;
        LEAT_CHECK_ROW(len,
                       leat_stun_parse(&m, guarded(leat_span(o.data, len))) == LEAT_STUN_MALFORMED);
    }
}

/* Whatever the length fields say, the walk stays inside: a fault or a report of the sanitizer ends
 * the program. */
static void parse__every_length_value__stays_inside(void)
{
    static const size_t places[] = {2, 22, 38, 46, 58, 62, 86};
    struct leat_hmac_sha1 key = key_of(FIXTURE_PWD);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(places); i++) {
        struct octets o = unhex(P01);
        uint16_t right = leat_get_u16(o.data + places[i]);
        for (uint32_t v = 0; v <= UINT16_MAX; v++) {
            struct leat_stun_msg m;
            leat_put_u16(o.data + places[i], (uint16_t)v);
            bool is_authentic = leat_stun_parse(&m, guarded(span_of(&o))) == LEAT_STUN_OK &&
                                leat_stun_check_integrity(&m, &key);
            if (is_authentic != (v == right)) {
                LEAT_CHECK_ROW(i * 100000 + v, false);
            }
        }
    }
}

static void integrity__absent__false(void)
{
    struct leat_hmac_sha1 key = key_of(FIXTURE_PWD);
    struct octets o = unhex(HEAD("0001", "0000"));
    struct leat_stun_msg m;
    LEAT_CHECK_INT(leat_stun_parse(&m, guarded(span_of(&o))), LEAT_STUN_OK);
    LEAT_CHECK(!leat_stun_check_integrity(&m, &key));
}

static void username__split__at_the_first_colon(void)
{
    static const struct {
        const char *text, *local, *remote;
    } rows[] = {{"dmnU:peer", "dmnU", "peer"},
                {"a:b:c", "a", "b:c"},
                {"a:b", "a", "b"},
                {"dmnU", NULL, NULL},
                {":peer", NULL, NULL},
                {"dmnU:", NULL, NULL},
                {":", NULL, NULL},
                {"", NULL, NULL}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_span local, remote;
        bool is_split =
            leat_stun_split_username(guarded(leat_span_str(rows[i].text)), &local, &remote);
        LEAT_CHECK_ROW(i, is_split == (rows[i].local != NULL));
        if (is_split) {
            LEAT_CHECK_ROW(i, leat_span_equal(local, leat_span_str(rows[i].local)));
            LEAT_CHECK_ROW(i, leat_span_equal(remote, leat_span_str(rows[i].remote)));
        }
    }
    struct leat_span local, remote;
    LEAT_CHECK(!leat_stun_split_username(leat_span(NULL, 0), &local, &remote));
}

STUN_TESTS(LEAT_TEST(parse__rfc5769_request__values_integrity_and_fingerprint),
           LEAT_TEST(parse__rfc5769_responses__mapped_addresses),
           LEAT_TEST(parse__fixture__use_candidate_and_controlling),
           LEAT_TEST(parse__type_bits__class_and_method),
           LEAT_TEST(parse__broken_messages__malformed),
           LEAT_TEST(parse__header_length_is_not_the_datagrams__malformed),
           LEAT_TEST(parse__username_at_the_limit__508_passes_509_does_not),
           LEAT_TEST(parse__wrong_fingerprint__told_apart),
           LEAT_TEST(parse__repeated_attribute__first_counts),
           LEAT_TEST(parse__attributes_behind_integrity__ignored),
           LEAT_TEST(parse__unknown_required__listed_once_and_capped),
           LEAT_TEST(parse__known_or_optional_attributes__not_unknown),
           LEAT_TEST(parse__error_response__code), LEAT_TEST(parse__v4_mapped_inside_v6__canonical),
           LEAT_TEST(parse__every_truncation__malformed),
           LEAT_TEST(parse__every_length_value__stays_inside), LEAT_TEST(integrity__absent__false),
           LEAT_TEST(username__split__at_the_first_colon))
