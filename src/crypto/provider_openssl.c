/* SPDX-License-Identifier: MIT */
/*
 * The provider over OpenSSL's libcrypto 3.x: the fast choice where intel-ipsec-mb does not exist.
 *
 * SHA-1 and SHA-256 go through the low-level functions, which are deprecated but keep their
 * chaining words in sight and take the CPU's SHA extensions by themselves; ciphers go through EVP.
 *
 * An EVP context is written while it is used, and ours are shared by threads. So each is used under
 * a flag that is never waited for: whoever finds it taken works with a context of its own, keyed
 * anew from a copy of the key. A context that has one user, which is the rule, pays one exchange;
 * only the other case allocates.
 *
 * Errors of the library leave entries in the thread's queue; whoever fails empties it.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/sha.h>

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "provider.h"

/* A keyed EVP context and who is in it. */
struct keyed {
    EVP_CIPHER_CTX *ctx;
    const EVP_CIPHER *type;
    atomic_flag is_taken;
    uint8_t key[32];
};

struct aes_state {
    struct keyed ctr, block;
};

struct aead_state {
    struct keyed cipher;
};

static_assert(sizeof(struct aes_state) <= sizeof(((struct leat_aes *)0)->state),
              "struct leat_aes has no room for OpenSSL");
static_assert(sizeof(struct aead_state) <= sizeof(((struct leat_gcm *)0)->state),
              "struct leat_gcm has no room for OpenSSL");
static_assert(sizeof(struct aead_state) <= sizeof(((struct leat_chachapoly *)0)->state),
              "struct leat_chachapoly has no room for OpenSSL");
static_assert(sizeof(SHA_CTX) <= LEAT_CRYPTO_SHA1_STATE_MAX, "no room for OpenSSL's SHA-1");

enum cipher { CTR_128, CTR_256, ECB_128, ECB_256, GCM_128, GCM_256, CHACHAPOLY, CIPHERS };

/* Fetched once, before threads start. */
static EVP_CIPHER *ciphers[CIPHERS];
static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static pthread_key_t stream_key;
static bool is_usable;

/* ---- the library ---- */

static void free_stream(void *ctx)
{
    EVP_CIPHER_CTX_free(ctx);
}

static void load(void)
{
    static const char *const names[CIPHERS] = {
        [CTR_128] = "AES-128-CTR",         [CTR_256] = "AES-256-CTR", [ECB_128] = "AES-128-ECB",
        [ECB_256] = "AES-256-ECB",         [GCM_128] = "AES-128-GCM", [GCM_256] = "AES-256-GCM",
        [CHACHAPOLY] = "ChaCha20-Poly1305"};

    /* Neither does a configuration file of the machine change what runs, nor does an exit take the
     * library away from threads that are still at work. */
    if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL) != 1) {
        return;
    }
    for (size_t i = 0; i < CIPHERS; i++) {
        ciphers[i] = EVP_CIPHER_fetch(NULL, names[i], NULL);
        if (ciphers[i] == NULL) {
            ERR_clear_error();
            return;
        }
    }
    is_usable = pthread_key_create(&stream_key, free_stream) == 0;
}

static bool is_available(const struct leat_crypto_provider *self)
{
    (void)self;
    pthread_once(&load_once, load);
    return is_usable;
}

static void version(char *out, size_t cap)
{
    snprintf(out, cap, "OpenSSL %s", OpenSSL_version(OPENSSL_VERSION_STRING));
}

static int failure(void)
{
    ERR_clear_error();
    return LEAT_E_CRYPTO;
}

/* ---- digests ---- */

static int sha256(const void *data, size_t len, uint8_t out[static 32])
{
    SHA256_CTX c;
    bool is_done =
        SHA256_Init(&c) == 1 && SHA256_Update(&c, data, len) == 1 && SHA256_Final(out, &c) == 1;
    return is_done ? 0 : failure();
}

static int sha1_begin(void *state)
{
    return SHA1_Init(state) == 1 ? 0 : failure();
}

static void sha1_keep(const void *state, uint32_t words[static 5])
{
    const SHA_CTX *c = state;
    words[0] = c->h0;
    words[1] = c->h1;
    words[2] = c->h2;
    words[3] = c->h3;
    words[4] = c->h4;
}

static void sha1_resume(void *state, const uint32_t words[static 5])
{
    SHA_CTX *c = state;
    c->h0 = words[0];
    c->h1 = words[1];
    c->h2 = words[2];
    c->h3 = words[3];
    c->h4 = words[4];
    c->Nl = 64 * 8; /* bits so far: the key block */
    c->Nh = 0;
    c->num = 0;
}

static int sha1_update(void *state, const void *data, size_t len)
{
    return SHA1_Update(state, data, len) == 1 ? 0 : failure();
}

