/* SPDX-License-Identifier: MIT */
/*
 * One handshake inside OpenSSL 3: DTLS 1.2, ECDHE with AEAD suites, both sides with a certificate.
 * What the sessions of an identity share (a context for each role, the BIO's method, the PRF) is
 * made with the identity (context_openssl.c) and const from then on.
 *
 * Its retransmission timers read the wall clock, so they are put out of the way: the timer callback
 * asks for more than an hour and nothing here asks whether one is due. The datagrams of the flight
 * in progress are kept, and sent again on our own deadline or when the remote repeats what they
 * answer. Again means with fresh record numbers, because a remote that has seen a number drops the
 * record unread (RFC 6347 4.1.2.6), and the last flight that it may have to repeat with it:
 *   epoch 0  plain text, so numbers are ours to give: all of the library's records are renumbered
 *   epoch 1  a client's Finished is opened and sealed again, with the key block that the record
 *            layer after the handshake uses; what the library sends in epoch 1 after that, under a
 *            number that has been used, is dropped
 *
 * Records that come in epoch 0 are renumbered too: the library's replay protection cannot be
 * switched off, and a remote that repeats its flight with the same numbers (werift does) must be
 * answered. The library drops a ChangeCipherSpec that overtakes the messages before it, so it is
 * shown again after each datagram.
 *
 * What the library would not refuse at the right place, or with the right alert:
 *   server, hello parsed        no common profile   -> handshake_failure, from the callback that
 *                                                      chooses the certificate, before any flight
 *   both, certificate parsed    wrong fingerprint   -> bad_certificate (RFC 8122 6.2)
 *   client, certificate parsed  no common profile   -> handshake_failure
 * The library's own alert is held back then and ours is written in its place. A remote without a
 * certificate is refused by the library.
 */
#include <openssl/err.h>

#include <limits.h>
#include <stdlib.h>

#include "library_openssl.h"

#define PLAIN_RECORD_MAX 64 /* of a Finished or an alert that we seal */

enum {
    MESSAGE_CLIENT_HELLO = 1,
    MESSAGE_SERVER_HELLO_DONE = 14,

    ALERT_FATAL = 2,
    ALERT_HANDSHAKE_FAILURE = 40,
    ALERT_BAD_CERTIFICATE = 42,
    ALERT_INTERNAL_ERROR = 80,
    ALERT_USER_CANCELED = 90
};

struct handshake {
    struct leat__dtls_backend base;
    const struct leat__dtls_openssl *shared;
    SSL *ssl;
    uint8_t fingerprint[LEAT_FINGERPRINT_LEN];

    struct leat_span input; /* of the present feed, not read yet */
    bool is_starved;
    uint64_t numbers_in, numbers_out; /* of epoch 0 */
    uint8_t cipher_change[LEAT__DTLS_RECORD_HEADER + 1];
    bool has_cipher_change;

    struct leat__dtls_datagram
        flight[LEAT__DTLS_QUEUE_CAP]; /* in progress, as the library made it */
    size_t flight_count;
    unsigned flights; /* begun */
    bool has_read;    /* since the flight's last datagram: the next one begins another */

    struct leat_srtp_keys keys;
    struct leat__dtls_protection protection; /* once connected */
};

static struct handshake *of(struct leat__dtls_backend *b)
{
    return (struct handshake *)b;
}

/* ---- out ---- */

/* The records' keys as one side has them, once there is a master secret. */
static bool make_protection(const struct handshake *h, bool is_client,
                            struct leat__dtls_protection *out)
{
    return leat__dtls_openssl_protection(h->ssl, h->shared->prf, is_client, h->base.next_seq, out);
}

static void write_number(uint8_t *record, uint64_t number)
{
    struct leat_writer w;
    leat_writer_init(&w, record + 5, 6);
    leat_write_u48(&w, number);
}

/* A record of ours in epoch 1, under a fresh number. @return its octets; 0: none was made */
static size_t seal(struct handshake *h, uint8_t type, struct leat_span plain, uint8_t *out)
{
    struct leat__dtls_protection p;
    if (!make_protection(h, h->base.role == LEAT_DTLS_CLIENT, &p)) {
        return 0;
    }
    size_t len = leat__dtls_protection_seal(&p, type, plain, out);
    h->base.next_seq = p.send_seq;
    leat__dtls_protection_deinit(&p);
    return len;
}

