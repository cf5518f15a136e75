/* SPDX-License-Identifier: MIT */
/*
 * SRTP: protect, unprotect and set-up, under each crypto provider, by packaged libsrtp2, and as
 * bare bursts of ipsec-mb without any framing.
 *
 * A lot is what one timing covers: 64 packets, up to 256 when cold. What a caller would have at
 * hand is made before it, untimed: jobs, headers with fresh sequence numbers, packets to unprotect.
 * Sequence numbers go on from lot to lot, so no index is used twice. Peers take turns, so with as
 * many peers as a batch is long, each packet of the batch has a key of its own. All packets of a
 * lot share one payload; a batch is written to the buffers of the one before, as bare bursts do.
 *
 * - protect: leat_srtp_protect_batch; libsrtp2 protects in place, one packet after the other, so it
 *   copies header and payload first.
 * - protect-single: leat_srtp_protect; the header is put before the payload within the timing.
 * - protect-rtcp: leat_srtp_protect_rtcp of a report of 100 octets.
 * - unprotect: leat_srtp_unprotect; the packets come from a sender of ours.
 * - set-up: keys to first protected packet of 1200 octets, and free, while so many other sessions
 *   live. Without a count none does: libsrtp2's NSS then starts and stops each time.
 *
 * Provider "auto" is what leat_crypto_start chooses, the others are pinned.
 *
 * - hot: peers take turns in order, nothing else runs between lots. With more peers than the caches
 *   hold, a peer's state is not in them when its turn comes again.
 * - cold: peers take turns in a shuffled order, and before each lot a buffer larger than the second
 *   level cache is walked, untimed; then what the caller has just made (jobs, headers, payload,
 *   packets to unprotect) is touched. So the peers' states and the buffers written to come from
 *   beyond the second level, and no buffer is written to twice. A lot visits a peer once.
 */
#include "bench.h"

#include <string.h>

#include "raw_ipsecmb.h"
#include "srtp_sessions.h"

#define HEADER_LEN 12
#define OCTETS_MAX 1400
#define ROOM 1664 /* a packet and its trailer; no power of two, they would share cache sets */
#define LOT_HOT 64
#define LOT_COLD 256
#define LOT_SET_UP 8
#define EVICT_OCTETS (4u << 20)
#define SPECS_MAX 2048
#define CANDIDATES_MAX 12

struct suite {
    const char *name;
    enum leat_srtp_profile profile;
    bool is_main; /* crossed in full */
};

static const struct suite suites[] = {
    {"AES_CM_128_HMAC_SHA1_80", LEAT_SRTP_AES128_CM_SHA1_80, true},
    {"AES_CM_128_HMAC_SHA1_32", LEAT_SRTP_AES128_CM_SHA1_32, false},
    {"AEAD_AES_128_GCM", LEAT_SRTP_AEAD_AES_128_GCM, true},
    {"AEAD_AES_256_GCM", LEAT_SRTP_AEAD_AES_256_GCM, false},
};

/* Of the provider that has levels, those below the machine's best that are worth a row. */
static const char *const levels[] = {"avx2", "sse"};

enum op { PROTECT, PROTECT_SINGLE, PROTECT_RTCP, UNPROTECT, SET_UP };

static const char *const op_names[] = {"protect", "protect-single", "protect-rtcp", "unprotect",
                                       "set-up"};

/* What a row measures, without its candidate: what the rows of a group have in common. */
struct point {
    enum op op;
    const struct suite *suite;
    unsigned octets, batch, sessions;
    bool is_cold;
};

struct spec {
    struct point point;
    size_t candidate;        /* its place in `candidates` */
    const char *raw_level;   /* of a row of bare ipsec-mb, which has no candidate */
    struct raw_ipsecmb *raw; /* while it is set up */
};

static struct candidate candidates[CANDIDATES_MAX];
static size_t candidate_count;
/* Kept from row to row: thousands of sessions take seconds to make. One set a candidate, so that
 * of libsrtp2's sessions just those live that a row is about: all that live slow each other down.
 */
