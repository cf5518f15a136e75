/* SPDX-License-Identifier: MIT */
/* Test vectors as the documents print them: hex text. */
#ifndef LEAT_TEST_CRYPTO_HEX_H
#define LEAT_TEST_CRYPTO_HEX_H

#include <stdlib.h>

#include <leat/bytes.h>

struct octets {
    uint8_t data[320];
    size_t len;
};

/** Aborts on a mistake in the test itself. */
static inline struct octets from_hex(const char *text)
{
    struct octets o = {{0}, 0};
    ptrdiff_t n = leat_hex_decode(text, strlen(text), o.data, sizeof(o.data));
    if (n < 0) {
        abort();
    }
    o.len = (size_t)n;
    return o;
}

static inline bool is_all_zero(const void *data, size_t len)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i++) {
        if (p[i] != 0) {
            return false;
        }
    }
    return true;
}

#endif
