/* SPDX-License-Identifier: MIT */
/*
 * Shared by the tests of stun: hex text, memory that ends at a page which must not be touched, a
 * sink over an array, the fixture agent and requests to it.
 */
#ifndef LEAT_STUN_TEST_H
#define LEAT_STUN_TEST_H

#include <leat/ice.h>

#include <stdlib.h>
#include <sys/mman.h>

#include "harness.h"

#define FIXTURE_PWD "daemonPassword0123456789"
#define FIXTURE_TID "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c"
/* USERNAME dmnU:peer, PRIORITY, ICE-CONTROLLING, USE-CANDIDATE, MESSAGE-INTEGRITY, FINGERPRINT. Its
 * HMAC and CRC, like those of every other hex text here, were computed by another implementation.
 */
#define P01                                                                                        \
    "000100482112a4420102030405060708090a0b0c00060009646d6e553a70656572000000002400046e7f1eff802a" \
    "000811223344556677880025000000080014eefdb8b826b9c9bb58c12eddde0a50d928f209fa80280004e519cbea"
#define P01_REPLY_V4                                                                               \
    "0101002c2112a4420102030405060708090a0b0c002000080001e2425e12a44300080014b44b642ed5920b23f775" \
    "aa8ae3a2cba0627b0cc2802800042285268f"
#define P01_REPLY_V6                                                                               \
    "010100382112a4420102030405060708090a0b0c002000140002e2422112a4420102030405060708090a0b0d0008" \
    "0014469d761e81a6964ef1271291c298d7d389caff4c802800044e5343ae"

struct octets {
    uint8_t data[1200];
    size_t len;
};

static inline struct octets unhex(const char *text)
{
    struct octets o = {.len = 0};
    ptrdiff_t len = leat_hex_decode(text, strlen(text), o.data, sizeof(o.data));
    LEAT_CHECK(len >= 0);
    o.len = len >= 0 ? (size_t)len : 0;
    return o;
}

static inline struct leat_span span_of(const struct octets *o)
{
    return leat_span(o->data, o->len);
}

#define GUARDED_MAX 4096

/** The same octets, ending where a page starts that faults on any access. Overwritten by the next
 * call. */
static inline struct leat_span guarded(struct leat_span s)
{
    static uint8_t *page;
    if (page == NULL) {
        page =
            mmap(NULL, 2 * GUARDED_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED || mprotect(page + GUARDED_MAX, GUARDED_MAX, PROT_NONE) != 0) {
            abort();
        }
    }
    uint8_t *at = page + GUARDED_MAX - s.len;
    if (s.len != 0) {
        memcpy(at, s.data, s.len);
    }
    return leat_span(at, s.len);
}

/** Keeps the last datagram; its memory is filled with 0xaa, so that an octet left unwritten shows.
 */
struct array_sink {
    struct leat_sink sink;
    bool is_full;
    size_t count;
    struct leat_tuple to;
    size_t len;
    uint8_t last[LEAT_STUN_REPLY_MAX];
    uint8_t room[LEAT_STUN_REPLY_MAX];
};

static inline uint8_t *array_sink_reserve(struct leat_sink *sink, size_t len)
{
    struct array_sink *s = (struct array_sink *)sink;
    memset(s->room, 0xaa, sizeof(s->room));
    return s->is_full || len > sizeof(s->room) ? NULL : s->room;
}

static inline void array_sink_commit(struct leat_sink *sink, size_t len,
                                     const struct leat_tuple *tuple)
{
    struct array_sink *s = (struct array_sink *)sink;
    memcpy(s->last, s->room, len);
    s->len = len;
    s->to = *tuple;
    s->count++;
}

static inline struct array_sink array_sink(void)
{
    return (struct array_sink){
        .sink = {.reserve = array_sink_reserve, .commit = array_sink_commit}};
}

static inline struct leat_addr addr(const char *ip, unsigned port)
{
    struct leat_addr a = {0};
    LEAT_CHECK_INT(leat_addr_parse(&a, ip, (uint16_t)port), 0);
    return a;
}

/** From a port of 127.0.0.1 to ours. */
static inline struct leat_tuple from_port(unsigned port)
{
    return (struct leat_tuple){addr("127.0.0.1", 3478), addr("127.0.0.1", port)};
}

static inline struct leat_ice_local local_of(const char *ufrag, const char *pwd)
{
    struct leat_ice_local l = {0};
    LEAT_CHECK(leat_text_copy(l.ufrag, sizeof(l.ufrag), leat_span_str(ufrag)));
    LEAT_CHECK(leat_text_copy(l.pwd, sizeof(l.pwd), leat_span_str(pwd)));
    return l;
}

/** A program's main: the provider must stand before any context is made. */
#define STUN_TESTS(...)                                                                            \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct leat_test tests[] = {__VA_ARGS__};                                     \
        return leat_crypto_start() == 0 ? leat_test_main(tests, LEAT_ARRAY_LEN(tests), argc, argv) \
                                        : 1;                                                       \
    }

#endif
