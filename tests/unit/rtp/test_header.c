/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "hex.h"

#include <leat/rtp.h>

struct row {
    const char *packet;
    bool is_right;
    bool is_two_byte;
    size_t payload_len;
    const char *exts; /* "id:hex id:hex" */
};

/** What was found, in the form of struct row. */
static const char *list_exts(const struct leat_rtp *p, struct leat_span packet, char *out,
                             size_t cap)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < p->ext_count; i++) {
        char digits[2 * 255 + 1];
        leat_hex_encode(packet.data + p->exts[i].offset, p->exts[i].len, digits);
        len += (size_t)snprintf(out + len, cap - len, "%s%u:%s", i != 0 ? " " : "", p->exts[i].id,
                                digits);
    }
    return out;
}

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct octets o;
        struct leat_rtp p;
        char found[1024];
        /* exactly as long as it is, so that a read past its end is seen */
        struct leat_span text = hex(&o, rows[i].packet);
        uint8_t *exact = malloc(text.len + 1);
        if (!exact) {
            abort();
        }
        memcpy(exact + 1, text.data, text.len);
        struct leat_span packet = leat_span(exact + 1, text.len);
        bool is_right = leat_rtp_parse(&p, packet);
        LEAT_CHECK_ROW(i, is_right == rows[i].is_right);
        if (is_right && rows[i].is_right) {
            LEAT_CHECK_ROW(i, p.is_two_byte == rows[i].is_two_byte);
            LEAT_CHECK_ROW(i, p.payload_len == rows[i].payload_len);
            LEAT_CHECK_ROW(i,
                           (size_t)p.payload_offset + p.payload_len + p.padding_len == packet.len);
            LEAT_CHECK_STR(list_exts(&p, packet, found, sizeof(found)), rows[i].exts);
        }
        free(exact);
    }
}

static void parse__extension_blocks__follow_rfc_8285(void)
{
    static const struct row rows[] = {
        /* one-byte: padding between, then id 15 ends the block */
        {"90600001 00000000 11223344 bede0003 10aa0000 22010203 f1deadbe 0102", true, false, 2,
         "1:aa 2:010203"},
        /* two-byte: length 0, id 255 */
        {"90600002 00000000 11223344 10000002 1400ff01 7f000000 0102", true, true, 2, "20: 255:7f"},
        {"90600002 00000000 11223344 100f0002 1400ff01 7f000000 0102", true, true, 2, "20: 255:7f"},
        /* an empty block */
        {"90600003 00000000 11223344 bede0000 0102", true, false, 2, ""},
        {"90600003 00000000 11223344 10000000 0102", true, true, 2, ""},
        /* a block longer than the packet */
        {"90600004 00000000 11223344 bedeffff 01020304", false, false, 0, ""},
        {"90600004 00000000 11223344 bede0002 01020304", false, false, 0, ""},
        /* 15 CSRCs that are not there */
        {"8f600005 00000000 11223344 0000000100000002", false, false, 0, ""},
        /* an element longer than the block */
        {"90600006 00000000 11223344 bede0001 1faabbcc 0102", false, false, 0, ""},
        {"90600006 00000000 11223344 10000001 0105aabb ccddee", false, false, 0, ""},
        /* a two-byte element without its length */
        {"90600006 00000000 11223344 10000001 00000001 0102", false, false, 0, ""},
        /* X and nothing behind it, or half a block header */
        {"90600007 00000000 11223344", false, false, 0, ""},
        {"90600007 00000000 11223344 bede", false, false, 0, ""},
        /* id 0 with a length ends the block */
        {"90600008 00000000 11223344 bede0002 10aa0900 22010203 0102", true, false, 2, "1:aa"},
        /* id 0 in the two-byte form is one octet of padding */
        {"90600008 00000000 11223344 10000002 00000102 aabb0000 0102", true, true, 2, "1:aabb"},
        /* an unknown profile is legal and has no elements */
        {"90600009 00000000 11223344 abcd0001 10aa0000 0102", true, false, 2, ""},
        {"90600009 00000000 11223344 10100001 10aa0000 0102", true, false, 2, ""},
        /* the block may be all there is */
        {"9060000a 00000000 11223344 bede0001 10aa0000", true, false, 0, "1:aa"},
    };
    check_rows(rows, LEAT_ARRAY_LEN(rows));
}

