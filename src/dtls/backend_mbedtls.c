/* SPDX-License-Identifier: MIT */
/*
 * One handshake inside mbedTLS: DTLS 1.2, ECDHE with AEAD suites, both sides with a certificate.
 *
 * Randomness, retransmission timeouts and (2.28) the key-export callback live in the library's
 * config, so each association owns a copy by value of its identity's prepared one. What the copy
 * points at belongs to the identity: the copy is never given to mbedtls_ssl_config_free.
 *
 * The handshake goes step by step, because the library finishes one without an SRTP profile and
 * (verification being optional: certificates are self-signed) without a certificate of the remote:
 *   server, hello parsed              no common profile          -> handshake_failure
 *   both, certificate parsed          wrong fingerprint          -> bad_certificate (RFC 8122 6.2)
 *   both, master secret made          no certificate, no profile -> handshake_failure
 * All of these come before our Finished is sent. What holds once more at the end, from the
 * library's own record of the certificate, is what makes it connected.
 *
 * The library's replay protection is off. Handshake messages carry their own sequence numbers, and
 * a client that repeats its flight with the same record numbers (werift does) must still be
 * answered. What comes after the handshake never reaches the library.
 *
 * The library's own output tells what the record layer after it must know: the highest number that
 * it has used in epoch 1, and a server's last flight (ChangeCipherSpec and Finished; there are no
 * session tickets).
 *
 * A record with a bad MAC is fatal to the library while it waits for Finished, in plain sight of
 * anyone who can spoof the tuple; it stays usable, so a few of them are passed over.
 */
#include <stdlib.h>

#include "library.h"

#define BAD_MACS_MAX 16

struct handshake {
    struct leat__dtls_backend base;
    mbedtls_ssl_config config;
    mbedtls_ssl_context ssl;
    mbedtls_ssl_srtp_profile profiles[LEAT_SRTP_PROFILES_MAX + 1];
    uint8_t fingerprint[LEAT_FINGERPRINT_LEN];

    struct leat_span input; /* of the present feed, not read yet */
    bool has_read, is_starved;
    uint64_t timer_mid_us; /* of the library's two-stage timer */

    struct leat__dtls_material material;
    bool has_leaf, is_leaf_right;
    unsigned bad_macs;
    struct leat_srtp_keys keys;
};

static struct handshake *of(struct leat__dtls_backend *b)
{
    return (struct handshake *)b;
}

/* ---- what the library calls ---- */

static int on_rng(void *state, unsigned char *out, size_t len)
{
    struct handshake *b = state;
    return b->base.rng ? leat_rng_callback(b->base.rng, out, len) : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

static int on_send(void *state, const unsigned char *data, size_t len)
{
    struct handshake *b = state;
    struct leat_reader r;
    struct leat__dtls_record rec;
    leat_reader_init(&r, data, len);
    while (leat_reader_left(&r) != 0 && leat__dtls_record_next(&r, &rec)) {
        leat__dtls_backend_watch(&b->base, &rec);
    }
    (void)leat__dtls_queue_push(b->base.out, LEAT__DTLS_QUEUE_CAP, leat_span(data, len));
    b->base.last_send_us = b->base.now_us;
    return (int)len; /* a full queue is a loss; the flight will be sent again */
}

static int on_receive(void *state, unsigned char *out, size_t cap)
{
    struct handshake *b = state;
    if (b->input.len == 0) {
        b->is_starved = true;
        return MBEDTLS_ERR_SSL_WANT_READ;
    }
    size_t len = b->input.len < cap ? b->input.len : cap;
    memcpy(out, b->input.data, len);
    b->input.len = 0;
    b->has_read = true;
    return (int)len;
}

static void on_set_timer(void *state, uint32_t mid_ms, uint32_t end_ms)
{
    struct handshake *b = state;
    b->timer_mid_us = mid_ms * 1000ull;
    leat__dtls_backend_set_timer(&b->base, end_ms * 1000ull);
}

static int on_get_timer(void *state)
{
    const struct handshake *b = state;
    if (b->base.timer_start_us == LEAT_NEVER) {
        return -1;
    }
    uint64_t passed_us =
        b->base.now_us > b->base.timer_start_us ? b->base.now_us - b->base.timer_start_us : 0;
    return passed_us >= b->base.timer_us ? 2 : passed_us >= b->timer_mid_us ? 1 : 0;
}

static int on_verify(void *state, mbedtls_x509_crt *certificate, int depth, uint32_t *flags)
{
    struct handshake *b = state;
    (void)flags;
    if (depth == 0) {
        uint8_t digest[LEAT_FINGERPRINT_LEN];
        leat_sha256(certificate->raw.p, certificate->raw.len, digest);
        b->has_leaf = true;
        b->is_leaf_right = leat_equal_ct(digest, b->fingerprint, sizeof(digest));
    }
    return 0;
}

/* ---- configuration ---- */

static const int suites[] = {MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
                             MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
                             MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
                             MBEDTLS_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
                             MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
                             MBEDTLS_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
                             0};

/* In the same order. */
static const struct suite {
    const char *name;
    enum leat__dtls_aead aead;
} suite_facts[] = {
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", LEAT__DTLS_AES_128_GCM},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", LEAT__DTLS_AES_128_GCM},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", LEAT__DTLS_AES_256_GCM},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", LEAT__DTLS_AES_256_GCM},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", LEAT__DTLS_CHACHA20_POLY1305},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", LEAT__DTLS_CHACHA20_POLY1305},
};

