/* SPDX-License-Identifier: MIT */
/**
 * @file  One DTLS 1.2 association of a peer for DTLS-SRTP (RFC 6347, 5764, 8827, 8842), sans-IO.
 * @module dtls
 *
 * Datagrams go in by leat_dtls_receive; work that may cost public-key operations is a job: while
 * leat_dtls_wants_job() is true the owner calls job_begin, runs job_run on any one thread, then
 * job_end on its own. Between begin and end the session belongs to the job: receive only queues (8
 * datagrams), close and tick are remembered. After job_end (or any other call) the owner first
 * pulls events (keys come before the flight that ends the handshake is sent), then datagrams.
 *
 * The TLS library serves the handshake only. When that is over, its traffic keys move to a record
 * layer of ours and its memory is given back: records, alerts and application data are handled in
 * receive, at once and without a job.
 */
#ifndef LEAT_DTLS_H
#define LEAT_DTLS_H

#include <leat/crypto.h>
#include <leat/heap.h>
#include <leat/profile.h>

#define LEAT_DTLS_MTU 1200
#define LEAT_DTLS_QUEUE 8
#define LEAT_DTLS_HELLO_MAX 4096 /**< octets of a ClientHello body that are reassembled */
#define LEAT_FINGERPRINT_LEN 32
#define LEAT_FINGERPRINT_TEXT_MAX 96     /**< "AA:BB:...", terminated */
#define LEAT_DTLS_HANDSHAKE_US 30000000u /**< a handshake that takes longer has failed */
#define LEAT_DTLS_FLIGHT_US 240000000u   /**< how long a server answers a repeated last flight */
#define LEAT_DTLS_FLIGHT_AGAIN_US 50000u /**< and at most once in this time */
#define LEAT_DTLS_DATA_MAX 1200          /**< octets of application data in one datagram of ours */

enum leat_dtls_role { LEAT_DTLS_SERVER, LEAT_DTLS_CLIENT };

/* ---- identity: certificate and key, immutable once made, shared by sessions and threads ---- */

struct leat_dtls_identity;

/** A fresh self-signed ECDSA P-256 certificate. @param now_s Unix time; valid from a day before for
 * a year. */
int leat_dtls_identity_new(struct leat_dtls_identity **out, struct leat_rng *rng, uint64_t now_s);
/**
 * From PEM text. The private key must belong to the leaf and be EC P-256 (or RSA >= 2048).
 * @param why  gets one sentence on failure (expired, not yet valid, key of another certificate, not
 * PEM, ...)
 */
int leat_dtls_identity_load(struct leat_dtls_identity **out, struct leat_span cert_pem,
                            struct leat_span key_pem, struct leat_rng *rng, uint64_t now_s,
                            char *why, size_t why_cap);
/** One holder more; new and load make the first. Any thread. @return identity */
const struct leat_dtls_identity *leat_dtls_identity_hold(const struct leat_dtls_identity *identity);
/** One holder less; the last one frees it. Sessions hold theirs themselves. NULL is fine. */
void leat_dtls_identity_free(const struct leat_dtls_identity *identity);
/** SHA-256 over the leaf in DER (RFC 8122 5). */
void leat_dtls_identity_fingerprint(const struct leat_dtls_identity *identity,
                                    uint8_t out[static LEAT_FINGERPRINT_LEN]);
const char *leat_dtls_fingerprint_format(const uint8_t fp[static LEAT_FINGERPRINT_LEN],
                                         char out[static LEAT_FINGERPRINT_TEXT_MAX]);
/** "AA:BB:.." of either case, 32 octets. */
bool leat_dtls_fingerprint_parse(struct leat_span text, uint8_t out[static LEAT_FINGERPRINT_LEN]);

/* ---- backend: the library that shakes hands ---- */

enum leat_dtls_backend { LEAT_DTLS_MBEDTLS, LEAT_DTLS_OPENSSL };

