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
#include "srtp_lot.h"

#define SPECS_MAX 2048
#define CANDIDATES_MAX 12

static const struct suite suites[] = {
    {"AES_CM_128_HMAC_SHA1_80", LEAT_SRTP_AES128_CM_SHA1_80, true},
    {"AES_CM_128_HMAC_SHA1_32", LEAT_SRTP_AES128_CM_SHA1_32, false},
    {"AEAD_AES_128_GCM", LEAT_SRTP_AEAD_AES_128_GCM, true},
    {"AEAD_AES_256_GCM", LEAT_SRTP_AEAD_AES_256_GCM, false},
};

/* Of the provider that has levels, those below the machine's best that are worth a row. */
static const char *const levels[] = {"avx2", "sse"};

static const char *const op_names[] = {"protect", "protect-single", "protect-rtcp", "unprotect",
                                       "set-up"};

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

/* @return its nanoseconds; *done grows. */
static uint64_t do_lot(const struct spec *x, struct sessions *s, uint64_t *done)
{
    size_t n = lot_len(&x->point);
    lot_prepare(&x->point, s, n);
    uint64_t start = bench_now();
    size_t failed = lot_work(&x->point, s, n);
    uint64_t ns = bench_now() - start;
    bench_must(failed == 0 && lot_failed(s, n) == 0, op_names[x->point.op]);
    *done += n;
    return ns;
}

static uint64_t run(void *context, uint64_t times, uint64_t *done)
{
    const struct spec *x = context;
    const struct candidate *c = &candidates[x->candidate];
    struct sessions *s = &kept[x->candidate];
    uint64_t total = 0;
    /* HMACs of whole messages take the choice of the moment, set-up takes libsrtp2's types too. */
    bench_must(bench_pin(c), "a provider");
    if (x->point.op == SET_UP) {
        bench_must(bench_use_types(c->is_stock), "a start of libsrtp2");
    } else {
        (void)do_lot(x, s, done); /* what the row before has left behind does not count */
    }
    for (*done = 0; *done < times;) {
        total += do_lot(x, s, done);
    }
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
        return raw_ipsecmb_gcm(x->raw, 16, p->batch, p->octets - LOT_HEADER_LEN);
    case LEAT_SRTP_AEAD_AES_256_GCM:
        return raw_ipsecmb_gcm(x->raw, 32, p->batch, p->octets - LOT_HEADER_LEN);
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
    lot_init();
    int status = bench_main(argc, argv, "srtp", declare);
    for (size_t i = 0; i < candidate_count; i++) {
        bench_sessions_free(&kept[i]);
    }
    return status;
}
