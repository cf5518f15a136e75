/* SPDX-License-Identifier: MIT */
/* Keyed AES contexts (FIPS 197) for counter mode (SP 800-38A) and single blocks, over the chosen
 * provider. */
#include "provider.h"

int leat__aes_init(const struct leat_crypto_provider *p, struct leat_aes *a, const void *key,
                   size_t key_len)
{
    memset(a, 0, sizeof(*a));
    if (key_len != 16 && key_len != 32) {
        return LEAT_E_INVALID;
    }
    int error = p->aes.init(p, a->state, key, key_len);
    if (error != 0) {
        leat_wipe(a->state, sizeof(a->state));
        return error;
    }
    a->provider = p;
    a->key_len = (uint32_t)key_len;
    return 0;
}

int leat_aes_init_for_batch(struct leat_aes *a, const void *key, size_t key_len)
{
    enum leat_crypto_primitive primitive =
        key_len == 16 ? LEAT_CRYPTO_AES_128_CTR_BATCH : LEAT_CRYPTO_AES_256_CTR_BATCH;
    return leat__aes_init(leat__crypto_provider(primitive), a, key, key_len);
}

int leat_aes_init(struct leat_aes *a, const void *key, size_t key_len)
{
    enum leat_crypto_primitive primitive =
        key_len == 16 ? LEAT_CRYPTO_AES_128_CTR : LEAT_CRYPTO_AES_256_CTR;
    return leat__aes_init(leat__crypto_provider(primitive), a, key, key_len);
}

void leat_aes_deinit(struct leat_aes *a)
{
    if (a->provider != NULL) {
        a->provider->aes.deinit(a->state);
    }
    leat_wipe(a, sizeof(*a));
}

int leat_aes_block(const struct leat_aes *a, const uint8_t in[static 16], uint8_t out[static 16])
{
    if (a->provider == NULL) {
        return LEAT_E_CRYPTO;
    }
    return a->provider->aes.block(a->state, in, out);
}

int leat_aes_ctr(const struct leat_aes *a, const uint8_t iv[static 16], const uint8_t *in,
                 size_t len, uint8_t *out)
{
    if (a->provider == NULL) {
        return LEAT_E_CRYPTO;
    }
    return a->provider->aes.ctr(a->state, iv, in, len, out);
}

/* How many jobs from the first on may go to the provider at once. */
static size_t run_len(const struct leat_aes_ctr_job *jobs, size_t count)
{
    size_t n = 1;
    while (n < count && n < LEAT_CRYPTO_BATCH_MAX &&
           jobs[n].aes->provider == jobs[0].aes->provider &&
           jobs[n].aes->key_len == jobs[0].aes->key_len) {
        n++;
    }
    return n;
}

int leat_aes_ctr_batch(const struct leat_aes_ctr_job *jobs, size_t count)
{
    int error = 0;
    for (size_t n; count > 0 && error == 0; jobs += n, count -= n) {
        const struct leat_crypto_provider *p = jobs[0].aes->provider;
        n = run_len(jobs, count);
        if (p != NULL && p->aes.ctr_batch != NULL) {
            error = p->aes.ctr_batch(p, jobs, n);
            continue;
        }
        for (size_t i = 0; i < n && error == 0; i++) {
            error = leat_aes_ctr(jobs[i].aes, jobs[i].iv, jobs[i].in, jobs[i].len, jobs[i].out);
        }
    }
    return error;
}
