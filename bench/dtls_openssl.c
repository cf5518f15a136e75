/* SPDX-License-Identifier: MIT */
/* OpenSSL on both sides, through memory BIOs: defaults, but one suite, no session ticket, and P-256
 * alone where the row says so. Records go by SSL_write and SSL_read. */
#include "dtls_records.h"

#ifdef BENCH_OPENSSL

#include <stdlib.h>

#include <openssl/ec.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

static struct {
    X509 *certificate;
    EVP_PKEY *key;
    SSL_CTX *contexts[2];
} shared;

static bool make_certificate(X509 **certificate, EVP_PKEY **key)
{
    X509 *x = X509_new();
    EVP_PKEY *k = EVP_EC_gen("P-256");
    bool is_good = x != NULL && k != NULL && X509_set_version(x, X509_VERSION_3) == 1 &&
                   ASN1_INTEGER_set(X509_get_serialNumber(x), 1) == 1 &&
                   X509_gmtime_adj(X509_getm_notBefore(x), -86400) != NULL &&
                   X509_gmtime_adj(X509_getm_notAfter(x), 365 * 86400L) != NULL &&
                   X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                                              (const unsigned char *)"bench", -1, -1, 0) == 1 &&
                   X509_set_issuer_name(x, X509_get_subject_name(x)) == 1 &&
                   X509_set_pubkey(x, k) == 1 && X509_sign(x, k, EVP_sha256()) != 0;
    *certificate = x;
    *key = k;
    return is_good;
}

static bool certify(void)
{
    X509 *certificate;
    EVP_PKEY *key;
    bool is_good = make_certificate(&certificate, &key);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return is_good;
}

static int on_verify(int is_trusted, X509_STORE_CTX *store)
{
    (void)is_trusted; /* self-signed */
    (void)store;
    return 1;
}

static SSL_CTX *context_new(const SSL_METHOD *method, bool has_default_groups,
                            enum record_suite suite)
{
    static const char *const suites[RECORD_SUITES] = {
        [RECORD_AES_128_GCM] = "ECDHE-ECDSA-AES128-GCM-SHA256",
        [RECORD_AES_256_GCM] = "ECDHE-ECDSA-AES256-GCM-SHA384",
        [RECORD_CHACHA20_POLY1305] = "ECDHE-ECDSA-CHACHA20-POLY1305"};
    SSL_CTX *c = SSL_CTX_new(method);
    if (c == NULL) {
        return NULL;
    }
    SSL_CTX_set_options(c, SSL_OP_NO_TICKET | SSL_OP_NO_QUERY_MTU);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, on_verify);
    if (SSL_CTX_set_min_proto_version(c, DTLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(c, suites[suite]) != 1 ||
        (!has_default_groups && SSL_CTX_set1_groups_list(c, "P-256") != 1) ||
        SSL_CTX_set_tlsext_use_srtp(c, "SRTP_AES128_CM_SHA1_80") != 0 || /* 0 is success */
        SSL_CTX_use_certificate(c, shared.certificate) != 1 ||
        SSL_CTX_use_PrivateKey(c, shared.key) != 1) {
        SSL_CTX_free(c);
        return NULL;
    }
    return c;
}

static void take_down(void)
{
    SSL_CTX_free(shared.contexts[PAIR_SERVER]);
    SSL_CTX_free(shared.contexts[PAIR_CLIENT]);
    X509_free(shared.certificate);
    EVP_PKEY_free(shared.key);
    memset(&shared, 0, sizeof(shared));
}

static bool set_up_for(bool has_default_groups, enum record_suite suite, const char **why)
{
    if (!make_certificate(&shared.certificate, &shared.key) ||
        (shared.contexts[PAIR_SERVER] =
             context_new(DTLS_server_method(), has_default_groups, suite)) == NULL ||
        (shared.contexts[PAIR_CLIENT] =
             context_new(DTLS_client_method(), has_default_groups, suite)) == NULL) {
        take_down();
        *why = "OpenSSL refuses its set-up";
        return false;
    }
    return true;
}

static bool set_up(const struct pair_method *m, const char **why)
{
    return set_up_for(m->has_default_groups, RECORD_AES_128_GCM, why);
}

static SSL *side_new(size_t side)
{
    SSL *ssl = SSL_new(shared.contexts[side]);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    if (ssl == NULL || in == NULL || out == NULL) {
        SSL_free(ssl);
        BIO_free(in);
        BIO_free(out);
        return NULL;
    }
    BIO_set_mem_eof_return(in, -1);
    SSL_set_bio(ssl, in, out);
    SSL_set_mtu(ssl, 1200);
    if (side == PAIR_SERVER) {
        SSL_set_accept_state(ssl);
    } else {
        SSL_set_connect_state(ssl);
    }
    return ssl;
}

/* What one has written goes to the other, untimed. Memory keeps no ends of datagrams; records say
 * their own lengths. */
static bool carry(SSL *from, SSL *to)
{
    char octets[4096];
    int len;
    while ((len = BIO_read(SSL_get_wbio(from), octets, sizeof(octets))) > 0) {
        if (BIO_write(SSL_get_rbio(to), octets, len) != len) {
            return false;
        }
    }
    return true;
}