static int sha1_end(void *state, uint8_t out[static 20])
{
    return SHA1_Final(out, state) == 1 ? 0 : failure();
}

/* ---- keyed contexts ---- */

static EVP_CIPHER_CTX *new_context(const EVP_CIPHER *type, const uint8_t *key)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    if (ctx != NULL && (EVP_EncryptInit_ex(ctx, type, NULL, key, NULL) != 1 ||
                        EVP_CIPHER_CTX_set_padding(ctx, 0) != 1)) {
        EVP_CIPHER_CTX_free(ctx);
        ctx = NULL;
    }
    return ctx;
}

static int keyed_init(struct keyed *k, const EVP_CIPHER *type, const uint8_t *key, size_t key_len)
{
    atomic_flag_clear(&k->is_taken);
    k->type = type;
    memcpy(k->key, key, key_len);
    k->ctx = new_context(type, key);
    return k->ctx != NULL ? 0 : failure();
}

/* The library wipes what it frees; the caller wipes the rest. */
static void keyed_deinit(struct keyed *k)
{
    EVP_CIPHER_CTX_free(k->ctx);
}

/* @return NULL when there is no memory for a second one. */
static EVP_CIPHER_CTX *borrow(struct keyed *k)
{
    return atomic_flag_test_and_set_explicit(&k->is_taken, memory_order_acquire)
               ? new_context(k->type, k->key)
               : k->ctx;
}

static void give_back(struct keyed *k, EVP_CIPHER_CTX *ctx)
{
    if (ctx == k->ctx) {
        atomic_flag_clear_explicit(&k->is_taken, memory_order_release);
    } else {
        EVP_CIPHER_CTX_free(ctx);
    }
}

/* ---- AES ---- */

static int aes_init(const struct leat_crypto_provider *self, void *state, const uint8_t *key,
                    size_t key_len)
{
    struct aes_state *a = state;
    bool is_short = key_len == 16;
    int error;

    (void)self;
    error = keyed_init(&a->ctr, ciphers[is_short ? CTR_128 : CTR_256], key, key_len);
    if (error == 0) {
        error = keyed_init(&a->block, ciphers[is_short ? ECB_128 : ECB_256], key, key_len);
        if (error != 0) {
            keyed_deinit(&a->ctr);
        }
    }
    return error;
}

static void aes_deinit(void *state)
{
    struct aes_state *a = state;
    keyed_deinit(&a->ctr);
    keyed_deinit(&a->block);
}

/* The casts: a context is shared, const for its users, and guarded by its flag. */
static int aes_block(const void *state, const uint8_t in[static 16], uint8_t out[static 16])
{
    struct keyed *k = &((struct aes_state *)state)->block;
    EVP_CIPHER_CTX *ctx = borrow(k);
    int len;
    bool is_done = ctx != NULL && EVP_EncryptUpdate(ctx, out, &len, in, 16) == 1;
    give_back(k, ctx);
    return is_done ? 0 : failure();
}

static int aes_ctr(const void *state, const uint8_t iv[static 16], const uint8_t *in, size_t len,
                   uint8_t *out)
{
    struct keyed *k = &((struct aes_state *)state)->ctr;
    int written;
    if (len == 0) {
        return 0;
    }
    if (len > INT_MAX) {
        return LEAT_E_CRYPTO;
    }
    EVP_CIPHER_CTX *ctx = borrow(k);
    bool is_done = ctx != NULL && EVP_EncryptInit_ex(ctx, NULL, NULL, NULL, iv) == 1 &&
                   EVP_EncryptUpdate(ctx, out, &written, in, (int)len) == 1;
    give_back(k, ctx);
    return is_done ? 0 : failure();
}

/* ---- AEADs ---- */

static int gcm_init(const struct leat_crypto_provider *self, void *state, const uint8_t *key,
                    size_t key_len)
{
    struct aead_state *a = state;
    (void)self;
    return keyed_init(&a->cipher, ciphers[key_len == 16 ? GCM_128 : GCM_256], key, key_len);
}

static int chachapoly_init(const struct leat_crypto_provider *self, void *state,
                           const uint8_t key[static 32])
{
    struct aead_state *a = state;
    (void)self;
    return keyed_init(&a->cipher, ciphers[CHACHAPOLY], key, 32);
}

static void aead_deinit(void *state)
{
    keyed_deinit(&((struct aead_state *)state)->cipher);
}

/* All that stands before the tag. Nothing is fed where nothing is: a NULL would mean something
 * else. */
