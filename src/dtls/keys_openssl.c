/* SPDX-License-Identifier: MIT */
/* From OpenSSL's master secret to the keys of the records, by the PRF of the suite. */
#include <openssl/core_names.h>
#include <openssl/kdf.h>

#include "library_openssl.h"

#define SECRET_LEN 48 /* RFC 5246 8.1 */
#define RANDOM_LEN 32

/* @return false for a suite that was never offered. */
static bool aead_of(const SSL_CIPHER *cipher, enum leat__dtls_aead *out)
{
    switch (SSL_CIPHER_get_protocol_id(cipher)) {
    case 0xc02b: /* ECDHE_ECDSA, and below ECDHE_RSA: RFC 5289 */
    case 0xc02f:
        *out = LEAT__DTLS_AES_128_GCM;
        return true;
    case 0xc02c:
    case 0xc030:
        *out = LEAT__DTLS_AES_256_GCM;
        return true;
    case 0xcca9: /* RFC 7905 */
    case 0xcca8:
        *out = LEAT__DTLS_CHACHA20_POLY1305;
        return true;
    default:
        return false;
    }
}

/* RFC 5246 6.3: PRF(master secret, "key expansion", server random + client random). */
static bool derive_block(const SSL *ssl, EVP_KDF *kdf, const EVP_MD *digest,
                         uint8_t block[static LEAT__DTLS_KEY_BLOCK_MAX])
{
    static const char label[13] = "key expansion";
    uint8_t secret[SECRET_LEN], seed[sizeof(label) + 2 * RANDOM_LEN];
    size_t secret_len = SSL_SESSION_get_master_key(SSL_get_session(ssl), secret, sizeof(secret));
    memcpy(seed, label, sizeof(label));
    (void)SSL_get_server_random(ssl, seed + sizeof(label), RANDOM_LEN);
    (void)SSL_get_client_random(ssl, seed + sizeof(label) + RANDOM_LEN, RANDOM_LEN);
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
                                         (char *)(uintptr_t)EVP_MD_get0_name(digest), 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, secret, secret_len),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, seed, sizeof(seed)),
        OSSL_PARAM_construct_end()};
    EVP_KDF_CTX *prf = EVP_KDF_CTX_new(kdf);
    bool is_good = secret_len == SECRET_LEN && prf != NULL &&
                   EVP_KDF_derive(prf, block, LEAT__DTLS_KEY_BLOCK_MAX, params) == 1;
    EVP_KDF_CTX_free(prf);
    leat_wipe(secret, sizeof(secret));
    return is_good;
}

bool leat__dtls_openssl_protection(const SSL *ssl, EVP_KDF *prf, bool is_client, uint64_t send_seq,
                                   struct leat__dtls_protection *out)
{
    const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
    enum leat__dtls_aead aead;
    uint8_t block[LEAT__DTLS_KEY_BLOCK_MAX];
    if (cipher == NULL || !aead_of(cipher, &aead) ||
        !derive_block(ssl, prf, SSL_CIPHER_get_handshake_digest(cipher), block)) {
        return false;
    }
    leat__dtls_protection_init(out, aead, block, is_client, send_seq);
    leat_wipe(block, sizeof(block));
    return true;
}
