/* SPDX-License-Identifier: MIT */
/*
 * What stands in front of the TLS library: a filter for the records of a datagram and the
 * reassembly of a fragmented ClientHello (RFC 6347 4.1, 4.2.3).
 *
 * The filter exists because the library ends a handshake for records that RFC 6347 4.1.2.7 lets one
 * drop: runts, plaintext alerts, handshake headers that do not fit their record, messages that only
 * the other role sends. Anyone who can spoof the tuple can send those. Rules by phase, until the
 * association is established (established.c):
 *
 *              epoch 0                                                       epoch 1
 *   before     ClientHello fragments -> reassembly; all else is ignored       ignored
 *   handshake  handshake messages that the remote's role sends, a proper      passed
 *              ChangeCipherSpec; a well-formed fatal alert is reported,
 *              other alerts and application data are ignored
 *
 * ClientHellos never pass: the library takes no fragments of the first one and answers each
 * fragment of a retransmission with a whole flight. Both browsers send theirs in two datagrams and
 * may cut a retransmission at other places, so reassembly works on octet ranges. Fragments that
 * overlap must agree, else the later is dropped.
 */
#include <stdlib.h>

#include "internal.h"
#include "record.h"

enum { MESSAGE_HEADER = 12, MESSAGE_CLIENT_HELLO = 1, EXTENSION_USE_SRTP = 14 };

struct message {
    uint8_t type;
    uint16_t seq;
    uint32_t total, offset;
    struct leat_span fragment;
};

/* @return false at the end of the record or at a message that contradicts itself (r->failed). */
static bool next_message(struct leat_reader *r, struct message *out)
{
    if (leat_reader_left(r) == 0) {
        return false;
    }
    out->type = leat_read_u8(r);
    out->total = leat_read_u24(r);
    out->seq = leat_read_u16(r);
    out->offset = leat_read_u24(r);
    uint32_t len = leat_read_u24(r);
    out->fragment = leat_read_span(r, len);
    bool is_inside = out->offset <= out->total && len <= out->total - out->offset;
    if (!is_inside || (len == 0 && out->total != 0)) {
        r->failed = true;
    }
    return !r->failed;
}

/* Plaintext messages of a handshake with certificates, by who sends them. */
static bool is_of_remote(enum leat_dtls_role role, uint8_t type)
{
    switch (type) {
    case 11: /* Certificate */
        return true;
    case 15: /* CertificateVerify */
    case 16: /* ClientKeyExchange */
        return role == LEAT_DTLS_SERVER;
    case 2:  /* ServerHello */
    case 3:  /* HelloVerifyRequest */
    case 12: /* ServerKeyExchange */
    case 13: /* CertificateRequest */
    case 14: /* ServerHelloDone */
        return role == LEAT_DTLS_CLIENT;
    default:
        return false;
    }
}

static bool may_pass_handshake(enum leat_dtls_role role, const struct leat__dtls_record *rec)
{
    struct leat_reader r;
    struct message m;
    leat_reader_init(&r, rec->content.data, rec->content.len);
    while (next_message(&r, &m)) {
        if (!is_of_remote(role, m.type)) {
            return false;
        }
    }
    return !r.failed;
}

/* ---- reassembly ---- */

static bool is_seen(const struct leat__dtls_hello *h, size_t octet)
{
    for (size_t i = 0; i < h->range_count; i++) {
        if (octet >= h->ranges[i].from && octet < h->ranges[i].to) {
            return true;
        }
    }
    return false;
}

/* Merge [from, to) into the sorted ranges. @return false, with nothing changed, when there would be
 * too many. */