static struct sessions kept[CANDIDATES_MAX];
static struct spec specs[SPECS_MAX];
static size_t spec_count;
static bool is_quick;
static uint8_t walked[EVICT_OCTETS]; /* written once: else all its pages are one */

static struct {
    struct leat_srtp_job jobs[LOT_COLD];
    uint8_t headers[LOT_COLD][HEADER_LEN];
    size_t peers[LOT_COLD];
    uint8_t out[LOT_COLD][ROOM];
    uint8_t plain[OCTETS_MAX]; /* header, payload */
    struct leat_srtp_keys keys[LOT_SET_UP];
} lot;

/* ---- caches ---- */

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

/* ---- before the timing ---- */

static size_t lot_len(const struct point *p)
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
            .header = leat_span(lot.headers[i], HEADER_LEN),
            .payload = leat_span(lot.plain + HEADER_LEN, p->octets - HEADER_LEN),
            .out = lot.out[i % buffers],
            .cap = ROOM,
            .verdict = LEAT_SRTP_FAILED,
        };
    }
    if (p->op == UNPROTECT) {
        leat_srtp_protect_batch(lot.jobs, n);
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
        memcpy(lot.plain, lot.headers[i], HEADER_LEN);
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
        memcpy(lot.plain, lot.headers[i], HEADER_LEN);
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
        memcpy(lot.plain, lot.headers[i], HEADER_LEN);
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
    memcpy(out, lot.headers[i], HEADER_LEN);
    memcpy(out + HEADER_LEN, lot.plain + HEADER_LEN, p->octets - HEADER_LEN);
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

/* ---- rows ---- */

static bool set_up(void *context, const char **why)
{
    const struct spec *x = context;
    const struct candidate *c = &candidates[x->candidate];
    if (!bench_sessions_take(&kept[x->candidate], c, x->point.suite->profile, x->point.sessions,
                             x->point.op == UNPROTECT)) {
        *why = "the provider or its sessions cannot be set up";
        return false;
    }
    return true;
}

static size_t count_failed(size_t n)
{
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        failed += lot.jobs[i].verdict != LEAT_SRTP_OK;
    }
    return failed;
}

static uint64_t run(void *context, uint64_t times, uint64_t *done)
{
    const struct spec *x = context;
    const struct candidate *c = &candidates[x->candidate];
    struct sessions *s = &kept[x->candidate];
    uint64_t total = 0;
    /* HMACs of whole messages take the choice of the moment, set-up takes libsrtp2's types too. */
    bool is_ready = bench_pin(c) && (x->point.op != SET_UP || bench_use_types(c->is_stock));
    for (*done = 0; is_ready && *done < times;) {
        size_t n = lot_len(&x->point);
        if (x->point.op == SET_UP) {
            prepare_set_up(&x->point, n);
        } else {
            prepare(&x->point, s, n);
        }
        if (x->point.is_cold) {
            make_cold(&x->point, n);
        }
        uint64_t start = bench_now();
        size_t failed = works[x->point.op][c->is_stock](&x->point, s, n);
        total += bench_now() - start;
        bench_keep(&lot);
        is_ready = failed == 0 && (c->is_stock || count_failed(n) == 0);
        *done += n;
    }
    bench_must(is_ready, op_names[x->point.op]);
    return total;
}

/* ---- rows of bare ipsec-mb ---- */

static bool set_up_raw(void *context, const char **why)
{
    struct spec *x = context;
    x->raw = raw_ipsecmb_new(x->raw_level, x->point.sessions, why);
    return x->raw != NULL;
}

static void take_down_raw(void *context)
{
    struct spec *x = context;
    raw_ipsecmb_free(x->raw);
    x->raw = NULL;
}

