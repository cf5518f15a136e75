/* SPDX-License-Identifier: MIT */
/*
 * The first four octets tell a pcap file (either octet order, micro- or nanoseconds) from hex
 * lines. In hex lines blanks, empty lines and what follows a # are ignored. Files are read frame by
 * frame, so their size does not matter.
 */
#include "source.h"

#include <leat/error.h>

#include "link.h"

#define MAGIC_US 0xa1b2c3d4u
#define MAGIC_NS 0xa1b23c4du
#define MAGIC_NG 0x0a0d0d0au

static uint32_t get_u32(const struct leat_dump_source *s, const uint8_t *p)
{
    uint32_t v = leat_get_u32(p);
    return s->is_little ? __builtin_bswap32(v) : v;
}

/** One octet, those of the head first. */
static int next_octet(struct leat_dump_source *s)
{
    return s->head_at < s->head_len ? s->head[s->head_at++] : getc(s->file);
}

/** @return octets read. */
static size_t read_octets(struct leat_dump_source *s, uint8_t *out, size_t len)
{
    size_t done = 0;
    while (done < len && s->head_at < s->head_len) {
        out[done++] = s->head[s->head_at++];
    }
    return done + fread(out + done, 1, len - done, s->file);
}

static int begin_pcap(struct leat_dump_source *s, char why[static LEAT_DUMP_WHY_MAX])
{
    uint8_t header[24];
    if (read_octets(s, header, sizeof header) != sizeof header) {
        (void)snprintf(why, LEAT_DUMP_WHY_MAX, "the pcap header is not complete");
        return LEAT_E_INVALID;
    }
    s->is_pcap = true;
    s->link = get_u32(s, header + 20) & 0xffff; /* above: length of a frame check sequence */
    if (!leat_dump_link_is_known(s->link)) {
        (void)snprintf(why, LEAT_DUMP_WHY_MAX, "link type %u is not read", s->link);
        return LEAT_E_UNSUPPORTED;
    }
    return 0;
}

int leat_dump_source_init(struct leat_dump_source *s, FILE *file,
                          char why[static LEAT_DUMP_WHY_MAX])
{
    memset(s, 0, sizeof *s);
    s->file = file;
    s->head_len = fread(s->head, 1, sizeof s->head, file);
    if (s->head_len < sizeof s->head) {
        return 0;
    }
    uint32_t magic = leat_get_u32(s->head), swapped = __builtin_bswap32(magic);
    if (magic == MAGIC_NG) {
        (void)snprintf(why, LEAT_DUMP_WHY_MAX,
                       "pcapng is not read; editcap -F pcap makes a pcap file of it");
        return LEAT_E_UNSUPPORTED;
    }
    s->is_little = swapped == MAGIC_US || swapped == MAGIC_NS;
    s->is_nano = magic == MAGIC_NS || swapped == MAGIC_NS;
    return s->is_little || magic == MAGIC_US || magic == MAGIC_NS ? begin_pcap(s, why) : 0;
}

/* ---- pcap ---- */

/** @return 1 with a frame, 0 at the end, or an error. */
static int read_frame(struct leat_dump_source *s, struct leat_dump_datagram *d,
                      struct leat_span *frame, bool *is_cut, char why[static LEAT_DUMP_WHY_MAX])
{
    uint8_t header[16];
    size_t got = read_octets(s, header, sizeof header);
    if (got == 0) {
        return 0;
    }
    s->line++;
    uint32_t len = got == sizeof header ? get_u32(s, header + 8) : 0;
    if (got != sizeof header || len > LEAT_DUMP_FRAME_MAX ||
        read_octets(s, s->octets, len) != len) {
        (void)snprintf(why, LEAT_DUMP_WHY_MAX, "frame %llu is not complete or too long",
                       (unsigned long long)s->line);
        return LEAT_E_IO;
    }
    d->has_time = true;
    d->time_s = get_u32(s, header);
    d->time_ns = get_u32(s, header + 4) % 1000000000u;
    if (!s->is_nano) {
        d->time_ns = d->time_ns % 1000000u * 1000u;
    }
    *is_cut = get_u32(s, header + 12) > len;
    *frame = leat_span(s->octets, len);
    return 1;
}

static int next_frame(struct leat_dump_source *s, struct leat_dump_datagram *d,
                      char why[static LEAT_DUMP_WHY_MAX])
{
    for (;;) {
        struct leat_span frame = {NULL, 0};
        struct leat_dump_udp udp;
        bool is_cut = false;
        int result = read_frame(s, d, &frame, &is_cut, why);
        if (result != 1) {
            return result;
        }
        if (leat_dump_find_udp(s->link, frame, &udp)) {
            d->has_addrs = true;
            d->from = udp.from;
            d->to = udp.to;
            d->octets = udp.payload;
            d->is_cut = udp.is_cut;
            return 1;
        }
        s->skipped++;
    }
}

/* ---- hex ---- */

/** The next line without blanks and comment. @return its length, -1 at the end of the file, -2 when
 * it is too long (all of it is read). */
static ptrdiff_t read_line(struct leat_dump_source *s)
{
    size_t len = 0;
    bool is_comment = false, is_long = false;
    int c = next_octet(s);
    if (c == EOF) {
        return -1;
    }
    for (; c != EOF && c != '\n'; c = next_octet(s)) {
        is_comment = is_comment || c == '#';
        if (is_comment || c == ' ' || c == '\t' || c == '\r') {
            continue;
        }
        if (len == sizeof s->text) {
            is_long = true;
        } else {
            s->text[len++] = (char)c;
        }
    }
    return is_long ? -2 : (ptrdiff_t)len;
}

static int next_line(struct leat_dump_source *s, struct leat_dump_datagram *d,
                     char why[static LEAT_DUMP_WHY_MAX])
{
    ptrdiff_t len;
    do {
        len = read_line(s);
        s->line++;
    } while (len == 0);
    if (len == -1) {
        return 0;
    }
    ptrdiff_t octets =
        len < 0 ? -1 : leat_hex_decode(s->text, (size_t)len, s->octets, sizeof s->octets);
    if (octets < 0) {
        (void)snprintf(why, LEAT_DUMP_WHY_MAX, "line %llu is not a datagram in hex",
                       (unsigned long long)s->line);
        return LEAT_E_INVALID;
    }
    d->octets = leat_span(s->octets, (size_t)octets);
    return 1;
}

int leat_dump_source_next(struct leat_dump_source *s, struct leat_dump_datagram *d,
                          char why[static LEAT_DUMP_WHY_MAX])
{
    memset(d, 0, sizeof *d);
    return s->is_pcap ? next_frame(s, d, why) : next_line(s, d, why);
}
