/* SPDX-License-Identifier: MIT */
#include <leat/bytes.h>

#include "harness.h"

static const uint8_t octets[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10,
                                 0x00, 0xff, 0x80, 0x7f, 0x01, 0x02, 0x03, 0x04};

static void reader__every_width__big_endian(void)
{
    struct leat_reader r;
    leat_reader_init(&r, octets, sizeof(octets));
    LEAT_CHECK(leat_read_u8(&r) == 0x01);
    LEAT_CHECK(leat_read_u16(&r) == 0x2345);
    LEAT_CHECK(leat_read_u24(&r) == 0x6789ab);
    LEAT_CHECK(leat_read_u32(&r) == 0xcdeffedc);
    LEAT_CHECK(leat_read_u48(&r) == 0xba9876543210);
    LEAT_CHECK(leat_read_u64(&r) == 0x00ff807f01020304);
    LEAT_CHECK(!r.failed);
    LEAT_CHECK_INT(leat_reader_left(&r), 0);
    LEAT_CHECK_INT(leat_reader_offset(&r), sizeof(octets));
}

static void reader__one_octet_short__fails_and_sticks(void)
{
    for (unsigned width = 1; width <= 8; width++) {
        uint64_t v = 1;
        struct leat_reader r;
        leat_reader_init(&r, octets + 1, width - 1);
        switch (width) {
        case 1:
            v = leat_read_u8(&r);
            break;
        case 2:
            v = leat_read_u16(&r);
            break;
        case 3:
            v = leat_read_u24(&r);
            break;
        case 4:
            v = leat_read_u32(&r);
            break;
        case 6:
            v = leat_read_u48(&r);
            break;
        case 8:
            v = leat_read_u64(&r);
            break;
        default:
            continue;
        }
        LEAT_CHECK_ROW(width, v == 0 && r.failed);
        LEAT_CHECK_ROW(width, leat_reader_left(&r) == 0);
        /* Octets that a narrower read would find stay out of reach. */
        LEAT_CHECK_ROW(width, leat_read_u8(&r) == 0 && leat_read_span(&r, 0).data == NULL);
    }
}

static void reader__span_and_skip__move_by_their_length(void)
{
    struct leat_reader r;
    leat_reader_init(&r, octets, 6);
    leat_read_skip(&r, 2);
    struct leat_span s = leat_read_span(&r, 3);
    LEAT_CHECK_MEM(s.data, s.len, octets + 2, 3);
    LEAT_CHECK_INT(leat_reader_left(&r), 1);
    leat_read_skip(&r, SIZE_MAX);
    LEAT_CHECK(r.failed);
    LEAT_CHECK_INT(leat_reader_offset(&r), 5);
}

static void reader__null_and_nothing__is_an_empty_input(void)
{
    struct leat_reader r;
    leat_reader_init(&r, NULL, 0);
    LEAT_CHECK_INT(leat_reader_left(&r), 0);
    LEAT_CHECK_INT(leat_read_span(&r, 0).len, 0);
    LEAT_CHECK(!r.failed);
    LEAT_CHECK_INT(leat_read_u8(&r), 0);
    LEAT_CHECK(r.failed);
}

static void writer__every_width__big_endian(void)
{
    uint8_t out[sizeof(octets)];
    struct leat_writer w;
    leat_writer_init(&w, out, sizeof(out));
    leat_write_u8(&w, 0x01);
    leat_write_u16(&w, 0x2345);
    leat_write_u24(&w, 0x6789ab);
    leat_write_u32(&w, 0xcdeffedc);
    leat_write_u48(&w, 0xba9876543210);
    leat_write_u64(&w, 0x00ff807f01020304);
    LEAT_CHECK(!w.failed);
    LEAT_CHECK_MEM(out, leat_writer_len(&w), octets, sizeof(octets));
}

static void writer__no_room__writes_nothing_more(void)
{
    uint8_t out[4] = {9, 9, 9, 9};
    const uint8_t expected[] = {0xaa, 9, 9, 9};
    struct leat_writer w;
    leat_writer_init(&w, out, sizeof(out));
    leat_write_u8(&w, 0xaa);
    leat_write_u32(&w, 0x11223344);
    LEAT_CHECK(w.failed);
    leat_write_u8(&w, 0xbb); /* would fit, but comes behind a hole */
    leat_write_zeros(&w, 1);
    leat_write_bytes(&w, octets, 1);
    LEAT_CHECK(leat_write_room(&w, 0) == NULL);
    leat_write_u16_at(&w, 0, 0xcccc);
    LEAT_CHECK_INT(leat_writer_len(&w), 1);
    LEAT_CHECK_MEM(out, sizeof(out), expected, sizeof(expected));
}