static bool add_range(struct leat__dtls_hello *h, uint16_t from, uint16_t to)
{
    size_t first = 0; /* the first range that [from, to) touches, or the place for a new one */
    while (first < h->range_count && h->ranges[first].to < from) {
        first++;
    }
    size_t last = first; /* one past the last range that it touches */
    while (last < h->range_count && h->ranges[last].from <= to) {
        last++;
    }
    if (first == last && h->range_count == LEAT__DTLS_HELLO_RANGES) {
        return false;
    }
    if (first != last) {
        from = from < h->ranges[first].from ? from : h->ranges[first].from;
        to = to > h->ranges[last - 1].to ? to : h->ranges[last - 1].to;
    }
    memmove(&h->ranges[first + 1], &h->ranges[last],
            (h->range_count - last) * sizeof(h->ranges[0]));
    h->ranges[first] = (struct leat__dtls_range){from, to};
    h->range_count = h->range_count - (last - first) + 1;
    return true;
}

static bool start_hello(struct leat__dtls_hello *h, const struct leat__dtls_record *rec,
                        const struct message *m)
{
    h->body = malloc(m->total);
    if (!h->body) {
        return false;
    }
    h->total = (uint16_t)m->total;
    h->version = rec->version;
    h->record_seq = rec->seq;
    return true;
}

/* @return whether the fragment agrees with every octet that is known. */
static bool agrees(const struct leat__dtls_hello *h, const struct message *m)
{
    if (h->is_whole) {
        return memcmp(h->body + m->offset, m->fragment.data, m->fragment.len) == 0;
    }
    for (size_t i = 0; i < m->fragment.len; i++) {
        if (is_seen(h, m->offset + i) && h->body[m->offset + i] != m->fragment.data[i]) {
            return false;
        }
    }
    return true;
}

static void take_fragment(struct leat__dtls_hello *h, const struct leat__dtls_record *rec,
                          const struct message *m, struct leat__dtls_filtered *out)
{
    if (m->seq != 0 || m->total == 0 || m->total > LEAT_DTLS_HELLO_MAX) {
        return;
    }
    if (h->total == 0 && !start_hello(h, rec, m)) {
        return;
    }
    if (m->total != h->total || !agrees(h, m) ||
        !add_range(h, (uint16_t)m->offset, (uint16_t)(m->offset + m->fragment.len))) {
        return;
    }
    if (!h->is_whole) {
        memcpy(h->body + m->offset, m->fragment.data, m->fragment.len);
    }
    out->is_hello_taken = true;
    if (h->range_count == 1 && h->ranges[0].from == 0 && h->ranges[0].to == h->total) {
        h->is_whole = true;
        h->range_count = 0; /* from here on they count a retransmission */
        out->is_hello_whole = true;
    }
}

static void take_hello(struct leat__dtls_hello *h, const struct leat__dtls_record *rec,
                       struct leat__dtls_filtered *out)
{
    struct leat_reader r;
    struct message m;
    leat_reader_init(&r, rec->content.data, rec->content.len);
    while (next_message(&r, &m) && m.type == MESSAGE_CLIENT_HELLO) {
        take_fragment(h, rec, &m, out);
    }
}

size_t leat__dtls_hello_record(const struct leat__dtls_hello *h,
                               uint8_t out[static LEAT__DTLS_HELLO_RECORD_MAX])
{
    struct leat_writer w;
    leat_writer_init(&w, out, LEAT__DTLS_HELLO_RECORD_MAX);
    leat_write_u8(&w, LEAT__DTLS_TYPE_HANDSHAKE);
    leat_write_u16(&w, h->version);
    leat_write_u16(&w, 0);
    leat_write_u48(&w, h->record_seq);
    leat_write_u16(&w, (uint16_t)(MESSAGE_HEADER + h->total));
    leat_write_u8(&w, MESSAGE_CLIENT_HELLO);
    leat_write_u24(&w, h->total);
    leat_write_u16(&w, 0);
    leat_write_u24(&w, 0);
    leat_write_u24(&w, h->total);
    leat_write_bytes(&w, h->body, h->total);
    return leat_writer_len(&w);
}

