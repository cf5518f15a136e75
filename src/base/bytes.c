/* SPDX-License-Identifier: MIT */
/*
 * Cursors over octets. Every bound is checked by subtraction on the side that cannot wrap: what is
 * left is compared with what is wanted. A failed cursor stays failed: it reads zeros and writes
 * nothing more, so that code behind a failure cannot act on octets from the wrong place.
 */
#include <leat/bytes.h>

uint8_t leat_read_u8(struct leat_reader *r)
{
    struct leat_span s = leat_read_span(r, 1);
    return s.data ? s.data[0] : 0;
}

uint16_t leat_read_u16(struct leat_reader *r)
{
    struct leat_span s = leat_read_span(r, 2);
    return s.data ? leat_get_u16(s.data) : 0;
}

uint32_t leat_read_u24(struct leat_reader *r)
{
    struct leat_span s = leat_read_span(r, 3);
    return s.data ? (uint32_t)s.data[0] << 16 | leat_get_u16(s.data + 1) : 0;
}

uint32_t leat_read_u32(struct leat_reader *r)
{
    struct leat_span s = leat_read_span(r, 4);
    return s.data ? leat_get_u32(s.data) : 0;
}

uint64_t leat_read_u48(struct leat_reader *r)
{
    struct leat_span s = leat_read_span(r, 6);
    return s.data ? (uint64_t)leat_get_u16(s.data) << 32 | leat_get_u32(s.data + 2) : 0;
}

uint64_t leat_read_u64(struct leat_reader *r)
{
    struct leat_span s = leat_read_span(r, 8);
    return s.data ? leat_get_u64(s.data) : 0;
}

uint8_t *leat_write_room(struct leat_writer *w, size_t n)
{
    if (w->failed || (size_t)(w->end - w->at) < n) {
        w->failed = true;
        return NULL;
    }
    uint8_t *room = w->at;
    if (n != 0) {
        w->at += n;
    }
    return room;
}

void leat_write_u8(struct leat_writer *w, uint8_t v)
{
    uint8_t *p = leat_write_room(w, 1);
    if (p) {
        p[0] = v;
    }
}

void leat_write_u16(struct leat_writer *w, uint16_t v)
{
    uint8_t *p = leat_write_room(w, 2);
    if (p) {
        leat_put_u16(p, v);
    }
}

void leat_write_u24(struct leat_writer *w, uint32_t v)
{
    uint8_t *p = leat_write_room(w, 3);
    if (p) {
        p[0] = (uint8_t)(v >> 16);
        leat_put_u16(p + 1, (uint16_t)v);
    }
}

void leat_write_u32(struct leat_writer *w, uint32_t v)
{
    uint8_t *p = leat_write_room(w, 4);
    if (p) {
        leat_put_u32(p, v);
    }
}

void leat_write_u48(struct leat_writer *w, uint64_t v)
{
    uint8_t *p = leat_write_room(w, 6);
    if (p) {
        leat_put_u16(p, (uint16_t)(v >> 32));
        leat_put_u32(p + 2, (uint32_t)v);
    }
}

void leat_write_u64(struct leat_writer *w, uint64_t v)
{
    uint8_t *p = leat_write_room(w, 8);
    if (p) {
        leat_put_u64(p, v);
    }
}

void leat_write_bytes(struct leat_writer *w, const void *data, size_t len)
{
    uint8_t *p = leat_write_room(w, len);
    if (p && len != 0) {
        memcpy(p, data, len);
    }
}

void leat_write_zeros(struct leat_writer *w, size_t n)
{
    uint8_t *p = leat_write_room(w, n);
    if (p && n != 0) {
        memset(p, 0, n);
    }
}

void leat_write_u16_at(struct leat_writer *w, size_t offset, uint16_t v)
{
    size_t written = leat_writer_len(w);
    if (w->failed || offset > written || written - offset < 2) {
        w->failed = true;
        return;
    }
    leat_put_u16(w->start + offset, v);
}

void leat_hex_encode(const void *data, size_t len, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[p[i] >> 4];
        out[2 * i + 1] = digits[p[i] & 15];
    }
    out[2 * len] = '\0';
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

ptrdiff_t leat_hex_decode(const char *text, size_t text_len, uint8_t *out, size_t cap)
{
    if (text_len % 2 != 0 || text_len / 2 > cap) {
        return -1;
    }
    for (size_t i = 0; i < text_len / 2; i++) {
        int high = hex_value(text[2 * i]);
        int low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return -1;
        }
        out[i] = (uint8_t)(high << 4 | low);
    }
    return (ptrdiff_t)(text_len / 2);
}

bool leat_text_copy(char *out, size_t cap, struct leat_span text)
{
    if (cap == 0) {
        return false;
    }
    size_t n = text.len < cap ? text.len : cap - 1;
    if (n != 0) {
        memcpy(out, text.data, n);
    }
    out[n] = '\0';
    return n == text.len;
}
