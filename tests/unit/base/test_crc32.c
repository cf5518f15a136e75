/* SPDX-License-Identifier: MIT */
#include <leat/bytes.h>

#include "harness.h"

static void crc32__known_inputs__match_zlib(void)
{
    uint8_t all[256];
    for (size_t i = 0; i < sizeof(all); i++) {
        all[i] = (uint8_t)i;
    }
    LEAT_CHECK_INT(leat_crc32(0, "123456789", 9),
                   0xcbf43926); /* the check value of the CRC catalogues */
    LEAT_CHECK_INT(leat_crc32(0, all, sizeof(all)), 0x29058c73); /* zlib.crc32(bytes(range(256))) */
    LEAT_CHECK_INT(leat_crc32(0, NULL, 0), 0);
}

static void crc32__in_two_pieces__continues(void)
{
    static const char text[] = "123456789";
    for (size_t cut = 0; cut <= 9; cut++) {
        uint32_t crc = leat_crc32(0, text, cut);
        LEAT_CHECK_ROW(cut, leat_crc32(crc, text + cut, 9 - cut) == 0xcbf43926);
    }
}

static void crc32__rfc5769_request__is_its_fingerprint(void)
{
    /* RFC 5769 2.1: FINGERPRINT is the CRC of all before it, exclusive-or 0x5354554e. */
    static const char hex[] =
        "000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69"
        "656e74002400046e0001ff80290008932ff9b151263b36000600096576746a3a683676592020"
        "2000080014"
        "9aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2";
    uint8_t msg[128];
    ptrdiff_t n = leat_hex_decode(hex, strlen(hex), msg, sizeof(msg));
    LEAT_CHECK_INT(n, 100);
    LEAT_CHECK_INT(leat_crc32(0, msg, n > 0 ? (size_t)n : 0) ^ 0x5354554e, 0xe57a3bcf);
}

LEAT_TESTS(LEAT_TEST(crc32__known_inputs__match_zlib), LEAT_TEST(crc32__in_two_pieces__continues),
           LEAT_TEST(crc32__rfc5769_request__is_its_fingerprint))
