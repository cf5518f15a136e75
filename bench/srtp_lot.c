/* SPDX-License-Identifier: MIT */
/* Lots of packets; bench_srtp.c says what they are made of. */
#include "srtp_lot.h"

#include <string.h>

#include "bench.h"

#define OCTETS_MAX 1400
#define ROOM 1664 /* a packet and its trailer; no power of two, they would share cache sets */
#define LOT_HOT 64
#define LOT_COLD 256
#define LOT_SET_UP 8
#define EVICT_OCTETS (4u << 20)

static struct {
    struct leat_srtp_job jobs[LOT_COLD];
    uint8_t headers[LOT_COLD][LOT_HEADER_LEN];
    size_t peers[LOT_COLD];
    uint8_t out[LOT_COLD][ROOM];
    uint8_t plain[OCTETS_MAX]; /* header, payload */
    struct leat_srtp_keys keys[LOT_SET_UP];
} lot;

static uint8_t walked[EVICT_OCTETS]; /* written once: else all its pages are one */

void lot_init(void)
{
    memset(walked, 1, sizeof(walked));
    for (size_t i = 0; i < sizeof(lot.plain); i++) {
        lot.plain[i] = (uint8_t)(i * 7);
    }
}

/* ---- before the timing ---- */

size_t lot_len(const struct point *p)
{
    if (p->op == SET_UP) {
        return LOT_SET_UP;
    }
    size_t n = p->is_cold ? LOT_COLD : LOT_HOT;
    if (p->is_cold && n > p->sessions) {
        n = p->sessions;
    }
    size_t batch = p->op == PROTECT ? p->batch : 1;
    return n < batch ? batch : n - n % batch;
}

static void write_header(uint8_t *h, const struct point *p, uint16_t seq, uint32_t ssrc)
{
    if (p->op == PROTECT_RTCP) {
        h[0] = 0x81;
        h[1] = 200; /* sender report */
        leat_put_u16(h + 2, (uint16_t)(p->octets / 4 - 1));
        leat_put_u32(h + 4, ssrc);
        leat_put_u32(h + 8, seq);
        return;
    }
    h[0] = 0x80;
    h[1] = 96;
    leat_put_u16(h + 2, seq);
    leat_put_u32(h + 4, seq * 3000u);
    leat_put_u32(h + 8, ssrc);
}

static void prepare_set_up(const struct point *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        write_header(lot.headers[i], p, 1, bench_ssrc(i));
        bench_keys(&lot.keys[i], p->suite->profile, i);
        lot.jobs[i] = (struct leat_srtp_job){.out = lot.out[0], .verdict = LEAT_SRTP_FAILED};
    }
}

static void prepare(const struct point *p, struct sessions *s, size_t n)
{
    size_t buffers = p->is_cold || p->op == UNPROTECT ? n : p->op == PROTECT ? p->batch : 1;
    for (size_t i = 0; i < n; i++) {
        size_t peer = p->is_cold ? s->order[s->at] : s->at;
        s->at = s->at + 1 == s->count ? 0 : s->at + 1;
        lot.peers[i] = peer;
        write_header(lot.headers[i], p, s->seq[peer]++, bench_ssrc(peer));
        lot.jobs[i] = (struct leat_srtp_job){
            .session = s->ours != NULL ? s->ours[peer] : NULL,
            .header = leat_span(lot.headers[i], LOT_HEADER_LEN),
            .payload = leat_span(lot.plain + LOT_HEADER_LEN, p->octets - LOT_HEADER_LEN),
            .out = lot.out[i % buffers],
            .cap = ROOM,
            .verdict = LEAT_SRTP_FAILED,
        };
    }
    if (p->op == UNPROTECT) {
        leat_srtp_protect_batch(lot.jobs, n);
    }
}

static void touch(const void *data, size_t len)
{
    const volatile uint8_t *p = data;
    for (size_t i = 0; i < len; i += 64) {
        (void)p[i];
    }
}

static void make_cold(const struct point *p, size_t n)
{
    touch(walked, sizeof(walked));
    touch(lot.jobs, n * sizeof(lot.jobs[0]));
    touch(lot.headers, n * sizeof(lot.headers[0]));
    touch(lot.peers, n * sizeof(lot.peers[0]));
    touch(lot.plain, p->octets);
    for (size_t i = 0; p->op == UNPROTECT && i < n; i++) {
        touch(lot.out[i], lot.jobs[i].out_len);
    }
}

void lot_prepare(const struct point *p, struct sessions *s, size_t n)
{
    if (p->op == SET_UP) {
        prepare_set_up(p, n);
    } else {
        prepare(p, s, n);
    }
    if (p->is_cold) {
        make_cold(p, n);
    }
}

/* ---- within the timing; each returns how many packets failed ---- */