/* The same for a record that the library has sealed: read as the remote reads it. */
static size_t seal_again(struct handshake *h, const struct leat__dtls_record *rec, uint8_t *out)
{
    uint8_t plain[PLAIN_RECORD_MAX];
    size_t len = 0;
    struct leat__dtls_protection remote;
    if (rec->content.len > sizeof(plain) ||
        !make_protection(h, h->base.role != LEAT_DTLS_CLIENT, &remote)) {
        return 0;
    }
    bool is_open = leat__dtls_protection_open(&remote, rec, plain, &len) == LEAT__DTLS_OPEN_OK;
    leat__dtls_protection_deinit(&remote);
    return is_open ? seal(h, rec->type, leat_span(plain, len), out) : 0;
}

/* @return octets written; 0: the record is left out. */
static size_t write_record(struct handshake *h, const struct leat__dtls_record *rec, bool is_again,
                           uint8_t *out)
{
    if (rec->epoch != 0 && is_again) {
        return seal_again(h, rec, out);
    }
    if (rec->epoch != 0 && rec->seq < h->base.next_seq) {
        return 0;
    }
    memcpy(out, rec->whole.data, rec->whole.len);
    if (rec->epoch == 0) {
        write_number(out, h->numbers_out++);
    }
    struct leat__dtls_record sent = *rec;
    sent.whole = leat_span(out, rec->whole.len);
    leat__dtls_backend_watch(&h->base, &sent);
    return rec->whole.len;
}

static void send_datagram(struct handshake *h, struct leat_span datagram, bool is_again)
{
    uint8_t out[LEAT_DTLS_MTU];
    size_t len = 0;
    struct leat_reader r;
    struct leat__dtls_record rec;
    leat_reader_init(&r, datagram.data, datagram.len);
    while (leat_reader_left(&r) != 0 && leat__dtls_record_next(&r, &rec) &&
           rec.whole.len <= sizeof(out) - len) {
        len += write_record(h, &rec, is_again, out + len);
    }
    /* a full queue is a loss; the flight will be sent again */
    (void)leat__dtls_queue_push(h->base.out, LEAT__DTLS_QUEUE_CAP, leat_span(out, len));
    h->base.last_send_us = h->base.now_us;
}

static void forget_flight(struct handshake *h)
{
    while (h->flight_count > 0) {
        free(h->flight[--h->flight_count].data);
    }
}

static void keep(struct handshake *h, struct leat_span datagram)
{
    if (h->has_read || h->flights == 0) {
        h->has_read = false;
        h->flights++;
        forget_flight(h);
        leat__dtls_backend_set_timer(&h->base, h->base.timeout_ms * 1000ull);
    }
    uint8_t *copy = h->flight_count < LEAT_ARRAY_LEN(h->flight) ? malloc(datagram.len) : NULL;
    if (copy) {
        memcpy(copy, datagram.data, datagram.len);
        h->flight[h->flight_count++] = (struct leat__dtls_datagram){copy, datagram.len};
    }
}

/* @param timeout_us  until the next time; 0 when nothing is out */
static void repeat_flight(struct handshake *h, uint64_t timeout_us)
{
    const uint64_t longest_us = LEAT__DTLS_TIMEOUT_MAX_MS * 1000ull;
    for (size_t i = 0; i < h->flight_count; i++) {
        send_datagram(h, leat_span(h->flight[i].data, h->flight[i].len), true);
    }
    leat__dtls_backend_set_timer(&h->base, timeout_us < longest_us ? timeout_us : longest_us);
}

