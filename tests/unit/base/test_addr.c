/* SPDX-License-Identifier: MIT */
#include <leat/addr.h>
#include <leat/error.h>

#include "harness.h"

static void parse__texts__table(void)
{
    static const struct {
        const char *text;
        const char *expected; /* leat_addr_format with port 5000; NULL: refused */
    } rows[] = {
        {"127.0.0.1", "127.0.0.1:5000"},
        {"255.255.255.255", "255.255.255.255:5000"},
        {"::1", "[::1]:5000"},
        {"::", "[::]:5000"},
        {"2001:DB8:0:0:0:8a2e:370:7334", "[2001:db8::8a2e:370:7334]:5000"},
        {"::ffff:1.2.3.4", "1.2.3.4:5000"},
        {"::ffff:102:304", "1.2.3.4:5000"},
        {"::fffe:1.2.3.4", "[::fffe:102:304]:5000"},
        {"fe80::1%3", "[fe80::1%3]:5000"},
        {"fe80:1111:2222:3333:4444:5555:6666:7777%4294967295",
         "[fe80:1111:2222:3333:4444:5555:6666:7777%4294967295]:5000"},
        {"2001:db8::1%3", "[2001:db8::1]:5000"},
        {"", NULL},
        {"1.2.3", NULL},
        {"1.2.3.256", NULL},
        {"1.2.3.4 ", NULL},
        {"1.2.3.4:5", NULL},
        {"1.2.3.4%1", NULL},
        {"[::1]", NULL},
        {":::", NULL},
        {"1:2:3:4:5:6:7:8:9", NULL},
        {"fe80::1%", NULL},
        {"fe80::1%eth0", NULL},
        {"fe80::1%4294967296", NULL},
        {"fe80::1%1%1", NULL},
        {"00000000-1111-2222-3333-444444444444.local", NULL},
        {"1111:1111:1111:1111:1111:1111:1111:1111:1111:1111:1111:1111", NULL},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_addr a;
        memset(&a, 0x55, sizeof(a));
        int error = leat_addr_parse(&a, rows[i].text, 5000);
        LEAT_CHECK_ROW(i, (error == LEAT_OK) == (rows[i].expected != NULL));
        LEAT_CHECK_ROW(i, error == LEAT_OK || error == LEAT_E_INVALID);
        if (error == LEAT_OK && rows[i].expected != NULL) {
            char text[LEAT_ADDR_TEXT_MAX];
            LEAT_CHECK_STR(leat_addr_format(&a, text), rows[i].expected);
        }
    }
}

static void v6__v4_mapped__equals_the_v4_address(void)
{
    const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 20, 30, 40};
    const uint8_t plain[4] = {10, 20, 30, 40};
    struct leat_addr a = leat_addr_v6(mapped, 1234, 7);
    struct leat_addr b = leat_addr_v4(plain, 1234);
    LEAT_CHECK_MEM(&a, sizeof(a), &b, sizeof(b));
    LEAT_CHECK(leat_addr_equal(&a, &b));
    LEAT_CHECK_INT(a.family, LEAT_FAMILY_V4);
    LEAT_CHECK_INT(a.port, 1234);
}

static void v6__zone_of_a_global_address__is_dropped(void)
{
    const uint8_t global[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
    const uint8_t local[16] = {0xfe, 0xbf, [15] = 1};
    LEAT_CHECK_INT(leat_addr_v6(global, 1, 3).scope, 0);
    LEAT_CHECK_INT(leat_addr_v6(local, 1, 3).scope, 3);
}

static void equal__any_part_differs__is_not(void)
{
    struct leat_addr a, b;
    LEAT_CHECK_INT(leat_addr_parse(&a, "fe80::1%1", 1), LEAT_OK);
    static const struct {
        const char *text;
        uint16_t port;
        bool equal;
    } rows[] = {{"fe80::1%1", 1, true},
                {"fe80::1%1", 2, false},
                {"fe80::1%2", 1, false},
                {"fe80::2%1", 1, false},
                {"254.128.0.0", 1, false}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        LEAT_CHECK_INT(leat_addr_parse(&b, rows[i].text, rows[i].port), LEAT_OK);
        LEAT_CHECK_ROW(i, leat_addr_equal(&a, &b) == rows[i].equal);
        struct leat_tuple t = {a, a}, remote = {a, b}, local = {b, a};
        LEAT_CHECK_ROW(i, leat_tuple_equal(&t, &remote) == rows[i].equal);
        LEAT_CHECK_ROW(i, leat_tuple_equal(&t, &local) == rows[i].equal);
    }
}

static void kinds__addresses__table(void)
{
    static const struct {
        const char *text;
        bool loopback, link_local, unspecified;
    } rows[] = {
        {"127.0.0.1", true, false, false},   {"127.255.0.9", true, false, false},
        {"128.0.0.1", false, false, false},  {"::1", true, false, false},
        {"::2", false, false, false},        {"::ffff:127.0.0.1", true, false, false},
        {"169.254.1.1", false, true, false}, {"169.253.1.1", false, false, false},
        {"fe80::1", false, true, false},     {"febf::1", false, true, false},
        {"fec0::1", false, false, false},    {"0.0.0.0", false, false, true},
        {"::", false, false, true},          {"::ffff:0.0.0.0", false, false, true},
        {"10.0.0.1", false, false, false},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_addr a;
        LEAT_CHECK_INT(leat_addr_parse(&a, rows[i].text, 0), LEAT_OK);
        LEAT_CHECK_ROW(i, leat_addr_is_loopback(&a) == rows[i].loopback);
        LEAT_CHECK_ROW(i, leat_addr_is_link_local(&a) == rows[i].link_local);
        LEAT_CHECK_ROW(i, leat_addr_is_unspecified(&a) == rows[i].unspecified);
    }
}

static void none__no_family__formats_and_is_nothing(void)
{
    struct leat_addr a = {0};
    char text[LEAT_ADDR_TEXT_MAX];
    LEAT_CHECK_STR(leat_addr_format(&a, text), "-:0");
    LEAT_CHECK_STR(leat_addr_format_ip(&a, text), "-");
    LEAT_CHECK(!leat_addr_is_loopback(&a) && !leat_addr_is_link_local(&a));
    LEAT_CHECK(!leat_addr_is_unspecified(&a));
}

static void format_ip__zone_and_port__port_is_left_out(void)
{
    struct leat_addr a;
    char text[LEAT_ADDR_TEXT_MAX];
    LEAT_CHECK_INT(leat_addr_parse(&a, "fe80::1%3", 65535), LEAT_OK);
    LEAT_CHECK_STR(leat_addr_format_ip(&a, text), "fe80::1%3");
    LEAT_CHECK_STR(leat_addr_format(&a, text), "[fe80::1%3]:65535");
}

LEAT_TESTS(LEAT_TEST(parse__texts__table), LEAT_TEST(v6__v4_mapped__equals_the_v4_address),
           LEAT_TEST(v6__zone_of_a_global_address__is_dropped),
           LEAT_TEST(equal__any_part_differs__is_not), LEAT_TEST(kinds__addresses__table),
           LEAT_TEST(none__no_family__formats_and_is_nothing),
           LEAT_TEST(format_ip__zone_and_port__port_is_left_out))
