/* SPDX-License-Identifier: MIT */
/*
 * RTCP compounds (RFC 3550 6, 4585). SRTCP leaves only the first 8 octets in the clear; what does
 * not walk as packets from end to end is taken for encrypted.
 */
#include <leat/rtcp.h>

#include "decode.h"

#define TYPE_FIRST 192
#define TYPE_LAST 223

static const char *type_text(const struct leat_rtcp *p, char number[static 8])
{
    static const char *const names[] = {"SR", "RR", "SDES", "BYE", "APP", "RTPFB", "PSFB", "XR"};
    if (p->type >= LEAT_RTCP_SR && p->type <= LEAT_RTCP_XR) {
        return names[p->type - LEAT_RTCP_SR];
    }
    (void)snprintf(number, 8, "%u", p->type);
    return number;
}

static bool is_plain(struct leat_span datagram)
{
    struct leat_reader r;
    struct leat_rtcp p;
    leat_reader_init(&r, datagram.data, datagram.len);
    while (leat_rtcp_next(&r, &p)) {
        if (p.type < TYPE_FIRST || p.type > TYPE_LAST) {
            return false;
        }
    }
    return !r.failed;
}

static void put_blocks(struct leat_dump_out *o, const struct leat_rtcp *p)
{
    struct leat_rtcp_block blocks[LEAT_RTCP_BLOCKS_MAX];
    size_t count = leat_rtcp_read_blocks(p, blocks);
    leat_dump_open(o, "blocks", '[');
    for (size_t i = 0; i < count; i++) {
        char lost[16];
        leat_dump_open(o, NULL, '{');
        leat_dump_u64(o, "of", blocks[i].ssrc);
        leat_dump_u64(o, "fraction_256", blocks[i].fraction_lost);
        (void)snprintf(lost, sizeof lost, o->is_json ? "%d" : "lost=%d", (int)blocks[i].lost);
        leat_dump_number(o, "lost", lost);
        leat_dump_u64(o, "highest", blocks[i].highest_seq);
        leat_dump_u64(o, "jitter", blocks[i].jitter);
        leat_dump_u64(o, "lsr", blocks[i].last_sr);
        leat_dump_u64(o, "dlsr", blocks[i].delay_since_sr);
        leat_dump_close(o, '}');
    }
    leat_dump_close(o, ']');
}

static void put_report(struct leat_dump_out *o, const struct leat_rtcp *p)
{
    struct leat_rtcp_sender_info info;
    if (p->type == LEAT_RTCP_SR && leat_rtcp_read_sender_info(p, &info)) {
        uint8_t ntp[8];
        leat_put_u64(ntp, info.ntp);
        leat_dump_hex(o, "ntp", leat_span(ntp, sizeof ntp));
        leat_dump_u64(o, "rtp", info.rtp_timestamp);
        leat_dump_u64(o, "packets", info.packets);
        leat_dump_u64(o, "octets", info.octets);
    }
    put_blocks(o, p);
}

/** The CNAME of the first chunk. */
static void put_sdes(struct leat_dump_out *o, const struct leat_rtcp *p)
{
    struct leat_reader r;
    leat_reader_init(&r, p->body.data, p->body.len);
    leat_read_skip(&r, 4);
    for (uint8_t type = leat_read_u8(&r); type != 0; type = leat_read_u8(&r)) {
        struct leat_span text = leat_read_span(&r, leat_read_u8(&r));
        if (!r.failed && type == 1) {
            leat_dump_span(o, "cname", text);
            return;
        }
    }
}

/** Generic NACK (RFC 4585 6.2.1): the numbers that are asked for. */
static void put_nack(struct leat_dump_out *o, struct leat_span fci)
{
    struct leat_reader r;
    leat_reader_init(&r, fci.data, fci.len);
    leat_dump_open(o, "lost", '[');
    while (leat_reader_left(&r) >= 4) {
        uint16_t first = leat_read_u16(&r);
        uint16_t mask = leat_read_u16(&r);
        leat_dump_u64(o, NULL, first);
        for (int i = 0; i < 16; i++) {
            if ((mask >> i & 1) != 0) {
                leat_dump_u64(o, NULL, (uint16_t)(first + 1 + i));
            }
        }
    }
    leat_dump_close(o, ']');
}

