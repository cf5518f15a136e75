/* SPDX-License-Identifier: MIT */
/** @file  Octets of a test from hex text with blanks between groups. */
#ifndef LEAT_TEST_HEX_H
#define LEAT_TEST_HEX_H

#include <leat/bytes.h>

#include <stdlib.h>

struct octets {
    uint8_t data[512];
    size_t len;
};

static inline struct leat_span hex(struct octets *out, const char *text)
{
    char digits[2 * sizeof(out->data)];
    size_t count = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at != ' ') {
            if (count == sizeof(digits)) {
                abort();
            }
            digits[count++] = *at;
        }
    }
    ptrdiff_t len = leat_hex_decode(digits, count, out->data, sizeof(out->data));
    if (len < 0) {
        abort(); /* the test itself is wrong */
    }
    out->len = (size_t)len;
    return leat_span(out->data, out->len);
}

#endif
