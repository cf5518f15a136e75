/* SPDX-License-Identifier: MIT */
/*
 * What a library must offer to serve as a crypto provider, and how the providers in use are chosen.
 *
 * A provider is one file `provider_<name>.c` with one const table (or one a CPU level), listed in
 * the array `built_in` of provider.c. A primitive that it does not serve has NULL functions and is
 * served by another one, so a composite of several libraries needs no code. `state` is the caller's
 * memory, aligned to 16 octets, zeroed before an init and wiped after a deinit; it is never moved
 * between the two.
 */
#ifndef LEAT_CRYPTO_PROVIDER_H
#define LEAT_CRYPTO_PROVIDER_H

#include <leat/crypto.h>

/* The *_BATCH are choices of their own: who is fastest for one message need not be for sixteen. */
enum leat_crypto_primitive {
    LEAT_CRYPTO_SHA256,
    LEAT_CRYPTO_HMAC_SHA1,
    LEAT_CRYPTO_HMAC_SHA1_BATCH,
    LEAT_CRYPTO_AES_128_CTR, /* and single blocks */
    LEAT_CRYPTO_AES_128_CTR_BATCH,
    LEAT_CRYPTO_AES_256_CTR, /* and single blocks */
    LEAT_CRYPTO_AES_256_CTR_BATCH,
    LEAT_CRYPTO_AES_128_GCM,
    LEAT_CRYPTO_AES_128_GCM_BATCH,
    LEAT_CRYPTO_AES_256_GCM,
    LEAT_CRYPTO_AES_256_GCM_BATCH,
    LEAT_CRYPTO_CHACHA20_POLY1305,
    LEAT_CRYPTO_KEY_STREAM /* what the random generator refills from */
};
#define LEAT_CRYPTO_PRIMITIVE_COUNT 13

/* The most messages that a provider's batch function is given at once. */
#define LEAT_CRYPTO_BATCH_MAX 64

/* Where a level of a provider is not one of the CPU's, or before the CPU was asked. */
enum leat_crypto_level {
    LEAT_CRYPTO_LEVEL_NONE, /* no vector instructions, or the library decides */
    LEAT_CRYPTO_LEVEL_SSE,
    LEAT_CRYPTO_LEVEL_AVX2,
    LEAT_CRYPTO_LEVEL_AVX512
};

struct leat_crypto_provider;

/** SHA-1 that can stop at a block boundary and go on from there: what HMAC with kept states needs.
 */
struct leat_crypto_sha1 {
    size_t state_size; /* at most LEAT_CRYPTO_SHA1_STATE_MAX */
    int (*begin)(void *state);
    /** The chaining words, after a whole number of blocks. */
    void (*keep)(const void *state, uint32_t words[static 5]);
    /** Go on from words kept after one block. */
    void (*resume)(void *state, const uint32_t words[static 5]);
    int (*update)(void *state, const void *data, size_t len);
    int (*end)(void *state, uint8_t out[static 20]);
};
#define LEAT_CRYPTO_SHA1_STATE_MAX 128

/** HMAC-SHA1 over kept words, for a provider that has no SHA-1 in pieces, or is faster at once.
 * Kept words are the same for every provider. */
struct leat_crypto_hmac_sha1 {
    /** NULL: made from the SHA-1 above. */
    int (*tag)(const struct leat_crypto_provider *self, const struct leat_hmac_sha1 *h,
               const struct leat_span *parts, size_t part_count, uint8_t out[static 20]);
    /** 1 to LEAT_CRYPTO_BATCH_MAX messages; NULL: one after the other. */
    int (*batch)(const struct leat_crypto_provider *self, const struct leat_hmac_sha1_job *jobs,
                 size_t count);
};

struct leat_crypto_aes {
    size_t state_size; /* at most the room in struct leat_aes */
    int (*init)(const struct leat_crypto_provider *self, void *state, const uint8_t *key,
                size_t key_len);
    void (*deinit)(void *state);
    int (*block)(const void *state, const uint8_t in[static 16], uint8_t out[static 16]);
    int (*ctr)(const void *state, const uint8_t iv[static 16], const uint8_t *in, size_t len,
               uint8_t *out);
    /** 1 to LEAT_CRYPTO_BATCH_MAX messages, all under contexts of this provider and of one key
     * length; NULL: one after the other. */
    int (*ctr_batch)(const struct leat_crypto_provider *self, const struct leat_aes_ctr_job *jobs,
                     size_t count);
};

struct leat_crypto_gcm {
    size_t state_size; /* at most the room in struct leat_gcm */
    int (*init)(const struct leat_crypto_provider *self, void *state, const uint8_t *key,
                size_t key_len);
    void (*deinit)(void *state);
    int (*seal)(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[static 16]);
    /** LEAT_E_INVALID for a wrong tag; the caller zeroes `out`. */
    int (*open)(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                const uint8_t *in, size_t len, const uint8_t tag[static 16], uint8_t *out);
    /** 1 to LEAT_CRYPTO_BATCH_MAX messages, all under contexts of this provider; NULL: one after
     * the other. */
    int (*seal_batch)(const struct leat_crypto_provider *self, const struct leat_gcm_job *jobs,
                      size_t count);
};