static void alert(struct handshake *h, uint8_t description)
{
    const uint8_t content[2] = {ALERT_FATAL, description};
    uint8_t record[PLAIN_RECORD_MAX];
    size_t len;
    if (h->base.next_seq != 0) { /* epoch 1 has begun */
        len = seal(h, LEAT__DTLS_TYPE_ALERT, leat_span(content, sizeof(content)), record);
    } else {
        struct leat_writer w;
        leat_writer_init(&w, record, sizeof(record));
        leat_write_u8(&w, LEAT__DTLS_TYPE_ALERT);
        leat_write_u16(&w, LEAT__DTLS_VERSION_1_2);
        leat_write_u16(&w, 0);
        leat_write_u48(&w, h->numbers_out++);
        leat_write_u16(&w, sizeof(content));
        leat_write_bytes(&w, content, sizeof(content));
        len = leat_writer_len(&w);
    }
    (void)leat__dtls_queue_push(h->base.out, LEAT__DTLS_QUEUE_CAP, leat_span(record, len));
}

/* ---- what the library calls ---- */

int leat__dtls_openssl_on_write(BIO *bio, const char *data, int len)
{
    struct handshake *h = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (len > 0 && h->base.end == LEAT_DTLS_END_NONE) {
        struct leat_span datagram = leat_span(data, (size_t)len);
        keep(h, datagram);
        send_datagram(h, datagram, false);
    }
    return len;
}

int leat__dtls_openssl_on_read(BIO *bio, char *out, int cap)
{
    struct handshake *h = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (h->input.len == 0 || cap <= 0) {
        h->is_starved = true;
        BIO_set_retry_read(bio);
        return -1;
    }
    size_t len = h->input.len < (size_t)cap ? h->input.len : (size_t)cap;
    memcpy(out, h->input.data, len);
    h->input.len = 0;
    h->has_read = true;
    return (int)len;
}

long leat__dtls_openssl_on_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static unsigned on_timer(SSL *ssl, unsigned us)
{
    (void)ssl, (void)us;
    return UINT_MAX;
}

static bool is_leaf_right(const struct handshake *h, X509 *leaf)
{
    uint8_t digest[LEAT_FINGERPRINT_LEN] = {0};
    unsigned char *der = NULL;
    int len = i2d_X509(leaf, &der);
    if (len > 0) {
        leat_sha256(der, (size_t)len, digest);
    }
    OPENSSL_free(der);
    return len > 0 && leat_equal_ct(digest, h->fingerprint, sizeof(digest));
}

