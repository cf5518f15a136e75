/* SPDX-License-Identifier: MIT */
/**
 * @file  A DTLS server and a DTLS client that shake hands in memory, for bench_dtls.
 */
#ifndef LEAT_BENCH_DTLS_PAIR_H
#define LEAT_BENCH_DTLS_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PAIR_TURNS_MAX 64 /* a handshake takes about six */

enum { PAIR_SERVER, PAIR_CLIENT };

struct pair_method {
    const char *backend, *provider, *suite;
    /** Certificates, keys and prepared configurations of both sides. @return false with `why`. */
    bool (*set_up)(const struct pair_method *m, const char **why);
    void (*take_down)(void);
    /** One whole handshake, mutual certificates and use_srtp, each side's association made and
     * freed. Adds the CPU time of each side. @return false when it did not come to an end. */
    bool (*shake_hands)(uint64_t ns[2]);
    /** Make a key and a self-signed P-256 certificate, and free them. NULL: another method of the
     * same provider does. */
    bool (*certify)(void);
    bool has_default_groups; /**< the library's own curve list instead of P-256 alone */
};

extern const struct pair_method pair_mbedtls, pair_mbedtls_default;
#ifdef BENCH_OPENSSL
extern const struct pair_method pair_openssl, pair_openssl_default;
#endif

/** CPU time of this thread. */
uint64_t pair_cpu_ns(void);

/** Datagrams on their way to one side. */
struct wire {
    uint8_t data[16][1500];
    size_t len[16];
    size_t count, next;
};

static inline bool wire_put(struct wire *w, const void *data, size_t len)
{
    if (w->next == w->count) {
        w->next = w->count = 0;
    }
    if (w->count == sizeof(w->len) / sizeof(w->len[0]) || len > sizeof(w->data[0])) {
        return false;
    }
    memcpy(w->data[w->count], data, len);
    w->len[w->count++] = len;
    return true;
}

/** @return octets, or 0 when there is none; `out` points into the wire. */
static inline size_t wire_get(struct wire *w, const uint8_t **out)
{
    if (w->next == w->count) {
        return 0;
    }
    *out = w->data[w->next];
    return w->len[w->next++];
}

/** A copy of it. */
static inline size_t wire_take(struct wire *w, uint8_t out[static 1500])
{
    const uint8_t *data = NULL;
    size_t len = wire_get(w, &data);
    if (len != 0) {
        memcpy(out, data, len);
    }
    return len;
}

#endif