/**
 * Choose who shakes hands for the sessions of this identity; without the call it is mbedTLS. Before
 * any session has the identity. LEAT_DTLS_OPENSSL lets all of libcrypto, whose generator belongs to
 * the process, draw from the running thread's leat_rng_thread() from then on.
 * @return 0, LEAT_E_UNSUPPORTED when this build lacks it, LEAT_E_NOMEM or LEAT_E_CRYPTO; after an
 * error it is mbedTLS
 */
int leat_dtls_identity_set_backend(struct leat_dtls_identity *identity,
                                   enum leat_dtls_backend backend);
/** "mbedtls" or "openssl". */
const char *leat_dtls_backend_text(enum leat_dtls_backend backend);
/** Whether it can negotiate the profile; mbedTLS cannot with GCM. */
bool leat_dtls_backend_has_profile(enum leat_dtls_backend backend, enum leat_srtp_profile profile);
/** "Mbed TLS 2.28.3" and the like; NULL: not in this build. */
const char *leat_dtls_library_version(enum leat_dtls_backend backend);

/* ---- key exchange ---- */

/**
 * Choose who computes ECDH and ECDSA on P-256 and SHA-256: libcrypto (a handshake then costs less
 * than a tenth), or the TLS library itself, which is also what happens without this call. Other
 * curves and RSA are always the library's. An exchange and a signature are tried, and libcrypto
 * stays only when they reach it through the library and agree with the library's own. For the whole
 * process: call it while no other thread uses this module.
 * @param is_wanted  false: the library itself
 * @return 0, LEAT_E_UNSUPPORTED when libcrypto was wanted but is not in this build or not reached,
 * LEAT_E_CRYPTO when it was and computes something else. After an error the library itself does it.
 */
int leat_dtls_key_exchange_start(bool is_wanted, struct leat_rng *rng);
/** "openssl" or "mbedtls". */
const char *leat_dtls_key_exchange(void);

/* ---- session ---- */

struct leat_dtls;

struct leat_dtls_params {
    const struct leat_dtls_identity *identity; /**< held by the session for its life */
    enum leat_dtls_role role;
    uint8_t remote_fingerprint[LEAT_FINGERPRINT_LEN];
    /** In order of preference: a client offers them so, a server takes the first that is offered.
     * GCM is left out by a backend that cannot. */
    enum leat_srtp_profile profiles[LEAT_SRTP_PROFILES_MAX];
    size_t profile_count;
    bool takes_data; /**< application data is kept for leat_dtls_next_data; else it is dropped */
};

/** Since the handshake was over. */
struct leat_dtls_counters {
    uint32_t records_forged;   /**< with a wrong tag */
    uint32_t records_replayed; /**< seen before, or too old to tell */
    uint32_t data_dropped;     /**< records of application data that nobody took */
    uint32_t flights_repeated; /**< answers to a repeated last flight of a client */
};

enum leat_dtls_verdict {
    LEAT_DTLS_OK,         /**< queued or handled; once connected: an authentic record was in it */
    LEAT_DTLS_MALFORMED,  /**< no whole record in it that may pass */
    LEAT_DTLS_QUEUE_FULL, /**< dropped: a job runs and the queue is full */
    LEAT_DTLS_IGNORED /**< fits nothing in this state (a new hello on an established association,
                         forged or replayed records, anything after the end) */
};

enum leat_dtls_end {
    LEAT_DTLS_END_NONE,
    LEAT_DTLS_END_CLOSED,      /**< close_notify from the remote, or ours was asked for */
    LEAT_DTLS_END_FINGERPRINT, /**< the leaf does not have the signalled fingerprint */
    LEAT_DTLS_END_NO_CERT,     /**< the remote sent no certificate */
    LEAT_DTLS_END_NO_PROFILE,  /**< no SRTP profile in common */
    LEAT_DTLS_END_ALERT,       /**< fatal alert from the remote */
    LEAT_DTLS_END_TIMEOUT,     /**< LEAT_DTLS_HANDSHAKE_US passed */
    LEAT_DTLS_END_PROTOCOL,    /**< the library refused what the remote sent */
    LEAT_DTLS_END_INTERNAL     /**< out of memory and the like */
};

