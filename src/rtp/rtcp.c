/* SPDX-License-Identifier: MIT */
/*
 * RTCP packets, both ways. A datagram is a row of packets, each with its own length, that may be a
 * full compound (RFC 3550 6.1) or reduced-size (RFC 5506): the order and the first type are not
 * judged here, and every packet is handed out so that the caller can treat it by its own SSRCs.
 *
 *     |V=2|P| count or format | type | length in words - 1 | body ... |
 *
 * Readers check type, format and length themselves: a body is what the network sent.
 */
#include <leat/rtcp.h>

#define HEADER_LEN 4
#define SENDER_INFO_LEN 20
#define BLOCK_LEN 24
#define FIR_ENTRY_LEN 8
#define FEEDBACK_HEADER_LEN 8 /* sender SSRC, media SSRC */
#define SDES_CNAME 1

/**
 * Octets of padding at the end of a body. RFC 3550 6.4.1 wants a multiple of four; libwebrtc pads
 * transport-wide feedback by one to three octets, so any count that fits is taken.
 * @return false when the count is impossible
 */
static bool measure_padding(struct leat_span body, size_t *padding)
{
    *padding = body.len != 0 ? body.data[body.len - 1] : 0;
    return *padding != 0 && *padding <= body.len;
}

bool leat_rtcp_next(struct leat_reader *r, struct leat_rtcp *p)
{
    memset(p, 0, sizeof(*p));
    if (leat_reader_left(r) == 0) {
        return false;
    }
    uint8_t first = leat_read_u8(r);
    uint8_t type = leat_read_u8(r);
    size_t len = (size_t)leat_read_u16(r) * 4;
    struct leat_span body = leat_read_span(r, len);
    size_t padding = 0;
    if ((first & 0x20) != 0 && !measure_padding(body, &padding)) {
        r->failed = true;
    }
    if (r->failed || first >> 6 != 2) {
        r->failed = true;
        return false;
    }
    body.len -= padding;
    p->count_or_fmt = first & 31;
    p->type = type;
    p->body = body;
    p->ssrc = body.len >= 4 ? leat_get_u32(body.data) : 0;
    return true;
}

bool leat_rtcp_read_sender_info(const struct leat_rtcp *p, struct leat_rtcp_sender_info *info)
{
    memset(info, 0, sizeof(*info));
    if (p->type != LEAT_RTCP_SR) {
        return false;
    }
    struct leat_reader r;
    leat_reader_init(&r, p->body.data, p->body.len);
    leat_read_skip(&r, 4);
    info->ntp = leat_read_u64(&r);
    info->rtp_timestamp = leat_read_u32(&r);
    info->packets = leat_read_u32(&r);
    info->octets = leat_read_u32(&r);
    return !r.failed;
}

static void read_block(struct leat_reader *r, struct leat_rtcp_block *b)
{
    b->ssrc = leat_read_u32(r);
    b->fraction_lost = leat_read_u8(r);
    uint32_t lost = leat_read_u24(r);
    b->lost = (int32_t)lost - ((lost & 0x800000) != 0 ? 0x1000000 : 0);
    b->highest_seq = leat_read_u32(r);
    b->jitter = leat_read_u32(r);
    b->last_sr = leat_read_u32(r);
    b->delay_since_sr = leat_read_u32(r);
}

size_t leat_rtcp_read_blocks(const struct leat_rtcp *p,
                             struct leat_rtcp_block blocks[static LEAT_RTCP_BLOCKS_MAX])
{
    if (p->type != LEAT_RTCP_SR && p->type != LEAT_RTCP_RR) {
        return 0;
    }
    struct leat_reader r;
    leat_reader_init(&r, p->body.data, p->body.len);
    leat_read_skip(&r, p->type == LEAT_RTCP_SR ? 4 + SENDER_INFO_LEN : 4);
    size_t count = 0;
    while (count < p->count_or_fmt && leat_reader_left(&r) >= BLOCK_LEN) {
        read_block(&r, &blocks[count++]);
    }
    return count;
}

bool leat_rtcp_read_pli(const struct leat_rtcp *p, uint32_t *media_ssrc)
{
    if (p->type != LEAT_RTCP_PSFB || p->count_or_fmt != LEAT_PSFB_PLI ||
        p->body.len < FEEDBACK_HEADER_LEN) {
        return false;
    }
    *media_ssrc = leat_get_u32(p->body.data + 4);
    return true;
}

bool leat_rtcp_read_fir(const struct leat_rtcp *p, size_t *cursor, uint32_t *media_ssrc,
                        uint8_t *seq_nr)
{
    if (p->type != LEAT_RTCP_PSFB || p->count_or_fmt != LEAT_PSFB_FIR ||
        p->body.len < FEEDBACK_HEADER_LEN ||
        *cursor >= (p->body.len - FEEDBACK_HEADER_LEN) / FIR_ENTRY_LEN) {
        return false;
    }
    const uint8_t *entry = p->body.data + FEEDBACK_HEADER_LEN + *cursor * FIR_ENTRY_LEN;
    *media_ssrc = leat_get_u32(entry);
    *seq_nr = entry[4];
    (*cursor)++;
    return true;
}