static void parse__fixed_part_and_padding__follow_rfc_3550(void)
{
    static const struct row rows[] = {
        {"80600001 00000000 11223344", true, false, 0, ""},
        {"80600001 00000000 112233", false, false, 0, ""},
        {"00600001 00000000 11223344 01", false, false, 0, ""},
        {"40600001 00000000 11223344 01", false, false, 0, ""},
        {"c0600001 00000000 11223344 01", false, false, 0, ""},
        {"82600001 00000000 11223344 00000001 00000002 aabbcc", true, false, 3, ""},
        {"81600001 00000000 11223344 000000", false, false, 0, ""},
        /* padding: some, all, none said, more than there is */
        {"a0600001 00000000 11223344 aabb0002", true, false, 2, ""},
        {"a0600001 00000000 11223344 00000004", true, false, 0, ""},
        {"a0600001 00000000 11223344 aabbcc00", false, false, 0, ""},
        {"a0600001 00000000 11223344 aabbcc05", false, false, 0, ""},
        {"a0600001 00000000 11223344", false, false, 0, ""},
        {"b0600001 00000000 11223304 bede0001 10aa0004", false, false, 0, ""},
    };
    check_rows(rows, LEAT_ARRAY_LEN(rows));
}

static void parse__chromium_packet__fields_are_read(void)
{
    struct octets o;
    struct leat_rtp p;
    struct leat_span packet = hex(&o, "906075715c9b45df2f291bafbede000322af202a4100019030000000"
                                      "9080946b909d009d012a800268013969");
    LEAT_CHECK(leat_rtp_parse(&p, packet));
    LEAT_CHECK_INT(p.marker, false);
    LEAT_CHECK_INT(p.pt, 96);
    LEAT_CHECK_INT(p.seq, 30065);
    LEAT_CHECK_INT(p.timestamp, 1553679839);
    LEAT_CHECK_INT(p.ssrc, 0x2f291baf);
    LEAT_CHECK_INT(p.csrc_count, 0);
    LEAT_CHECK_INT(p.ext_block_offset, 12);
    LEAT_CHECK_INT(p.ext_block_len, 16);
    LEAT_CHECK_INT(p.payload_offset, 28);
    struct leat_span data = {NULL, 0};
    LEAT_CHECK(leat_rtp_find_ext(&p, packet, 2, &data));
    LEAT_CHECK_MEM(data.data, data.len, "\xaf\x20\x2a", (size_t)3);
    LEAT_CHECK(leat_rtp_find_ext(&p, packet, 9, &data));
    LEAT_CHECK_MEM(data.data, data.len, "0", (size_t)1);
    LEAT_CHECK(!leat_rtp_find_ext(&p, packet, 1, &data));
    LEAT_CHECK(!leat_rtp_find_ext(&p, packet, 0, &data));
}

static void parse__more_elements_than_fit__the_first_are_kept(void)
{
    uint8_t packet[12 + 4 + 40] = {0x90, 0x60, [12] = 0xbe, 0xde, 0, 10};
    for (size_t i = 0; i < 20; i++) {
        packet[16 + 2 * i] = (uint8_t)((i % 14 + 1) << 4);
        packet[17 + 2 * i] = (uint8_t)i;
    }
    struct leat_rtp p;
    LEAT_CHECK(leat_rtp_parse(&p, leat_span(packet, sizeof(packet))));
    LEAT_CHECK_INT(p.ext_count, LEAT_RTP_EXT_ELEMENTS_MAX);
    LEAT_CHECK_INT(packet[p.exts[15].offset], 15);
}

static void parse__packet_over_16_bit_offsets__is_refused(void)
{
    static uint8_t packet[65536] = {0x80, 0x60};
    struct leat_rtp p;
    LEAT_CHECK(!leat_rtp_parse(&p, leat_span(packet, 65536)));
    LEAT_CHECK(leat_rtp_parse(&p, leat_span(packet, 65535)));
    LEAT_CHECK_INT(p.payload_len, 65535 - 12);
}

static struct leat_rtp_ext_out ext(uint8_t id, const char *text)
{
    return (struct leat_rtp_ext_out){id, leat_span_str(text)};
}