static bool shake_hands(uint64_t ns[2])
{
    SSL *sides[2];
    bool is_over[2] = {false, false};
    for (size_t i = 0; i < 2; i++) {
        uint64_t start = pair_cpu_ns();
        sides[i] = side_new(i);
        ns[i] += pair_cpu_ns() - start;
    }
    bool is_good = sides[0] != NULL && sides[1] != NULL;
    for (int turn = 0; is_good && turn < PAIR_TURNS_MAX && (!is_over[0] || !is_over[1]); turn++) {
        size_t i = turn % 2 == 0 ? PAIR_CLIENT : PAIR_SERVER;
        uint64_t start = pair_cpu_ns();
        int ret = is_over[i] ? 1 : SSL_do_handshake(sides[i]);
        ns[i] += pair_cpu_ns() - start;
        is_over[i] = ret == 1;
        is_good = (ret == 1 || SSL_get_error(sides[i], ret) == SSL_ERROR_WANT_READ) &&
                  carry(sides[i], sides[1 - i]);
    }
    for (size_t i = 0; i < 2; i++) {
        uint64_t start = pair_cpu_ns();
        is_good = is_good && is_over[i] && SSL_get_selected_srtp_profile(sides[i]) != NULL;
        SSL_free(sides[i]);
        ns[i] += pair_cpu_ns() - start;
    }
    return is_good;
}

const struct pair_method pair_openssl = {
    .provider = "openssl-plain",
    .suite = "ECDHE-ECDSA-AES128-GCM-SHA256/P-256",
    .set_up = set_up,
    .take_down = take_down,
    .shake_hands = shake_hands,
    .certify = certify,
};

const struct pair_method pair_openssl_default = {
    .provider = "openssl-plain",
    .suite = "ECDHE-ECDSA-AES128-GCM-SHA256/default-curves",
    .set_up = set_up,
    .take_down = take_down,
    .shake_hands = shake_hands,
    .has_default_groups = true,
};

/* ---- records ---- */

struct association {
    SSL *sides[2];
};

static bool record_seal(void *association, const uint8_t *data, size_t len)
{
    SSL *ssl = ((struct association *)association)->sides[PAIR_SERVER];
    return SSL_write(ssl, data, (int)len) == (int)len && BIO_reset(SSL_get_wbio(ssl)) == 1;
}

static size_t record_prepare(void *association, const uint8_t *data, size_t len,
                             uint8_t out[static 1500])
{
    SSL *ssl = ((struct association *)association)->sides[PAIR_CLIENT];
    int size =
        SSL_write(ssl, data, (int)len) == (int)len ? BIO_read(SSL_get_wbio(ssl), out, 1500) : 0;
    return size > 0 ? (size_t)size : 0;
}

static bool record_open(void *association, const uint8_t *record, size_t record_len, size_t len)
{
    SSL *ssl = ((struct association *)association)->sides[PAIR_SERVER];
    uint8_t plain[1500];
    return BIO_write(SSL_get_rbio(ssl), record, (int)record_len) == (int)record_len &&
           SSL_read(ssl, plain, sizeof(plain)) == (int)len;
}

static void record_disconnect(void *association)
{
    struct association *a = association;
    SSL_free(a->sides[PAIR_SERVER]);
    SSL_free(a->sides[PAIR_CLIENT]);
    free(a);
    take_down();
}

static void *record_connect(const struct record_method *m, enum record_suite suite,
                            struct record_heap *heap, const char **why)
{
    (void)m;
    if (!set_up_for(false, suite, why)) {
        return NULL;
    }
    struct association *a = bench_alloc(sizeof(*a));
    a->sides[PAIR_CLIENT] = side_new(PAIR_CLIENT);
    size_t before = records_heap();
    a->sides[PAIR_SERVER] = side_new(PAIR_SERVER);
    heap->established = records_heap() - before;
    bool is_good = a->sides[0] != NULL && a->sides[1] != NULL, is_over = false;
    for (int turn = 0; is_good && !is_over && turn < PAIR_TURNS_MAX; turn++) {
        size_t i = turn % 2 == 0 ? PAIR_CLIENT : PAIR_SERVER;
        before = records_heap();
        (void)SSL_do_handshake(a->sides[i]);
        heap->established += i == PAIR_SERVER ? records_heap() - before : 0;
        heap->half_open = turn == 1 ? heap->established : heap->half_open;
        is_good = carry(a->sides[i], a->sides[1 - i]);
        is_over = SSL_is_init_finished(a->sides[0]) && SSL_is_init_finished(a->sides[1]);
    }
    if (!is_over) {
        record_disconnect(a);
        *why = "OpenSSL has not come to the end of a handshake";
        return NULL;
    }
    return a;
}

static bool record_key(const struct record_method *m, enum record_suite suite)
{
    static const uint8_t key[32] = {1};
    const EVP_CIPHER *ciphers[RECORD_SUITES] = {[RECORD_AES_128_GCM] = EVP_aes_128_gcm(),
                                                [RECORD_AES_256_GCM] = EVP_aes_256_gcm(),
                                                [RECORD_CHACHA20_POLY1305] =
                                                    EVP_chacha20_poly1305()};
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    bool is_good = c != NULL && EVP_EncryptInit_ex(c, ciphers[suite], NULL, key, NULL) == 1;
    (void)m;
    EVP_CIPHER_CTX_free(c);
    return is_good;
}

const struct record_method records_openssl = {
    .provider = "openssl-plain",
    .connect = record_connect,
    .disconnect = record_disconnect,
    .seal = record_seal,
    .prepare = record_prepare,
    .open = record_open,
    .key = record_key,
};

#endif
