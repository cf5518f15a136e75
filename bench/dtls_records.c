/* SPDX-License-Identifier: MIT */
/*
 * Rows of records: what application data costs a server once the handshake is over.
 *
 * - record-encrypt: octets in, a record on its way out: leat_dtls_send and leat_dtls_next_datagram,
 *   mbedtls_ssl_write, SSL_write. Each of them copies the record to where the socket would take it
 *   from.
 * - record-decrypt: a record in, octets out: leat_dtls_receive and leat_dtls_next_data,
 *   mbedtls_ssl_read, SSL_read. Each record is another one and is looked up in the replay window.
 * - record-set-up: key the AEAD of one direction, and forget it.
 * - half-open, established: octets of the heap that a server's association holds when its first
 *   flight has left, and when the handshake is over and no data has been sent; the allocator's
 *   headers and what is in OpenSSL's memory BIOs are counted.
 *
 * The client of ours is plain mbedTLS, because it can be held to a suite.
 */
#include "dtls_records.h"

#include <stdlib.h>
#include <time.h>

#include <leat/dtls.h>

#define NOW_US 1000000u
#define PREPARED 8 /* records that are made before so many are opened */

/* ---- ours ---- */

struct association {
    struct wire wires[2]; /* by who receives */
    struct plain_end *client;
    struct leat_dtls_identity *identity;
    struct leat_dtls *server;
};

static void disconnect_ours(void *association)
{
    struct association *a = association;
    plain_end_free(a->client);
    leat_dtls_free(a->server);
    leat_dtls_identity_free(a->identity);
    free(a);
}

static void work(struct association *a)
{
    struct leat_dtls_event event;
    struct leat_span out;
    const uint8_t *data;
    size_t len;
    while ((len = wire_get(&a->wires[PAIR_SERVER], &data)) != 0) {
        (void)leat_dtls_receive(a->server, leat_span(data, len), NOW_US);
    }
    while (leat_dtls_wants_job(a->server)) {
        leat_dtls_job_begin(a->server, NOW_US);
        leat_dtls_job_run(a->server, leat_rng_thread());
        leat_dtls_job_end(a->server, NOW_US);
    }
    while (leat_dtls_next_event(a->server, &event)) {
        leat_wipe(&event, sizeof(event));
    }
    while (leat_dtls_next_datagram(a->server, &out)) {
        (void)wire_put(&a->wires[PAIR_CLIENT], out.data, out.len);
    }
}

static bool seal_ours(void *association, const uint8_t *data, size_t len)
{
    struct association *a = association;
    struct leat_span out;
    return leat_dtls_send(a->server, leat_span(data, len)) == 0 &&
           leat_dtls_next_datagram(a->server, &out);
}

static size_t prepare_ours(void *association, const uint8_t *data, size_t len,
                           uint8_t out[static 1500])
{
    struct association *a = association;
    return plain_end_write(a->client, data, len) ? wire_take(&a->wires[PAIR_SERVER], out) : 0;
}

static bool open_ours(void *association, const uint8_t *record, size_t record_len, size_t len)
{
    struct association *a = association;
    struct leat_span data;
    return leat_dtls_receive(a->server, leat_span(record, record_len), NOW_US) == LEAT_DTLS_OK &&
           leat_dtls_next_data(a->server, &data) && data.len == len;
}

static bool shake_hands(struct association *a, enum record_suite suite, struct record_heap *heap)
{
    struct leat_dtls_params p = {.role = LEAT_DTLS_SERVER,
                                 .profiles = {LEAT_SRTP_AES128_CM_SHA1_80},
                                 .profile_count = 1,
                                 .takes_data = true};
    a->client = plain_end_new(PAIR_CLIENT, suite, &a->wires[PAIR_CLIENT], &a->wires[PAIR_SERVER]);
    if (a->client == NULL ||
        leat_dtls_identity_new(&a->identity, leat_rng_thread(), (uint64_t)time(NULL)) != 0) {
        return false;
    }
    p.identity = a->identity;
    plain_fingerprint(p.remote_fingerprint);
    size_t before = records_heap();
    if (leat_dtls_new(&a->server, &p, NOW_US) != 0) {
        return false;
    }
    leat_dtls_start(a->server, NOW_US, NOW_US);
    heap->established = records_heap() - before;
    bool is_over = false;
    for (int turn = 0; turn < PAIR_TURNS_MAX && !is_over; turn++) {
        is_over = plain_end_shake(a->client);
        before = records_heap();
        work(a);
        heap->established += records_heap() - before;
        heap->half_open = turn == 0 ? heap->established : heap->half_open;
    }
    return is_over && leat_dtls_is_connected(a->server);
}

