/* SPDX-License-Identifier: MIT */
/**
 * @file  Established associations whose server seals and opens application data, for bench_dtls.
 */
#ifndef LEAT_BENCH_DTLS_RECORDS_H
#define LEAT_BENCH_DTLS_RECORDS_H

#include "bench.h"
#include "dtls_pair.h"

enum record_suite { RECORD_AES_128_GCM, RECORD_AES_256_GCM, RECORD_CHACHA20_POLY1305 };
#define RECORD_SUITES 3

/** Octets of the heap that the server's association holds, the allocator's own included; what it
 * shares with others is not counted. */
struct record_heap {
    size_t half_open;   /**< its first flight has left */
    size_t established; /**< and then the client is */
};

struct record_method {
    const char *provider;
    const char *pinned; /**< ours: the crypto provider; NULL: what it chooses */
    /** Shake hands. @return the association, or NULL with `why`. */
    void *(*connect)(const struct record_method *m, enum record_suite suite,
                     struct record_heap *heap, const char **why);
    void (*disconnect)(void *association);
    /** The server's record around `data`, given to the wire and taken from there. */
    bool (*seal)(void *association, const uint8_t *data, size_t len);
    /** A record of the client's. @return its octets, or 0. */
    size_t (*prepare)(void *association, const uint8_t *data, size_t len, uint8_t out[static 1500]);
    /** The server opens it. @return whether `len` octets were in it. */
    bool (*open)(void *association, const uint8_t *record, size_t record_len, size_t len);
    /** Key one direction as the handshake does, and forget it. */
    bool (*key)(const struct record_method *m, enum record_suite suite);
};

extern const struct record_method records_mbedtls;
#ifdef BENCH_OPENSSL
extern const struct record_method records_openssl;
#endif

/** Octets of the heap in use, headers of chunks included (heap.c); 0 where they are not counted. */
size_t records_heap(void);

/** One end by plain mbedTLS, with a certificate and one suite. */
struct plain_end;
struct plain_end *plain_end_new(int side, enum record_suite suite, struct wire *in,
                                struct wire *out);
void plain_end_free(struct plain_end *e);
/** Go on with the handshake. @return whether it is over. */
bool plain_end_shake(struct plain_end *e);
bool plain_end_write(struct plain_end *e, const uint8_t *data, size_t len);
/** SHA-256 of the certificate that all plain ends have. There must be one. */
void plain_fingerprint(uint8_t out[static 32]);

/** All rows of records. */
void records_declare(struct bench *b);

#endif
