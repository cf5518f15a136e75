/* SPDX-License-Identifier: MIT */
/**
 * @file  Octets: spans, and cursors that read and write network byte order with a sticky error.
 * @module base
 *
 * A parser is straight-line code: every failed read sets `failed` and yields zero, and so does
 * every later read; the caller checks `failed` once before it acts on anything.
 */
#ifndef LEAT_BYTES_H
#define LEAT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LEAT_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/** Borrowed octets. Never owns; valid as long as the memory it was made from. */
struct leat_span {
    const uint8_t *data;
    size_t len;
};

static inline struct leat_span leat_span(const void *data, size_t len)
{
    return (struct leat_span){(const uint8_t *)data, len};
}

static inline struct leat_span leat_span_str(const char *text)
{
    return (struct leat_span){(const uint8_t *)text, strlen(text)};
}

/** Octet equality; not constant time (see leat_equal_ct in crypto.h for secrets). */
static inline bool leat_span_equal(struct leat_span a, struct leat_span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

struct leat_reader {
    const uint8_t *start, *at, *end;
    bool failed;
};

static inline void leat_reader_init(struct leat_reader *r, const void *data, size_t len)
{
    r->start = r->at = (const uint8_t *)data;
    r->end = len != 0 ? r->start + len : r->start; /* NULL + 0 is undefined */
    r->failed = false;
}

/** Octets not read yet; 0 after a failure. */
static inline size_t leat_reader_left(const struct leat_reader *r)
{
    return r->failed ? 0 : (size_t)(r->end - r->at);
}

/** Offset of the next octet from the start. */
static inline size_t leat_reader_offset(const struct leat_reader *r)
{
    return (size_t)(r->at - r->start);
}

/** The next n octets, consumed; {NULL, 0} with `failed` set when fewer are left. */
static inline struct leat_span leat_read_span(struct leat_reader *r, size_t n)
{
    if (r->failed || (size_t)(r->end - r->at) < n) {
        r->failed = true;
        return (struct leat_span){NULL, 0};
    }
    struct leat_span s = {r->at, n};
    if (n != 0) {
        r->at += n;
    }
    return s;
}

static inline void leat_read_skip(struct leat_reader *r, size_t n)
{
    (void)leat_read_span(r, n);
}

uint8_t leat_read_u8(struct leat_reader *r);
uint16_t leat_read_u16(struct leat_reader *r);
uint32_t leat_read_u24(struct leat_reader *r);
uint32_t leat_read_u32(struct leat_reader *r);
uint64_t leat_read_u48(struct leat_reader *r);
uint64_t leat_read_u64(struct leat_reader *r);

/** Writes into caller memory; a write that does not fit writes nothing and sets `failed`, and so
 * does every later one. */
struct leat_writer {
    uint8_t *start, *at, *end;
    bool failed;
};

static inline void leat_writer_init(struct leat_writer *w, void *data, size_t cap)
{
    w->start = w->at = (uint8_t *)data;
    w->end = cap != 0 ? w->start + cap : w->start;
    w->failed = false;
}

/** Octets written so far. */
static inline size_t leat_writer_len(const struct leat_writer *w)
{
    return (size_t)(w->at - w->start);
}

/** Room for n octets to be filled by the caller; NULL with `failed` set when they do not fit. */
uint8_t *leat_write_room(struct leat_writer *w, size_t n);
void leat_write_u8(struct leat_writer *w, uint8_t v);
void leat_write_u16(struct leat_writer *w, uint16_t v);
void leat_write_u24(struct leat_writer *w, uint32_t v);
void leat_write_u32(struct leat_writer *w, uint32_t v);
void leat_write_u48(struct leat_writer *w, uint64_t v);
void leat_write_u64(struct leat_writer *w, uint64_t v);
void leat_write_bytes(struct leat_writer *w, const void *data, size_t len);
void leat_write_zeros(struct leat_writer *w, size_t n);
/** Overwrite two octets at an offset already written (a length known later); else sets `failed`. */
void leat_write_u16_at(struct leat_writer *w, size_t offset, uint16_t v);

/** Fixed-place accessors for octets whose bounds the caller has checked. */
static inline uint16_t leat_get_u16(const uint8_t *p)
{
    return (uint16_t)((p[0] << 8) | p[1]);
}

static inline uint32_t leat_get_u32(const uint8_t *p)
{
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | (uint32_t)p[3];
}

static inline uint64_t leat_get_u64(const uint8_t *p)
{
    return ((uint64_t)leat_get_u32(p) << 32) | leat_get_u32(p + 4);
}

static inline void leat_put_u16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void leat_put_u32(uint8_t *p, uint32_t v)
{
    leat_put_u16(p, (uint16_t)(v >> 16));
    leat_put_u16(p + 2, (uint16_t)v);
}

static inline void leat_put_u64(uint8_t *p, uint64_t v)
{
    leat_put_u32(p, (uint32_t)(v >> 32));
    leat_put_u32(p + 4, (uint32_t)v);
}

/** CRC-32 of ITU V.42 (STUN FINGERPRINT, RFC 8489 14.7), continued from `crc`; start with 0. */
uint32_t leat_crc32(uint32_t crc, const void *data, size_t len);

/** Lower-case hex into out[2 * len + 1], terminated. */
void leat_hex_encode(const void *data, size_t len, char *out);
/** @return octets written, or -1 on an odd length, a foreign character or more than `cap` octets.
 */
ptrdiff_t leat_hex_decode(const char *text, size_t text_len, uint8_t *out, size_t cap);

/** The one copy of text into a fixed array: always terminated. @return false when it was cut off.
 */
bool leat_text_copy(char *out, size_t cap, struct leat_span text);

#endif