static bool choose(const char *pinned)
{
    const struct leat_crypto_options options = {.provider = pinned};
    return leat_crypto_start_with(&options) == 0;
}

/* The first records of either direction key the contexts that are kept: with the pinned provider.
 */
static void *connect_ours(const struct record_method *m, enum record_suite suite,
                          struct record_heap *heap, const char **why)
{
    struct association *a = bench_alloc(sizeof(*a));
    uint8_t record[1500];
    *why = "the provider does not run here";
    bool is_good = choose(m->pinned) && shake_hands(a, suite, heap) && seal_ours(a, record, 16);
    for (int i = 0; i < 2 && is_good; i++) {
        size_t len = prepare_ours(a, record, 16, record);
        is_good = len != 0 && open_ours(a, record, len, 16);
    }
    bench_must(choose(NULL), "the choice of crypto providers");
    if (!is_good) {
        disconnect_ours(a);
        return NULL;
    }
    return a;
}

static bool key_ours(const struct record_method *m, enum record_suite suite)
{
    static const uint8_t key[32] = {1};
    bool is_good;
    (void)m;
    if (suite == RECORD_CHACHA20_POLY1305) {
        struct leat_chachapoly c;
        is_good = leat_chachapoly_init(&c, key) == 0;
        leat_chachapoly_deinit(&c);
    } else {
        struct leat_gcm g;
        is_good = leat_gcm_init(&g, key, suite == RECORD_AES_128_GCM ? 16 : 32) == 0;
        leat_gcm_deinit(&g);
    }
    return is_good;
}

#define OURS(provider_name, pinned_name)                                                           \
    {                                                                                              \
        .provider = (provider_name), .pinned = (pinned_name), .connect = connect_ours,             \
        .disconnect = disconnect_ours, .seal = seal_ours, .prepare = prepare_ours,                 \
        .open = open_ours, .key = key_ours                                                         \
    }

static const struct record_method records_auto = OURS("auto", NULL);
static const struct record_method records_by_mbedtls = OURS("mbedtls", "mbedtls");
#ifdef BENCH_OPENSSL
static const struct record_method records_by_openssl = OURS("openssl", "openssl");
#endif
#ifdef BENCH_IPSECMB
static const struct record_method records_by_ipsecmb = OURS("ipsecmb", "ipsecmb");
#endif

static const struct record_method *const methods[] = {
    &records_auto,       &records_by_mbedtls,
#ifdef BENCH_OPENSSL
    &records_by_openssl,
#endif
#ifdef BENCH_IPSECMB
    &records_by_ipsecmb,
#endif
    &records_mbedtls,
#ifdef BENCH_OPENSSL
    &records_openssl,
#endif
};

/* ---- rows ---- */

enum op { ENCRYPT, DECRYPT, SET_UP, HALF_OPEN, ESTABLISHED };

static const char *const op_names[] = {"record-encrypt", "record-decrypt", "record-set-up",
                                       "half-open", "established"};
static const char *const suite_names[RECORD_SUITES] = {"AES-128-GCM", "AES-256-GCM",
                                                       "CHACHA20-POLY1305"};

struct spec {
    const struct record_method *method;
    enum op op;
    enum record_suite suite;
    size_t octets;
    void *association;
};

static bool set_up(void *context, const char **why)
{
    struct spec *x = context;
    if (x->op == SET_UP) {
        *why = "the provider does not run here";
        bool is_there = choose(x->method->pinned);
        bench_must(choose(NULL), "the choice of crypto providers");
        return is_there;
    }
    struct record_heap heap = {0};
    x->association = x->method->connect(x->method, x->suite, &heap, why);
    if (x->association != NULL && x->op >= HALF_OPEN && heap.established == 0) {
        x->method->disconnect(x->association);
        x->association = NULL;
        *why = "nothing stands in front of the allocator here";
    }
    return x->association != NULL;
}

