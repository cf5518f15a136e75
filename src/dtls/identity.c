/* SPDX-License-Identifier: MIT */
/* Who shakes hands for an identity's sessions, and what OpenSSL has to be given for that. */
#include "library.h"

#if LEAT__HAVE_OPENSSL

#define KEY_DER_MAX 8192 /* of RSA with 8192 bits: 4.7 KB */
#define CHAIN_MAX 16

/* The writer knows EC keys as MBEDTLS_PK_ECKEY only. @return as mbedtls_pk_write_key_der */
static int write_key(struct leat_dtls_identity *id, unsigned char *out, size_t cap)
{
    if (mbedtls_pk_get_type(&id->key) != MBEDTLS_PK_ECDSA) {
        return mbedtls_pk_write_key_der(&id->key, out, cap);
    }
    mbedtls_pk_context key;
    mbedtls_pk_init(&key);
    int ret = mbedtls_pk_setup(&key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));
    if (ret == 0) {
        ret = mbedtls_ecdsa_from_keypair(mbedtls_pk_ec(key), mbedtls_pk_ec(id->key));
    }
    if (ret == 0) {
        ret = mbedtls_pk_write_key_der(&key, out, cap);
    }
    mbedtls_pk_free(&key);
    return ret;
}

static int set_openssl(struct leat_dtls_identity *id)
{
    struct leat_span chain[CHAIN_MAX];
    size_t count = 0;
    for (const mbedtls_x509_crt *c = &id->chain; c && count < CHAIN_MAX; c = c->next) {
        chain[count++] = leat_span(c->raw.p, c->raw.len);
    }
    unsigned char der[KEY_DER_MAX];
    int ret = write_key(id, der, sizeof(der)); /* to the end of the buffer */
    int error = ret > 0 ? leat__dtls_openssl_new(&id->openssl, chain, count,
                                                 leat_span(der + sizeof(der) - ret, (size_t)ret))
                        : leat__dtls_library_error(ret, LEAT_E_CRYPTO);
    leat_wipe(der, sizeof(der));
    return error;
}

int leat_dtls_identity_set_backend(struct leat_dtls_identity *id, enum leat_dtls_backend backend)
{
    leat__dtls_openssl_free(id->openssl);
    id->openssl = NULL;
    return backend == LEAT_DTLS_OPENSSL ? set_openssl(id) : 0;
}

const struct leat__dtls_backend_ops *leat__dtls_identity_ops(const struct leat_dtls_identity *id)
{
    return id->openssl ? &leat__dtls_openssl_ops : &leat__dtls_mbedtls_ops;
}

const struct leat__dtls_openssl *leat__dtls_identity_openssl(const struct leat_dtls_identity *id)
{
    return id->openssl;
}

bool leat_dtls_backend_has_profile(enum leat_dtls_backend backend, enum leat_srtp_profile profile)
{
    return backend == LEAT_DTLS_OPENSSL ? leat__dtls_openssl_ops.has_profile(profile)
                                        : leat__dtls_mbedtls_ops.has_profile(profile);
}

const char *leat_dtls_library_version(enum leat_dtls_backend backend)
{
    return backend == LEAT_DTLS_OPENSSL ? leat__dtls_openssl_version()
                                        : "Mbed TLS " MBEDTLS_VERSION_STRING;
}

#else

int leat_dtls_identity_set_backend(struct leat_dtls_identity *id, enum leat_dtls_backend backend)
{
    (void)id;
    return backend == LEAT_DTLS_OPENSSL ? LEAT_E_UNSUPPORTED : 0;
}

const struct leat__dtls_backend_ops *leat__dtls_identity_ops(const struct leat_dtls_identity *id)
{
    (void)id;
    return &leat__dtls_mbedtls_ops;
}

bool leat_dtls_backend_has_profile(enum leat_dtls_backend backend, enum leat_srtp_profile profile)
{
    return backend == LEAT_DTLS_MBEDTLS && leat__dtls_mbedtls_ops.has_profile(profile);
}

const char *leat_dtls_library_version(enum leat_dtls_backend backend)
{
    return backend == LEAT_DTLS_OPENSSL ? NULL : "Mbed TLS " MBEDTLS_VERSION_STRING;
}

#endif

const char *leat_dtls_backend_text(enum leat_dtls_backend backend)
{
    return backend == LEAT_DTLS_OPENSSL ? "openssl" : "mbedtls";
}
