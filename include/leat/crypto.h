/* SPDX-License-Identifier: MIT */
/**
 * @file  The crypto layer: random numbers, keyed HMAC and AES contexts over a provider chosen at
 * start.
 * @module crypto
 *
 * Contexts are set up once and are const in use: one context may serve several threads at once.
 * Set-up may allocate, an operation never does. Every deinit wipes. A provider's failure is an
 * error for one caller; where a function has no way to say so, the result is unpredictable octets,
 * which match nothing.
 */
#ifndef LEAT_CRYPTO_H
#define LEAT_CRYPTO_H

#include <leat/bytes.h>
#include <leat/error.h>

/* ---- providers ---- */

struct leat_crypto_provider; /* private table: src/crypto/provider.h */

/**
 * Choose the provider of each primitive: known answers must pass (FIPS 197, SP 800-38A, RFC 2202,
 * FIPS 180, RFC 8439, the GCM test cases), then a measurement of some milliseconds on messages of
 * 100 and 1200 octets decides, for one message and for batches apart. A provider that misses an
 * answer is dropped for that primitive with a log line. Call once, before other threads start and
 * before any context is made.
 * @return 0, or LEAT_E_CRYPTO when no provider of some primitive passes (there is no start without
 * it).
 */
int leat_crypto_start(void);

/** How the choice is narrowed. */
struct leat_crypto_options {
    /** The one provider to take for every primitive that it serves, by its name; NULL: no
     * preference. What it does not serve goes to the others. */
    const char *provider;
    /** The highest CPU level that a provider with levels of its own (ipsecmb) may use: "avx512",
     * "avx2", "sse" (with SHA-NI where the CPU has it) or "none"; NULL: the machine's. */
    const char *level;
};

/**
 * leat_crypto_start with options (NULL: none). May be called again while no other thread uses this
 * layer: contexts keep the provider they were set up with, what has none takes the new choice.
 * @return 0, LEAT_E_CRYPTO, or LEAT_E_INVALID for a level that is unknown or a provider that is
 * unknown or does not run here.
 */
int leat_crypto_start_with(const struct leat_crypto_options *options);

/** The names of the providers that run on this machine, the reference provider first. @return NULL
 * past the end. */
const char *leat_crypto_provider_name(size_t i);
/** Its library and version, "mbedTLS 2.28.3" and the like: the one that runs, not the one built
 * against. @return NULL past the end. */
const char *leat_crypto_provider_version(size_t i);

/** One row of the provider table. */
struct leat_crypto_row {
    const char *primitive;  /**< "hmac-sha1", "hmac-sha1-batch", "aes-128-ctr", ... */
    const char *provider;   /**< "mbedtls", "openssl" or "ipsecmb" */
    const char *level;      /**< its CPU level, or NULL */
    double ns_100, ns_1200; /**< a message of so many octets, as measured at start */
};

/** @return false past the end. */
bool leat_crypto_describe(size_t row, struct leat_crypto_row *out);

/* ---- secrets ---- */

/** Overwrite with zeros in a way that the compiler keeps. */
void leat_wipe(void *data, size_t len);
/** Constant-time equality. */
bool leat_equal_ct(const void *a, const void *b, size_t len);

/* ---- random numbers ---- */

#define LEAT_RNG_BLOCK 512

/**
 * A cryptographically secure generator: fast key erasure over AES-256-CTR (each refill makes the
 * next key first and forgets the old), octets wiped as they are read. Good for every purpose,
 * secrets included. Not for two threads at once. One that is seeded from the system takes a new
 * seed every 32 MiB, after five minutes, and in the child after a fork(2).
 */
struct leat_rng {
    uint8_t key[32];
    uint8_t block[LEAT_RNG_BLOCK];
    uint32_t at;         /**< next unread octet of block */
    uint32_t is_seeded;  /**< taken from the system, so seeded again; false in tests */
    uint64_t refills;    /**< since the last seed from the system */
    uint64_t seeded_s;   /**< when, on a clock that never steps */
    uint64_t fork_epoch; /**< the process's fork count when it was seeded */
};

/** Seed from getrandom(2). @return 0 or LEAT_E_IO (no seed, no start: there is no weak fallback).
 */
int leat_rng_init(struct leat_rng *r);
/** A reproducible generator for tests. */
void leat_rng_init_seeded(struct leat_rng *r, const uint8_t seed[static 32]);
void leat_rng_deinit(struct leat_rng *r);
/** The calling thread's own generator, seeded on first use and again after a fork. Aborts only when
 * the kernel gives no seed. */
struct leat_rng *leat_rng_thread(void);
void leat_rng_fill(struct leat_rng *r, void *out, size_t len);
uint32_t leat_rng_u32(struct leat_rng *r);
uint64_t leat_rng_u64(struct leat_rng *r);
/** Uniform in 0..bound-1 without bias; bound > 0. */
uint32_t leat_rng_below(struct leat_rng *r, uint32_t bound);
/** `len` characters of the 64 ICE characters (A-Z a-z 0-9 + /; RFC 8839 5.4), 6 bits each,
 * unterminated. */
void leat_rng_ice_chars(struct leat_rng *r, char *out, size_t len);
/** The shape that mbedTLS asks for: state is a struct leat_rng. @return 0. */
int leat_rng_callback(void *state, unsigned char *out, size_t len);

/* ---- digests ---- */

void leat_sha256(const void *data, size_t len, uint8_t out[static 32]);

/** HMAC-SHA1 (RFC 2104, 2202) with the states after the inner and the outer key block kept. */
struct leat_hmac_sha1 {
    uint32_t inner[5], outer[5];
};

