/* SPDX-License-Identifier: MIT */
/**
 * @file  Rows of bench_crypto: each function adds the rows of one kind of caller for one operation,
 * so that bench_crypto.c puts everything comparable in one group.
 */
#ifndef LEAT_BENCH_CRYPTO_ROWS_H
#define LEAT_BENCH_CRYPTO_ROWS_H

#include "bench.h"

enum crypto_op {
    CRYPTO_HMAC_SHA1, /**< the key prepared beforehand */
    CRYPTO_HMAC_SHA1_KEY_PER_CALL,
    CRYPTO_CTR,
    CRYPTO_GCM_SEAL,
    CRYPTO_GCM_OPEN,
    CRYPTO_BLOCK,
    CRYPTO_MASK, /**< 16 octets of sample to 5 of mask, the key prepared beforehand */
    CRYPTO_MASK_KEY_PER_CALL,
    CRYPTO_SET_UP_HMAC_SHA1,
    CRYPTO_SET_UP_AES,
    CRYPTO_SET_UP_GCM,
    CRYPTO_RANDOM,
    CRYPTO_RANDOM_U64
};

#define CHACHA20 0 /* in place of an AES key's length */
#define CRYPTO_OCTETS_MAX 1500
#define CRYPTO_BATCH_MAX 64
#define CRYPTO_STRIDE 1536 /* octets from a message's buffer to the next one's */

/** One operation: what all rows of a group have in common. */
struct crypto_case {
    enum crypto_op op;
    size_t key_len; /**< 16 or 32 of AES, or CHACHA20 */
    size_t octets;  /**< 0: the operation has but one length */
    size_t batch;   /**< 0: a call for each message */
};

#define CRYPTO_AUTO "auto" /* the provider that the layer takes by itself */

/** Make a provider and level (NULL: the machine's) of our layer the chosen ones, if they are not.
 * Texts are compared by their addresses. */
bool crypto_choose(const char *provider, const char *level);

/** The key of a row, without provider and level. */
struct bench_key crypto_key(const struct crypto_case *c);

/** Our own layer: a row for each provider that serves the operation, for the automatic choice, and
 * for the CPU levels of a provider that has such. */
void crypto_add_ours(struct bench *b, const struct crypto_case *c);
/** Plain calls of mbedTLS and of libcrypto, and intel-ipsec-mb by itself. Nothing where the library
 * has no such call. */
void crypto_add_mbedtls(struct bench *b, const struct crypto_case *c);
void crypto_add_openssl(struct bench *b, const struct crypto_case *c);
void crypto_add_raw(struct bench *b, const struct crypto_case *c);
/** Generators of random numbers, the kernel's included. */
void crypto_add_random(struct bench *b, const struct crypto_case *c);

#endif
