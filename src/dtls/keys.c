/* SPDX-License-Identifier: MIT */
/*
 * From the master secret to keys, by the PRF of the suite:
 *   SRTP's keying material  the exporter of RFC 5705 with the label of RFC 5764 4.2 and no context,
 *                           PRF(master secret, label, client random + server random)
 *   the key block           of the records, RFC 5246 6.3,
 *                           PRF(master secret, "key expansion", server random + client random)
 *
 * mbedTLS gives the secret in a callback, in the middle of the handshake and before the remote has
 * proved that it owns its certificate's key: both blocks wait in the backend until the handshake is
 * over. As the PRF is a stream, one block of the largest profile or suite serves them all.
 */
#include "library.h"

static void export_blocks(struct leat__dtls_material *material, const unsigned char *secret,
                          size_t secret_len, const unsigned char client_random[32],
                          const unsigned char server_random[32], mbedtls_tls_prf_types prf)
{
    unsigned char randoms[96]; /* client, server, client */
    memcpy(randoms, client_random, 32);
    memcpy(randoms + 32, server_random, 32);
    memcpy(randoms + 64, client_random, 32);
    material->is_set =
        mbedtls_ssl_tls_prf(prf, secret, secret_len, "EXTRACTOR-dtls_srtp", randoms, 64,
                            material->block, sizeof(material->block)) == 0 &&
        mbedtls_ssl_tls_prf(prf, secret, secret_len, "key expansion", randoms + 32, 64,
                            material->key_block, sizeof(material->key_block)) == 0;
}

#if LEAT__MBEDTLS_3

static void on_export(void *state, mbedtls_ssl_key_export_type type, const unsigned char *secret,
                      size_t secret_len, const unsigned char client_random[32],
                      const unsigned char server_random[32], mbedtls_tls_prf_types prf)
{
    if (type == MBEDTLS_SSL_KEY_EXPORT_TLS12_MASTER_SECRET) {
        export_blocks(state, secret, secret_len, client_random, server_random, prf);
    }
}

void leat__dtls_export_by_config(mbedtls_ssl_config *config, struct leat__dtls_material *material)
{
    (void)config;
    (void)material;
}

void leat__dtls_export_by_context(mbedtls_ssl_context *ssl, struct leat__dtls_material *material)
{
    mbedtls_ssl_set_export_keys_cb(ssl, on_export, material);
}

#else

static int on_export(void *state, const unsigned char *secret, const unsigned char *key_block,
                     size_t mac_len, size_t key_len, size_t iv_len,
                     const unsigned char client_random[32], const unsigned char server_random[32],
                     mbedtls_tls_prf_types prf)
{
    (void)key_block, (void)mac_len, (void)key_len, (void)iv_len;
    export_blocks(state, secret, 48, client_random, server_random,
                  prf); /* RFC 5246 8.1: always 48 */
    return 0;
}

void leat__dtls_export_by_config(mbedtls_ssl_config *config, struct leat__dtls_material *material)
{
    mbedtls_ssl_conf_export_keys_ext_cb(config, on_export, material);
}

void leat__dtls_export_by_context(mbedtls_ssl_context *ssl, struct leat__dtls_material *material)
{
    (void)ssl;
    (void)material;
}

#endif
