/* SPDX-License-Identifier: MIT */
/* Handling of secrets: forget them for certain, compare them without telling how far they agree. */
#include <leat/crypto.h>

void leat_wipe(void *data, size_t len)
{
    if (len != 0) {
        explicit_bzero(data, len);
    }
}

bool leat_equal_ct(const void *a, const void *b, size_t len)
{
    const volatile uint8_t *x = a, *y = b; /* volatile: no early exit may be invented */
    uint8_t difference = 0;
    for (size_t i = 0; i < len; i++) {
        difference = (uint8_t)(difference | (x[i] ^ y[i]));
    }
    return difference == 0;
}