static void take_down(void *context)
{
    struct spec *x = context;
    if (x->association != NULL) {
        x->method->disconnect(x->association);
        x->association = NULL;
    }
}

static uint64_t decrypt(const struct spec *x, uint64_t times, uint64_t *done)
{
    static uint8_t data[1500], records[PREPARED][1500];
    size_t lens[PREPARED];
    uint64_t ns = 0;
    for (*done = 0; *done < times; *done += PREPARED) {
        for (size_t i = 0; i < PREPARED; i++) {
            lens[i] = x->method->prepare(x->association, data, x->octets, records[i]);
            bench_must(lens[i] != 0, "a record of the client");
        }
        uint64_t start = bench_now();
        for (size_t i = 0; i < PREPARED; i++) {
            bench_must(x->method->open(x->association, records[i], lens[i], x->octets),
                       op_names[DECRYPT]);
        }
        ns += bench_now() - start;
    }
    return ns;
}

/* Every association takes the same: one stands for all. The one of the set-up has made what a
 * thread makes once. */
static uint64_t count_heap(const struct spec *x, uint64_t times, uint64_t *done)
{
    struct record_heap heap = {0};
    const char *why = op_names[x->op];
    void *association = x->method->connect(x->method, x->suite, &heap, &why);
    bench_must(association != NULL, why);
    x->method->disconnect(association);
    *done = times;
    return times * (x->op == HALF_OPEN ? heap.half_open : heap.established);
}

static uint64_t run(void *context, uint64_t times, uint64_t *done)
{
    static uint8_t data[1500];
    const struct spec *x = context;
    if (x->op >= HALF_OPEN) {
        return count_heap(x, times, done);
    }
    if (x->op == DECRYPT) {
        return decrypt(x, times, done);
    }
    if (x->op == SET_UP) {
        bench_must(choose(x->method->pinned), "the choice of crypto providers");
    }
    uint64_t start = bench_now();
    for (*done = 0; *done < times; (*done)++) {
        bench_must(x->op == SET_UP ? x->method->key(x->method, x->suite)
                                   : x->method->seal(x->association, data, x->octets),
                   op_names[x->op]);
    }
    uint64_t ns = bench_now() - start;
    if (x->op == SET_UP) {
        bench_must(choose(NULL), "the choice of crypto providers");
    }
    return ns;
}

static void add_group(struct bench *b, enum op op, enum record_suite suite, unsigned octets)
{
    bench_group(b);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(methods); i++) {
        if (op >= HALF_OPEN && methods[i]->pinned != NULL) {
            continue; /* takes what the others of ours take */
        }
        struct spec *x = bench_context(b, sizeof(*x));
        *x = (struct spec){methods[i], op, suite, octets, NULL};
        const struct bench_row row = {
            .key = {.op = op_names[op],
                    .suite = suite_names[suite],
                    .provider = methods[i]->provider,
                    .unit = op >= HALF_OPEN ? "heap-octets" : NULL,
                    .octets = octets},
            .set_up = set_up,
            .take_down = take_down,
            .run = run,
            .context = x,
        };
        bench_add(b, &row);
    }
}

void records_declare(struct bench *b)
{
    static const unsigned sizes[] = {16, 200, 1200};
    for (enum op op = ENCRYPT; op <= DECRYPT; op++) {
        for (int suite = 0; suite < RECORD_SUITES; suite++) {
            for (size_t i = 0; i < LEAT_ARRAY_LEN(sizes); i++) {
                add_group(b, op, (enum record_suite)suite, sizes[i]);
            }
        }
    }
    for (int suite = 0; suite < RECORD_SUITES; suite++) {
        add_group(b, SET_UP, (enum record_suite)suite, 0);
    }
    add_group(b, HALF_OPEN, RECORD_AES_128_GCM, 0);
    add_group(b, ESTABLISHED, RECORD_AES_128_GCM, 0);
}
