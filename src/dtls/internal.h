/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the module share. Nothing here knows a TLS library: queue.c, hello.c,
 * established.c and session.c are free of them, and a backend is reached through a table of
 * functions that its identity names.
 */
#ifndef LEAT_DTLS_INTERNAL_H
#define LEAT_DTLS_INTERNAL_H

#include <leat/dtls.h>

#include "record.h"

#define LEAT__DTLS_DATAGRAM_MAX 4096    /* longer ones are no handshake of a WebRTC client */
#define LEAT__DTLS_QUEUE_CAP 24         /* datagrams that wait to be sent: several whole flights */
#define LEAT__DTLS_TIMEOUT_MAX_MS 60000 /* of a retransmission: RFC 6347 4.2.4.1 */
#define LEAT__DTLS_HELLO_RANGES 16      /* holes of a hello under reassembly, plus one */
#define LEAT__DTLS_HELLO_RECORD_MAX (13 + 12 + LEAT_DTLS_HELLO_MAX)

/* ---- queue.c: datagrams in the order they came, each with memory of its own ---- */

struct leat__dtls_datagram {
    uint8_t *data;
    size_t len;
};

struct leat__dtls_item;

struct leat__dtls_queue {
    struct leat__dtls_item *first, *last;
    size_t count;
};

/* Copies. @return false when it is empty, `limit` are in already or memory is out. */
bool leat__dtls_queue_push(struct leat__dtls_queue *q, size_t limit, struct leat_span datagram);
/* The caller frees data. @return false when empty. */
bool leat__dtls_queue_pop(struct leat__dtls_queue *q, struct leat__dtls_datagram *out);
/* Forget the newest until `count` are left. */
void leat__dtls_queue_truncate(struct leat__dtls_queue *q, size_t count);

/* ---- hello.c: the record filter and the reassembly of a fragmented ClientHello ---- */

/* Octets [from, to) of the hello's body have been seen. */
struct leat__dtls_range {
    uint16_t from, to;
};

/*
 * First pass: octets of the first ClientHello are collected in `body` until the ranges cover it.
 * From then on `body` is only read (a job may be reading it too) and the ranges count how much of a
 * retransmission has been seen, compared with `body` octet by octet.
 */
struct leat__dtls_hello {
    uint8_t *body;
    uint16_t total; /* 0: no fragment yet */
    uint16_t version;
    uint64_t record_seq; /* of the first fragment's record */
    bool is_whole;
    size_t range_count;
    struct leat__dtls_range
        ranges[LEAT__DTLS_HELLO_RANGES]; /* sorted, neither overlapping nor touching */
};

enum leat__dtls_phase {
    LEAT__DTLS_BEFORE,   /* a server that waits for a whole hello */
    LEAT__DTLS_HANDSHAKE /* the library has something to answer to */
};

struct leat__dtls_filtered {
    size_t len;          /* octets of records that may reach the library, in the order they came */
    bool is_well_formed; /* at least one whole record with a known type, version and epoch */
    bool is_hello_taken; /* a fragment of the hello was new or agreed */
    bool is_hello_whole; /* the hello, or a retransmission of it, is complete now */
    bool is_fatal_alert; /* a plaintext one, well-formed, in the handshake */
};

/* @param pass  room for LEAT__DTLS_DATAGRAM_MAX octets; the datagram is not longer */
struct leat__dtls_filtered leat__dtls_filter(struct leat__dtls_hello *hello,
                                             enum leat_dtls_role role, enum leat__dtls_phase phase,
                                             struct leat_span datagram,
                                             uint8_t pass[static LEAT__DTLS_DATAGRAM_MAX]);
/* The whole hello as one unfragmented record. @return its octets. */
size_t leat__dtls_hello_record(const struct leat__dtls_hello *hello,
                               uint8_t out[static LEAT__DTLS_HELLO_RECORD_MAX]);
/* The first of the backend's among these that the hello offers (RFC 5764 4.1.1).
 * @return LEAT_SRTP_PROFILE_NONE when there is none, or the hello does not parse */
enum leat_srtp_profile leat__dtls_hello_profile(const struct leat__dtls_hello *hello,
                                                const enum leat_srtp_profile *profiles,
                                                size_t count);
void leat__dtls_hello_deinit(struct leat__dtls_hello *hello);

/* ---- established.c: the association after its handshake ---- */

/* What a handshake leaves behind. */
struct leat__dtls_outcome {
    struct leat_srtp_keys srtp;
    struct leat__dtls_protection protection;
    struct leat__dtls_datagram flight; /* a server's last, on the heap; empty of a client */
    const char *cipher;
};

/* Wipes and frees what is in it. */
void leat__dtls_outcome_deinit(struct leat__dtls_outcome *o);

struct leat__dtls_established {
    struct leat__dtls_protection protection;
    struct leat__dtls_datagram flight; /* until the remote is known to have it; then empty */
    uint64_t flight_until_us, flight_again_us; /* the latest, and the earliest next time */
    bool takes_data, has_refused;              /* refused: sent its no_renegotiation */
    struct leat__dtls_queue data;              /* for the owner */
    struct leat__dtls_queue *out;              /* the session's, as the next */
    struct leat_dtls_counters *counters;
};

/* Takes protection and flight out of `o`. @return NULL when memory is out. */
struct leat__dtls_established *leat__dtls_established_new(struct leat__dtls_outcome *o,
                                                          bool takes_data);
