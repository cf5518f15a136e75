/* SPDX-License-Identifier: MIT */
/* Rows of plain libcrypto calls, as a program would make them that has no layer of its own. */
#include "crypto_rows.h"

#ifndef BENCH_OPENSSL

void crypto_add_openssl(struct bench *b, const struct crypto_case *c)
{
    (void)b;
    (void)c;
}

#else

#include <stdlib.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>

struct spec {
    struct crypto_case c;
    struct state *state;
};

struct state {
    EVP_MAC *mac;
    EVP_MAC_CTX *hmac;
    EVP_CIPHER_CTX *cipher, *opener;
    const EVP_CIPHER *type;
    uint8_t key[32], iv[16], in[CRYPTO_OCTETS_MAX], out[CRYPTO_OCTETS_MAX + 16], tag[20];
    uint8_t sealed[CRYPTO_OCTETS_MAX + 16], sealed_tag[16];
};

static const EVP_CIPHER *type_of(const struct crypto_case *c)
{
    bool is_short = c->key_len == 16;

    switch (c->op) {
    case CRYPTO_CTR:
        return is_short ? EVP_aes_128_ctr() : EVP_aes_256_ctr();
    case CRYPTO_GCM_SEAL:
    case CRYPTO_GCM_OPEN:
        return is_short ? EVP_aes_128_gcm() : EVP_aes_256_gcm();
    default:
        if (c->key_len == CHACHA20) {
            return EVP_chacha20();
        }
        return is_short ? EVP_aes_128_ecb() : EVP_aes_256_ecb();
    }
}

static void take_down(void *context)
{
    struct spec *s = context;

    EVP_MAC_CTX_free(s->state->hmac);
    EVP_MAC_free(s->state->mac);
    EVP_CIPHER_CTX_free(s->state->cipher);
    EVP_CIPHER_CTX_free(s->state->opener);
    free(s->state);
    s->state = NULL;
}

static bool seal(struct state *t, size_t octets, uint8_t *out, uint8_t tag[static 16])
{
    int len;

    return EVP_EncryptInit_ex(t->cipher, NULL, NULL, NULL, t->iv) == 1 &&
           EVP_EncryptUpdate(t->cipher, NULL, &len, t->in, 12) == 1 &&
           EVP_EncryptUpdate(t->cipher, out, &len, t->in, (int)octets) == 1 &&
           EVP_EncryptFinal_ex(t->cipher, out + len, &len) == 1 &&
           EVP_CIPHER_CTX_ctrl(t->cipher, EVP_CTRL_GCM_GET_TAG, 16, tag) == 1;
}

static bool open_sealed(struct state *t, size_t octets)
{
    int len;

    return EVP_DecryptInit_ex(t->opener, NULL, NULL, NULL, t->iv) == 1 &&
           EVP_DecryptUpdate(t->opener, NULL, &len, t->in, 12) == 1 &&
           EVP_DecryptUpdate(t->opener, t->out, &len, t->sealed, (int)octets) == 1 &&
           EVP_CIPHER_CTX_ctrl(t->opener, EVP_CTRL_GCM_SET_TAG, 16, t->sealed_tag) == 1 &&
           EVP_DecryptFinal_ex(t->opener, t->out + len, &len) == 1;
}

static bool set_up(void *context, const char **why)
{
    struct spec *s = context;
    struct state *t = s->state = bench_alloc(sizeof(struct state));
    char digest[] = "SHA1";
    OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                               OSSL_PARAM_END};

    t->mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    t->hmac = t->mac != NULL ? EVP_MAC_CTX_new(t->mac) : NULL;
    t->cipher = EVP_CIPHER_CTX_new();
    t->opener = EVP_CIPHER_CTX_new();
    t->type = type_of(&s->c);
    if (t->hmac == NULL || t->cipher == NULL || t->opener == NULL ||
        EVP_MAC_init(t->hmac, t->key, 20, parameters) != 1 ||
        EVP_EncryptInit_ex(t->cipher, t->type, NULL, t->key, t->iv) != 1 ||
        EVP_DecryptInit_ex(t->opener, t->type, NULL, t->key, t->iv) != 1 ||
        (s->c.op == CRYPTO_GCM_OPEN && !seal(t, s->c.octets, t->sealed, t->sealed_tag))) {
        *why = "libcrypto lacks the algorithm";
        take_down(s);
        return false;
    }
    return true;
}

static bool hmac_kept(struct state *t, size_t octets)
{
    size_t len;

    return EVP_MAC_init(t->hmac, NULL, 0, NULL) == 1 &&
           EVP_MAC_update(t->hmac, t->in, octets) == 1 &&
           EVP_MAC_final(t->hmac, t->tag, &len, sizeof(t->tag)) == 1;
}

static bool hmac_keyed(struct state *t, size_t octets)
{
    unsigned len;

    return HMAC(EVP_sha1(), t->key, 20, t->in, octets, t->tag, &len) != NULL;
}

static bool ctr(struct state *t, size_t octets)
{
    int len;

    return EVP_EncryptInit_ex(t->cipher, NULL, NULL, NULL, t->iv) == 1 &&
           EVP_EncryptUpdate(t->cipher, t->out, &len, t->in, (int)octets) == 1;
}

/* The sample is the block of AES, or the counter and nonce of ChaCha20 (RFC 9001 5.4). */
static bool mask(struct state *t, const struct crypto_case *c, bool has_kept_key)
{
    static const uint8_t zeros[5];
    const uint8_t *key = has_kept_key ? NULL : t->key;
    const EVP_CIPHER *type = has_kept_key ? NULL : t->type;
    bool is_chacha20 = c->key_len == CHACHA20;
    int len;

    if ((is_chacha20 || !has_kept_key) &&
        EVP_EncryptInit_ex(t->cipher, type, NULL, key, is_chacha20 ? t->iv : NULL) != 1) {
        return false;
    }
    return EVP_EncryptUpdate(t->cipher, t->out, &len, is_chacha20 ? zeros : t->iv,
                             is_chacha20 ? (int)sizeof(zeros) : 16) == 1;
}

static inline bool operate(const struct crypto_case *c, struct state *t)
{
    t->iv[0]++;
    switch (c->op) {
    case CRYPTO_HMAC_SHA1:
        return hmac_kept(t, c->octets);
    case CRYPTO_HMAC_SHA1_KEY_PER_CALL:
        return hmac_keyed(t, c->octets);
    case CRYPTO_CTR:
        return ctr(t, c->octets);
    case CRYPTO_GCM_SEAL:
        return seal(t, c->octets, t->out, t->tag);
    case CRYPTO_GCM_OPEN:
        t->iv[0]--; /* what was sealed */
        return open_sealed(t, c->octets);
    case CRYPTO_BLOCK:
    case CRYPTO_MASK:
        return mask(t, c, true);
    case CRYPTO_MASK_KEY_PER_CALL:
        return mask(t, c, false);
    default:
        return false;
    }
}

static uint64_t run(void *context, uint64_t times, uint64_t *done)
{
    struct spec *s = context;
    bool is_ok = true;

    for (*done = 0; *done < times; (*done)++) {
        is_ok &= operate(&s->c, s->state);
        bench_keep(s->state);
    }
    bench_must(is_ok, "a plain call of libcrypto");
    return 0;
}

void crypto_add_openssl(struct bench *b, const struct crypto_case *c)
{
    struct spec *s = bench_context(b, sizeof(*s));
    struct bench_row row = {
        .key = crypto_key(c), .set_up = set_up, .take_down = take_down, .run = run, .context = s};

    s->c = *c;
    row.key.provider = "openssl-plain";
    bench_add(b, &row);
}

#endif
