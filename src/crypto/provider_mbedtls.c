/* SPDX-License-Identifier: MIT */
/*
 * The reference provider: mbedTLS 2.28 and 3.x, which uses AES-NI and PCLMUL by itself where the
 * machine has them.
 *
 * mbedTLS writes into several contexts while it uses them, and ours are shared by threads:
 *   AES  the context is only read by an encryption as long as it stays where its key was set (2.28
 * holds a pointer into itself; 3.x realigns a context that has moved), hence one cast and the rule
 * not to move it. GCM  the running values sit beside the tables, so each operation works on a copy
 * on the stack, for ChaCha20-Poly1305 too. The copy shares the block cipher's heap context with the
 * original, which single blocks only read; where a build of 3.x has that context by value (no
 * MBEDTLS_CIPHER_C), the copy holds its own. SHA-1 contexts are never shared: what is kept is the
 * five chaining words.
 */
#define MBEDTLS_ALLOW_PRIVATE_ACCESS /* 3.x: the chaining words of SHA-1 */
#include <mbedtls/aes.h>
#include <mbedtls/chachapoly.h>
#include <mbedtls/gcm.h>
#include <mbedtls/sha1.h>
#include <mbedtls/sha256.h>
#include <mbedtls/version.h>

#include <assert.h>
#include <stdio.h>

#include "provider.h"

#if MBEDTLS_VERSION_NUMBER < 0x03000000
/* 2.28 keeps the plain names for functions that cannot report a failure. */
#define mbedtls_sha1_starts mbedtls_sha1_starts_ret
#define mbedtls_sha1_update mbedtls_sha1_update_ret
#define mbedtls_sha1_finish mbedtls_sha1_finish_ret
#define mbedtls_sha256 mbedtls_sha256_ret
#endif

static_assert(sizeof(mbedtls_sha1_context) <= LEAT_CRYPTO_SHA1_STATE_MAX,
              "no room for the SHA-1 state of mbedTLS");
static_assert(sizeof(mbedtls_aes_context) <= sizeof(((struct leat_aes *)0)->state),
              "struct leat_aes has no room for mbedTLS");
static_assert(sizeof(mbedtls_gcm_context) <= sizeof(((struct leat_gcm *)0)->state),
              "struct leat_gcm has no room for mbedTLS");
static_assert(sizeof(mbedtls_chachapoly_context) <= sizeof(((struct leat_chachapoly *)0)->state),
              "struct leat_chachapoly has no room for mbedTLS");

static int outcome(int mbedtls_error)
{
    return mbedtls_error == 0 ? 0 : LEAT_E_CRYPTO;
}

static void version(char *out, size_t cap)
{
    unsigned v = mbedtls_version_get_number(); /* of the library that runs: 0xMMNNPP00 */
    snprintf(out, cap, "mbedTLS %u.%u.%u", v >> 24, (v >> 16) & 0xff, (v >> 8) & 0xff);
}

static int sha256(const void *data, size_t len, uint8_t out[static 32])
{
    return outcome(mbedtls_sha256(data, len, out, 0));
}

static int sha1_begin(void *state)
{
    mbedtls_sha1_init(state);
    return outcome(mbedtls_sha1_starts(state));
}

static void sha1_keep(const void *state, uint32_t words[static 5])
{
    const mbedtls_sha1_context *c = state;
    memcpy(words, c->state, sizeof(c->state));
}

static void sha1_resume(void *state, const uint32_t words[static 5])
{
    mbedtls_sha1_context *c = state;
    mbedtls_sha1_init(c);
    memcpy(c->state, words, sizeof(c->state));
    c->total[0] = 64; /* octets so far: the key block */
}

static int sha1_update(void *state, const void *data, size_t len)
{
    return outcome(mbedtls_sha1_update(state, data, len));
}

static int sha1_end(void *state, uint8_t out[static 20])
{
    return outcome(mbedtls_sha1_finish(state, out));
}

static int aes_init(const struct leat_crypto_provider *self, void *state, const uint8_t *key,
                    size_t key_len)
{
    (void)self;
    mbedtls_aes_init(state);
    return outcome(mbedtls_aes_setkey_enc(state, key, (unsigned)key_len * 8));
}

static void aes_deinit(void *state)
{
    mbedtls_aes_free(state);
}

static int aes_block(const void *state, const uint8_t in[static 16], uint8_t out[static 16])
{
    /* The one cast: see the top of this file why a context in place is only read. */
    return outcome(
        mbedtls_aes_crypt_ecb((mbedtls_aes_context *)state, MBEDTLS_AES_ENCRYPT, in, out));
}

static void counter_add_one(uint8_t counter[static 16])
{
    for (size_t i = 16; i > 0; i--) {
        if (++counter[i - 1] != 0) {
            return;
        }
    }
}

/* Eight octets at a time: mbedtls_aes_crypt_ctr takes one at a time and 1.7 times as long for a
 * packet. */
static void xor_block(const uint8_t *in, const uint8_t key_stream[static 16], uint8_t *out)
{
    uint64_t a[2], b[2];
    memcpy(a, in, sizeof(a));
    memcpy(b, key_stream, sizeof(b));
    a[0] ^= b[0];
    a[1] ^= b[1];
    memcpy(out, a, sizeof(a));
}

