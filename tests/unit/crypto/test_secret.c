/* SPDX-License-Identifier: MIT */
#include <leat/crypto.h>

#include "harness.h"
#include "hex.h"

static void wipe__part_of_a_buffer__zeroes_that_part_only(void)
{
    uint8_t buf[32];
    memset(buf, 0xa5, sizeof(buf));
    leat_wipe(buf + 4, 20);
    LEAT_CHECK(is_all_zero(buf + 4, 20));
    LEAT_CHECK_INT(buf[3], 0xa5);
    LEAT_CHECK_INT(buf[24], 0xa5);
    leat_wipe(NULL, 0);
}

static void equal_ct__one_bit_anywhere__is_seen(void)
{
    uint8_t a[33], b[33];
    for (size_t i = 0; i < sizeof(a); i++) {
        a[i] = b[i] = (uint8_t)(i * 7);
    }
    LEAT_CHECK(leat_equal_ct(a, b, sizeof(a)));
    for (size_t bit = 0; bit < sizeof(a) * 8; bit++) {
        b[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        LEAT_CHECK_ROW(bit, !leat_equal_ct(a, b, sizeof(a)));
        LEAT_CHECK_ROW(bit, leat_equal_ct(a, b, bit / 8));
        b[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    LEAT_CHECK(leat_equal_ct(NULL, NULL, 0));
}

LEAT_TESTS(LEAT_TEST(wipe__part_of_a_buffer__zeroes_that_part_only),
           LEAT_TEST(equal_ct__one_bit_anywhere__is_seen))
