/* SPDX-License-Identifier: MIT */
/*
 * The crypto layer: each primitive under every provider, beside plain calls of the libraries. Which
 * rows are compared stands here; how each is done in crypto_*.c.
 */
#include <stdio.h>

#include <leat/crypto.h>

#include "crypto_rows.h"

static const size_t lengths[] = {20, 100, 1200};
static const size_t key_lengths[] = {16, 32};

static void declare_hmac(struct bench *b)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(lengths); i++) {
        struct crypto_case c = {.op = CRYPTO_HMAC_SHA1, .octets = lengths[i]};
        struct crypto_case keyed = {.op = CRYPTO_HMAC_SHA1_KEY_PER_CALL, .octets = lengths[i]};

        bench_group(b);
        crypto_add_ours(b, &c);
        crypto_add_mbedtls(b, &c);
        crypto_add_openssl(b, &c);
        crypto_add_mbedtls(b, &keyed);
        crypto_add_openssl(b, &keyed);
        for (c.batch = 16; c.batch <= CRYPTO_BATCH_MAX; c.batch *= 4) {
            bench_group(b);
            crypto_add_ours(b, &c);
            crypto_add_raw(b, &c);
        }
    }
}

static void declare_ctr(struct bench *b, size_t key_len)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(lengths); i++) {
        struct crypto_case c = {.op = CRYPTO_CTR, .key_len = key_len, .octets = lengths[i]};

        bench_group(b);
        crypto_add_ours(b, &c);
        crypto_add_mbedtls(b, &c);
        crypto_add_openssl(b, &c);
        for (c.batch = 16; c.batch <= CRYPTO_BATCH_MAX; c.batch *= 4) {
            bench_group(b);
            crypto_add_ours(b, &c);
            crypto_add_raw(b, &c);
        }
    }
}

static void declare_gcm(struct bench *b, size_t key_len)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(lengths); i++) {
        struct crypto_case seal = {.op = CRYPTO_GCM_SEAL, .key_len = key_len, .octets = lengths[i]};
        struct crypto_case open = {.op = CRYPTO_GCM_OPEN, .key_len = key_len, .octets = lengths[i]};

        bench_group(b);
        crypto_add_ours(b, &seal);
        crypto_add_mbedtls(b, &seal);
        crypto_add_openssl(b, &seal);
        bench_group(b);
        crypto_add_ours(b, &open);
        crypto_add_mbedtls(b, &open);
        crypto_add_openssl(b, &open);
        seal.batch = 16;
        bench_group(b);
        crypto_add_ours(b, &seal);
        crypto_add_raw(b, &seal);
    }
}

static void declare_single_blocks(struct bench *b, size_t key_len)
{
    struct crypto_case block = {.op = CRYPTO_BLOCK, .key_len = key_len};
    struct crypto_case mask = {.op = CRYPTO_MASK, .key_len = key_len};
    struct crypto_case keyed = {.op = CRYPTO_MASK_KEY_PER_CALL, .key_len = key_len};

    if (key_len != CHACHA20) {
        bench_group(b);
        crypto_add_ours(b, &block);
        crypto_add_mbedtls(b, &block);
        crypto_add_openssl(b, &block);
    }
    bench_group(b);
    if (key_len != CHACHA20) {
        crypto_add_ours(b, &mask);
    }
    crypto_add_mbedtls(b, &mask);
    crypto_add_openssl(b, &mask);
    crypto_add_mbedtls(b, &keyed);
    crypto_add_openssl(b, &keyed);
}

/* A batch of 1 stands for a context that is meant for batches. */
static void declare_set_up(struct bench *b)
{
    struct crypto_case hmac = {.op = CRYPTO_SET_UP_HMAC_SHA1};

    bench_group(b);
    crypto_add_ours(b, &hmac);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(key_lengths); i++) {
        struct crypto_case aes = {.op = CRYPTO_SET_UP_AES, .key_len = key_lengths[i]};
        struct crypto_case gcm = {.op = CRYPTO_SET_UP_GCM, .key_len = key_lengths[i]};

        for (size_t batch = 0; batch <= 1; batch++) {
            aes.batch = gcm.batch = batch;
            bench_group(b);
            crypto_add_ours(b, &aes);
            bench_group(b);
            crypto_add_ours(b, &gcm);
        }
    }
}

static void declare_random(struct bench *b)
{
    struct crypto_case u64 = {.op = CRYPTO_RANDOM_U64};

    for (size_t octets = 8; octets <= 32; octets *= 2) {
        struct crypto_case c = {.op = CRYPTO_RANDOM, .octets = octets};

        bench_group(b);
        crypto_add_random(b, &c);
    }
    bench_group(b);
    crypto_add_random(b, &u64);
}

static void declare(struct bench *b)
{
    declare_hmac(b);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(key_lengths); i++) {
        declare_ctr(b, key_lengths[i]);
        declare_gcm(b, key_lengths[i]);
        declare_single_blocks(b, key_lengths[i]);
    }
    declare_single_blocks(b, CHACHA20);
    declare_set_up(b);
    declare_random(b);
}

int main(int argc, char **argv)
{
    if (leat_crypto_start() != 0) {
        fputs("bench_crypto: no provider passes its known answers\n", stderr);
        return 1;
    }
    return bench_main(argc, argv, "crypto", declare);
}