/** Blocks as aiortc 1.4.0 packs them. */
static void compose__extension_forms__as_another_implementation_writes_them(void)
{
    const struct {
        struct leat_rtp_ext_out exts[2];
        const char *block;
    } rows[] = {
        {{ext(1, "0"), ext(14, "0123456789abcdef")},
         "bede0005 1030ef3031323334353637383961626364656600"},
        {{ext(1, "0"), ext(15, "")}, "10000002 0101300f00000000"},
        {{ext(1, "0"), ext(15, "a")}, "10000002 0101300f01610000"},
        {{ext(1, "0"), ext(2, "0123456789abcdefg")},
         "10000006 010130021130313233343536373839616263646566670000"},
        {{ext(1, "0123456789abcdefg"), ext(255, "\x01")},
         "10000006 01113031323334353637383961626364656667ff01010000"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct octets block;
        uint8_t out[128];
        hex(&block, rows[i].block);
        size_t len = leat_rtp_compose(out, sizeof(out), true, 96, 0x1234, 0x01020304, 0x11223344,
                                      NULL, 0, rows[i].exts, 2, leat_span_str("xyz"));
        LEAT_CHECK_INT(len, 12 + block.len + 3);
        LEAT_CHECK_MEM(out, (size_t)12, "\x90\xe0\x12\x34\x01\x02\x03\x04\x11\x22\x33\x44",
                       (size_t)12);
        LEAT_CHECK_MEM(out + 12, block.len, block.data, block.len);
        LEAT_CHECK_MEM(out + 12 + block.len, (size_t)3, "xyz", (size_t)3);
    }
}

static void compose__csrcs_and_no_extension__parses_back(void)
{
    const uint32_t csrcs[2] = {0xaabbccdd, 1};
    uint8_t out[64];
    struct leat_rtp p;
    size_t len = leat_rtp_compose(out, sizeof(out), false, 127, 65535, 0xffffffff, 7, csrcs, 2,
                                  NULL, 0, leat_span_str("ab"));
    struct octets o;
    struct leat_span expected = hex(&o, "827fffff ffffffff 00000007 aabbccdd 00000001 6162");
    LEAT_CHECK_MEM(out, len, expected.data, expected.len);
    LEAT_CHECK(leat_rtp_parse(&p, leat_span(out, len)));
    LEAT_CHECK_INT(p.csrc_count, 2);
    LEAT_CHECK_INT(p.payload_len, 2);
}

static size_t compose_one(struct leat_rtp_ext_out one, uint8_t pt, size_t csrc_count, size_t cap)
{
    static const uint32_t csrcs[16];
    static uint8_t out[512];
    return leat_rtp_compose(out, cap, false, pt, 1, 2, 3, csrcs, csrc_count, &one, 1,
                            leat_span_str("ab"));
}

static void compose__impossible_or_too_long__is_nothing(void)
{
    char text[257];
    memset(text, 'x', 256);
    text[256] = '\0';
    LEAT_CHECK_INT(compose_one(ext(0, "a"), 96, 0, 512), 0);
    LEAT_CHECK_INT(compose_one(ext(1, text), 96, 0, 512), 0);
    LEAT_CHECK_INT(compose_one(ext(1, text + 1), 96, 0, 512), 12 + 4 + 260 + 2);
    LEAT_CHECK_INT(compose_one(ext(1, "a"), 128, 0, 512), 0);
    LEAT_CHECK_INT(compose_one(ext(1, "a"), 96, 16, 512), 0);
    LEAT_CHECK_INT(compose_one(ext(1, "a"), 96, 15, 512), 12 + 60 + 8 + 2);
    LEAT_CHECK_INT(compose_one(ext(1, "a"), 96, 0, 22), 22);
    for (size_t cap = 0; cap < 22; cap++) {
        LEAT_CHECK_ROW(cap, compose_one(ext(1, "a"), 96, 0, cap) == 0);
    }
}

static void audio_level__one_octet__is_level_and_voice(void)
{
    uint8_t level = 0;
    bool voice = false;
    LEAT_CHECK(leat_audio_level_parse(leat_span("\xff", 1), &level, &voice));
    LEAT_CHECK_INT(level, 127);
    LEAT_CHECK(voice);
    LEAT_CHECK(leat_audio_level_parse(leat_span("\x1e", 1), &level, &voice));
    LEAT_CHECK_INT(level, 30);
    LEAT_CHECK(!voice);
    LEAT_CHECK(!leat_audio_level_parse(leat_span(NULL, 0), &level, &voice));
    LEAT_CHECK(!leat_audio_level_parse(leat_span("\x1e\x00", 2), &level, &voice));
}

LEAT_TESTS(LEAT_TEST(parse__extension_blocks__follow_rfc_8285),
           LEAT_TEST(parse__fixed_part_and_padding__follow_rfc_3550),
           LEAT_TEST(parse__chromium_packet__fields_are_read),
           LEAT_TEST(parse__more_elements_than_fit__the_first_are_kept),
           LEAT_TEST(parse__packet_over_16_bit_offsets__is_refused),
           LEAT_TEST(compose__extension_forms__as_another_implementation_writes_them),
           LEAT_TEST(compose__csrcs_and_no_extension__parses_back),
           LEAT_TEST(compose__impossible_or_too_long__is_nothing),
           LEAT_TEST(audio_level__one_octet__is_level_and_voice))