static void set_versions_and_curves(mbedtls_ssl_config *c)
{
#if LEAT__MBEDTLS_3
    static const uint16_t groups[] = {
        MBEDTLS_SSL_IANA_TLS_GROUP_SECP256R1, MBEDTLS_SSL_IANA_TLS_GROUP_SECP384R1,
        MBEDTLS_SSL_IANA_TLS_GROUP_X25519, MBEDTLS_SSL_IANA_TLS_GROUP_NONE};
    mbedtls_ssl_conf_min_tls_version(c, MBEDTLS_SSL_VERSION_TLS1_2);
    mbedtls_ssl_conf_max_tls_version(c, MBEDTLS_SSL_VERSION_TLS1_2);
    mbedtls_ssl_conf_groups(c, groups);
#else
    static const mbedtls_ecp_group_id curves[] = {MBEDTLS_ECP_DP_SECP256R1,
                                                  MBEDTLS_ECP_DP_SECP384R1,
                                                  MBEDTLS_ECP_DP_CURVE25519, MBEDTLS_ECP_DP_NONE};
    mbedtls_ssl_conf_min_version(c, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
    mbedtls_ssl_conf_max_version(c, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
    mbedtls_ssl_conf_curves(c, curves);
#endif
}

static int config_init(mbedtls_ssl_config *c, struct leat_dtls_identity *id, int endpoint)
{
    int ret = mbedtls_ssl_config_defaults(c, endpoint, MBEDTLS_SSL_TRANSPORT_DATAGRAM,
                                          MBEDTLS_SSL_PRESET_DEFAULT);
    if (ret != 0) {
        return ret;
    }
    set_versions_and_curves(c);
    mbedtls_ssl_conf_ciphersuites(c, suites);
    mbedtls_ssl_conf_authmode(c, MBEDTLS_SSL_VERIFY_OPTIONAL);
    mbedtls_ssl_conf_renegotiation(c, MBEDTLS_SSL_RENEGOTIATION_DISABLED);
    mbedtls_ssl_conf_session_tickets(c, MBEDTLS_SSL_SESSION_TICKETS_DISABLED);
    mbedtls_ssl_conf_dtls_anti_replay(c, MBEDTLS_SSL_ANTI_REPLAY_DISABLED);
    if (endpoint == MBEDTLS_SSL_IS_SERVER) {
        mbedtls_ssl_conf_dtls_cookies(c, NULL, NULL, NULL); /* ICE has proved reachability */
    }
    return mbedtls_ssl_conf_own_cert(c, &id->chain, &id->key);
}

int leat__dtls_configs_init(struct leat_dtls_identity *id)
{
    int ret = config_init(&id->configs[LEAT_DTLS_SERVER], id, MBEDTLS_SSL_IS_SERVER);
    if (ret == 0) {
        ret = config_init(&id->configs[LEAT_DTLS_CLIENT], id, MBEDTLS_SSL_IS_CLIENT);
    }
    return ret == 0 ? 0 : leat__dtls_library_error(ret, LEAT_E_CRYPTO);
}

int leat__dtls_library_error(int error, int otherwise)
{
    static const int out_of_memory[] = {
        MBEDTLS_ERR_SSL_ALLOC_FAILED, MBEDTLS_ERR_X509_ALLOC_FAILED,
        MBEDTLS_ERR_PK_ALLOC_FAILED,  MBEDTLS_ERR_ECP_ALLOC_FAILED,
        MBEDTLS_ERR_MD_ALLOC_FAILED,  MBEDTLS_ERR_CIPHER_ALLOC_FAILED,
        MBEDTLS_ERR_MPI_ALLOC_FAILED, MBEDTLS_ERR_ASN1_ALLOC_FAILED};
    int low = -(-error & 0x7f), high = -(-error & ~0x7f); /* an error of a layer plus one below */
    for (size_t i = 0; i < LEAT_ARRAY_LEN(out_of_memory); i++) {
        if (error == out_of_memory[i] || low == out_of_memory[i] || high == out_of_memory[i]) {
            return LEAT_E_NOMEM;
        }
    }
    return otherwise;
}

static bool profile_to_library(enum leat_srtp_profile profile, mbedtls_ssl_srtp_profile *out)
{
    switch (profile) {
    case LEAT_SRTP_AES128_CM_SHA1_80:
        *out = MBEDTLS_TLS_SRTP_AES128_CM_HMAC_SHA1_80;
        return true;
    case LEAT_SRTP_AES128_CM_SHA1_32:
        *out = MBEDTLS_TLS_SRTP_AES128_CM_HMAC_SHA1_32;
        return true;
    case LEAT_SRTP_AEAD_AES_128_GCM: /* neither 2.28 nor 3.6 knows RFC 7714 */
    case LEAT_SRTP_AEAD_AES_256_GCM:
    case LEAT_SRTP_PROFILE_NONE:
        return false;
    }
    return false;
}

static bool has_profile(enum leat_srtp_profile profile)
{
    mbedtls_ssl_srtp_profile ignored;
    return profile_to_library(profile, &ignored);
}

static int set_profiles(struct handshake *b, const struct leat_dtls_params *params)
{
    size_t count = 0;
    for (size_t i = 0; i < params->profile_count; i++) {
        count += profile_to_library(params->profiles[i], &b->profiles[count]) ? 1 : 0;
    }
    b->profiles[count] = MBEDTLS_TLS_SRTP_UNSET;
    return mbedtls_ssl_conf_dtls_srtp_protection_profiles(&b->config, b->profiles);
}

/* ---- life ---- */

static void backend_free(struct leat__dtls_backend *backend)
{
    struct handshake *b = of(backend);
    if (!b) {
        return;
    }
    mbedtls_ssl_free(&b->ssl);
    leat_wipe(b, sizeof(*b));
    free(b);
}

static int backend_new(struct leat__dtls_backend **out_backend,
                       const struct leat_dtls_params *params, uint32_t first_timeout_ms,
                       struct leat__dtls_queue *out)
{
    *out_backend = NULL;
    struct handshake *b = calloc(1, sizeof(*b));
    if (!b) {
        return LEAT_E_NOMEM;
    }
    b->base.ops = &leat__dtls_mbedtls_ops;
    b->base.role = params->role;
    b->base.timeout_ms = first_timeout_ms;
    b->base.out = out;
    b->base.timer_start_us = LEAT_NEVER;
    memcpy(b->fingerprint, params->remote_fingerprint, sizeof(b->fingerprint));
    b->config = params->identity->configs[params->role];
    mbedtls_ssl_init(&b->ssl);

    mbedtls_ssl_conf_rng(&b->config, on_rng, b);
    mbedtls_ssl_conf_verify(&b->config, on_verify, b);
    mbedtls_ssl_conf_handshake_timeout(&b->config, first_timeout_ms, LEAT__DTLS_TIMEOUT_MAX_MS);
    leat__dtls_export_by_config(&b->config, &b->material);
    int ret = set_profiles(b, params);
    if (ret == 0) {
        ret = mbedtls_ssl_setup(&b->ssl, &b->config);
    }
    if (ret == 0) {
        ret = mbedtls_ssl_set_hostname(&b->ssl, NULL); /* the fingerprint is the name */
    }
    if (ret != 0) {
        backend_free(&b->base);
        return leat__dtls_library_error(ret, LEAT_E_CRYPTO);
    }
    leat__dtls_export_by_context(&b->ssl, &b->material);
    mbedtls_ssl_set_bio(&b->ssl, b, on_send, on_receive, NULL);
    mbedtls_ssl_set_timer_cb(&b->ssl, b, on_set_timer, on_get_timer);
    mbedtls_ssl_set_mtu(&b->ssl, LEAT_DTLS_MTU);
    *out_backend = &b->base;
    return 0;
}

/* ---- the handshake ---- */

static void alert(struct handshake *b, unsigned char description)
{
    (void)mbedtls_ssl_send_alert_message(&b->ssl, MBEDTLS_SSL_ALERT_LEVEL_FATAL, description);
}

static bool is_over(const struct handshake *b)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03020000
    return mbedtls_ssl_is_handshake_over((mbedtls_ssl_context *)&b->ssl) != 0;
#else
    return b->ssl.MBEDTLS_PRIVATE(state) == MBEDTLS_SSL_HANDSHAKE_OVER;
#endif
}

static enum leat_srtp_profile negotiated(const struct handshake *b)
{
    mbedtls_dtls_srtp_info info;
    mbedtls_ssl_get_dtls_srtp_negotiation_result(&b->ssl, &info);
    switch (info.MBEDTLS_PRIVATE(chosen_dtls_srtp_profile)) {
    case MBEDTLS_TLS_SRTP_AES128_CM_HMAC_SHA1_80:
        return LEAT_SRTP_AES128_CM_SHA1_80;
    case MBEDTLS_TLS_SRTP_AES128_CM_HMAC_SHA1_32:
        return LEAT_SRTP_AES128_CM_SHA1_32;
    default:
        return LEAT_SRTP_PROFILE_NONE;
    }
}

/* @return NULL for one that was never offered. */
static const struct suite *suite_of(const struct handshake *b)
{
    int id = mbedtls_ssl_get_ciphersuite_id(mbedtls_ssl_get_ciphersuite(&b->ssl));
    for (size_t i = 0; i < LEAT_ARRAY_LEN(suite_facts); i++) {
        if (suites[i] == id) {
            return &suite_facts[i];
        }
    }
    return NULL;
}

static void refuse(struct handshake *b, enum leat_dtls_end end, unsigned char description)
{
    b->base.end = end;
    alert(b, description);
}

/* After each step that went well. */
static void check(struct handshake *b)
{
    bool is_hello_parsed = b->base.role == LEAT_DTLS_SERVER && b->has_read;
    if (b->has_leaf && !b->is_leaf_right) {
        refuse(b, LEAT_DTLS_END_FINGERPRINT, MBEDTLS_SSL_ALERT_MSG_BAD_CERT);
    } else if (b->material.is_set && !b->has_leaf) {
        refuse(b, LEAT_DTLS_END_NO_CERT, MBEDTLS_SSL_ALERT_MSG_HANDSHAKE_FAILURE);
    } else if ((b->material.is_set || is_hello_parsed) && negotiated(b) == LEAT_SRTP_PROFILE_NONE) {
        refuse(b, LEAT_DTLS_END_NO_PROFILE, MBEDTLS_SSL_ALERT_MSG_HANDSHAKE_FAILURE);
    }
}

/* The handshake is over: everything that makes it ours must hold, whatever the steps have seen. */
static void finish(struct handshake *b)
{
    uint8_t digest[LEAT_FINGERPRINT_LEN] = {0};
    const mbedtls_x509_crt *leaf = mbedtls_ssl_get_peer_cert(&b->ssl);
    if (leaf) {
        leat_sha256(leaf->raw.p, leaf->raw.len, digest);
    }
    if (!leaf) {
        refuse(b, LEAT_DTLS_END_NO_CERT, MBEDTLS_SSL_ALERT_MSG_HANDSHAKE_FAILURE);
    } else if (!leat_equal_ct(digest, b->fingerprint, sizeof(digest))) {
        refuse(b, LEAT_DTLS_END_FINGERPRINT, MBEDTLS_SSL_ALERT_MSG_BAD_CERT);
    } else if (!b->material.is_set) {
        refuse(b, LEAT_DTLS_END_INTERNAL, MBEDTLS_SSL_ALERT_MSG_INTERNAL_ERROR);
    } else if (b->base.next_seq == 0 || suite_of(b) == NULL) {
        refuse(b, LEAT_DTLS_END_INTERNAL, MBEDTLS_SSL_ALERT_MSG_INTERNAL_ERROR);
    } else if (leat_srtp_keys_cut(&b->keys, negotiated(b), b->material.block,
                                  b->base.role == LEAT_DTLS_CLIENT) == 0) {
        refuse(b, LEAT_DTLS_END_NO_PROFILE, MBEDTLS_SSL_ALERT_MSG_HANDSHAKE_FAILURE);
    } else {
        b->base.is_connected = true;
    }
    leat_wipe(b->material.block, sizeof(b->material.block));
}

static enum leat_dtls_end end_of(int error)
{
    switch (error) {
    case MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE:
        return LEAT_DTLS_END_ALERT;
    case MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY:
        return LEAT_DTLS_END_CLOSED;
    case MBEDTLS_ERR_SSL_TIMEOUT:
        return LEAT_DTLS_END_TIMEOUT;
    case MBEDTLS_ERR_SSL_INTERNAL_ERROR:
        return LEAT_DTLS_END_INTERNAL;
    default:
        return leat__dtls_library_error(error, 0) == LEAT_E_NOMEM ? LEAT_DTLS_END_INTERNAL
                                                                  : LEAT_DTLS_END_PROTOCOL;
    }
}

/* @return false when the library has read everything and waits. */
static bool step(struct handshake *b)
{
    size_t sent = b->base.out->count;
    int ret = mbedtls_ssl_handshake_step(&b->ssl);
    if (ret == 0) {
        check(b);
        if (b->base.end == LEAT_DTLS_END_NONE && is_over(b)) {
            finish(b);
        }
        return true;
    }
    if (ret == MBEDTLS_ERR_SSL_WANT_READ) {
        return !b->is_starved; /* a retransmission came first: the datagram is still to be read */
    }
    if (ret == MBEDTLS_ERR_SSL_INVALID_MAC && b->bad_macs++ < BAD_MACS_MAX) {
        leat__dtls_queue_truncate(b->base.out, sent); /* takes back the library's fatal alert */
        return true;
    }
    b->base.end = end_of(ret);
    if (b->base.out->count == sent && b->base.end != LEAT_DTLS_END_ALERT) {
        alert(b, b->base.end == LEAT_DTLS_END_INTERNAL ? MBEDTLS_SSL_ALERT_MSG_INTERNAL_ERROR
                                                       : MBEDTLS_SSL_ALERT_MSG_HANDSHAKE_FAILURE);
    }
    return true;
}

static void backend_feed(struct leat__dtls_backend *backend, struct leat_span datagram,
                         uint64_t now_us)
{
    struct handshake *b = of(backend);
    b->input = datagram;
    b->is_starved = false;
    b->base.now_us = now_us;
    if (b->base.role == LEAT_DTLS_CLIENT && datagram.len != 0 && !b->material.is_set &&
        leat__dtls_backend_fit_timeout(&b->base)) {
        mbedtls_ssl_conf_handshake_timeout(&b->config, b->base.timeout_ms,
                                           LEAT__DTLS_TIMEOUT_MAX_MS);
    }
    bool goes_on = true;
    while (goes_on && !b->base.is_connected && b->base.end == LEAT_DTLS_END_NONE) {
        goes_on = step(b);
    }
    b->input = leat_span(NULL, 0);
}

static void backend_close(struct leat__dtls_backend *backend)
{
    struct handshake *b = of(backend);
    alert(b, MBEDTLS_SSL_ALERT_MSG_USER_CANCELED);
    b->base.end = LEAT_DTLS_END_CLOSED;
}

/* ---- what the session asks ---- */

static int backend_take(struct leat__dtls_backend *backend, struct leat__dtls_outcome *out)
{
    struct handshake *b = of(backend);
    memset(out, 0, sizeof(*out));
    int error = leat__dtls_backend_take_flight(backend, &out->flight);
    if (error != 0) {
        return error;
    }
    const struct suite *suite = suite_of(b);
    out->srtp = b->keys;
    out->cipher = suite->name;
    leat__dtls_protection_init(&out->protection, suite->aead, b->material.key_block,
                               b->base.role == LEAT_DTLS_CLIENT, b->base.next_seq);
    leat_wipe(&b->keys, sizeof(b->keys));
    leat_wipe(&b->material, sizeof(b->material));
    return 0;
}

const struct leat__dtls_backend_ops leat__dtls_mbedtls_ops = {
    .has_profile = has_profile,
    .new = backend_new,
    .free = backend_free,
    .feed = backend_feed,
    .close = backend_close,
    .take = backend_take,
};