static bool run(EVP_CIPHER_CTX *ctx, bool is_seal, const uint8_t iv[static 12],
                struct leat_span aad, const uint8_t *in, size_t len, uint8_t *out)
{
    int written;
    return ctx != NULL && len <= INT_MAX && aad.len <= INT_MAX &&
           EVP_CipherInit_ex(ctx, NULL, NULL, NULL, iv, is_seal) == 1 &&
           (aad.len == 0 || EVP_CipherUpdate(ctx, NULL, &written, aad.data, (int)aad.len) == 1) &&
           (len == 0 || EVP_CipherUpdate(ctx, out, &written, in, (int)len) == 1);
}

/* As parameters: EVP_CIPHER_CTX_ctrl makes the same of its arguments, and with 3.0 its detour is a
 * tenth of a short message. */
static bool get_tag(EVP_CIPHER_CTX *ctx, uint8_t tag[static 16])
{
    OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, 16),
                           OSSL_PARAM_construct_end()};
    return EVP_CIPHER_CTX_get_params(ctx, params) == 1;
}

static bool set_tag(EVP_CIPHER_CTX *ctx, const uint8_t tag[static 16])
{
    uint8_t expected[16]; /* the parameter takes it without const */
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, expected, 16),
        OSSL_PARAM_construct_end()};
    memcpy(expected, tag, sizeof(expected));
    return EVP_CIPHER_CTX_set_params(ctx, params) == 1;
}

static int aead_seal(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                     const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[static 16])
{
    struct keyed *k = &((struct aead_state *)state)->cipher;
    EVP_CIPHER_CTX *ctx = borrow(k);
    uint8_t nothing[16];
    int written;
    bool is_done = run(ctx, true, iv, aad, in, len, out) &&
                   EVP_CipherFinal_ex(ctx, nothing, &written) == 1 && get_tag(ctx, tag);
    give_back(k, ctx);
    return is_done ? 0 : failure();
}

static int aead_open(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                     const uint8_t *in, size_t len, const uint8_t tag[static 16], uint8_t *out)
{
    struct keyed *k = &((struct aead_state *)state)->cipher;
    EVP_CIPHER_CTX *ctx = borrow(k);
    uint8_t nothing[16];
    int written, error = 0;

    if (!run(ctx, false, iv, aad, in, len, out) || !set_tag(ctx, tag)) {
        error = failure();
    } else if (EVP_CipherFinal_ex(ctx, nothing, &written) != 1) {
        ERR_clear_error();
        error = LEAT_E_INVALID;
    }
    give_back(k, ctx);
    return error;
}

/* ---- the random generator's ---- */

/* The calling thread's context, made on its first call. */
static EVP_CIPHER_CTX *stream_context(void)
{
    EVP_CIPHER_CTX *ctx = pthread_getspecific(stream_key);
    if (ctx == NULL) {
        static const uint8_t zeros[32];
        ctx = new_context(ciphers[CTR_256], zeros);
        if (ctx != NULL && pthread_setspecific(stream_key, ctx) != 0) {
            EVP_CIPHER_CTX_free(ctx);
            ctx = NULL;
        }
    }
    return ctx;
}

/* Afterwards the context holds the key schedule of zeros: the one that was used is overwritten. */
static int key_stream(const struct leat_crypto_provider *self, const uint8_t key[static 32],
                      uint8_t *out, size_t len)
{
    static const uint8_t zeros[32];
    EVP_CIPHER_CTX *ctx = stream_context();
    int written;

    (void)self;
    if (ctx == NULL || len > INT_MAX) {
        return failure();
    }
    memset(out, 0, len);
    bool is_done = EVP_EncryptInit_ex(ctx, NULL, NULL, key, zeros) == 1 &&
                   EVP_EncryptUpdate(ctx, out, &written, out, (int)len) == 1;
    bool is_forgotten = EVP_EncryptInit_ex(ctx, NULL, NULL, zeros, zeros) == 1;
    return is_done && is_forgotten ? 0 : failure();
}

const struct leat_crypto_provider leat__crypto_openssl = {
    .name = "openssl",
    .is_available = is_available,
    .version = version,
    .sha256 = sha256,
    .sha1 = {sizeof(SHA_CTX), sha1_begin, sha1_keep, sha1_resume, sha1_update, sha1_end},
    .aes = {.state_size = sizeof(struct aes_state),
            .init = aes_init,
            .deinit = aes_deinit,
            .block = aes_block,
            .ctr = aes_ctr},
    .gcm = {.state_size = sizeof(struct aead_state),
            .init = gcm_init,
            .deinit = aead_deinit,
            .seal = aead_seal,
            .open = aead_open},
    .chachapoly = {.state_size = sizeof(struct aead_state),
                   .init = chachapoly_init,
                   .deinit = aead_deinit,
                   .seal = aead_seal,
                   .open = aead_open},
    .key_stream = key_stream,
};