/* @return the data of the hello's use_srtp, empty when there is none or it does not parse. */
static struct leat_span find_use_srtp(const struct leat__dtls_hello *h)
{
    struct leat_reader r;
    leat_reader_init(&r, h->body, h->total);
    leat_read_skip(&r, 2 + 32); /* version, random */
    uint8_t session_len = leat_read_u8(&r);
    leat_read_skip(&r, session_len);
    uint8_t cookie_len = leat_read_u8(&r);
    leat_read_skip(&r, cookie_len);
    uint16_t suites_len = leat_read_u16(&r);
    leat_read_skip(&r, suites_len);
    uint8_t compressions_len = leat_read_u8(&r);
    leat_read_skip(&r, compressions_len);
    leat_read_skip(&r, 2); /* length of the extensions, which are the rest */
    while (!r.failed && leat_reader_left(&r) != 0) {
        uint16_t type = leat_read_u16(&r);
        uint16_t len = leat_read_u16(&r);
        struct leat_span data = leat_read_span(&r, len);
        if (!r.failed && type == EXTENSION_USE_SRTP) {
            return data;
        }
    }
    return leat_span(NULL, 0);
}

enum leat_srtp_profile leat__dtls_hello_profile(const struct leat__dtls_hello *h,
                                                const enum leat_srtp_profile *profiles,
                                                size_t count)
{
    struct leat_span data = find_use_srtp(h);
    size_t first = count;
    struct leat_reader r;
    leat_reader_init(&r, data.data, data.len);
    uint16_t len = leat_read_u16(&r);
    struct leat_span offered = leat_read_span(&r, len);
    leat_reader_init(&r, offered.data, offered.len);
    while (leat_reader_left(&r) >= 2) {
        uint16_t profile = leat_read_u16(&r);
        for (size_t i = 0; i < first; i++) {
            first = (uint16_t)profiles[i] == profile ? i : first;
        }
    }
    return first < count ? profiles[first] : LEAT_SRTP_PROFILE_NONE;
}

void leat__dtls_hello_deinit(struct leat__dtls_hello *h)
{
    free(h->body);
    memset(h, 0, sizeof(*h));
}

/* ---- the filter ---- */

/* @return whether the record may reach the library. */
static bool take_plaintext(struct leat__dtls_hello *hello, enum leat_dtls_role role,
                           enum leat__dtls_phase phase, const struct leat__dtls_record *rec,
                           struct leat__dtls_filtered *out)
{
    if (role == LEAT_DTLS_SERVER && rec->type == LEAT__DTLS_TYPE_HANDSHAKE &&
        rec->content.data[0] == MESSAGE_CLIENT_HELLO) {
        take_hello(hello, rec, out);
        return false;
    }
    if (phase == LEAT__DTLS_BEFORE) {
        return false;
    }
    switch (rec->type) {
    case LEAT__DTLS_TYPE_HANDSHAKE:
        return may_pass_handshake(role, rec);
    case LEAT__DTLS_TYPE_CHANGE_CIPHER_SPEC:
        return rec->content.len == 1 && rec->content.data[0] == 1;
    case LEAT__DTLS_TYPE_ALERT:
        out->is_fatal_alert |= rec->content.len == 2 && rec->content.data[0] == 2;
        return false;
    default:
        return false;
    }
}

struct leat__dtls_filtered leat__dtls_filter(struct leat__dtls_hello *hello,
                                             enum leat_dtls_role role, enum leat__dtls_phase phase,
                                             struct leat_span datagram,
                                             uint8_t pass[static LEAT__DTLS_DATAGRAM_MAX])
{
    struct leat__dtls_filtered out = {0};
    struct leat_reader r;
    struct leat_writer w;
    struct leat__dtls_record rec;
    leat_reader_init(&r, datagram.data, datagram.len);
    leat_writer_init(&w, pass, LEAT__DTLS_DATAGRAM_MAX);
    while (leat_reader_left(&r) != 0 && leat__dtls_record_next(&r, &rec)) {
        if (!leat__dtls_record_is_known(&rec)) {
            continue;
        }
        out.is_well_formed = true;
        bool may_pass = rec.epoch == 0 ? take_plaintext(hello, role, phase, &rec, &out)
                                       : phase != LEAT__DTLS_BEFORE;
        if (may_pass) {
            leat_write_bytes(&w, rec.whole.data, rec.whole.len);
        }
    }
    out.len = leat_writer_len(&w);
    return out;
}
