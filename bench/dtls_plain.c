/* SPDX-License-Identifier: MIT */
/*
 * Plain mbedTLS on both sides: the library's own generator, ECKEY key and defaults, but one suite,
 * and P-256 alone where the row says so. Records go by mbedtls_ssl_write and mbedtls_ssl_read.
 */
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/cipher.h>
#include <mbedtls/ecp.h>
#include <mbedtls/entropy.h>
#include <mbedtls/sha256.h>
#include <mbedtls/ssl.h>
#include <mbedtls/version.h>
#include <mbedtls/x509_crt.h>

#include <stdlib.h>

#include "dtls_records.h"

#define IS_3 (MBEDTLS_VERSION_NUMBER >= 0x03000000)

static struct {
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context rng;
    mbedtls_x509_crt certificate;
    mbedtls_pk_context key;
    mbedtls_ssl_config configs[2];
} shared;

struct side {
    mbedtls_ssl_context ssl;
    struct wire *in, *out;
    uint32_t end_ms;
};

static int on_send(void *state, const unsigned char *data, size_t len)
{
    struct side *s = state;
    return wire_put(s->out, data, len) ? (int)len : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

static int on_receive(void *state, unsigned char *out, size_t cap)
{
    struct side *s = state;
    const uint8_t *data;
    size_t len = wire_get(s->in, &data);
    if (len == 0) {
        return MBEDTLS_ERR_SSL_WANT_READ;
    }
    len = len < cap ? len : cap;
    memcpy(out, data, len);
    return (int)len;
}

/* No time passes here. */
static void on_set_timer(void *state, uint32_t mid_ms, uint32_t end_ms)
{
    struct side *s = state;
    (void)mid_ms;
    s->end_ms = end_ms;
}

static int on_get_timer(void *state)
{
    const struct side *s = state;
    return s->end_ms == 0 ? -1 : 0;
}

static int write_certificate(mbedtls_x509_crt *out, mbedtls_pk_context *key)
{
    unsigned char der[1024];
    mbedtls_x509write_cert w;
    mbedtls_x509write_crt_init(&w);
    mbedtls_x509write_crt_set_version(&w, MBEDTLS_X509_CRT_VERSION_3);
    mbedtls_x509write_crt_set_md_alg(&w, MBEDTLS_MD_SHA256);
    mbedtls_x509write_crt_set_subject_key(&w, key);
    mbedtls_x509write_crt_set_issuer_key(&w, key);
#if MBEDTLS_VERSION_NUMBER >= 0x03040000
    unsigned char serial[] = {1};
    int ret = mbedtls_x509write_crt_set_serial_raw(&w, serial, sizeof(serial));
#else
    mbedtls_mpi serial;
    mbedtls_mpi_init(&serial);
    int ret = mbedtls_mpi_lset(&serial, 1);
    ret = ret != 0 ? ret : mbedtls_x509write_crt_set_serial(&w, &serial);
    mbedtls_mpi_free(&serial);
#endif
    ret = ret != 0 ? ret : mbedtls_x509write_crt_set_subject_name(&w, "CN=bench");
    ret = ret != 0 ? ret : mbedtls_x509write_crt_set_issuer_name(&w, "CN=bench");
    ret =
        ret != 0 ? ret : mbedtls_x509write_crt_set_validity(&w, "20200101000000", "20400101000000");
    ret = ret != 0 ? ret
                   : mbedtls_x509write_crt_der(&w, der, sizeof(der), mbedtls_ctr_drbg_random,
                                               &shared.rng);
    if (ret > 0) { /* at the end of the buffer */
        ret = mbedtls_x509_crt_parse_der(out, der + sizeof(der) - (size_t)ret, (size_t)ret);
    }
    mbedtls_x509write_crt_free(&w);
    return ret;
}

static int make_certificate(mbedtls_x509_crt *certificate, mbedtls_pk_context *key)
{
    mbedtls_x509_crt_init(certificate);
    mbedtls_pk_init(key);
    int ret = mbedtls_pk_setup(key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));
    if (ret == 0) {
        ret = mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(*key),
                                  mbedtls_ctr_drbg_random, &shared.rng);
    }
    return ret != 0 ? ret : write_certificate(certificate, key);
}

static bool certify(void)
{
    mbedtls_x509_crt certificate;
    mbedtls_pk_context key;
    int ret = make_certificate(&certificate, &key);
    mbedtls_x509_crt_free(&certificate);
    mbedtls_pk_free(&key);
    return ret == 0;
}

