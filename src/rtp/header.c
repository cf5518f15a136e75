/* SPDX-License-Identifier: MIT */
/*
 * The RTP header (RFC 3550 5.1, 5.3.1) and its extension elements (RFC 8285), both ways.
 *
 *     |V=2|P|X| CC |M| PT |  sequence number | timestamp | SSRC | CSRC x CC |
 *     | profile | words |  elements ... padding |                 when X
 *     | payload | padding, its count in the last octet |          padding when P
 *
 * A block that lies about its length, or an element that runs out of its block, makes the packet
 * malformed: nothing of it is used. What RFC 8285 defines as the end of a block (one-byte id 15, or
 * id 0 with a length) keeps the elements found before it.
 */
#include <leat/rtp.h>

#define EXT_PROFILE_ONE_BYTE 0xbede
#define EXT_PROFILE_TWO_BYTE 0x1000 /* under EXT_TWO_BYTE_MASK; the low four bits are "appbits" */
#define EXT_TWO_BYTE_MASK 0xfff0
#define CSRC_MAX 15

static void keep_ext(struct leat_rtp *p, uint8_t id, size_t len, size_t offset)
{
    if (p->ext_count < LEAT_RTP_EXT_ELEMENTS_MAX) {
        p->exts[p->ext_count++] = (struct leat_rtp_ext){id, (uint8_t)len, (uint16_t)offset};
    }
}

/** RFC 8285 4.2. `base` is the block's offset in the packet. */
static bool parse_one_byte(struct leat_rtp *p, struct leat_reader *block, size_t base)
{
    while (leat_reader_left(block) != 0) {
        uint8_t head = leat_read_u8(block);
        if (head == 0) {
            continue;
        }
        uint8_t id = head >> 4;
        if (id == 0 || id == 15) {
            return true;
        }
        size_t len = (head & 15u) + 1u;
        size_t offset = base + leat_reader_offset(block);
        leat_read_skip(block, len);
        if (block->failed) {
            return false;
        }
        keep_ext(p, id, len, offset);
    }
    return true;
}

/** RFC 8285 4.3. */
static bool parse_two_byte(struct leat_rtp *p, struct leat_reader *block, size_t base)
{
    while (leat_reader_left(block) != 0) {
        uint8_t id = leat_read_u8(block);
        if (id == 0) {
            continue;
        }
        size_t len = leat_read_u8(block);
        size_t offset = base + leat_reader_offset(block);
        leat_read_skip(block, len);
        if (block->failed) {
            return false;
        }
        keep_ext(p, id, len, offset);
    }
    return true;
}

static bool parse_ext_block(struct leat_rtp *p, struct leat_reader *r)
{
    p->ext_block_offset = (uint16_t)leat_reader_offset(r);
    uint16_t profile = leat_read_u16(r);
    size_t len = (size_t)leat_read_u16(r) * 4;
    size_t base = leat_reader_offset(r);
    struct leat_span elements = leat_read_span(r, len);
    if (r->failed) {
        return false;
    }
    p->ext_block_len = (uint16_t)(len + 4);
    struct leat_reader block;
    leat_reader_init(&block, elements.data, elements.len);
    if (profile == EXT_PROFILE_ONE_BYTE) {
        return parse_one_byte(p, &block, base);
    }
    p->is_two_byte = (profile & EXT_TWO_BYTE_MASK) == EXT_PROFILE_TWO_BYTE;
    return !p->is_two_byte || parse_two_byte(p, &block, base);
}

