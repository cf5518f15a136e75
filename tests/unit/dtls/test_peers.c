/* SPDX-License-Identifier: MIT */
/*
 * Remotes that a session of ours would never be: without a certificate, without use_srtp, with
 * application data, with a renegotiation, with an RSA certificate. Made of the library itself.
 */
#include "library.h"

#include "identities.h"
#include "network.h"

static const mbedtls_ssl_srtp_profile cm_80[] = {MBEDTLS_TLS_SRTP_AES128_CM_HMAC_SHA1_80,
                                                 MBEDTLS_TLS_SRTP_UNSET};

/* A library client (or server) whose datagrams are handed over by the test. */
struct remote {
    mbedtls_ssl_config config;
    mbedtls_ssl_context ssl;
    struct leat_rng rng;
    struct leat_dtls *d; /* ours */
    uint8_t input[8][1600];
    size_t input_len[8], input_count;
    size_t sent, largest; /* octets from ours */
    int result;
    struct leat_dtls_event events[4];
    size_t event_count;
};

static int remote_send(void *state, const unsigned char *data, size_t len)
{
    struct remote *r = state;
    (void)leat_dtls_receive(r->d, leat_span(data, len), 5000);
    return (int)len;
}

static int remote_receive(void *state, unsigned char *out, size_t cap)
{
    struct remote *r = state;
    if (r->input_count == 0) {
        return MBEDTLS_ERR_SSL_WANT_READ;
    }
    size_t len = r->input_len[0] < cap ? r->input_len[0] : cap;
    memcpy(out, r->input[0], len);
    r->input_count--;
    memmove(r->input[0], r->input[1], sizeof(r->input) - sizeof(r->input[0]));
    memmove(r->input_len, r->input_len + 1, sizeof(r->input_len) - sizeof(r->input_len[0]));
    return (int)len;
}

static void remote_set_timer(void *state, uint32_t mid_ms, uint32_t end_ms)
{
    (void)state, (void)mid_ms, (void)end_ms;
}

static int remote_get_timer(void *state)
{
    (void)state;
    return 0;
}

static void remote_init(struct remote *r, int endpoint, bool has_srtp,
                        struct leat_dtls_identity *certificate)
{
    memset(r, 0, sizeof(*r));
    net_rng(&r->rng, 61);
    mbedtls_ssl_config_init(&r->config);
    mbedtls_ssl_init(&r->ssl);
    LEAT_CHECK_INT(mbedtls_ssl_config_defaults(&r->config, endpoint, MBEDTLS_SSL_TRANSPORT_DATAGRAM,
                                               MBEDTLS_SSL_PRESET_DEFAULT),
                   0);
    mbedtls_ssl_conf_rng(&r->config, leat_rng_callback, &r->rng);
    mbedtls_ssl_conf_authmode(&r->config, MBEDTLS_SSL_VERIFY_NONE);
    mbedtls_ssl_conf_renegotiation(&r->config, MBEDTLS_SSL_RENEGOTIATION_ENABLED);
    if (endpoint == MBEDTLS_SSL_IS_SERVER) {
        mbedtls_ssl_conf_dtls_cookies(&r->config, NULL, NULL, NULL);
    }
    if (has_srtp) {
        LEAT_CHECK_INT(mbedtls_ssl_conf_dtls_srtp_protection_profiles(&r->config, cm_80), 0);
    }
    if (certificate) {
        LEAT_CHECK_INT(
            mbedtls_ssl_conf_own_cert(&r->config, &certificate->chain, &certificate->key), 0);
    }
    LEAT_CHECK_INT(mbedtls_ssl_setup(&r->ssl, &r->config), 0);
    mbedtls_ssl_set_bio(&r->ssl, r, remote_send, remote_receive, NULL);
    mbedtls_ssl_set_timer_cb(&r->ssl, r, remote_set_timer, remote_get_timer);
}

static void remote_deinit(struct remote *r)
{
    leat_dtls_free(r->d);
    mbedtls_ssl_free(&r->ssl);
    mbedtls_ssl_config_free(&r->config);
}