static void writer__bytes_zeros_and_patch__land_in_place(void)
{
    uint8_t out[8];
    memset(out, 9, sizeof(out));
    const uint8_t expected[] = {0x01, 0xbe, 0xef, 0x00, 0x00, 9, 9, 9};
    struct leat_writer w;
    leat_writer_init(&w, out, sizeof(out));
    leat_write_bytes(&w, octets, 3);
    leat_write_bytes(&w, NULL, 0);
    leat_write_zeros(&w, 2);
    leat_write_u16_at(&w, 1, 0xbeef);
    LEAT_CHECK(!w.failed);
    LEAT_CHECK_INT(leat_writer_len(&w), 5);
    LEAT_CHECK_MEM(out, sizeof(out), expected, sizeof(expected));
}

static void writer__patch_behind_the_end__fails(void)
{
    static const size_t offsets[] = {3, 4, 5, SIZE_MAX};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(offsets); i++) {
        uint8_t out[8] = {0};
        struct leat_writer w;
        leat_writer_init(&w, out, sizeof(out));
        leat_write_zeros(&w, 4);
        leat_write_u16_at(&w, offsets[i], 0xffff);
        LEAT_CHECK_ROW(i, w.failed && out[3] == 0 && out[4] == 0);
    }
}

static void span__equality__needs_length_and_content(void)
{
    LEAT_CHECK(leat_span_equal(leat_span_str("abc"), leat_span("abcd", 3)));
    LEAT_CHECK(!leat_span_equal(leat_span_str("abc"), leat_span_str("abd")));
    LEAT_CHECK(!leat_span_equal(leat_span_str("abc"), leat_span_str("ab")));
    LEAT_CHECK(leat_span_equal(leat_span(NULL, 0), leat_span_str("")));
}

static void accessors__fixed_place__round_trip_and_order(void)
{
    uint8_t out[8];
    leat_put_u64(out, 0x0123456789abcdef);
    LEAT_CHECK_MEM(out, 8, octets, 8);
    LEAT_CHECK(leat_get_u64(octets) == 0x0123456789abcdef);
    LEAT_CHECK(leat_get_u32(octets + 8) == 0xfedcba98);
    LEAT_CHECK(leat_get_u16(octets + 17) == 0xff80);
}

static void hex__encode__lower_case(void)
{
    char text[17];
    leat_hex_encode(octets, 8, text);
    LEAT_CHECK_STR(text, "0123456789abcdef");
    leat_hex_encode(NULL, 0, text);
    LEAT_CHECK_STR(text, "");
}

static void hex__decode__table(void)
{
    static const struct {
        const char *text;
        size_t cap;
        ptrdiff_t expected;
    } rows[] = {
        {"0123456789abcdef", 8, 8},
        {"0123456789ABCDEF", 8, 8},
        {"", 0, 0},
        {"0", 8, -1},
        {"012", 8, -1},
        {"0g", 8, -1},
        {"g0", 8, -1},
        {" 1", 8, -1},
        {"0123456789abcdef", 7, -1},
        {"01:23", 8, -1},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        uint8_t out[8];
        ptrdiff_t n = leat_hex_decode(rows[i].text, strlen(rows[i].text), out, rows[i].cap);
        LEAT_CHECK_ROW(i, n == rows[i].expected);
        LEAT_CHECK_ROW(i, n <= 0 || memcmp(out, octets, (size_t)n) == 0);
    }
}

static void text_copy__too_long__is_cut_and_terminated(void)
{
    char out[4];
    LEAT_CHECK(leat_text_copy(out, sizeof(out), leat_span_str("abc")));
    LEAT_CHECK_STR(out, "abc");
    LEAT_CHECK(!leat_text_copy(out, sizeof(out), leat_span_str("wxyz")));
    LEAT_CHECK_STR(out, "wxy");
    LEAT_CHECK(leat_text_copy(out, sizeof(out), leat_span(NULL, 0)));
    LEAT_CHECK_STR(out, "");
    LEAT_CHECK(!leat_text_copy(out, 0, leat_span_str("")));
}

LEAT_TESTS(LEAT_TEST(reader__every_width__big_endian),
           LEAT_TEST(reader__one_octet_short__fails_and_sticks),
           LEAT_TEST(reader__span_and_skip__move_by_their_length),
           LEAT_TEST(reader__null_and_nothing__is_an_empty_input),
           LEAT_TEST(writer__every_width__big_endian),
           LEAT_TEST(writer__no_room__writes_nothing_more),
           LEAT_TEST(writer__bytes_zeros_and_patch__land_in_place),
           LEAT_TEST(writer__patch_behind_the_end__fails),
           LEAT_TEST(span__equality__needs_length_and_content),
           LEAT_TEST(accessors__fixed_place__round_trip_and_order),
           LEAT_TEST(hex__encode__lower_case), LEAT_TEST(hex__decode__table),
           LEAT_TEST(text_copy__too_long__is_cut_and_terminated))
