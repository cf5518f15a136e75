/* SPDX-License-Identifier: MIT */
/* The receiver's packet, header and payload: octets written out by hand after RFC 3550 5.1 and RFC
 * 8285 4.2. */
#include <leat/route.h>

#include "harness.h"

/* 0 when the header does not fit. */
static size_t compose(uint8_t *out, size_t header_cap, const struct leat_rtp *p,
                      struct leat_span in, const struct leat_exts *from,
                      const struct leat_media_desc *to, uint8_t pt, uint16_t seq,
                      uint32_t timestamp)
{
    size_t len = leat_route_header(out, header_cap, p, in, from, to, pt, seq, timestamp);
    struct leat_span payload = leat_route_payload(p, in);
    if (len == 0) {
        return 0;
    }
    memcpy(out + len, payload.data, payload.len);
    return len + payload.len;
}

static void compose__ids_differ__rewritten_by_uri(void)
{
    /* V=2, P, X, CC=1; marker, PT 111; extension: id 1 (level 0x85), id 4 (mid "0"), id 9 (not
     * ours) */
    static const uint8_t in[] = {0xb1, 0xef, 0x00, 0x07, 0x00, 0x00, 0x03, 0xe8, 0x11,
                                 0x22, 0x33, 0x44, 0xaa, 0xbb, 0xcc, 0xdd, 0xbe, 0xde,
                                 0x00, 0x02, 0x10, 0x85, 0x40, 0x30, 0x91, 0x01, 0x02,
                                 0x00, 'm',  'e',  'd',  'i',  'a',  0x00, 0x00, 0x03};
    static const uint8_t expected[] = {0x91, 0xe0, 0x0f, 0xa0, 0x00, 0x01, 0x00, 0x00, 0x99,
                                       0x88, 0x77, 0x66, 0xaa, 0xbb, 0xcc, 0xdd, 0xbe, 0xde,
                                       0x00, 0x02, 0x32, 'v',  'i',  'd',  0x70, 0x85, 0x00,
                                       0x00, 'm',  'e',  'd',  'i',  'a'};
    struct leat_exts from = {.ids = {[LEAT_EXT_AUDIO_LEVEL] = 1, [LEAT_EXT_MID] = 4}};
    struct leat_media_desc to = {.mid = "vid", .ssrc = 0x99887766};
    to.exts.ids[LEAT_EXT_MID] = 3;
    to.exts.ids[LEAT_EXT_AUDIO_LEVEL] = 7;
    struct leat_rtp p;
    uint8_t out[128];
    LEAT_CHECK(leat_rtp_parse(&p, leat_span(in, sizeof in)));
    size_t len =
        compose(out, sizeof out, &p, leat_span(in, sizeof in), &from, &to, 96, 4000, 65536);
    LEAT_CHECK_MEM(out, len, expected, sizeof expected);
}

static void compose__receiver_without_extensions__gets_none(void)
{
    static const uint8_t in[] = {0x90, 0x6f, 0x00, 0x07, 0x00, 0x00, 0x03, 0xe8, 0x11, 0x22, 0x33,
                                 0x44, 0xbe, 0xde, 0x00, 0x01, 0x10, 0x85, 0x00, 0x00, 'x'};
    static const uint8_t expected[] = {0x80, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
                                       0x02, 0x00, 0x00, 0x00, 0x05, 'x'};
    struct leat_exts from = {.ids = {[LEAT_EXT_AUDIO_LEVEL] = 1}};
    struct leat_media_desc to = {.mid = "a", .ssrc = 5};
    struct leat_rtp p;
    uint8_t out[128];
    LEAT_CHECK(leat_rtp_parse(&p, leat_span(in, sizeof in)));
    size_t len = compose(out, sizeof out, &p, leat_span(in, sizeof in), &from, &to, 0, 1, 2);
    LEAT_CHECK_MEM(out, len, expected, sizeof expected);
    LEAT_CHECK_INT(
        compose(out, sizeof expected - 2, &p, leat_span(in, sizeof in), &from, &to, 0, 1, 2), 0);
}

LEAT_TESTS(LEAT_TEST(compose__ids_differ__rewritten_by_uri),
           LEAT_TEST(compose__receiver_without_extensions__gets_none))