void leat__dtls_established_free(struct leat__dtls_established *e);
/* Read a datagram. @param end  set when it ends the association */
enum leat_dtls_verdict leat__dtls_established_receive(struct leat__dtls_established *e,
                                                      struct leat_span datagram, uint64_t now_us,
                                                      enum leat_dtls_end *end);
/* The same for records that the handshake's end has dealt with in part: what is in them of the
 * handshake is marked as seen and not answered. */
enum leat_dtls_verdict leat__dtls_established_resume(struct leat__dtls_established *e,
                                                     struct leat_span datagram, uint64_t now_us,
                                                     enum leat_dtls_end *end);
/* Seal one record and queue it. @return 0, LEAT_E_AGAIN when the queue is full, LEAT_E_CRYPTO */
int leat__dtls_established_send(struct leat__dtls_established *e, uint8_t type,
                                struct leat_span plain);
void leat__dtls_established_close(struct leat__dtls_established *e);
void leat__dtls_established_forget_flight(struct leat__dtls_established *e);

/* ---- backend_mbedtls.c, backend_openssl.c: one handshake inside a library ---- */

struct leat__dtls_backend;

struct leat__dtls_backend_ops {
    /* Whether the library can negotiate the profile. */
    bool (*has_profile)(enum leat_srtp_profile profile);
    /* Keeps a view of params->identity and of `out`, nothing else.
     * @param first_timeout_ms  of the retransmission timer, doubled by each retransmission
     * @return 0, LEAT_E_NOMEM or LEAT_E_CRYPTO */
    int (*new)(struct leat__dtls_backend **out_backend, const struct leat_dtls_params *params,
               uint32_t first_timeout_ms, struct leat__dtls_queue *out);
    void (*free)(struct leat__dtls_backend *b); /* NULL is fine */
    /* Process one datagram, or with an empty one only what is due: the first flight of a client,
     * retransmission. Nothing after the end, or once connected. */
    void (*feed)(struct leat__dtls_backend *b, struct leat_span datagram, uint64_t now_us);
    /* A fatal alert: the handshake is not over. */
    void (*close)(struct leat__dtls_backend *b);
    /* Once connected and once only. @return 0, or LEAT_E_NOMEM with nothing in `out`. */
    int (*take)(struct leat__dtls_backend *b, struct leat__dtls_outcome *out);
};

extern const struct leat__dtls_backend_ops leat__dtls_mbedtls_ops, leat__dtls_openssl_ops;

/* ---- backend.c: what the backends have in common ---- */

/* The first member of each backend's own. */
struct leat__dtls_backend {
    const struct leat__dtls_backend_ops *ops;
    enum leat_dtls_role role;
    /* Randomness for a feed; NULL between them: a draw is then an error. */
    struct leat_rng *rng;
    struct leat__dtls_queue *out;
    uint32_t timeout_ms; /* the first of each flight */
    uint64_t now_us, last_send_us;
    uint64_t timer_start_us, timer_us; /* of the flight that is out; start: LEAT_NEVER when off */
    bool is_timer_new;                 /* set since the last settle */

    uint64_t next_seq; /* one above the highest sent in epoch 1; 0: none yet */
    uint8_t flight[LEAT_DTLS_MTU];
    size_t flight_len;

    bool is_connected;
    enum leat_dtls_end end; /* LEAT_DTLS_END_NONE as long as it lives */
};

/* Look at a record that is being sent: its number, and whether it is of a server's last flight. */
void leat__dtls_backend_watch(struct leat__dtls_backend *b, const struct leat__dtls_record *rec);
/* A datagram has come for a client whose hello is not answered: fit the next flight's timeout.
 * @return whether it has changed */
bool leat__dtls_backend_fit_timeout(struct leat__dtls_backend *b);
/* The retransmission timer runs for so long from now on; 0: it is off. */
void leat__dtls_backend_set_timer(struct leat__dtls_backend *b, uint64_t us);
/* A timer set since the last call starts at `now_us`: what a job sends leaves when the job has
 * ended. */
void leat__dtls_backend_settle_timer(struct leat__dtls_backend *b, uint64_t now_us);
/* When it wants to be fed without a datagram; LEAT_NEVER. */
uint64_t leat__dtls_backend_deadline(const struct leat__dtls_backend *b);
/* @return 0 or LEAT_E_NOMEM */
int leat__dtls_backend_take_flight(const struct leat__dtls_backend *b,
                                   struct leat__dtls_datagram *out);

/* ---- context_openssl.c ---- */

struct leat__dtls_openssl; /* const in use */

/* @param chain  certificates in DER, leaf first
 * @param key    in DER, PKCS #1 or SEC 1
 * @return 0, LEAT_E_NOMEM or LEAT_E_CRYPTO */
int leat__dtls_openssl_new(struct leat__dtls_openssl **out, const struct leat_span *chain,
                           size_t count, struct leat_span key);
void leat__dtls_openssl_free(struct leat__dtls_openssl *o);
/* "OpenSSL 3.0.20 ..." */
const char *leat__dtls_openssl_version(void);

/* ---- cert.c ---- */

/* The choice of leat_dtls_identity_set_backend. */
const struct leat__dtls_backend_ops *
leat__dtls_identity_ops(const struct leat_dtls_identity *identity);
const struct leat__dtls_openssl *
leat__dtls_identity_openssl(const struct leat_dtls_identity *identity);

#endif