bool leat_rtp_parse(struct leat_rtp *p, struct leat_span packet)
{
    memset(p, 0, sizeof(*p));
    if (packet.len < LEAT_RTP_HEADER_MIN || packet.len > UINT16_MAX) {
        return false;
    }
    struct leat_reader r;
    leat_reader_init(&r, packet.data, packet.len);
    uint8_t first = leat_read_u8(&r);
    uint8_t second = leat_read_u8(&r);
    if (first >> 6 != 2) {
        return false;
    }
    p->marker = (second & 0x80) != 0;
    p->pt = second & 0x7f;
    p->seq = leat_read_u16(&r);
    p->timestamp = leat_read_u32(&r);
    p->ssrc = leat_read_u32(&r);
    p->csrc_count = first & 15;
    leat_read_skip(&r, (size_t)p->csrc_count * 4);
    if ((first & 0x10) != 0 && !parse_ext_block(p, &r)) {
        return false;
    }
    if (r.failed) {
        return false;
    }
    size_t left = leat_reader_left(&r);
    p->payload_offset = (uint16_t)leat_reader_offset(&r);
    if ((first & 0x20) != 0) {
        p->padding_len = packet.data[packet.len - 1];
        if (p->padding_len == 0 || p->padding_len > left) {
            return false;
        }
    }
    p->payload_len = (uint16_t)(left - p->padding_len);
    return true;
}

bool leat_rtp_find_ext(const struct leat_rtp *p, struct leat_span packet, uint8_t id,
                       struct leat_span *data)
{
    for (size_t i = 0; i < p->ext_count; i++) {
        const struct leat_rtp_ext *e = &p->exts[i];
        if (e->id == id && e->offset <= packet.len && e->len <= packet.len - e->offset) {
            *data = leat_span(packet.data + e->offset, e->len);
            return true;
        }
    }
    return false;
}

/** Octets of the elements without padding. @return false when one cannot be written in any form. */
static bool measure_exts(const struct leat_rtp_ext_out *exts, size_t count, bool *is_two_byte,
                         size_t *len)
{
    size_t data_len = 0;
    *is_two_byte = false;
    for (size_t i = 0; i < count; i++) {
        size_t n = exts[i].data.len;
        if (exts[i].id == 0 || n > UINT8_MAX) {
            return false;
        }
        if (exts[i].id > 14 || n == 0 || n > 16) {
            *is_two_byte = true;
        }
        data_len += n;
    }
    *len = data_len + count * (*is_two_byte ? 2 : 1);
    return *len <= (size_t)UINT16_MAX * 4;
}

static void write_exts(struct leat_writer *w, const struct leat_rtp_ext_out *exts, size_t count,
                       bool is_two_byte, size_t len)
{
    size_t words = (len + 3) / 4;
    leat_write_u16(w, is_two_byte ? EXT_PROFILE_TWO_BYTE : EXT_PROFILE_ONE_BYTE);
    leat_write_u16(w, (uint16_t)words);
    for (size_t i = 0; i < count; i++) {
        size_t n = exts[i].data.len;
        if (is_two_byte) {
            leat_write_u8(w, exts[i].id);
            leat_write_u8(w, (uint8_t)n);
        } else {
            leat_write_u8(w, (uint8_t)((size_t)exts[i].id << 4 | (n - 1)));
        }
        leat_write_bytes(w, exts[i].data.data, n);
    }
    leat_write_zeros(w, words * 4 - len);
}

size_t leat_rtp_compose(uint8_t *out, size_t cap, bool marker, uint8_t pt, uint16_t seq,
                        uint32_t timestamp, uint32_t ssrc, const uint32_t *csrcs, size_t csrc_count,
                        const struct leat_rtp_ext_out *exts, size_t ext_count,
                        struct leat_span payload)
{
    bool is_two_byte;
    size_t ext_len;
    if (pt > 127 || csrc_count > CSRC_MAX ||
        !measure_exts(exts, ext_count, &is_two_byte, &ext_len)) {
        return 0;
    }
    struct leat_writer w;
    leat_writer_init(&w, out, cap < UINT16_MAX ? cap : UINT16_MAX);
    leat_write_u8(&w, (uint8_t)(0x80 | (ext_count != 0 ? 0x10 : 0) | csrc_count));
    leat_write_u8(&w, (uint8_t)((marker ? 0x80 : 0) | pt));
    leat_write_u16(&w, seq);
    leat_write_u32(&w, timestamp);
    leat_write_u32(&w, ssrc);
    for (size_t i = 0; i < csrc_count; i++) {
        leat_write_u32(&w, csrcs[i]);
    }
    if (ext_count != 0) {
        write_exts(&w, exts, ext_count, is_two_byte, ext_len);
    }
    leat_write_bytes(&w, payload.data, payload.len);
    return w.failed ? 0 : leat_writer_len(&w);
}