enum leat_dtls_event_type {
    LEAT_DTLS_EVENT_NONE,
    LEAT_DTLS_EVENT_CONNECTED, /**< keys is filled; wipe it after use */
    LEAT_DTLS_EVENT_ENDED
};

struct leat_dtls_event {
    enum leat_dtls_event_type type;
    struct leat_srtp_keys keys;
    enum leat_dtls_end end;
};

/** Cheap: the library's context is made by the first job: on the first whole hello (server), after
 * leat_dtls_start (client).
 *  @return 0, LEAT_E_NOMEM, LEAT_E_INVALID, or LEAT_E_UNSUPPORTED when the backend can none of the
 *  profiles */
int leat_dtls_new(struct leat_dtls **out, const struct leat_dtls_params *params, uint64_t now_us);
/** Not while a job runs. NULL is fine. */
void leat_dtls_free(struct leat_dtls *d);

/** The tuple is valid from now on: a client makes its hello (job), a server waits. Repeating it
 * changes nothing.
 *  @param reply_us when our first success response left on that tuple: the server's first
 * retransmission timeout is 2 x the time from then to the first ClientHello datagram, within 100
 * ms..1 s; a client's is 1 s for its hello, then 2 x the round trip within the same bounds. */
void leat_dtls_start(struct leat_dtls *d, uint64_t reply_us, uint64_t now_us);
/** LEAT_DTLS_IGNORED before leat_dtls_start. Keeps no view of the datagram. */
enum leat_dtls_verdict leat_dtls_receive(struct leat_dtls *d, struct leat_span datagram,
                                         uint64_t now_us);

bool leat_dtls_wants_job(const struct leat_dtls *d);
bool leat_dtls_is_job_running(const struct leat_dtls *d);
/** The first job is done and the handshake is not over. */
bool leat_dtls_is_shaking_hands(const struct leat_dtls *d);
void leat_dtls_job_begin(struct leat_dtls *d, uint64_t now_us);
void leat_dtls_job_run(struct leat_dtls *d, struct leat_rng *rng); /**< any thread */
void leat_dtls_job_end(struct leat_dtls *d, uint64_t now_us);

/** @return false when there is none. */
bool leat_dtls_next_event(struct leat_dtls *d, struct leat_dtls_event *event);
/** The next datagram to send (<= LEAT_DTLS_MTU; application data has what was given and up to 37
 * octets more), valid until the next call on d. @return false when there is none. */
bool leat_dtls_next_datagram(struct leat_dtls *d, struct leat_span *out);
/** LEAT_NEVER while a job runs, after the end, and when connected without a flight that may have to
 * be repeated: ask again after each call. */
uint64_t leat_dtls_deadline(const struct leat_dtls *d);
void leat_dtls_tick(struct leat_dtls *d, uint64_t now_us);
/** The remote is known to have our last flight (its media arrived): it need not be kept. */
void leat_dtls_settled(struct leat_dtls *d);
/** The next application data, with params.takes_data; valid until the next call on d. @return false
 * when there is none. */
bool leat_dtls_next_data(struct leat_dtls *d, struct leat_span *out);
/** Queue one datagram of application data, 1 to LEAT_DTLS_DATA_MAX octets: whether the path takes
 * it is the caller's to know. @return 0, LEAT_E_STATE (not connected), LEAT_E_RANGE, LEAT_E_AGAIN
 * (too many datagrams wait to be sent) or LEAT_E_CRYPTO. */
int leat_dtls_send(struct leat_dtls *d, struct leat_span data);
/** Queue a close_notify (established) or a fatal alert (in the handshake); ends with
 * LEAT_DTLS_END_CLOSED. */
void leat_dtls_close(struct leat_dtls *d, uint64_t now_us);

bool leat_dtls_is_connected(const struct leat_dtls *d);
/** "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"; "" before. */
const char *leat_dtls_cipher(const struct leat_dtls *d);
enum leat_dtls_role leat_dtls_role_of(const struct leat_dtls *d);
const struct leat_dtls_counters *leat_dtls_counters_of(const struct leat_dtls *d);

#endif
