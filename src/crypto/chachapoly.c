/* SPDX-License-Identifier: MIT */
/* Keyed ChaCha20-Poly1305 contexts (RFC 8439 2.8) over the chosen provider. */
#include "provider.h"

int leat__chachapoly_init(const struct leat_crypto_provider *p, struct leat_chachapoly *c,
                          const uint8_t key[static 32])
{
    memset(c, 0, sizeof(*c));
    int error = p->chachapoly.init(p, c->state, key);
    if (error != 0) {
        leat_wipe(c->state, sizeof(c->state));
        return error;
    }
    c->provider = p;
    return 0;
}

int leat_chachapoly_init(struct leat_chachapoly *c, const uint8_t key[static 32])
{
    return leat__chachapoly_init(leat__crypto_provider(LEAT_CRYPTO_CHACHA20_POLY1305), c, key);
}

void leat_chachapoly_deinit(struct leat_chachapoly *c)
{
    if (c->provider != NULL) {
        c->provider->chachapoly.deinit(c->state);
    }
    leat_wipe(c, sizeof(*c));
}

int leat_chachapoly_seal(const struct leat_chachapoly *c, const uint8_t iv[static 12],
                         struct leat_span aad, const uint8_t *in, size_t len, uint8_t *out,
                         uint8_t tag[static 16])
{
    if (c->provider == NULL) {
        return LEAT_E_CRYPTO;
    }
    return c->provider->chachapoly.seal(c->state, iv, aad, in, len, out, tag);
}

int leat_chachapoly_open(const struct leat_chachapoly *c, const uint8_t iv[static 12],
                         struct leat_span aad, const uint8_t *in, size_t len,
                         const uint8_t tag[static 16], uint8_t *out)
{
    int error = LEAT_E_CRYPTO;
    if (c->provider != NULL) {
        error = c->provider->chachapoly.open(c->state, iv, aad, in, len, tag, out);
    }
    if (error != 0) {
        leat_wipe(out, len); /* as for GCM: nothing unauthenticated gets out */
    }
    return error;
}
