/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "hex.h"

#include <leat/rtp.h>

static enum leat_demux classify(uint8_t first, uint8_t second)
{
    uint8_t datagram[41] = {first, second};
    return leat_demux(leat_span(datagram, sizeof(datagram)));
}

static void demux__every_first_octet__by_the_ranges_of_rfc_7983(void)
{
    static const struct {
        unsigned low, high;
        enum leat_demux class_;
    } ranges[] = {
        {0, 3, LEAT_DEMUX_STUN},       {4, 19, LEAT_DEMUX_UNKNOWN}, {20, 63, LEAT_DEMUX_DTLS},
        {64, 127, LEAT_DEMUX_UNKNOWN}, {128, 191, LEAT_DEMUX_RTP},  {192, 255, LEAT_DEMUX_UNKNOWN},
    };
    unsigned rows = 0;
    for (size_t i = 0; i < LEAT_ARRAY_LEN(ranges); i++) {
        for (unsigned first = ranges[i].low; first <= ranges[i].high; first++, rows++) {
            LEAT_CHECK_ROW(first, classify((uint8_t)first, 0) == ranges[i].class_);
        }
    }
    LEAT_CHECK_INT(rows, 256);
}

static void demux__every_second_octet__rtcp_is_192_to_223(void)
{
    for (unsigned second = 0; second < 256; second++) {
        bool is_rtcp = second >= 192 && second <= 223;
        enum leat_demux expected = is_rtcp ? LEAT_DEMUX_RTCP : LEAT_DEMUX_RTP;
        LEAT_CHECK_ROW(second, classify(0x80, (uint8_t)second) == expected);
        LEAT_CHECK_ROW(second, classify(0xbf, (uint8_t)second) == expected);
    }
}

static void demux__second_octet_of_rtcp__only_counts_behind_rtp(void)
{
    LEAT_CHECK_INT(classify(0, 200), LEAT_DEMUX_STUN);
    LEAT_CHECK_INT(classify(22, 200), LEAT_DEMUX_DTLS);
    LEAT_CHECK_INT(classify(127, 200), LEAT_DEMUX_UNKNOWN);
    LEAT_CHECK_INT(classify(192, 200), LEAT_DEMUX_UNKNOWN);
}

static void demux__payload_type_72_with_marker__is_rtcp(void)
{
    struct octets o;
    LEAT_CHECK_INT(leat_demux(hex(&o, "80c80001 00000000 11223344 0102")), LEAT_DEMUX_RTCP);
}

static void demux__shorter_than_two_octets__is_unknown(void)
{
    const uint8_t octet = 0x80;
    LEAT_CHECK_INT(leat_demux(leat_span(NULL, 0)), LEAT_DEMUX_UNKNOWN);
    LEAT_CHECK_INT(leat_demux(leat_span(&octet, 1)), LEAT_DEMUX_UNKNOWN);
}

LEAT_TESTS(LEAT_TEST(demux__every_first_octet__by_the_ranges_of_rfc_7983),
           LEAT_TEST(demux__every_second_octet__rtcp_is_192_to_223),
           LEAT_TEST(demux__second_octet_of_rtcp__only_counts_behind_rtp),
           LEAT_TEST(demux__payload_type_72_with_marker__is_rtcp),
           LEAT_TEST(demux__shorter_than_two_octets__is_unknown))
