/* SPDX-License-Identifier: MIT */
/* Keyed AES-GCM contexts (SP 800-38D) over the chosen provider: 96-bit IV, 128-bit tag. */
#include "provider.h"

int leat__gcm_init(const struct leat_crypto_provider *p, struct leat_gcm *g, const void *key,
                   size_t key_len)
{
    memset(g, 0, sizeof(*g));
    if (key_len != 16 && key_len != 32) {
        return LEAT_E_INVALID;
    }
    int error = p->gcm.init(p, g->state, key, key_len);
    if (error != 0) {
        leat_wipe(g->state, sizeof(g->state));
        return error;
    }
    g->provider = p;
    return 0;
}

int leat_gcm_init_for_batch(struct leat_gcm *g, const void *key, size_t key_len)
{
    enum leat_crypto_primitive primitive =
        key_len == 16 ? LEAT_CRYPTO_AES_128_GCM_BATCH : LEAT_CRYPTO_AES_256_GCM_BATCH;
    return leat__gcm_init(leat__crypto_provider(primitive), g, key, key_len);
}

int leat_gcm_init(struct leat_gcm *g, const void *key, size_t key_len)
{
    enum leat_crypto_primitive primitive =
        key_len == 16 ? LEAT_CRYPTO_AES_128_GCM : LEAT_CRYPTO_AES_256_GCM;
    return leat__gcm_init(leat__crypto_provider(primitive), g, key, key_len);
}

void leat_gcm_deinit(struct leat_gcm *g)
{
    if (g->provider != NULL) {
        g->provider->gcm.deinit(g->state);
    }
    leat_wipe(g, sizeof(*g));
}

int leat_gcm_seal(const struct leat_gcm *g, const uint8_t iv[static 12], struct leat_span aad,
                  const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[static 16])
{
    if (g->provider == NULL) {
        return LEAT_E_CRYPTO;
    }
    return g->provider->gcm.seal(g->state, iv, aad, in, len, out, tag);
}

int leat_gcm_open(const struct leat_gcm *g, const uint8_t iv[static 12], struct leat_span aad,
                  const uint8_t *in, size_t len, const uint8_t tag[static 16], uint8_t *out)
{
    int error = LEAT_E_CRYPTO;
    if (g->provider != NULL) {
        error = g->provider->gcm.open(g->state, iv, aad, in, len, tag, out);
    }
    if (error != 0) {
        leat_wipe(out, len); /* whatever the provider did: nothing unauthenticated gets out */
    }
    return error;
}

/* How many jobs from the first on may go to the provider at once. */
static size_t run_len(const struct leat_gcm_job *jobs, size_t count)
{
    size_t n = 1;
    while (n < count && n < LEAT_CRYPTO_BATCH_MAX &&
           jobs[n].gcm->provider == jobs[0].gcm->provider) {
        n++;
    }
    return n;
}

int leat_gcm_seal_batch(const struct leat_gcm_job *jobs, size_t count)
{
    int error = 0;
    for (size_t n; count > 0 && error == 0; jobs += n, count -= n) {
        const struct leat_crypto_provider *p = jobs[0].gcm->provider;
        n = run_len(jobs, count);
        if (p != NULL && p->gcm.seal_batch != NULL) {
            error = p->gcm.seal_batch(p, jobs, n);
            continue;
        }
        for (size_t i = 0; i < n && error == 0; i++) {
            const struct leat_gcm_job *j = &jobs[i];
            error = leat_gcm_seal(j->gcm, j->iv, j->aad, j->in, j->len, j->out, j->tag);
        }
    }
    return error;
}