static void remote_ours(struct remote *r, int role, const struct leat_dtls_identity *expected)
{
    struct leat_dtls_params p;
    net_params(&p, role, SERVER, CLIENT);
    leat_dtls_identity_fingerprint(expected ? expected : net_identity(CLIENT),
                                   p.remote_fingerprint);
    LEAT_CHECK_INT(leat_dtls_new(&r->d, &p, 0), 0);
    leat_dtls_start(r->d, 1000, 1000);
}

/* Our side does what is due; what it sends waits for the remote. */
static void remote_work(struct remote *r)
{
    struct leat_span out;
    while (leat_dtls_wants_job(r->d)) {
        leat_dtls_job_begin(r->d, 5000);
        leat_dtls_job_run(r->d, &r->rng);
        leat_dtls_job_end(r->d, 5000);
    }
    while (r->event_count < 4 && leat_dtls_next_event(r->d, &r->events[r->event_count])) {
        r->event_count++;
    }
    while (leat_dtls_next_datagram(r->d, &out)) {
        LEAT_CHECK(r->input_count < 8 && out.len <= sizeof(r->input[0]));
        memcpy(r->input[r->input_count], out.data, out.len);
        r->sent += out.len;
        r->largest = out.len > r->largest ? out.len : r->largest;
        r->input_len[r->input_count++] = out.len;
    }
}

static void remote_shake(struct remote *r)
{
    remote_work(r);
    for (int i = 0; i < 10; i++) {
        r->result = mbedtls_ssl_handshake(&r->ssl);
        remote_work(r);
        if (r->result != MBEDTLS_ERR_SSL_WANT_READ) {
            break;
        }
    }
}

static void remote__client_without_certificate__ends_with_no_cert_and_an_alert(void)
{
    struct remote r;
    remote_init(&r, MBEDTLS_SSL_IS_CLIENT, true, NULL);
    remote_ours(&r, SERVER, NULL);
    remote_shake(&r);
    LEAT_CHECK_INT(r.result, MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE);
    LEAT_CHECK_INT(r.event_count, 1);
    LEAT_CHECK_INT(r.events[0].type, LEAT_DTLS_EVENT_ENDED);
    LEAT_CHECK_INT(r.events[0].end, LEAT_DTLS_END_NO_CERT);
    LEAT_CHECK(!leat_dtls_is_connected(r.d));
    remote_deinit(&r);
}

static void remote__without_use_srtp__ends_with_no_profile_and_an_alert(void)
{
    for (int ours = 0; ours < 2; ours++) {
        struct remote r;
        remote_init(&r, ours == SERVER ? MBEDTLS_SSL_IS_CLIENT : MBEDTLS_SSL_IS_SERVER, false,
                    net_identity(CLIENT));
        remote_ours(&r, ours, NULL);
        remote_shake(&r);
        LEAT_CHECK_INT(r.result, MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE);
        LEAT_CHECK_INT(r.event_count, 1);
        LEAT_CHECK_INT(r.events[0].end, LEAT_DTLS_END_NO_PROFILE);
        remote_deinit(&r);
    }
}

static void remote__that_wants_no_certificate_of_a_client__connects(void)
{
    struct remote r;
    remote_init(&r, MBEDTLS_SSL_IS_SERVER, true, net_identity(CLIENT));
    remote_ours(&r, CLIENT, NULL);
    remote_shake(&r);
    LEAT_CHECK_INT(r.result, 0);
    LEAT_CHECK_INT(r.events[0].type, LEAT_DTLS_EVENT_CONNECTED);
    remote_deinit(&r);
}

