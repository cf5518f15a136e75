/* SPDX-License-Identifier: MIT */
/*
 * DTLS: the CPU time that each side spends on a whole handshake in memory, by our sessions on both
 * sides and by plain mbedTLS and plain OpenSSL on both sides. The provider of our sessions is who
 * computes the key exchange for them on both sides.
 *
 * - handshake, of the server or the client: one side of a handshake with certificates of both, DTLS
 *   1.2, use_srtp and no cookie, from making the association to freeing it. Certificates, keys and
 *   prepared configurations are there before. A row of either side runs both.
 * - certificate: a fresh P-256 key and its self-signed certificate, and free.
 * - record-*: see dtls_records.c.
 */
#include "bench.h"

#include <time.h>

#include <leat/dtls.h>

#include "dtls_records.h"

#define NOW_US 1000000u /* no time passes in a handshake */

uint64_t pair_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- ours ---- */

static struct leat_dtls_identity *made[2][2];  /* by backend and side */
static unsigned users[2];                      /* of each backend's: methods that are set up */
static struct leat_dtls_identity **identities; /* of the method that runs */

static bool certify_ours(void)
{
    struct leat_dtls_identity *identity;
    if (leat_dtls_identity_new(&identity, leat_rng_thread(), (uint64_t)time(NULL)) != 0) {
        return false;
    }
    leat_dtls_identity_free(identity);
    return true;
}

static enum leat_dtls_backend backend_of(const struct pair_method *m)
{
    return strcmp(m->backend, "openssl") == 0 ? LEAT_DTLS_OPENSSL : LEAT_DTLS_MBEDTLS;
}

static void take_down_backend(enum leat_dtls_backend backend)
{
    if (users[backend] > 0 && --users[backend] > 0) {
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        leat_dtls_identity_free(made[backend][i]);
        made[backend][i] = NULL;
    }
}

static void take_down_ours(void)
{
    take_down_backend(LEAT_DTLS_MBEDTLS);
}

static void take_down_ours_openssl(void)
{
    take_down_backend(LEAT_DTLS_OPENSSL);
}

static bool set_up_ours(const struct pair_method *m, const char **why)
{
    if (leat_dtls_key_exchange_start(strcmp(m->provider, "openssl") == 0, leat_rng_thread()) != 0) {
        *why = "libcrypto is not in this build or not reached";
        return false;
    }
    enum leat_dtls_backend backend = backend_of(m);
    if (users[backend]++ > 0) {
        return true;
    }
    for (size_t i = 0; i < 2; i++) {
        struct leat_dtls_identity **id = &made[backend][i];
        if (leat_dtls_identity_new(id, leat_rng_thread(), (uint64_t)time(NULL)) != 0 ||
            leat_dtls_identity_set_backend(*id, backend) != 0) {
            take_down_backend(backend);
            *why = "no identity could be made";
            return false;
        }
    }
    return true;
}

static bool side_new(struct leat_dtls **out, size_t side)
{
    struct leat_dtls_params params = {
        .identity = identities[side],
        .role = side == PAIR_SERVER ? LEAT_DTLS_SERVER : LEAT_DTLS_CLIENT,
        .profiles = {LEAT_SRTP_AES128_CM_SHA1_80},
        .profile_count = 1,
    };
    leat_dtls_identity_fingerprint(identities[1 - side], params.remote_fingerprint);
    if (leat_dtls_new(out, &params, NOW_US) != 0) {
        return false;
    }
    leat_dtls_start(*out, NOW_US, NOW_US);
    return true;
}

/* What a side does in its turn: read, work, and write. */
static bool take_turn(struct leat_dtls *d, struct wire *in, struct wire *out, bool *is_connected)
{
    const uint8_t *data;
    size_t len;
    while ((len = wire_get(in, &data)) != 0) {
        (void)leat_dtls_receive(d, leat_span(data, len), NOW_US);
    }
    while (leat_dtls_wants_job(d)) {
        leat_dtls_job_begin(d, NOW_US);
        leat_dtls_job_run(d, leat_rng_thread());
        leat_dtls_job_end(d, NOW_US);
    }
    struct leat_dtls_event event;
    while (leat_dtls_next_event(d, &event)) {
        if (event.type != LEAT_DTLS_EVENT_CONNECTED) {
            return false;
        }
        *is_connected = true;
    }
    struct leat_span datagram;
    while (leat_dtls_next_datagram(d, &datagram)) {
        if (!wire_put(out, datagram.data, datagram.len)) {
            return false;
        }
    }
    return true;
}

static bool shake_hands_ours(uint64_t ns[2])
{
    static struct wire wires[2]; /* by who receives */
    struct leat_dtls *sides[2] = {NULL, NULL};
    bool is_connected[2] = {false, false};
    bool is_good = true;
    memset(wires, 0, sizeof(wires));
    for (size_t i = 0; i < 2; i++) {
        uint64_t start = pair_cpu_ns();
        is_good = side_new(&sides[i], i) && is_good;
        ns[i] += pair_cpu_ns() - start;
    }
    for (int turn = 0; is_good && turn < PAIR_TURNS_MAX && (!is_connected[0] || !is_connected[1]);
         turn++) {
        size_t i = turn % 2 == 0 ? PAIR_CLIENT : PAIR_SERVER;
        uint64_t start = pair_cpu_ns();
        is_good = take_turn(sides[i], &wires[i], &wires[1 - i], &is_connected[i]);
        ns[i] += pair_cpu_ns() - start;
    }
    is_good = is_good && is_connected[0] && is_connected[1] &&
              strcmp(leat_dtls_cipher(sides[0]), "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256") == 0;
    for (size_t i = 0; i < 2; i++) {
        uint64_t start = pair_cpu_ns();
        leat_dtls_free(sides[i]);
        ns[i] += pair_cpu_ns() - start;
    }
    return is_good;
}