void leat_hmac_sha1_init(struct leat_hmac_sha1 *h, const void *key, size_t key_len);
void leat_hmac_sha1_deinit(struct leat_hmac_sha1 *h);
/** The tag over the parts in order. Re-entrant. */
void leat_hmac_sha1(const struct leat_hmac_sha1 *h, const struct leat_span *parts,
                    size_t part_count, uint8_t out[static 20]);

/** One message of a batch. */
struct leat_hmac_sha1_job {
    const struct leat_hmac_sha1 *h;
    struct leat_span message;
    uint8_t *tag; /**< 20 octets; must not overlap any message of the batch */
};

/** The tags of any number of messages, each under its own key: what leat_hmac_sha1 gives for each,
 * at the cost of a provider that computes several at once. */
void leat_hmac_sha1_batch(const struct leat_hmac_sha1_job *jobs, size_t count);

/* ---- AES ---- */

/**
 * An AES key schedule for encryption; serves CTR and single blocks. Must stay where it was set up:
 * a copied or moved context is not valid (the provider's state may point into itself).
 */
struct leat_aes {
    const struct leat_crypto_provider *provider;
    uint32_t key_len;
    _Alignas(16) uint8_t state[320]; /**< provider's; a build-time check keeps it large enough */
};

/** @param key_len 16 or 32. @return 0, LEAT_E_INVALID or LEAT_E_CRYPTO. */
int leat_aes_init(struct leat_aes *a, const void *key, size_t key_len);
/** A context for leat_aes_ctr_batch, of the provider that is fastest there; serves every call. */
int leat_aes_init_for_batch(struct leat_aes *a, const void *key, size_t key_len);
void leat_aes_deinit(struct leat_aes *a);
/** One block. */
int leat_aes_block(const struct leat_aes *a, const uint8_t in[static 16], uint8_t out[static 16]);
/** CTR with the big-endian counter block `iv` (not changed), whose low 32 bits must not overflow
 * within the message; in == out is fine. @return 0 or LEAT_E_CRYPTO. */
int leat_aes_ctr(const struct leat_aes *a, const uint8_t iv[static 16], const uint8_t *in,
                 size_t len, uint8_t *out);

/** One message of a batch; in == out is fine. */
struct leat_aes_ctr_job {
    const struct leat_aes *aes;
    const uint8_t *in;
    size_t len;
    uint8_t *out;
    uint8_t iv[16];
};

/** leat_aes_ctr over any number of messages. @return 0, or LEAT_E_CRYPTO when any of them failed;
 * then no output of the batch is of use. */
int leat_aes_ctr_batch(const struct leat_aes_ctr_job *jobs, size_t count);

/** AES-GCM with a 96-bit IV and a 128-bit tag (SP 800-38D). Must stay where it was set up, as
 * struct leat_aes. */
struct leat_gcm {
    const struct leat_crypto_provider *provider;
    _Alignas(16) uint8_t state[1280]; /**< provider's, may point at memory of its own */
};

/** @param key_len 16 or 32. @return 0, LEAT_E_INVALID or LEAT_E_CRYPTO. */
int leat_gcm_init(struct leat_gcm *g, const void *key, size_t key_len);
/** A context for leat_gcm_seal_batch, of the provider that is fastest there; serves every call. */
int leat_gcm_init_for_batch(struct leat_gcm *g, const void *key, size_t key_len);
void leat_gcm_deinit(struct leat_gcm *g);
/** in == out is fine. @return 0 or LEAT_E_CRYPTO. */
int leat_gcm_seal(const struct leat_gcm *g, const uint8_t iv[static 12], struct leat_span aad,
                  const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[static 16]);

/** One message of a batch; in == out is fine. */
struct leat_gcm_job {
    const struct leat_gcm *gcm;
    struct leat_span aad;
    const uint8_t *in;
    size_t len;
    uint8_t *out;
    uint8_t *tag; /**< 16 octets */
    uint8_t iv[12];
};

/** leat_gcm_seal over any number of messages. @return 0, or LEAT_E_CRYPTO when any of them failed;
 * then no output of the batch is of use. */
int leat_gcm_seal_batch(const struct leat_gcm_job *jobs, size_t count);
/** @return 0, LEAT_E_INVALID for a wrong tag, or LEAT_E_CRYPTO; out is zeroed on either. in == out
 * is fine. */
int leat_gcm_open(const struct leat_gcm *g, const uint8_t iv[static 12], struct leat_span aad,
                  const uint8_t *in, size_t len, const uint8_t tag[static 16], uint8_t *out);

/* ---- ChaCha20-Poly1305 ---- */

/** The AEAD of RFC 8439 2.8: 256-bit key, 96-bit nonce, 128-bit tag. Must stay where it was set up,
 * as struct leat_aes. */
struct leat_chachapoly {
    const struct leat_crypto_provider *provider;
    _Alignas(16) uint8_t state[256]; /**< provider's, may point at memory of its own */
};

/** @return 0 or LEAT_E_CRYPTO. */
int leat_chachapoly_init(struct leat_chachapoly *c, const uint8_t key[static 32]);
void leat_chachapoly_deinit(struct leat_chachapoly *c);
/** As leat_gcm_seal. */
int leat_chachapoly_seal(const struct leat_chachapoly *c, const uint8_t iv[static 12],
                         struct leat_span aad, const uint8_t *in, size_t len, uint8_t *out,
                         uint8_t tag[static 16]);
/** As leat_gcm_open. */
int leat_chachapoly_open(const struct leat_chachapoly *c, const uint8_t iv[static 12],
                         struct leat_span aad, const uint8_t *in, size_t len,
                         const uint8_t tag[static 16], uint8_t *out);

#endif
