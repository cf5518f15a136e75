/* SPDX-License-Identifier: MIT */
/*
 * The records of an established association (RFC 6347 4.1), after the TLS library has gone: octets
 * in, octets out. Epoch 1 only, AEAD suites only: AES-128-GCM and AES-256-GCM (RFC 5288),
 * ChaCha20-Poly1305 (RFC 7905). One thread at a time.
 *
 * A record on the wire, and what the tag covers beside the cipher text (RFC 5246 6.2.3.3):
 *
 *   type 1 | version 2 | epoch 2 | number 6 | length 2 | explicit nonce 8 (GCM) | cipher | tag 16
 *   covered: epoch, number, type, version, length of the plain text
 */
#ifndef LEAT_DTLS_RECORD_H
#define LEAT_DTLS_RECORD_H

#include <leat/crypto.h>

#define LEAT__DTLS_RECORD_HEADER 13
#define LEAT__DTLS_RECORD_PLAIN_MAX 16384            /* RFC 5246 6.2.1 */
#define LEAT__DTLS_RECORD_CONTENT_MAX (16384 + 2048) /* RFC 5246 6.2.3 */
#define LEAT__DTLS_RECORD_OVERHEAD_MAX (LEAT__DTLS_RECORD_HEADER + 8 + 16)
#define LEAT__DTLS_RECORD_SEQ_MAX 0xffffffffffffu /* 48 bits; there is no number after it */
#define LEAT__DTLS_KEY_BLOCK_MAX (2 * (32 + 12))

enum {
    LEAT__DTLS_TYPE_CHANGE_CIPHER_SPEC = 20,
    LEAT__DTLS_TYPE_ALERT = 21,
    LEAT__DTLS_TYPE_HANDSHAKE = 22,
    LEAT__DTLS_TYPE_APPLICATION_DATA = 23,

    LEAT__DTLS_VERSION_1_0 = 0xfeff,
    LEAT__DTLS_VERSION_1_2 = 0xfefd
};

/* ---- records of a datagram ---- */

/* Views of the datagram; content as it is on the wire. */
struct leat__dtls_record {
    uint8_t type;
    uint16_t version, epoch;
    uint64_t seq;
    struct leat_span whole, content;
};

/* @return false when no whole record is left (empty or too long ones included): what follows cannot
 * be found then. */
bool leat__dtls_record_next(struct leat_reader *r, struct leat__dtls_record *out);
/* A type, a version and an epoch that may occur in an association of DTLS 1.2. */
bool leat__dtls_record_is_known(const struct leat__dtls_record *rec);

/* ---- protection ---- */

enum leat__dtls_aead {
    LEAT__DTLS_AES_128_GCM,
    LEAT__DTLS_AES_256_GCM,
    LEAT__DTLS_CHACHA20_POLY1305
};

union leat__dtls_context; /* a keyed AEAD context */

struct leat__dtls_direction {
    uint8_t key[32], iv[12];
    union leat__dtls_context *context; /* heap; NULL: made for each record from the key */
};

/*
 * The keys of both directions, the next number to send and the window of those received. A context
 * is kept from a direction's first application data on: it costs 1.3 KB, and a peer that only sends
 * media over SRTP sees one or two alerts in its life.
 */
struct leat__dtls_protection {
    enum leat__dtls_aead aead;
    struct leat__dtls_direction send, receive;
    uint64_t send_seq;    /* LEAT__DTLS_RECORD_SEQ_MAX + 1: used up */
    uint64_t receive_seq; /* one above the highest that was authentic; 0: none yet */
    uint64_t window;      /* bit n: receive_seq - 1 - n was seen */
};

/* Cut from a key block (RFC 5246 6.3 without MAC keys): client key, server key, client IV, server
 * IV, whose lengths are the suite's. Contexts are allocated later.
 * @param send_seq  the first number to send: none of the epoch may have been used twice */
void leat__dtls_protection_init(struct leat__dtls_protection *p, enum leat__dtls_aead aead,
                                const uint8_t block[static LEAT__DTLS_KEY_BLOCK_MAX],
                                bool is_client, uint64_t send_seq);
/* Wipes; a zeroed one is fine. */
void leat__dtls_protection_deinit(struct leat__dtls_protection *p);

/* Octets that sealing adds: 37 or 29. */
size_t leat__dtls_protection_overhead(const struct leat__dtls_protection *p);
/* The whole record; `out` has room for plain.len and the overhead, and is no part of `plain`.
 * @return its octets, or 0 when the numbers are used up, the plain text is too long or the provider
 * fails */
size_t leat__dtls_protection_seal(struct leat__dtls_protection *p, uint8_t type,
                                  struct leat_span plain, uint8_t *out);

enum leat__dtls_open_verdict {
    LEAT__DTLS_OPEN_OK,
    LEAT__DTLS_OPEN_REPEATED, /* authentic, but its number was seen before: handshake only */
    LEAT__DTLS_OPEN_REPLAYED, /* seen before, or older than the window: not looked at */
    LEAT__DTLS_OPEN_FORGED,   /* the tag is wrong */
    LEAT__DTLS_OPEN_MALFORMED /* another epoch or version, no room for a tag, too long */
};

/* Only LEAT__DTLS_OPEN_OK moves the window (RFC 6347 4.1.2.6). A handshake record is opened even
 * when its number was seen: a client repeats its Finished octet by octet when it waits for ours.
 * @param out  room for rec->content.len octets; plain text on OK and REPEATED, else undefined
 * @param len  plain octets on OK and REPEATED, else 0 */
enum leat__dtls_open_verdict leat__dtls_protection_open(struct leat__dtls_protection *p,
                                                        const struct leat__dtls_record *rec,
                                                        uint8_t *out, size_t *len);

#endif
