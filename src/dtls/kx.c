/* SPDX-License-Identifier: MIT */
/*
 * Who computes the key exchange on P-256: the library, or kx_openssl.c in its place.
 *
 * Being in its place depends on how the library and the executable were linked, so it is proved at
 * start. A whole exchange and a signature go the way that a handshake takes them, through the
 * library's functions that call the replaced ones: all four must be reached, and what they compute
 * must agree with what the library computes itself.
 */
#include <mbedtls/ecdh.h>

#include "kx.h"
#include "library.h"

#if LEAT__HAVE_KX

#define PARAMS_MAX 128 /* curve (3 octets), length, point of 65 octets */
#define SECRET_LEN 32

/* ---- the exchange: the server's half is replaced, the client's is the library's ---- */

struct exchange {
    mbedtls_ecdh_context server, client;
    unsigned char params[PARAMS_MAX], public[PARAMS_MAX], secrets[2][SECRET_LEN];
    size_t params_len, public_len, secret_lens[2];
};

static int client_half(struct exchange *x, struct leat_rng *rng)
{
    const unsigned char *at = x->params;
    int ret = mbedtls_ecdh_read_params(&x->client, &at, x->params + x->params_len);
    if (ret == 0) {
        ret = mbedtls_ecdh_make_public(&x->client, &x->public_len, x->public, PARAMS_MAX,
                                       leat_rng_callback, rng);
    }
    if (ret == 0) {
        ret = mbedtls_ecdh_calc_secret(&x->client, &x->secret_lens[1], x->secrets[1], SECRET_LEN,
                                       leat_rng_callback, rng);
    }
    return ret;
}

static bool exchange_agrees(struct exchange *x, unsigned *reached, struct leat_rng *rng)
{
    if (mbedtls_ecdh_setup(&x->server, MBEDTLS_ECP_DP_SECP256R1) != 0 ||
        mbedtls_ecdh_make_params(&x->server, &x->params_len, x->params, PARAMS_MAX,
                                 leat_rng_callback, rng) != 0) {
        return false;
    }
    leat__kx_release();
    int ret = client_half(x, rng);
    return leat__kx_take(reached) && ret == 0 &&
           mbedtls_ecdh_read_public(&x->server, x->public, x->public_len) == 0 &&
           mbedtls_ecdh_calc_secret(&x->server, &x->secret_lens[0], x->secrets[0], SECRET_LEN,
                                    leat_rng_callback, rng) == 0 &&
           x->secret_lens[0] == SECRET_LEN && x->secret_lens[1] == SECRET_LEN &&
           leat_equal_ct(x->secrets[0], x->secrets[1], SECRET_LEN);
}

static bool probe_exchange(unsigned *reached, struct leat_rng *rng)
{
    struct exchange x = {0};
    mbedtls_ecdh_init(&x.server);
    mbedtls_ecdh_init(&x.client);
    bool is_good = exchange_agrees(&x, reached, rng);
    mbedtls_ecdh_free(&x.server);
    mbedtls_ecdh_free(&x.client);
    leat_wipe(&x, sizeof(x));
    return is_good;
}

/* ---- the signature: made and checked by the replaced functions, checked by the library ---- */

static bool signature_agrees(mbedtls_pk_context *key, struct leat_rng *rng)
{
    unsigned char hash[32], signature[MBEDTLS_PK_SIGNATURE_MAX_SIZE];
    size_t len = 0;
    leat_rng_fill(rng, hash, sizeof(hash));
    if (leat__dtls_sign(key, hash, signature, &len, rng) != 0 ||
        mbedtls_pk_verify(key, MBEDTLS_MD_SHA256, hash, sizeof(hash), signature, len) != 0 ||
        mbedtls_ecdsa_read_signature_restartable(mbedtls_pk_ec(*key), hash, sizeof(hash), signature,
                                                 len, NULL) != 0) {
        return false;
    }
    hash[0] ^= 1;
    return mbedtls_pk_verify(key, MBEDTLS_MD_SHA256, hash, sizeof(hash), signature, len) != 0;
}

static bool probe_signature(struct leat_rng *rng)
{
    mbedtls_pk_context key;
    mbedtls_pk_init(&key);
    bool is_good = mbedtls_pk_setup(&key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECDSA)) == 0 &&
                   mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(key),
                                       leat_rng_callback, rng) == 0 &&
                   signature_agrees(&key, rng);
    mbedtls_pk_free(&key);
    return is_good;
}

/* FIPS 180-4's "abc". */
static bool probe_digest(void)
{
    static const uint8_t expected[32] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea,
                                         0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
                                         0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
                                         0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
    unsigned char digest[32];
    return mbedtls_md(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), (const unsigned char *)"abc", 3,
                      digest) == 0 &&
           memcmp(digest, expected, sizeof(digest)) == 0;
}

/* ---- the switch ---- */

int leat_dtls_key_exchange_start(bool is_wanted, struct leat_rng *rng)
{
    unsigned reached = 0;
    if (!is_wanted) {
        leat__kx_release();
        return 0;
    }
    bool is_good = leat__kx_take(&reached) && probe_exchange(&reached, rng) &&
                   probe_signature(rng) && probe_digest();
    leat__kx_end_watch();
    if (is_good && (reached & LEAT__KX_ALL) == LEAT__KX_ALL) {
        return 0;
    }
    leat__kx_release();
    return is_good ? LEAT_E_UNSUPPORTED : LEAT_E_CRYPTO;
}

const char *leat_dtls_key_exchange(void)
{
    return leat__kx_is_taken() ? "openssl" : "mbedtls";
}

#else

int leat_dtls_key_exchange_start(bool is_wanted, struct leat_rng *rng)
{
    (void)rng;
    return is_wanted ? LEAT_E_UNSUPPORTED : 0;
}

const char *leat_dtls_key_exchange(void)
{
    return "mbedtls";
}

#endif
