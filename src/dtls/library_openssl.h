/* SPDX-License-Identifier: MIT */
/* OpenSSL as backend_openssl.c, context_openssl.c and keys_openssl.c see it. */
#ifndef LEAT_DTLS_LIBRARY_OPENSSL_H
#define LEAT_DTLS_LIBRARY_OPENSSL_H

#include <openssl/ssl.h>

#include "internal.h"

struct leat__dtls_openssl {
    SSL_CTX *contexts[2]; /* by role */
    BIO_METHOD *method;
    EVP_KDF *prf;
};

/* ---- context_openssl.c ---- */

/* libcrypto's reason as ours, its queue emptied. @return LEAT_E_NOMEM or LEAT_E_CRYPTO */
int leat__dtls_openssl_error(void);

/* ---- keys_openssl.c ---- */

/* The keys of the records as one side has them, once there is a master secret.
 * @param send_seq  the first number to send
 * @return false when there is none, or for a suite that was never offered */
bool leat__dtls_openssl_protection(const SSL *ssl, EVP_KDF *prf, bool is_client, uint64_t send_seq,
                                   struct leat__dtls_protection *out);

/* ---- backend_openssl.c: what the library calls ---- */

int leat__dtls_openssl_on_write(BIO *bio, const char *data, int len);
int leat__dtls_openssl_on_read(BIO *bio, char *out, int cap);
long leat__dtls_openssl_on_control(BIO *bio, int command, long number, void *pointer);
/* In the place of all verification: certificates are self-signed. */
int leat__dtls_openssl_on_verify(X509_STORE_CTX *store, void *unused);
/* A server has parsed the hello, or a client is asked for its certificate. */
int leat__dtls_openssl_on_choose(SSL *ssl, void *unused);

#endif