bool leat_rtcp_read_bye(const struct leat_rtcp *p, size_t *cursor, uint32_t *ssrc)
{
    if (p->type != LEAT_RTCP_BYE || *cursor >= p->count_or_fmt || *cursor >= p->body.len / 4) {
        return false;
    }
    *ssrc = leat_get_u32(p->body.data + *cursor * 4);
    (*cursor)++;
    return true;
}

/** @param len of the body, a multiple of 4 */
static void write_header(struct leat_writer *w, size_t count_or_fmt, enum leat_rtcp_type type,
                         size_t len)
{
    if (count_or_fmt > 31) {
        w->failed = true;
    }
    leat_write_u8(w, (uint8_t)(0x80 | (count_or_fmt & 31)));
    leat_write_u8(w, (uint8_t)type);
    leat_write_u16(w, (uint16_t)(len / 4));
}

static void write_blocks(struct leat_writer *w, const struct leat_rtcp_block *blocks, size_t count)
{
    for (size_t i = 0; i < count && !w->failed; i++) {
        const struct leat_rtcp_block *b = &blocks[i];
        leat_write_u32(w, b->ssrc);
        leat_write_u8(w, b->fraction_lost);
        leat_write_u24(w, (uint32_t)b->lost & 0xffffff);
        leat_write_u32(w, b->highest_seq);
        leat_write_u32(w, b->jitter);
        leat_write_u32(w, b->last_sr);
        leat_write_u32(w, b->delay_since_sr);
    }
}

void leat_rtcp_write_sr(struct leat_writer *w, uint32_t ssrc,
                        const struct leat_rtcp_sender_info *info,
                        const struct leat_rtcp_block *blocks, size_t count)
{
    write_header(w, count, LEAT_RTCP_SR, 4 + SENDER_INFO_LEN + count * BLOCK_LEN);
    leat_write_u32(w, ssrc);
    leat_write_u64(w, info->ntp);
    leat_write_u32(w, info->rtp_timestamp);
    leat_write_u32(w, info->packets);
    leat_write_u32(w, info->octets);
    write_blocks(w, blocks, count);
}

void leat_rtcp_write_rr(struct leat_writer *w, uint32_t ssrc, const struct leat_rtcp_block *blocks,
                        size_t count)
{
    write_header(w, count, LEAT_RTCP_RR, 4 + count * BLOCK_LEN);
    leat_write_u32(w, ssrc);
    write_blocks(w, blocks, count);
}

void leat_rtcp_write_sdes_cname(struct leat_writer *w, uint32_t ssrc, const char *cname)
{
    size_t len = strlen(cname);
    if (len > UINT8_MAX) {
        w->failed = true;
        return;
    }
    size_t items = 2 + len;
    size_t end = 4 - items % 4; /* at least one zero octet ends the chunk (RFC 3550 6.5) */
    write_header(w, 1, LEAT_RTCP_SDES, 4 + items + end);
    leat_write_u32(w, ssrc);
    leat_write_u8(w, SDES_CNAME);
    leat_write_u8(w, (uint8_t)len);
    leat_write_bytes(w, cname, len);
    leat_write_zeros(w, end);
}

void leat_rtcp_write_bye(struct leat_writer *w, const uint32_t *ssrcs, size_t count)
{
    write_header(w, count, LEAT_RTCP_BYE, count * 4);
    for (size_t i = 0; i < count && !w->failed; i++) {
        leat_write_u32(w, ssrcs[i]);
    }
}

void leat_rtcp_write_pli(struct leat_writer *w, uint32_t sender_ssrc, uint32_t media_ssrc)
{
    write_header(w, LEAT_PSFB_PLI, LEAT_RTCP_PSFB, FEEDBACK_HEADER_LEN);
    leat_write_u32(w, sender_ssrc);
    leat_write_u32(w, media_ssrc);
}

void leat_rtcp_write_fir(struct leat_writer *w, uint32_t sender_ssrc, uint32_t media_ssrc,
                         uint8_t seq_nr)
{
    write_header(w, LEAT_PSFB_FIR, LEAT_RTCP_PSFB, FEEDBACK_HEADER_LEN + FIR_ENTRY_LEN);
    leat_write_u32(w, sender_ssrc);
    leat_write_u32(w, 0); /* unused, RFC 5104 4.3.1.2: the media SSRC is in the entry */
    leat_write_u32(w, media_ssrc);
    leat_write_u8(w, seq_nr);
    leat_write_zeros(w, 3);
}

uint64_t leat_ntp_from_unix_us(uint64_t unix_us)
{
    const uint64_t unix_epoch_s = 2208988800u; /* 1970 seen from 1900 (RFC 5905 A.4) */
    uint64_t seconds = unix_us / 1000000 + unix_epoch_s;
    uint64_t fraction = ((unix_us % 1000000) << 32) / 1000000;
    return seconds << 32 | fraction;
}