static const struct pair_method pair_ours = {
    .backend = "mbedtls",
    .provider = "openssl",
    .suite = "ECDHE-ECDSA-AES128-GCM-SHA256/P-256",
    .set_up = set_up_ours,
    .take_down = take_down_ours,
    .shake_hands = shake_hands_ours,
    .certify = certify_ours,
};

static const struct pair_method pair_ours_mbedtls = {
    .backend = "mbedtls",
    .provider = "mbedtls",
    .suite = "ECDHE-ECDSA-AES128-GCM-SHA256/P-256",
    .set_up = set_up_ours,
    .take_down = take_down_ours,
    .shake_hands = shake_hands_ours,
    .certify = certify_ours,
};

static const struct pair_method pair_ours_openssl = {
    .backend = "openssl",
    .provider = "openssl",
    .suite = "ECDHE-ECDSA-AES128-GCM-SHA256/P-256",
    .set_up = set_up_ours,
    .take_down = take_down_ours_openssl,
    .shake_hands = shake_hands_ours,
    .certify = certify_ours,
};

/* Rows take turns, and the choice is the process's: plain mbedTLS must stay plain. */
static void choose(const struct pair_method *m)
{
    identities = m->backend != NULL ? made[backend_of(m)] : NULL;
    const char *wanted = m->backend != NULL ? m->provider : "mbedtls";
    if (strcmp(leat_dtls_key_exchange(), wanted) != 0) {
        bench_must(
            leat_dtls_key_exchange_start(strcmp(wanted, "openssl") == 0, leat_rng_thread()) == 0,
            "the choice of the key exchange");
    }
}

/* ---- rows ---- */

enum op { HANDSHAKE_SERVER = PAIR_SERVER, HANDSHAKE_CLIENT = PAIR_CLIENT, CERTIFICATE };

static const char *const op_names[] = {"handshake", "handshake", "certificate"};
static const char *const side_names[] = {"server", "client", NULL};

struct spec {
    const struct pair_method *method;
    enum op op;
};

static bool set_up(void *context, const char **why)
{
    const struct spec *x = context;
    return x->method->set_up(x->method, why);
}

static void take_down(void *context)
{
    const struct spec *x = context;
    x->method->take_down();
}

static uint64_t run(void *context, uint64_t times, uint64_t *done)
{
    const struct spec *x = context;
    uint64_t ns[3] = {0, 0, 0}; /* by op */
    choose(x->method);
    for (*done = 0; *done < times; (*done)++) {
        uint64_t start = pair_cpu_ns();
        bool is_good = x->op == CERTIFICATE ? x->method->certify() : x->method->shake_hands(ns);
        bench_must(is_good, op_names[x->op]);
        ns[CERTIFICATE] += pair_cpu_ns() - start;
    }
    return ns[x->op];
}

/* A plain method is set up once at a time: no group has two of one library. */
static const struct pair_method *const with_p256[] = {
    &pair_ours,    &pair_ours_mbedtls, &pair_ours_openssl, &pair_mbedtls,
#ifdef BENCH_OPENSSL
    &pair_openssl,
#endif
};
static const struct pair_method *const with_default_groups[] = {
    &pair_mbedtls_default,
#ifdef BENCH_OPENSSL
    &pair_openssl_default,
#endif
};

static void add_group(struct bench *b, enum op op, const struct pair_method *const *methods,
                      size_t count)
{
    static struct spec specs[24];
    static size_t spec_count;
    bench_group(b);
    for (size_t i = 0; i < count && spec_count < LEAT_ARRAY_LEN(specs); i++) {
        struct spec *x = &specs[spec_count++];
        *x = (struct spec){.method = methods[i], .op = op};
        const struct bench_row row = {
            .key = {.op = op_names[op],
                    .side = side_names[op],
                    .backend = methods[i]->backend,
                    .suite = op == CERTIFICATE ? "ECDSA-P-256" : methods[i]->suite,
                    .provider = methods[i]->provider},
            .set_up = set_up,
            .take_down = take_down,
            .run = run,
            .context = x,
        };
        bench_add(b, &row);
    }
}

static void declare(struct bench *b)
{
    bench_must(leat_crypto_start() == 0, "the choice of crypto providers");
    add_group(b, HANDSHAKE_SERVER, with_p256, LEAT_ARRAY_LEN(with_p256));
    add_group(b, HANDSHAKE_CLIENT, with_p256, LEAT_ARRAY_LEN(with_p256));
    add_group(b, HANDSHAKE_SERVER, with_default_groups, LEAT_ARRAY_LEN(with_default_groups));
    add_group(b, HANDSHAKE_CLIENT, with_default_groups, LEAT_ARRAY_LEN(with_default_groups));
    add_group(b, CERTIFICATE, with_p256, LEAT_ARRAY_LEN(with_p256));
    records_declare(b);
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, "dtls", declare);
}