static void put_fir(struct leat_dump_out *o, const struct leat_rtcp *p)
{
    size_t cursor = 0;
    uint32_t ssrc;
    uint8_t seq_nr;
    leat_dump_open(o, "entries", '[');
    while (leat_rtcp_read_fir(p, &cursor, &ssrc, &seq_nr)) {
        leat_dump_open(o, NULL, '{');
        leat_dump_u64(o, "of", ssrc);
        leat_dump_u64(o, "seq_nr", seq_nr);
        leat_dump_close(o, '}');
    }
    leat_dump_close(o, ']');
}

static const char *feedback_text(const struct leat_rtcp *p)
{
    bool is_payload = p->type == LEAT_RTCP_PSFB;
    switch (p->count_or_fmt) {
    case 1:
        return is_payload ? "PLI" : "NACK";
    case 2:
        return is_payload ? "SLI" : "";
    case 3:
        return is_payload ? "RPSI" : "TMMBR";
    case 4:
        return is_payload ? "FIR" : "TMMBN";
    case 15:
        return is_payload ? "AFB" : "TWCC";
    default: /* any number can stand on the wire */
        return "";
    }
}

static void put_feedback(struct leat_dump_out *o, const struct leat_rtcp *p)
{
    const char *name = feedback_text(p);
    if (name[0] != '\0') {
        leat_dump_word(o, "feedback", name);
    } else {
        leat_dump_u64(o, "fmt", p->count_or_fmt);
    }
    if (p->body.len < 8) {
        return;
    }
    struct leat_span fci = leat_span(p->body.data + 8, p->body.len - 8);
    leat_dump_u64(o, "media", leat_get_u32(p->body.data + 4));
    if (p->type == LEAT_RTCP_RTPFB && p->count_or_fmt == 1) {
        put_nack(o, fci);
    } else if (p->type == LEAT_RTCP_PSFB && p->count_or_fmt == LEAT_PSFB_FIR) {
        put_fir(o, p);
    } else if (fci.len != 0) {
        leat_dump_hex(o, "fci", fci);
    }
}

static void put_bye(struct leat_dump_out *o, const struct leat_rtcp *p)
{
    size_t cursor = 0;
    uint32_t ssrc;
    leat_dump_open(o, "of", '[');
    while (leat_rtcp_read_bye(p, &cursor, &ssrc)) {
        leat_dump_u64(o, NULL, ssrc);
    }
    leat_dump_close(o, ']');
}

static void put_packet(struct leat_dump_out *o, const struct leat_rtcp *p)
{
    char number[8];
    leat_dump_open(o, NULL, '{');
    leat_dump_word(o, "type", type_text(p, number));
    leat_dump_u64(o, "ssrc", p->ssrc);
    switch ((enum leat_rtcp_type)p->type) {
    case LEAT_RTCP_SR:
    case LEAT_RTCP_RR:
        put_report(o, p);
        break;
    case LEAT_RTCP_SDES:
        put_sdes(o, p);
        break;
    case LEAT_RTCP_BYE:
        put_bye(o, p);
        break;
    case LEAT_RTCP_RTPFB:
    case LEAT_RTCP_PSFB:
        put_feedback(o, p);
        break;
    case LEAT_RTCP_APP:
    case LEAT_RTCP_XR:
        leat_dump_u64(o, "len", p->body.len);
        break;
    }
    leat_dump_close(o, '}');
}

void leat_dump_rtcp(struct leat_dump_out *o, struct leat_span datagram)
{
    struct leat_reader r;
    struct leat_rtcp p;
    if (!is_plain(datagram)) {
        char number[8];
        leat_reader_init(&r, datagram.data, datagram.len);
        leat_read_skip(&r, 1);
        p.type = leat_read_u8(&r);
        leat_read_skip(&r, 2);
        p.ssrc = leat_read_u32(&r);
        leat_dump_bool(o, "encrypted", true);
        if (!r.failed) {
            leat_dump_text(o, "first", type_text(&p, number));
            leat_dump_u64(o, "ssrc", p.ssrc);
        }
        return;
    }
    leat_reader_init(&r, datagram.data, datagram.len);
    leat_dump_open(o, "packets", '[');
    while (leat_rtcp_next(&r, &p)) {
        put_packet(o, &p);
    }
    leat_dump_close(o, ']');
}