struct leat_crypto_chachapoly {
    size_t state_size; /* at most the room in struct leat_chachapoly */
    int (*init)(const struct leat_crypto_provider *self, void *state, const uint8_t key[static 32]);
    void (*deinit)(void *state);
    int (*seal)(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[static 16]);
    /** As open of GCM. */
    int (*open)(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                const uint8_t *in, size_t len, const uint8_t tag[static 16], uint8_t *out);
};

/** Operations return 0 or LEAT_E_CRYPTO, and where said LEAT_E_INVALID. They do not allocate,
 * except for what a thread's first operation makes for that thread; an init may. */
struct leat_crypto_provider {
    const char *name;
    enum leat_crypto_level level;
    /** Is the library there, of a version that fits, and does the CPU have the level? Loads the
     * library. Called by one thread before any other function of the table; may be called again.
     * NULL: always. */
    bool (*is_available)(const struct leat_crypto_provider *self);
    /** Name and version of the library that runs. */
    void (*version)(char *out, size_t cap);
    int (*sha256)(const void *data, size_t len, uint8_t out[static 32]);
    struct leat_crypto_sha1 sha1;
    struct leat_crypto_hmac_sha1 hmac_sha1;
    struct leat_crypto_aes aes;
    struct leat_crypto_gcm gcm;
    struct leat_crypto_chachapoly chachapoly;
    /** AES-256-CTR over zeros from counter 0, under a key that serves this once and stays nowhere.
     */
    int (*key_stream)(const struct leat_crypto_provider *self, const uint8_t key[static 32],
                      uint8_t *out, size_t len);
};

extern const struct leat_crypto_provider leat__crypto_mbedtls;
#ifdef LEAT_HAVE_OPENSSL
extern const struct leat_crypto_provider leat__crypto_openssl;
#endif
#ifdef LEAT_HAVE_IPSECMB
extern const struct leat_crypto_provider leat__crypto_ipsecmb_sse, leat__crypto_ipsecmb_avx2,
    leat__crypto_ipsecmb_avx512;
#endif

/** Nanoseconds a message of 100 and of 1200 octets, in batches of 16 where the primitive is a
 * batch; alone: a batch of one message of 1200 octets, hmac-sha1-batch only. */
struct leat_crypto_cost {
    double ns_100, ns_1200, ns_alone;
};

/** Has the provider functions for the primitive? */
bool leat__crypto_provider_serves(const struct leat_crypto_provider *p,
                                  enum leat_crypto_primitive primitive);
/** Does it serve the primitive, and do its known answers pass? */
bool leat__crypto_provider_passes(const struct leat_crypto_provider *p,
                                  enum leat_crypto_primitive primitive);
/** Take one more sample: lower the costs (0: none yet) to what it shows. Some 30 us where the
 * operation is quick. @return false when an operation failed. */
bool leat__crypto_sample(const struct leat_crypto_provider *p, enum leat_crypto_primitive primitive,
                         struct leat_crypto_cost *cost);
/** May the provider serve the primitive, and at what cost? */
typedef bool leat__crypto_examine_fn(const struct leat_crypto_provider *p,
                                     enum leat_crypto_primitive primitive,
                                     struct leat_crypto_cost *cost);
/** By known answers and one sample. */
leat__crypto_examine_fn leat__crypto_examine;
/**
 * Take for each primitive the cheapest of these providers that may serve it; of those named
 * `wanted` when one may. Of two that cost about the same the first.
 * @param wanted NULL: no preference
 * @return 0, or LEAT_E_CRYPTO with the choice unchanged when some primitive has none.
 */
int leat__crypto_choose(const struct leat_crypto_provider *const *providers, size_t count,
                        const char *wanted, leat__crypto_examine_fn *examine);
/** How many HMACs must be wanted for the batch provider to be the faster one. */
size_t leat__crypto_hmac_batch_from(void);
/** The provider in use; before any choice it is the reference provider. Never NULL. */
const struct leat_crypto_provider *leat__crypto_provider(enum leat_crypto_primitive primitive);

/* The public operations with the provider given instead of chosen. */
int leat__hmac_sha1(const struct leat_crypto_provider *p, const struct leat_hmac_sha1 *h,
                    const struct leat_span *parts, size_t part_count, uint8_t out[static 20]);
int leat__hmac_sha1_batch(const struct leat_crypto_provider *p,
                          const struct leat_hmac_sha1_job *jobs, size_t count);
int leat__aes_init(const struct leat_crypto_provider *p, struct leat_aes *a, const void *key,
                   size_t key_len);
int leat__gcm_init(const struct leat_crypto_provider *p, struct leat_gcm *g, const void *key,
                   size_t key_len);
int leat__chachapoly_init(const struct leat_crypto_provider *p, struct leat_chachapoly *c,
                          const uint8_t key[static 32]);

#endif