static void remote__with_an_rsa_certificate__connects_in_both_roles(void)
{
    static char cert[8192], key[8192];
    struct leat_dtls_identity *rsa;
    struct leat_rng rng;
    char why[128];
    net_rng(&rng, 62);
    LEAT_CHECK_INT(leat_dtls_identity_load(&rsa, identity_text("rsa-cert", cert),
                                           identity_text("rsa-key", key), &rng, NOW_S, why,
                                           sizeof(why)),
                   0);
    for (int ours = 0; ours < 2; ours++) {
        struct remote r;
        remote_init(&r, ours == SERVER ? MBEDTLS_SSL_IS_CLIENT : MBEDTLS_SSL_IS_SERVER, true, rsa);
        remote_ours(&r, ours, rsa);
        remote_shake(&r);
        LEAT_CHECK_INT(r.result, 0);
        LEAT_CHECK_INT(r.events[0].type, LEAT_DTLS_EVENT_CONNECTED);
        const char *suite =
            ours == SERVER ? "TLS_ECDHE_ECDSA_" : "TLS_ECDHE_RSA_"; /* the server's key */
        LEAT_CHECK_ROW(ours, strncmp(leat_dtls_cipher(r.d), suite, strlen(suite)) == 0);
        remote_deinit(&r);
    }
    leat_dtls_identity_free(rsa);
}

static void ours__with_a_chain_longer_than_the_mtu__sends_no_datagram_above_it(void)
{
    static char chain[4 * 8192], key[8192], more[8192];
    static const char *const others[] = {"rsa1024-cert", "ec384-cert", "rsa-cert"};
    struct leat_dtls_identity *rsa;
    struct leat_rng rng;
    struct leat_writer w;
    char why[128];
    net_rng(&rng, 63);
    leat_writer_init(&w, chain, sizeof(chain));
    struct leat_span text = identity_text("rsa-cert", more);
    leat_write_bytes(&w, text.data, text.len);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(others);
         i++) { /* nobody looks at what is behind the leaf */
        text = identity_text(others[i], more);
        leat_write_bytes(&w, text.data, text.len);
    }
    LEAT_CHECK_INT(leat_dtls_identity_load(&rsa, leat_span(chain, leat_writer_len(&w)),
                                           identity_text("rsa-key", key), &rng, NOW_S, why,
                                           sizeof(why)),
                   0);
    for (int ours = 0; ours < 2; ours++) {
        struct remote r;
        struct leat_dtls_params p;
        remote_init(&r, ours == SERVER ? MBEDTLS_SSL_IS_CLIENT : MBEDTLS_SSL_IS_SERVER, true,
                    net_identity(CLIENT));
        mbedtls_ssl_conf_authmode(&r.config,
                                  MBEDTLS_SSL_VERIFY_OPTIONAL); /* asks a client for one */
        net_params(&p, ours, SERVER, CLIENT);
        p.identity = rsa;
        LEAT_CHECK_INT(leat_dtls_new(&r.d, &p, 0), 0);
        leat_dtls_start(r.d, 1000, 1000);
        remote_shake(&r);
        LEAT_CHECK_INT(r.result, 0);
        LEAT_CHECK_INT(r.events[0].type, LEAT_DTLS_EVENT_CONNECTED);
        LEAT_CHECK(r.sent > 2 * LEAT_DTLS_MTU);
        LEAT_CHECK(r.largest <= LEAT_DTLS_MTU);
        remote_deinit(&r);
    }
    leat_dtls_identity_free(rsa);
}

static void remote__each_suite__connects_and_others_do_not(void)
{
    static const struct {
        int suite;
        const char *name;
    } rows[] = {
        {MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
         "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"},
        {MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
         "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"},
        {MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
         "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"},
        {MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256, NULL},
        {MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_CCM, NULL},
        {MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, NULL}, /* our key is ECDSA */
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct remote r;
        const int suites[] = {rows[i].suite, 0};
        remote_init(&r, MBEDTLS_SSL_IS_CLIENT, true, net_identity(CLIENT));
        mbedtls_ssl_conf_ciphersuites(&r.config, suites);
        remote_ours(&r, SERVER, NULL);
        remote_shake(&r);
        LEAT_CHECK_ROW(i, (r.result == 0) == (rows[i].name != NULL));
        LEAT_CHECK_ROW(i, leat_dtls_is_connected(r.d) == (rows[i].name != NULL));
        LEAT_CHECK_STR(leat_dtls_cipher(r.d), rows[i].name ? rows[i].name : "");
        LEAT_CHECK_ROW(i, rows[i].name || r.events[0].end == LEAT_DTLS_END_PROTOCOL);
        LEAT_CHECK_ROW(i, rows[i].name || r.result == MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE);
        remote_deinit(&r);
    }
}

