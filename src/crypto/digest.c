/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4). */
#include "provider.h"

void leat_sha256(const void *data, size_t len, uint8_t out[static 32])
{
    if (leat__crypto_provider(LEAT_CRYPTO_SHA256)->sha256(data, len, out) != 0) {
        /* What a failed provider leaves may be guessed; these octets equal no fingerprint. */
        leat_rng_fill(leat_rng_thread(), out, 32);
    }
}