static size_t protect_ours(const struct point *p, struct sessions *s, size_t n)
{
    (void)s;
    for (size_t i = 0; i < n; i += p->batch) {
        leat_srtp_protect_batch(&lot.jobs[i], p->batch);
    }
    return 0; /* the verdicts are looked at afterwards */
}

static size_t protect_single_ours(const struct point *p, struct sessions *s, size_t n)
{
    (void)s;
    for (size_t i = 0; i < n; i++) {
        struct leat_srtp_job *j = &lot.jobs[i];
        memcpy(lot.plain, lot.headers[i], LOT_HEADER_LEN);
        j->verdict = leat_srtp_protect(j->session, leat_span(lot.plain, p->octets), j->out, j->cap,
                                       &j->out_len);
    }
    return 0;
}

static size_t protect_rtcp_ours(const struct point *p, struct sessions *s, size_t n)
{
    (void)s;
    for (size_t i = 0; i < n; i++) {
        struct leat_srtp_job *j = &lot.jobs[i];
        memcpy(lot.plain, lot.headers[i], LOT_HEADER_LEN);
        j->verdict = leat_srtp_protect_rtcp(j->session, leat_span(lot.plain, p->octets), j->out,
                                            j->cap, &j->out_len);
    }
    return 0;
}

static size_t unprotect_ours(const struct point *p, struct sessions *s, size_t n)
{
    (void)p;
    (void)s;
    for (size_t i = 0; i < n; i++) {
        struct leat_srtp_job *j = &lot.jobs[i];
        j->verdict = leat_srtp_unprotect(j->session, j->out, &j->out_len, NULL);
    }
    return 0;
}

static size_t set_up_ours(const struct point *p, struct sessions *s, size_t n)
{
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        struct leat_srtp *session;
        size_t len;
        if (leat_srtp_new(&session, &lot.keys[i], 4) != 0) {
            failed++;
            continue;
        }
        memcpy(lot.plain, lot.headers[i], LOT_HEADER_LEN);
        lot.jobs[i].verdict =
            leat_srtp_protect(session, leat_span(lot.plain, p->octets), lot.out[0], ROOM, &len);
        leat_srtp_free(session);
    }
    (void)s;
    return failed;
}

/* In place, so the packet is put together first. */
static uint8_t *copy_plain(const struct point *p, size_t i)
{
    uint8_t *out = lot.jobs[i].out;
    memcpy(out, lot.headers[i], LOT_HEADER_LEN);
    memcpy(out + LOT_HEADER_LEN, lot.plain + LOT_HEADER_LEN, p->octets - LOT_HEADER_LEN);
    return out;
}

static size_t protect_stock(const struct point *p, struct sessions *s, size_t n)
{
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        int len = (int)p->octets;
        uint8_t *out = copy_plain(p, i);
        failed += srtp_protect(s->stock[lot.peers[i]], out, &len) != srtp_err_status_ok;
    }
    return failed;
}

static size_t protect_rtcp_stock(const struct point *p, struct sessions *s, size_t n)
{
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        int len = (int)p->octets;
        uint8_t *out = copy_plain(p, i);
        failed += srtp_protect_rtcp(s->stock[lot.peers[i]], out, &len) != srtp_err_status_ok;
    }
    return failed;
}

static size_t unprotect_stock(const struct point *p, struct sessions *s, size_t n)
{
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        int len = (int)lot.jobs[i].out_len;
        failed += srtp_unprotect(s->stock[lot.peers[i]], lot.out[i], &len) != srtp_err_status_ok ||
                  len != (int)p->octets;
    }
    return failed;
}

static size_t set_up_stock(const struct point *p, struct sessions *s, size_t n)
{
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        srtp_t session;
        if (!bench_stock_new(&session, &lot.keys[i], false)) {
            failed++;
            continue;
        }
        int len = (int)p->octets;
        failed += srtp_protect(session, copy_plain(p, i), &len) != srtp_err_status_ok;
        srtp_dealloc(session);
    }
    (void)s;
    return failed;
}

typedef size_t (*work)(const struct point *p, struct sessions *s, size_t n);

static const work works[][2] = {
    /* by op and is_stock */
    [PROTECT] = {protect_ours, protect_stock},
    [PROTECT_SINGLE] = {protect_single_ours, protect_stock},
    [PROTECT_RTCP] = {protect_rtcp_ours, protect_rtcp_stock},
    [UNPROTECT] = {unprotect_ours, unprotect_stock},
    [SET_UP] = {set_up_ours, set_up_stock},
};

size_t lot_work(const struct point *p, struct sessions *s, size_t n)
{
    size_t failed = works[p->op][s->candidate->is_stock](p, s, n);
    bench_keep(&lot);
    return failed;
}

/* ---- after it ---- */

size_t lot_failed(const struct sessions *s, size_t n)
{
    size_t failed = 0;
    for (size_t i = 0; !s->candidate->is_stock && i < n; i++) {
        failed += lot.jobs[i].verdict != LEAT_SRTP_OK;
    }
    return failed;
}
