/* SPDX-License-Identifier: MIT */
/*
 * What the sessions of an identity share with OpenSSL: a context for each role, the method of their
 * BIOs, the PRF, and the process's generator.
 *
 * Randomness is a matter of the process in libcrypto: its generator is replaced by one that draws
 * from leat_rng_thread(), by the old RAND_METHOD interface (deprecated in 3.0, there in all
 * of 3.x). A provider with a generator would need a library context of its own for each identity,
 * with all its algorithms, to reach the same. The generator that the session hands over for a feed
 * is thereby not looked at: in the daemon it is the running thread's, which is the same one.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>

#include <stdlib.h>

#include "library_openssl.h"

/* ---- randomness ---- */

static int on_random(unsigned char *out, int len)
{
    if (len > 0) {
        leat_rng_fill(leat_rng_thread(), out, (size_t)len);
    }
    return 1;
}

static int on_random_status(void)
{
    return 1;
}

static const RAND_METHOD random_method = {
    .bytes = on_random, .pseudorand = on_random, .status = on_random_status};

/* ---- contexts ---- */

static bool set_certificate(SSL_CTX *context, const struct leat_span *chain, size_t count,
                            EVP_PKEY *key)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char *at = chain[i].data;
        X509 *certificate = d2i_X509(NULL, &at, (long)chain[i].len);
        bool is_taken = certificate != NULL &&
                        (i == 0 ? SSL_CTX_use_certificate(context, certificate)
                                : (int)SSL_CTX_add1_chain_cert(context, certificate)) == 1;
        X509_free(certificate);
        if (!is_taken) {
            return false;
        }
    }
    return SSL_CTX_use_PrivateKey(context, key) == 1;
}

static bool set_algorithms(SSL_CTX *context)
{
    /* What matters is named here; the level is about keys of chains that nobody looks at. */
    SSL_CTX_set_security_level(context, 1);
    return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1 &&
           SSL_CTX_set_cipher_list(
               context, "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
                        "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
                        "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305") == 1 &&
           SSL_CTX_set1_groups_list(context, "P-256:P-384:X25519") == 1;
}

static SSL_CTX *context_new(const struct leat_span *chain, size_t count, EVP_PKEY *key)
{
    SSL_CTX *context = SSL_CTX_new(DTLS_method());
    if (context == NULL) {
        return NULL;
    }
    SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN);
    (void)SSL_CTX_set_max_send_fragment(context, LEAT_DTLS_MTU); /* its buffer is 16 KB else */
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(context, leat__dtls_openssl_on_verify, NULL);
    SSL_CTX_set_cert_cb(context, leat__dtls_openssl_on_choose, NULL);
    if (!set_algorithms(context) || !set_certificate(context, chain, count, key)) {
        SSL_CTX_free(context);
        return NULL;
    }
    return context;
}

static BIO_METHOD *method_new(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "leat");
    if (method != NULL) {
        (void)BIO_meth_set_write(method, leat__dtls_openssl_on_write);
        (void)BIO_meth_set_read(method, leat__dtls_openssl_on_read);
        (void)BIO_meth_set_ctrl(method, leat__dtls_openssl_on_control);
    }
    return method;
}

int leat__dtls_openssl_error(void)
{
    bool is_memory = ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE;
    ERR_clear_error();
    return is_memory ? LEAT_E_NOMEM : LEAT_E_CRYPTO;
}

int leat__dtls_openssl_new(struct leat__dtls_openssl **out, const struct leat_span *chain,
                           size_t count, struct leat_span key_der)
{
    *out = NULL;
    struct leat__dtls_openssl *o = calloc(1, sizeof(*o));
    if (!o) {
        return LEAT_E_NOMEM;
    }
    ERR_clear_error();
    const unsigned char *at = key_der.data;
    EVP_PKEY *key = NULL;
    bool is_good = RAND_set_rand_method(&random_method) == 1;
    if (is_good) {
        key = d2i_AutoPrivateKey(NULL, &at, (long)key_der.len);
        o->method = method_new();
        o->prf = EVP_KDF_fetch(NULL, "TLS1-PRF", NULL);
        is_good = key != NULL && o->method != NULL && o->prf != NULL;
    }
    for (size_t role = 0; is_good && role < 2; role++) {
        o->contexts[role] = context_new(chain, count, key);
        is_good = o->contexts[role] != NULL;
    }
    EVP_PKEY_free(key);
    if (!is_good) {
        leat__dtls_openssl_free(o);
        return leat__dtls_openssl_error();
    }
    *out = o;
    return 0;
}

void leat__dtls_openssl_free(struct leat__dtls_openssl *o)
{
    if (!o) {
        return;
    }
    SSL_CTX_free(o->contexts[0]);
    SSL_CTX_free(o->contexts[1]);
    BIO_meth_free(o->method);
    EVP_KDF_free(o->prf);
    free(o);
}

const char *leat__dtls_openssl_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION);
}