static void set_versions_and_groups(mbedtls_ssl_config *c, bool has_default_groups)
{
#if IS_3
    static const uint16_t groups[] = {MBEDTLS_SSL_IANA_TLS_GROUP_SECP256R1,
                                      MBEDTLS_SSL_IANA_TLS_GROUP_NONE};
    mbedtls_ssl_conf_min_tls_version(c, MBEDTLS_SSL_VERSION_TLS1_2);
    mbedtls_ssl_conf_max_tls_version(c, MBEDTLS_SSL_VERSION_TLS1_2);
    if (!has_default_groups) {
        mbedtls_ssl_conf_groups(c, groups);
    }
#else
    static const mbedtls_ecp_group_id curves[] = {MBEDTLS_ECP_DP_SECP256R1, MBEDTLS_ECP_DP_NONE};
    mbedtls_ssl_conf_min_version(c, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
    if (!has_default_groups) {
        mbedtls_ssl_conf_curves(c, curves);
    }
#endif
}

static int config_init(mbedtls_ssl_config *c, int endpoint, bool has_default_groups,
                       enum record_suite suite)
{
    static const int suites[RECORD_SUITES][2] = {
        [RECORD_AES_128_GCM] = {MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
        [RECORD_AES_256_GCM] = {MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384},
        [RECORD_CHACHA20_POLY1305] = {MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256}};
    static const mbedtls_ssl_srtp_profile profiles[] = {MBEDTLS_TLS_SRTP_AES128_CM_HMAC_SHA1_80,
                                                        MBEDTLS_TLS_SRTP_UNSET};
    int ret = mbedtls_ssl_config_defaults(c, endpoint, MBEDTLS_SSL_TRANSPORT_DATAGRAM,
                                          MBEDTLS_SSL_PRESET_DEFAULT);
    if (ret != 0) {
        return ret;
    }
    set_versions_and_groups(c, has_default_groups);
    mbedtls_ssl_conf_ciphersuites(c, suites[suite]);
    mbedtls_ssl_conf_authmode(c, MBEDTLS_SSL_VERIFY_OPTIONAL); /* self-signed */
    mbedtls_ssl_conf_rng(c, mbedtls_ctr_drbg_random, &shared.rng);
    if (endpoint == MBEDTLS_SSL_IS_SERVER) {
        mbedtls_ssl_conf_dtls_cookies(c, NULL, NULL, NULL);
    }
    ret = mbedtls_ssl_conf_dtls_srtp_protection_profiles(c, profiles);
    return ret != 0 ? ret : mbedtls_ssl_conf_own_cert(c, &shared.certificate, &shared.key);
}

static void take_down(void)
{
    mbedtls_ssl_config_free(&shared.configs[PAIR_SERVER]);
    mbedtls_ssl_config_free(&shared.configs[PAIR_CLIENT]);
    mbedtls_x509_crt_free(&shared.certificate);
    mbedtls_pk_free(&shared.key);
    mbedtls_ctr_drbg_free(&shared.rng);
    mbedtls_entropy_free(&shared.entropy);
}

static bool set_up(const struct pair_method *m, const char **why)
{
    mbedtls_entropy_init(&shared.entropy);
    mbedtls_ctr_drbg_init(&shared.rng);
    mbedtls_x509_crt_init(&shared.certificate);
    mbedtls_pk_init(&shared.key);
    mbedtls_ssl_config_init(&shared.configs[PAIR_SERVER]);
    mbedtls_ssl_config_init(&shared.configs[PAIR_CLIENT]);
    if (mbedtls_ctr_drbg_seed(&shared.rng, mbedtls_entropy_func, &shared.entropy, NULL, 0) != 0 ||
        make_certificate(&shared.certificate, &shared.key) != 0 ||
        config_init(&shared.configs[PAIR_SERVER], MBEDTLS_SSL_IS_SERVER, m->has_default_groups,
                    RECORD_AES_128_GCM) != 0 ||
        config_init(&shared.configs[PAIR_CLIENT], MBEDTLS_SSL_IS_CLIENT, m->has_default_groups,
                    RECORD_AES_128_GCM) != 0) {
        take_down();
        *why = "mbedTLS refuses its set-up";
        return false;
    }
    return true;
}

static bool side_init(struct side *s, const mbedtls_ssl_config *config, struct wire *in,
                      struct wire *out)
{
    s->in = in;
    s->out = out;
    s->end_ms = 0;
    mbedtls_ssl_init(&s->ssl);
    if (mbedtls_ssl_setup(&s->ssl, config) != 0 || mbedtls_ssl_set_hostname(&s->ssl, NULL) != 0) {
        return false;
    }
    mbedtls_ssl_set_bio(&s->ssl, s, on_send, on_receive, NULL);
    mbedtls_ssl_set_timer_cb(&s->ssl, s, on_set_timer, on_get_timer);
    mbedtls_ssl_set_mtu(&s->ssl, 1200);
    return true;
}

static bool shake_hands(uint64_t ns[2])
{
    static struct wire wires[2]; /* by who receives */
    struct side sides[2];
    int state[2] = {MBEDTLS_ERR_SSL_WANT_READ, MBEDTLS_ERR_SSL_WANT_READ};
    bool is_good = true;
    memset(wires, 0, sizeof(wires));
    for (size_t i = 0; i < 2; i++) {
        uint64_t start = pair_cpu_ns();
        is_good = side_init(&sides[i], &shared.configs[i], &wires[i], &wires[1 - i]) && is_good;
        ns[i] += pair_cpu_ns() - start;
    }
    for (int turn = 0; is_good && turn < PAIR_TURNS_MAX && (state[0] != 0 || state[1] != 0);
         turn++) {
        size_t i = turn % 2 == 0 ? PAIR_CLIENT : PAIR_SERVER;
        uint64_t start = pair_cpu_ns();
        state[i] = state[i] != 0 ? mbedtls_ssl_handshake(&sides[i].ssl) : 0;
        ns[i] += pair_cpu_ns() - start;
        is_good = state[i] == 0 || state[i] == MBEDTLS_ERR_SSL_WANT_READ;
    }
    for (size_t i = 0; i < 2; i++) {
        uint64_t start = pair_cpu_ns();
        is_good = is_good && state[i] == 0 && mbedtls_ssl_get_peer_cert(&sides[i].ssl) != NULL;
        mbedtls_ssl_free(&sides[i].ssl);
        ns[i] += pair_cpu_ns() - start;
    }
    return is_good;
}

const struct pair_method pair_mbedtls = {
    .provider = "mbedtls-plain",
    .suite = "ECDHE-ECDSA-AES128-GCM-SHA256/P-256",
    .set_up = set_up,
    .take_down = take_down,
    .shake_hands = shake_hands,
    .certify = certify,
};

const struct pair_method pair_mbedtls_default = {
    .provider = "mbedtls-plain",
    .suite = "ECDHE-ECDSA-AES128-GCM-SHA256/default-curves",
    .set_up = set_up,
    .take_down = take_down,
    .shake_hands = shake_hands,
    .has_default_groups = true,
};

/* ---- records ---- */

struct plain_end {
    struct side side;
    mbedtls_ssl_config config;
};

static unsigned end_count;

struct plain_end *plain_end_new(int side, enum record_suite suite, struct wire *in,
                                struct wire *out)
{
    const char *why;
    if (end_count == 0 && !set_up(&pair_mbedtls, &why)) {
        return NULL;
    }
    end_count++;
    struct plain_end *e = bench_alloc(sizeof(*e));
    mbedtls_ssl_config_init(&e->config);
    int endpoint = side == PAIR_SERVER ? MBEDTLS_SSL_IS_SERVER : MBEDTLS_SSL_IS_CLIENT;
    if (config_init(&e->config, endpoint, false, suite) != 0 ||
        !side_init(&e->side, &e->config, in, out)) {
        plain_end_free(e);
        return NULL;
    }
    mbedtls_ssl_set_mtu(&e->side.ssl, sizeof(in->data[0])); /* data of 1200 octets goes whole */
    return e;
}

void plain_end_free(struct plain_end *e)
{
    if (e == NULL) {
        return;
    }
    mbedtls_ssl_free(&e->side.ssl);
    mbedtls_ssl_config_free(&e->config);
    free(e);
    if (--end_count == 0) {
        take_down();
    }
}

bool plain_end_shake(struct plain_end *e)
{
    return mbedtls_ssl_handshake(&e->side.ssl) == 0;
}

bool plain_end_write(struct plain_end *e, const uint8_t *data, size_t len)
{
    return mbedtls_ssl_write(&e->side.ssl, data, len) == (int)len;
}

void plain_fingerprint(uint8_t out[static 32])
{
    const mbedtls_x509_buf *raw = &shared.certificate.raw;
#if IS_3
    (void)mbedtls_sha256(raw->p, raw->len, out, 0);
#else
    (void)mbedtls_sha256_ret(raw->p, raw->len, out, 0);
#endif
}

struct association {
    struct wire wires[2]; /* by who receives */
    struct plain_end *ends[2];
};

static bool record_seal(void *association, const uint8_t *data, size_t len)
{
    struct association *a = association;
    const uint8_t *record;
    return plain_end_write(a->ends[PAIR_SERVER], data, len) &&
           wire_get(&a->wires[PAIR_CLIENT], &record) > len;
}

static size_t record_prepare(void *association, const uint8_t *data, size_t len,
                             uint8_t out[static 1500])
{
    struct association *a = association;
    return plain_end_write(a->ends[PAIR_CLIENT], data, len) ? wire_take(&a->wires[PAIR_SERVER], out)
                                                            : 0;
}

static bool record_open(void *association, const uint8_t *record, size_t record_len, size_t len)
{
    struct association *a = association;
    uint8_t plain[1500];
    return wire_put(&a->wires[PAIR_SERVER], record, record_len) &&
           mbedtls_ssl_read(&a->ends[PAIR_SERVER]->side.ssl, plain, sizeof(plain)) == (int)len;
}

static void record_disconnect(void *association)
{
    struct association *a = association;
    plain_end_free(a->ends[PAIR_SERVER]);
    plain_end_free(a->ends[PAIR_CLIENT]);
    free(a);
}

static void *record_connect(const struct record_method *m, enum record_suite suite,
                            struct record_heap *heap, const char **why)
{
    struct association *a = bench_alloc(sizeof(*a));
    bool is_over[2] = {false, false};
    (void)m;
    a->ends[PAIR_CLIENT] =
        plain_end_new(PAIR_CLIENT, suite, &a->wires[PAIR_CLIENT], &a->wires[PAIR_SERVER]);
    size_t before = records_heap();
    a->ends[PAIR_SERVER] =
        plain_end_new(PAIR_SERVER, suite, &a->wires[PAIR_SERVER], &a->wires[PAIR_CLIENT]);
    heap->established = records_heap() - before;
    for (int turn = 0; a->ends[0] != NULL && a->ends[1] != NULL && turn < PAIR_TURNS_MAX; turn++) {
        int i = turn % 2 == 0 ? PAIR_CLIENT : PAIR_SERVER;
        before = records_heap();
        is_over[i] = is_over[i] || plain_end_shake(a->ends[i]);
        heap->established += i == PAIR_SERVER ? records_heap() - before : 0;
        heap->half_open = turn == 1 ? heap->established : heap->half_open;
    }
    if (!is_over[0] || !is_over[1]) {
        record_disconnect(a);
        *why = "mbedTLS has not come to the end of a handshake";
        return NULL;
    }
    return a;
}

static bool record_key(const struct record_method *m, enum record_suite suite)
{
    static const mbedtls_cipher_type_t types[RECORD_SUITES] = {
        [RECORD_AES_128_GCM] = MBEDTLS_CIPHER_AES_128_GCM,
        [RECORD_AES_256_GCM] = MBEDTLS_CIPHER_AES_256_GCM,
        [RECORD_CHACHA20_POLY1305] = MBEDTLS_CIPHER_CHACHA20_POLY1305};
    static const uint8_t key[32] = {1};
    const mbedtls_cipher_info_t *info = mbedtls_cipher_info_from_type(types[suite]);
    mbedtls_cipher_context_t c;
    (void)m;
    mbedtls_cipher_init(&c);
    bool is_good = mbedtls_cipher_setup(&c, info) == 0 &&
                   mbedtls_cipher_setkey(&c, key, suite == RECORD_AES_128_GCM ? 128 : 256,
                                         MBEDTLS_ENCRYPT) == 0;
    mbedtls_cipher_free(&c);
    return is_good;
}

const struct record_method records_mbedtls = {
    .provider = "mbedtls-plain",
    .connect = record_connect,
    .disconnect = record_disconnect,
    .seal = record_seal,
    .prepare = record_prepare,
    .open = record_open,
    .key = record_key,
};
