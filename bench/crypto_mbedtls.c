/* SPDX-License-Identifier: MIT */
/* Rows of plain mbedTLS calls, as a program would make them that has no layer of its own. */
#include <stdlib.h>
#include <string.h>

#include <mbedtls/aes.h>
#include <mbedtls/chacha20.h>
#include <mbedtls/gcm.h>
#include <mbedtls/md.h>

#include "crypto_rows.h"

struct spec {
    struct crypto_case c;
    struct state *state;
};

struct state {
    mbedtls_md_context_t md;
    mbedtls_aes_context aes;
    mbedtls_gcm_context gcm;
    mbedtls_chacha20_context chacha20;
    uint8_t key[32], iv[16], in[CRYPTO_OCTETS_MAX], out[CRYPTO_OCTETS_MAX], tag[20];
    uint8_t sealed[CRYPTO_OCTETS_MAX], sealed_tag[16];
};

static void take_down(void *context)
{
    struct spec *s = context;

    mbedtls_md_free(&s->state->md);
    mbedtls_aes_free(&s->state->aes);
    mbedtls_gcm_free(&s->state->gcm);
    mbedtls_chacha20_free(&s->state->chacha20);
    free(s->state);
    s->state = NULL;
}

static bool set_up(void *context, const char **why)
{
    struct spec *s = context;
    struct state *t = s->state = bench_alloc(sizeof(struct state));
    unsigned bits = s->c.key_len == 32 ? 256 : 128;

    mbedtls_md_init(&t->md);
    mbedtls_aes_init(&t->aes);
    mbedtls_gcm_init(&t->gcm);
    mbedtls_chacha20_init(&t->chacha20);
    if (mbedtls_md_setup(&t->md, mbedtls_md_info_from_type(MBEDTLS_MD_SHA1), 1) != 0 ||
        mbedtls_md_hmac_starts(&t->md, t->key, 20) != 0 ||
        mbedtls_aes_setkey_enc(&t->aes, t->key, bits) != 0 ||
        mbedtls_gcm_setkey(&t->gcm, MBEDTLS_CIPHER_ID_AES, t->key, bits) != 0 ||
        mbedtls_chacha20_setkey(&t->chacha20, t->key) != 0 ||
        mbedtls_gcm_crypt_and_tag(&t->gcm, MBEDTLS_GCM_ENCRYPT, s->c.octets, t->iv, 12, t->in, 12,
                                  t->in, t->sealed, 16, t->sealed_tag) != 0) {
        *why = "mbedTLS lacks the algorithm";
        take_down(s);
        return false;
    }
    return true;
}

static int hmac_kept(struct state *t, size_t octets)
{
    return mbedtls_md_hmac_reset(&t->md) | mbedtls_md_hmac_update(&t->md, t->in, octets) |
           mbedtls_md_hmac_finish(&t->md, t->tag);
}

static int ctr(struct state *t, size_t octets)
{
    uint8_t counter[16], stream[16];
    size_t offset = 0;

    memcpy(counter, t->iv, sizeof(counter));
    return mbedtls_aes_crypt_ctr(&t->aes, octets, &offset, counter, stream, t->in, t->out);
}

/* The sample is a little-endian block counter and the nonce, as in RFC 9001 5.4.4. */
static int chacha20_mask(struct state *t, bool has_kept_key)
{
    static const uint8_t zeros[5];

    if (has_kept_key) {
        return mbedtls_chacha20_starts(&t->chacha20, t->iv + 4, t->iv[0]) |
               mbedtls_chacha20_update(&t->chacha20, sizeof(zeros), zeros, t->out);
    }
    return mbedtls_chacha20_crypt(t->key, t->iv + 4, t->iv[0], sizeof(zeros), zeros, t->out);
}

static int aes_keyed(struct state *t, size_t key_len)
{
    return mbedtls_aes_setkey_enc(&t->aes, t->key, (unsigned)key_len * 8) |
           mbedtls_aes_crypt_ecb(&t->aes, MBEDTLS_AES_ENCRYPT, t->iv, t->out);
}

static inline int operate(const struct crypto_case *c, struct state *t)
{
    t->iv[0]++;
    switch (c->op) {
    case CRYPTO_HMAC_SHA1:
        return hmac_kept(t, c->octets);
    case CRYPTO_HMAC_SHA1_KEY_PER_CALL:
        return mbedtls_md_hmac(mbedtls_md_info_from_type(MBEDTLS_MD_SHA1), t->key, 20, t->in,
                               c->octets, t->tag);
    case CRYPTO_CTR:
        return ctr(t, c->octets);
    case CRYPTO_GCM_SEAL:
        return mbedtls_gcm_crypt_and_tag(&t->gcm, MBEDTLS_GCM_ENCRYPT, c->octets, t->iv, 12, t->in,
                                         12, t->in, t->out, 16, t->tag);
    case CRYPTO_GCM_OPEN:
        t->iv[0]--; /* what was sealed */
        return mbedtls_gcm_auth_decrypt(&t->gcm, c->octets, t->iv, 12, t->in, 12, t->sealed_tag, 16,
                                        t->sealed, t->out);
    case CRYPTO_BLOCK:
    case CRYPTO_MASK:
        return c->key_len == CHACHA20
                   ? chacha20_mask(t, true)
                   : mbedtls_aes_crypt_ecb(&t->aes, MBEDTLS_AES_ENCRYPT, t->iv, t->out);
    case CRYPTO_MASK_KEY_PER_CALL:
        return c->key_len == CHACHA20 ? chacha20_mask(t, false) : aes_keyed(t, c->key_len);
    default:
        return -1;
    }
}

static uint64_t run(void *context, uint64_t times, uint64_t *done)
{
    struct spec *s = context;
    int failed = 0;

    for (*done = 0; *done < times; (*done)++) {
        failed |= operate(&s->c, s->state);
        bench_keep(s->state);
    }
    bench_must(failed == 0, "a plain call of mbedTLS");
    return 0;
}

void crypto_add_mbedtls(struct bench *b, const struct crypto_case *c)
{
    struct spec *s = bench_context(b, sizeof(*s));
    struct bench_row row = {
        .key = crypto_key(c), .set_up = set_up, .take_down = take_down, .run = run, .context = s};

    s->c = *c;
    row.key.provider = "mbedtls-plain";
    bench_add(b, &row);
}