static bool burst(const struct spec *x)
{
    const struct point *p = &x->point;
    switch (p->suite->profile) {
    case LEAT_SRTP_AEAD_AES_128_GCM:
        return raw_ipsecmb_gcm(x->raw, 16, p->batch, p->octets - HEADER_LEN);
    case LEAT_SRTP_AEAD_AES_256_GCM:
        return raw_ipsecmb_gcm(x->raw, 32, p->batch, p->octets - HEADER_LEN);
    case LEAT_SRTP_AES128_CM_SHA1_80:
    case LEAT_SRTP_AES128_CM_SHA1_32:
        return raw_ipsecmb_cm_sha1(x->raw, p->batch, p->octets);
    case LEAT_SRTP_PROFILE_NONE:
        return false;
    }
    return false;
}

static uint64_t run_raw(void *context, uint64_t times, uint64_t *done)
{
    const struct spec *x = context;
    for (*done = 0; *done < times; *done += x->point.batch) {
        bench_must(burst(x), "a burst of ipsec-mb");
    }
    return 0;
}

/* ---- which rows there are ---- */

static void add(struct bench *b, const struct spec *spec)
{
    bench_must(spec_count < SPECS_MAX, "room for rows");
    struct spec *x = &specs[spec_count++];
    *x = *spec;
    const struct point *p = &x->point;
    const struct candidate *c = &candidates[x->candidate];
    bool is_raw = x->raw_level != NULL;
    const struct bench_row row = {
        .key = {.op = op_names[p->op],
                .suite = p->suite->name,
                .provider = is_raw ? "ipsecmb-raw" : c->provider,
                .level = is_raw ? x->raw_level : c->level,
                .cache = p->op == SET_UP ? NULL
                         : p->is_cold    ? "cold"
                                         : "hot",
                .octets = p->octets,
                .batch = p->op == PROTECT ? p->batch : 0,
                .sessions = p->sessions},
        .set_up = is_raw ? set_up_raw : set_up,
        .take_down = is_raw ? take_down_raw : NULL,
        .run = is_raw ? run_raw : run,
        .context = x,
    };
    bench_add(b, &row);
}

/* The place of the best level that runs here; 0 where none does, so that a row says why. */
static size_t best_raw_level(void)
{
    const char *why;
    for (size_t i = 0; raw_ipsecmb_level(i) != NULL; i++) {
        struct raw_ipsecmb *raw = raw_ipsecmb_new(raw_ipsecmb_level(i), RAW_MESSAGES_MAX, &why);
        if (raw != NULL) {
            raw_ipsecmb_free(raw);
            return i;
        }
    }
    return 0;
}

static void add_candidate(const struct candidate *c)
{
    if (candidate_count < CANDIDATES_MAX) {
        candidates[candidate_count++] = *c;
    }
}

static void find_candidates(void)
{
    const char *provider;
    for (size_t i = 0; (provider = leat_crypto_provider_name(i)) != NULL; i++) {
        add_candidate(&(struct candidate){.provider = provider});
        for (size_t k = 0; strcmp(provider, "ipsecmb") == 0 && k < LEAT_ARRAY_LEN(levels); k++) {
            add_candidate(&(struct candidate){.provider = provider, .level = levels[k]});
        }
    }
    add_candidate(&(struct candidate){.provider = "auto", .is_auto = true});
    add_candidate(&(struct candidate){.provider = "libsrtp2-stock", .is_stock = true});
}

/* Candidates with a pinned CPU level stand beside the others where the batch varies. */
static void add_group(struct bench *b, struct point p)
{
    struct spec spec = {.point = p};
    bool has_levels = p.op == PROTECT && p.octets == 1200 && p.sessions == 64 && !p.is_cold;
    bench_group(b);
    for (size_t i = 0; i < candidate_count; i++) {
        const struct candidate *c = &candidates[i];
        bool is_slow = is_quick && c->is_stock && p.sessions > 1024; /* to be made */
        if (!is_slow && (c->level == NULL || has_levels)) {
            spec.candidate = i;
            add(b, &spec);
        }
    }
    bool has_raw = p.op == PROTECT && p.sessions >= RAW_MESSAGES_MAX && !p.is_cold;
    size_t best = has_raw ? best_raw_level() : 0;
    for (size_t i = best; has_raw && raw_ipsecmb_level(i) != NULL; i++) {
        spec.raw_level = raw_ipsecmb_level(i);
        if (i == best || has_levels) {
            add(b, &spec);
        }
    }
}