static int aes_ctr(const void *state, const uint8_t iv[static 16], const uint8_t *in, size_t len,
                   uint8_t *out)
{
    uint8_t counter[16], key_stream[16];
    int error = 0;

    memcpy(counter, iv, sizeof(counter));
    while (len > 0 && error == 0) {
        size_t n = len < 16 ? len : 16;
        error = aes_block(state, counter, key_stream);
        counter_add_one(counter);
        if (n == 16) {
            xor_block(in, key_stream, out);
        } else {
            for (size_t i = 0; i < n; i++) {
                out[i] = in[i] ^ key_stream[i];
            }
        }
        in += n;
        out += n;
        len -= n;
    }
    leat_wipe(key_stream, sizeof(key_stream));
    return error;
}

static int gcm_init(const struct leat_crypto_provider *self, void *state, const uint8_t *key,
                    size_t key_len)
{
    (void)self;
    mbedtls_gcm_init(state);
    int error = mbedtls_gcm_setkey(state, MBEDTLS_CIPHER_ID_AES, key, (unsigned)key_len * 8);
    if (error != 0) {
        mbedtls_gcm_free(state);
    }
    return outcome(error);
}

static void gcm_deinit(void *state)
{
    mbedtls_gcm_free(state);
}

static int gcm_seal(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                    const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[static 16])
{
    mbedtls_gcm_context running = *(const mbedtls_gcm_context *)state;
    int error = mbedtls_gcm_crypt_and_tag(&running, MBEDTLS_GCM_ENCRYPT, len, iv, 12, aad.data,
                                          aad.len, in, out, 16, tag);
    leat_wipe(&running, sizeof(running)); /* not freed: the heap context is the original's */
    return outcome(error);
}

static int gcm_open(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                    const uint8_t *in, size_t len, const uint8_t tag[static 16], uint8_t *out)
{
    mbedtls_gcm_context running = *(const mbedtls_gcm_context *)state;
    int error =
        mbedtls_gcm_auth_decrypt(&running, len, iv, 12, aad.data, aad.len, tag, 16, in, out);
    leat_wipe(&running, sizeof(running));
    return error == MBEDTLS_ERR_GCM_AUTH_FAILED ? LEAT_E_INVALID : outcome(error);
}

static int chachapoly_init(const struct leat_crypto_provider *self, void *state,
                           const uint8_t key[static 32])
{
    (void)self;
    mbedtls_chachapoly_init(state);
    return outcome(mbedtls_chachapoly_setkey(state, key));
}

static void chachapoly_deinit(void *state)
{
    mbedtls_chachapoly_free(state);
}

static int chachapoly_seal(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                           const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[static 16])
{
    mbedtls_chachapoly_context running = *(const mbedtls_chachapoly_context *)state;
    int error =
        mbedtls_chachapoly_encrypt_and_tag(&running, len, iv, aad.data, aad.len, in, out, tag);
    leat_wipe(&running, sizeof(running));
    return outcome(error);
}

static int chachapoly_open(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                           const uint8_t *in, size_t len, const uint8_t tag[static 16],
                           uint8_t *out)
{
    mbedtls_chachapoly_context running = *(const mbedtls_chachapoly_context *)state;
    int error = mbedtls_chachapoly_auth_decrypt(&running, len, iv, aad.data, aad.len, tag, in, out);
    leat_wipe(&running, sizeof(running));
    return error == MBEDTLS_ERR_CHACHAPOLY_AUTH_FAILED ? LEAT_E_INVALID : outcome(error);
}

/* The reference for the random generator: no heap, so it cannot fail for want of memory. */
static int key_stream(const struct leat_crypto_provider *self, const uint8_t key[static 32],
                      uint8_t *out, size_t len)
{
    static const uint8_t counter[16];
    mbedtls_aes_context aes;
    int error = aes_init(self, &aes, key, 32);
    if (error == 0) {
        memset(out, 0, len);
        error = aes_ctr(&aes, counter, out, len, out);
    }
    aes_deinit(&aes);
    return error;
}

const struct leat_crypto_provider leat__crypto_mbedtls = {
    .name = "mbedtls",
    .version = version,
    .sha256 = sha256,
    .sha1 = {sizeof(mbedtls_sha1_context), sha1_begin, sha1_keep, sha1_resume, sha1_update,
             sha1_end},
    .aes = {.state_size = sizeof(mbedtls_aes_context),
            .init = aes_init,
            .deinit = aes_deinit,
            .block = aes_block,
            .ctr = aes_ctr},
    .gcm = {.state_size = sizeof(mbedtls_gcm_context),
            .init = gcm_init,
            .deinit = gcm_deinit,
            .seal = gcm_seal,
            .open = gcm_open},
    .chachapoly = {.state_size = sizeof(mbedtls_chachapoly_context),
                   .init = chachapoly_init,
                   .deinit = chachapoly_deinit,
                   .seal = chachapoly_seal,
                   .open = chachapoly_open},
    .key_stream = key_stream,
};
