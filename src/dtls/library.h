/* SPDX-License-Identifier: MIT */
/*
 * mbedTLS as cert.c, identity.c, keys.c, kx.c, kx_openssl.c and backend_mbedtls.c see it, 2.28
 * and 3.x alike. No other file of the module includes this one.
 */
#ifndef LEAT_DTLS_LIBRARY_H
#define LEAT_DTLS_LIBRARY_H

#include <mbedtls/ecdsa.h>
#include <mbedtls/error.h>
#include <mbedtls/pk.h>
#include <mbedtls/ssl.h>
#include <mbedtls/version.h>
#include <mbedtls/x509_crt.h>

#include <stdatomic.h>

#include "internal.h"

#define LEAT__MBEDTLS_3 (MBEDTLS_VERSION_NUMBER >= 0x03000000)

#if !LEAT__MBEDTLS_3
#define MBEDTLS_PRIVATE(member) member
#endif

struct leat_dtls_identity {
    atomic_uint holders;    /* all that changes once it is made */
    mbedtls_x509_crt chain; /* leaf first */
    mbedtls_pk_context key;
    mbedtls_ssl_config configs[2];      /* by role; sessions use copies by value */
    struct leat__dtls_openssl *openssl; /* NULL: sessions shake hands in mbedTLS */
    uint8_t fingerprint[LEAT_FINGERPRINT_LEN];
};

/* Fill identity->configs. @return 0, LEAT_E_NOMEM or LEAT_E_CRYPTO. */
int leat__dtls_configs_init(struct leat_dtls_identity *identity);
/* LEAT_E_NOMEM when that is what the library's error says, else `otherwise`. */
int leat__dtls_library_error(int error, int otherwise);

/* A signature with SHA-256 by the key. @param signature  MBEDTLS_PK_SIGNATURE_MAX_SIZE octets
 * @return 0 or the library's error */
int leat__dtls_sign(mbedtls_pk_context *key, const uint8_t hash[static 32],
                    unsigned char *signature, size_t *len, struct leat_rng *rng);

/* ---- keys.c ---- */

/* What the export callback leaves behind. */
struct leat__dtls_material {
    bool is_set;
    uint8_t block[LEAT_SRTP_MATERIAL_MAX];       /* for SRTP */
    uint8_t key_block[LEAT__DTLS_KEY_BLOCK_MAX]; /* for records */
};

/* Have the library fill `material` when it has the master secret. Before mbedtls_ssl_setup. */
void leat__dtls_export_by_config(mbedtls_ssl_config *config, struct leat__dtls_material *material);
/* The same after mbedtls_ssl_setup: one of the two does something, by version. */
void leat__dtls_export_by_context(mbedtls_ssl_context *ssl, struct leat__dtls_material *material);

#endif