static void remote__application_data__is_ignored(void)
{
    struct remote r;
    unsigned char data[600] = {1, 2, 3};
    remote_init(&r, MBEDTLS_SSL_IS_CLIENT, true, net_identity(CLIENT));
    remote_ours(&r, SERVER, NULL);
    remote_shake(&r);
    LEAT_CHECK_INT(r.result, 0);
    for (size_t len = 1; len <= sizeof(data); len += 199) {
        LEAT_CHECK_INT(mbedtls_ssl_write(&r.ssl, data, len), len);
    }
    remote_work(&r);
    LEAT_CHECK(leat_dtls_is_connected(r.d));
    LEAT_CHECK_INT(r.input_count, 0);
    LEAT_CHECK_INT(mbedtls_ssl_close_notify(&r.ssl), 0);
    LEAT_CHECK_INT(mbedtls_ssl_close_notify(&r.ssl), 0); /* the second finds it ended */
    remote_work(&r);
    LEAT_CHECK_INT(r.event_count, 2);
    LEAT_CHECK_INT(r.events[1].end, LEAT_DTLS_END_CLOSED);
    LEAT_CHECK_INT(mbedtls_ssl_read(&r.ssl, data, sizeof(data)), MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY);
    remote_deinit(&r);
}

static void remote__encrypted_fatal_alert__ends_with_alert(void)
{
    struct remote r;
    remote_init(&r, MBEDTLS_SSL_IS_CLIENT, true, net_identity(CLIENT));
    remote_ours(&r, SERVER, NULL);
    remote_shake(&r);
    LEAT_CHECK_INT(mbedtls_ssl_send_alert_message(&r.ssl, MBEDTLS_SSL_ALERT_LEVEL_FATAL,
                                                  MBEDTLS_SSL_ALERT_MSG_INTERNAL_ERROR),
                   0);
    remote_work(&r);
    LEAT_CHECK_INT(r.event_count, 2);
    LEAT_CHECK_INT(r.events[1].end, LEAT_DTLS_END_ALERT);
    remote_deinit(&r);
}

static void remote__renegotiation__is_refused_and_it_stays_connected(void)
{
    struct remote r;
    remote_init(&r, MBEDTLS_SSL_IS_CLIENT, true, net_identity(CLIENT));
    remote_ours(&r, SERVER, NULL);
    remote_shake(&r);
    LEAT_CHECK_INT(r.result, 0);
    int result = mbedtls_ssl_renegotiate(&r.ssl);
    remote_work(&r);
    for (int i = 0; i < 4 && result == MBEDTLS_ERR_SSL_WANT_READ; i++) {
        result = mbedtls_ssl_renegotiate(&r.ssl);
        remote_work(&r);
    }
    LEAT_CHECK(result != 0);
    LEAT_CHECK(leat_dtls_is_connected(r.d));
    remote_deinit(&r);
}

LEAT_TESTS(LEAT_TEST(remote__client_without_certificate__ends_with_no_cert_and_an_alert),
           LEAT_TEST(remote__without_use_srtp__ends_with_no_profile_and_an_alert),
           LEAT_TEST(remote__that_wants_no_certificate_of_a_client__connects),
           LEAT_TEST(remote__with_an_rsa_certificate__connects_in_both_roles),
           LEAT_TEST(ours__with_a_chain_longer_than_the_mtu__sends_no_datagram_above_it),
           LEAT_TEST(remote__each_suite__connects_and_others_do_not),
           LEAT_TEST(remote__application_data__is_ignored),
           LEAT_TEST(remote__encrypted_fatal_alert__ends_with_alert),
           LEAT_TEST(remote__renegotiation__is_refused_and_it_stays_connected))