static void add_protect(struct bench *b, const struct suite *suite, unsigned sessions)
{
    static const unsigned batches[] = {1, 2, 4, 8, 16, 32, 64};
    static const unsigned sizes[] = {40, 100, 160, 1000, 1400};
    struct point p = {.suite = suite, .octets = 1200, .sessions = sessions};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(batches); i++) {
        p.batch = batches[i];
        if (p.batch == 16 || sessions == 64 || (suite->is_main && !is_quick)) {
            add_group(b, p);
        }
    }
    p.batch = 16;
    p.is_cold = sessions != 1 && suite->is_main; /* one peer does not cool down in a batch */
    if (p.is_cold) {
        add_group(b, p);
    }
    p.op = PROTECT_SINGLE;
    if (p.is_cold) {
        add_group(b, p);
    }
    p.is_cold = false;
    if (suite->is_main || sessions == 64) {
        add_group(b, p);
    }
    for (size_t i = 0; sessions == 64 && i < LEAT_ARRAY_LEN(sizes); i++) {
        p.octets = sizes[i];
        p.op = PROTECT;
        add_group(b, p);
        p.op = PROTECT_SINGLE;
        if (suite->is_main) {
            add_group(b, p);
        }
    }
    if (sessions == 64) {
        add_group(b, (struct point){
                         .op = PROTECT_RTCP, .suite = suite, .octets = 100, .sessions = sessions});
    }
}

static void add_unprotect(struct bench *b, const struct suite *suite, unsigned sessions)
{
    static const unsigned sizes[] = {1200, 40, 100, 160, 1000, 1400};
    struct point p = {.op = UNPROTECT, .suite = suite, .sessions = sessions};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(sizes); i++) {
        p.octets = sizes[i];
        if (p.octets == 1200 || (sessions == 64 && suite->is_main)) {
            add_group(b, p);
        }
    }
    p.octets = 1200;
    p.is_cold = true;
    if (sessions != 1 && suite->is_main) {
        add_group(b, p);
    }
}

static void add_set_up(struct bench *b, const struct suite *suite)
{
    static const unsigned sessions[] = {0, 64, 1024};
    struct point p = {.op = SET_UP, .suite = suite, .octets = 1200};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(sessions); i++) {
        p.sessions = sessions[i];
        if (p.sessions <= 64 || suite->is_main) {
            add_group(b, p);
        }
    }
}

static void declare(struct bench *b)
{
    static const unsigned sessions[] = {64, 1, 1024, 4096};
    find_candidates();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(suites); i++) {
        for (size_t k = 0; k < LEAT_ARRAY_LEN(sessions); k++) {
            add_protect(b, &suites[i], sessions[k]);
            if (sessions[k] == 64 || (suites[i].is_main && sessions[k] <= 1024)) {
                add_unprotect(b, &suites[i], sessions[k]);
            }
        }
        add_set_up(b, &suites[i]);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) { /* the harness shortens the runs, this leaves out rows */
        is_quick = is_quick || strcmp(argv[i], "--quick") == 0;
    }
    memset(walked, 1, sizeof(walked));
    for (size_t i = 0; i < sizeof(lot.plain); i++) {
        lot.plain[i] = (uint8_t)(i * 7);
    }
    int status = bench_main(argc, argv, "srtp", declare);
    for (size_t i = 0; i < candidate_count; i++) {
        bench_sessions_free(&kept[i]);
    }
    return status;
}