int leat__dtls_openssl_on_verify(X509_STORE_CTX *store, void *unused)
{
    (void)unused;
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct handshake *h = SSL_get_app_data(ssl);
    X509 *leaf = X509_STORE_CTX_get0_cert(store);
    if (leaf == NULL || !is_leaf_right(h, leaf)) {
        h->base.end = LEAT_DTLS_END_FINGERPRINT;
    } else if (SSL_get_selected_srtp_profile(ssl) == NULL) {
        h->base.end = LEAT_DTLS_END_NO_PROFILE;
    }
    bool is_good = h->base.end == LEAT_DTLS_END_NONE;
    X509_STORE_CTX_set_error(store, is_good ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
    return is_good ? 1 : 0;
}

int leat__dtls_openssl_on_choose(SSL *ssl, void *unused)
{
    (void)unused;
    struct handshake *h = SSL_get_app_data(ssl);
    if (SSL_get_selected_srtp_profile(ssl) == NULL) {
        h->base.end = LEAT_DTLS_END_NO_PROFILE;
    }
    return h->base.end == LEAT_DTLS_END_NONE ? 1 : 0;
}

/* ---- profiles ---- */

static const char *profile_to_library(enum leat_srtp_profile profile)
{
    switch (profile) {
    case LEAT_SRTP_AES128_CM_SHA1_80:
        return "SRTP_AES128_CM_SHA1_80";
    case LEAT_SRTP_AES128_CM_SHA1_32:
        return "SRTP_AES128_CM_SHA1_32";
    case LEAT_SRTP_AEAD_AES_128_GCM:
        return "SRTP_AEAD_AES_128_GCM";
    case LEAT_SRTP_AEAD_AES_256_GCM:
        return "SRTP_AEAD_AES_256_GCM";
    case LEAT_SRTP_PROFILE_NONE:
        return NULL;
    }
    return NULL;
}

static bool has_profile(enum leat_srtp_profile profile)
{
    return profile_to_library(profile) != NULL;
}

static bool set_profiles(SSL *ssl, const struct leat_dtls_params *params)
{
    char names[LEAT_SRTP_PROFILES_MAX * 32];
    struct leat_writer w;
    leat_writer_init(&w, names, sizeof(names));
    for (size_t i = 0; i < params->profile_count; i++) {
        const char *name = profile_to_library(params->profiles[i]);
        bool is_new = true; /* the library refuses a list that repeats itself */
        for (size_t k = 0; k < i; k++) {
            is_new = is_new && params->profiles[k] != params->profiles[i];
        }
        if (name && is_new) {
            leat_write_bytes(&w, ":", leat_writer_len(&w) != 0 ? 1 : 0);
            leat_write_bytes(&w, name, strlen(name));
        }
    }
    leat_write_u8(&w, 0);
    return !w.failed && SSL_set_tlsext_use_srtp(ssl, names) == 0; /* 0 is success */
}

static enum leat_srtp_profile negotiated(const struct handshake *h)
{
    const SRTP_PROTECTION_PROFILE *chosen = SSL_get_selected_srtp_profile(h->ssl);
    static const enum leat_srtp_profile all[] = {
        LEAT_SRTP_AES128_CM_SHA1_80, LEAT_SRTP_AES128_CM_SHA1_32, LEAT_SRTP_AEAD_AES_128_GCM,
        LEAT_SRTP_AEAD_AES_256_GCM};
    for (size_t i = 0; chosen != NULL && i < LEAT_ARRAY_LEN(all); i++) {
        if (chosen->id == (unsigned long)all[i]) { /* IANA's, both */
            return all[i];
        }
    }
    return LEAT_SRTP_PROFILE_NONE;
}

/* ---- life ---- */

static void backend_free(struct leat__dtls_backend *backend)
{
    struct handshake *h = of(backend);
    if (!h) {
        return;
    }
    SSL_free(h->ssl);
    forget_flight(h);
    leat__dtls_protection_deinit(&h->protection);
    leat_wipe(h, sizeof(*h));
    free(h);
}

static bool make_ssl(struct handshake *h, const struct leat_dtls_params *params)
{
    h->ssl = SSL_new(h->shared->contexts[params->role]);
    BIO *bio = h->ssl != NULL ? BIO_new(h->shared->method) : NULL;
    if (bio == NULL) {
        return false;
    }
    BIO_set_data(bio, h);
    BIO_set_init(bio, 1);
    SSL_set_bio(h->ssl, bio, bio);
    DTLS_set_timer_cb(h->ssl, on_timer);
    if (params->role == LEAT_DTLS_SERVER) {
        SSL_set_accept_state(h->ssl);
    } else {
        SSL_set_connect_state(h->ssl);
    }
    return SSL_set_app_data(h->ssl, h) == 1 && SSL_set_mtu(h->ssl, LEAT_DTLS_MTU) != 0 &&
           set_profiles(h->ssl, params);
}

static int backend_new(struct leat__dtls_backend **out_backend,
                       const struct leat_dtls_params *params, uint32_t first_timeout_ms,
                       struct leat__dtls_queue *out)
{
    *out_backend = NULL;
    struct handshake *h = calloc(1, sizeof(*h));
    if (!h) {
        return LEAT_E_NOMEM;
    }
    h->base.ops = &leat__dtls_openssl_ops;
    h->base.role = params->role;
    h->base.timeout_ms = first_timeout_ms;
    h->base.out = out;
    h->shared = leat__dtls_identity_openssl(params->identity);
    h->base.timer_start_us = LEAT_NEVER;
    memcpy(h->fingerprint, params->remote_fingerprint, sizeof(h->fingerprint));
    ERR_clear_error();
    if (!make_ssl(h, params)) {
        backend_free(&h->base);
        return leat__dtls_openssl_error();
    }
    *out_backend = &h->base;
    return 0;
}

/* ---- the handshake ---- */

static void refuse(struct handshake *h, enum leat_dtls_end end, uint8_t description)
{
    h->base.end = end;
    alert(h, description);
}

/* The handshake is over: everything that makes it ours must hold, whatever the callbacks have
 * seen. The exporter is RFC 5705's with the label of RFC 5764 4.2 and no context. */
static void finish(struct handshake *h)
{
    static const char label[] = "EXTRACTOR-dtls_srtp";
    bool is_client = h->base.role == LEAT_DTLS_CLIENT;
    uint8_t material[LEAT_SRTP_MATERIAL_MAX];
    X509 *leaf = SSL_get0_peer_certificate(h->ssl);
    if (leaf == NULL) {
        refuse(h, LEAT_DTLS_END_NO_CERT, ALERT_HANDSHAKE_FAILURE);
    } else if (!is_leaf_right(h, leaf)) {
        refuse(h, LEAT_DTLS_END_FINGERPRINT, ALERT_BAD_CERTIFICATE);
    } else if (h->base.next_seq == 0 || !make_protection(h, is_client, &h->protection) ||
               SSL_export_keying_material(h->ssl, material, sizeof(material), label,
                                          sizeof(label) - 1, NULL, 0, 0) != 1) {
        refuse(h, LEAT_DTLS_END_INTERNAL, ALERT_INTERNAL_ERROR);
    } else if (leat_srtp_keys_cut(&h->keys, negotiated(h), material, is_client) == 0) {
        refuse(h, LEAT_DTLS_END_NO_PROFILE, ALERT_HANDSHAKE_FAILURE);
    } else {
        h->base.is_connected = true;
    }
    leat_wipe(material, sizeof(material));
}

static enum leat_dtls_end end_of(int ssl_error, unsigned long error)
{
    int reason = ERR_GET_REASON(error);
    if (ssl_error == SSL_ERROR_ZERO_RETURN) {
        return LEAT_DTLS_END_CLOSED;
    }
    if (reason == ERR_R_MALLOC_FAILURE || reason == ERR_R_INTERNAL_ERROR) {
        return LEAT_DTLS_END_INTERNAL;
    }
    if (ERR_GET_LIB(error) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET) {
        return LEAT_DTLS_END_ALERT;
    }
    if (ERR_GET_LIB(error) == ERR_LIB_SSL && reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
        return LEAT_DTLS_END_NO_CERT;
    }
    return LEAT_DTLS_END_PROTOCOL;
}

/* The library has given up, or one of the callbacks has made it. */
static void fail(struct handshake *h, int ssl_error, size_t sent)
{
    if (h->base.end == LEAT_DTLS_END_FINGERPRINT) {
        alert(h, ALERT_BAD_CERTIFICATE);
    } else if (h->base.end != LEAT_DTLS_END_NONE) {
        alert(h, ALERT_HANDSHAKE_FAILURE);
    } else {
        h->base.end = end_of(ssl_error, ERR_peek_error());
        if (h->base.out->count == sent && h->base.end != LEAT_DTLS_END_ALERT) {
            alert(h, h->base.end == LEAT_DTLS_END_INTERNAL ? ALERT_INTERNAL_ERROR
                                                           : ALERT_HANDSHAKE_FAILURE);
        }
    }
}

/* Until the library has read everything and waits. */
static void run(struct handshake *h, struct leat_span input)
{
    h->input = input;
    h->is_starved = false;
    while (!h->is_starved && !h->base.is_connected && h->base.end == LEAT_DTLS_END_NONE) {
        size_t sent = h->base.out->count;
        ERR_clear_error();
        int ret = SSL_do_handshake(h->ssl);
        int ssl_error = SSL_get_error(h->ssl, ret);
        if (ret == 1) {
            finish(h);
        } else if (ssl_error != SSL_ERROR_WANT_READ) {
            fail(h, ssl_error, sent);
        }
    }
    h->input = leat_span(NULL, 0);
    ERR_clear_error();
}

/* ---- in ---- */

/* Whether one of the record's messages ends a flight that the present one answers. */
static bool ends_flight(const struct handshake *h, const struct leat__dtls_record *rec)
{
    bool is_server = h->base.role == LEAT_DTLS_SERVER;
    uint8_t last = is_server ? MESSAGE_CLIENT_HELLO : MESSAGE_SERVER_HELLO_DONE;
    struct leat_reader r;
    leat_reader_init(&r, rec->content.data, rec->content.len);
    while (rec->type == LEAT__DTLS_TYPE_HANDSHAKE && leat_reader_left(&r) != 0) {
        uint8_t type = leat_read_u8(&r);
        leat_read_skip(&r, 3 + 2 + 3); /* length, message number, offset */
        uint32_t len = leat_read_u24(&r);
        leat_read_skip(&r, len);
        if (!r.failed && type == last) {
            return is_server || h->base.next_seq != 0; /* not the hello's flight, but the second */
        }
    }
    return false;
}

struct look {
    size_t len;
    bool is_repeat; /* if it makes no new flight */
};

/* Copy a datagram with its records of epoch 0 renumbered. */
static struct look take_in(struct handshake *h, struct leat_span datagram,
                           uint8_t out[static LEAT__DTLS_HELLO_RECORD_MAX])
{
    struct look look = {0, false};
    struct leat_reader r;
    struct leat__dtls_record rec;
    leat_reader_init(&r, datagram.data, datagram.len);
    while (leat_reader_left(&r) != 0 && leat__dtls_record_next(&r, &rec) &&
           rec.whole.len <= LEAT__DTLS_HELLO_RECORD_MAX - look.len) {
        uint8_t *record = out + look.len;
        memcpy(record, rec.whole.data, rec.whole.len);
        look.len += rec.whole.len;
        if (rec.epoch != 0) {
            continue;
        }
        write_number(record, h->numbers_in++);
        look.is_repeat |= ends_flight(h, &rec);
        if (rec.type == LEAT__DTLS_TYPE_CHANGE_CIPHER_SPEC &&
            rec.whole.len == sizeof(h->cipher_change)) {
            memcpy(h->cipher_change, record, sizeof(h->cipher_change));
            h->has_cipher_change = true;
        }
    }
    return look;
}

static void backend_feed(struct leat__dtls_backend *backend, struct leat_span datagram,
                         uint64_t now_us)
{
    struct handshake *h = of(backend);
    uint8_t input[LEAT__DTLS_HELLO_RECORD_MAX];
    unsigned flights = h->flights;
    h->base.now_us = now_us;
    if (h->base.role == LEAT_DTLS_CLIENT && datagram.len != 0 && h->base.next_seq == 0) {
        (void)leat__dtls_backend_fit_timeout(&h->base);
    }
    struct look look = take_in(h, datagram, input);
    run(h, leat_span(input, look.len));
    if (h->has_cipher_change && datagram.len != 0) {
        write_number(h->cipher_change, h->numbers_in++);
        run(h, leat_span(h->cipher_change, sizeof(h->cipher_change)));
    }
    if (h->base.is_connected || h->base.end != LEAT_DTLS_END_NONE || h->flights != flights) {
        return;
    }
    if (now_us >= leat__dtls_backend_deadline(backend)) {
        repeat_flight(h, 2 * h->base.timer_us);
    } else if (look.is_repeat) {
        repeat_flight(h, h->base.timer_us);
    }
}

static void backend_close(struct leat__dtls_backend *backend)
{
    refuse(of(backend), LEAT_DTLS_END_CLOSED, ALERT_USER_CANCELED);
}

/* ---- what the session asks ---- */

static int backend_take(struct leat__dtls_backend *backend, struct leat__dtls_outcome *out)
{
    struct handshake *h = of(backend);
    memset(out, 0, sizeof(*out));
    int error = leat__dtls_backend_take_flight(backend, &out->flight);
    if (error != 0) {
        return error;
    }
    out->srtp = h->keys;
    out->cipher = SSL_CIPHER_standard_name(SSL_get_current_cipher(h->ssl));
    out->protection = h->protection; /* no context of it has been made yet */
    leat_wipe(&h->keys, sizeof(h->keys));
    leat_wipe(&h->protection, sizeof(h->protection));
    return 0;
}

const struct leat__dtls_backend_ops leat__dtls_openssl_ops = {
    .has_profile = has_profile,
    .new = backend_new,
    .free = backend_free,
    .feed = backend_feed,
    .close = backend_close,
    .take = backend_take,
};
