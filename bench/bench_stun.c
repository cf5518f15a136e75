/* SPDX-License-Identifier: MIT */
/*
 * What a connectivity or consent check costs: its parts, and the whole answer of the lite agent.
 * MESSAGE-INTEGRITY takes the present choice of a provider, so each run makes it first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <leat/ice.h>

#include "crypto_rows.h"

/* More than the agent remembers, so that each request is new to it. */
#define REQUESTS (2 * LEAT_ICE_TIDS_MAX)
#define NOW_US 1000000u

struct request {
    uint8_t data[LEAT_STUN_REPLY_MAX];
    size_t len;
};

struct reply_sink {
    struct leat_sink sink;
    uint8_t reply[LEAT_STUN_REPLY_MAX];
    uint64_t count;
};

/* One for all rows: they take turns and leave nothing behind that another meets. */
static struct {
    struct leat_ice ice;
    struct leat_ice_local local;
    struct leat_hmac_sha1 key; /* of local.pwd */
    struct leat_tuple tuple;
    struct request requests[REQUESTS];
    struct leat_stun_msg parsed;
    struct reply_sink out;
} agent;

static uint8_t *reserve(struct leat_sink *sink, size_t len)
{
    return len <= sizeof(agent.out.reply) ? ((struct reply_sink *)(void *)sink)->reply : NULL;
}

static void commit(struct leat_sink *sink, size_t len, const struct leat_tuple *tuple)
{
    (void)len;
    (void)tuple;
    ((struct reply_sink *)(void *)sink)->count++;
}

/* A browser's consent check, with the attribute of Chromium that nobody else knows. */
static void make_request(struct request *r, uint32_t number)
{
    uint8_t tid[LEAT_STUN_TID_LEN] = {0};
    struct leat_writer w;

    leat_put_u32(tid, number);
    leat_writer_init(&w, r->data, sizeof(r->data));
    leat_stun_begin(&w, LEAT_STUN_REQUEST, 1, tid);
    leat_stun_add_username(&w, leat_span_str(agent.local.ufrag), leat_span_str("Ufrg"));
    leat_stun_add_u32(&w, 0xc057, 1);
    leat_stun_add_u64(&w, LEAT_STUN_ATTR_ICE_CONTROLLING, 7);
    leat_stun_add_u32(&w, LEAT_STUN_ATTR_PRIORITY, 0x6e7f1eff);
    r->len = leat_stun_end(&w, &agent.key);
    bench_must(r->len > 0, "leat_stun_end");
}

static void make_agent(void)
{
    static const uint8_t ours[4] = {192, 0, 2, 1}, theirs[4] = {198, 51, 100, 7};
    static const uint8_t seed[32] = {1};
    struct leat_rng rng;

    leat_rng_init_seeded(&rng, seed);
    leat_ice_local_make(&agent.local, &rng, 0, 1);
    leat_rng_deinit(&rng);
    leat_hmac_sha1_init(&agent.key, agent.local.pwd, strlen(agent.local.pwd));
    agent.tuple = (struct leat_tuple){leat_addr_v4(ours, 3478), leat_addr_v4(theirs, 50000)};
    agent.out.sink = (struct leat_sink){.reserve = reserve, .commit = commit};
    leat_ice_init(&agent.ice, &agent.local, leat_span_str("Ufrg"), NOW_US);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        make_request(&agent.requests[i], i);
    }
    bench_must(leat_stun_parse(&agent.parsed, leat_span(agent.requests[0].data,
                                                        agent.requests[0].len)) == LEAT_STUN_OK,
               "leat_stun_parse");
}

/* ---- operations; `number` counts them ---- */

static bool parse(uint64_t number)
{
    const struct request *r = &agent.requests[number % REQUESTS];
    struct leat_stun_msg m;
    bool is_ok = leat_stun_parse(&m, leat_span(r->data, r->len)) == LEAT_STUN_OK;

    bench_keep(&m);
    return is_ok;
}

static bool check_integrity(uint64_t number)
{
    (void)number;
    return leat_stun_check_integrity(&agent.parsed, &agent.key);
}

static bool build_response(uint64_t number)
{
    struct leat_writer w;

    (void)number;
    leat_writer_init(&w, agent.out.reply, sizeof(agent.out.reply));
    leat_stun_begin(&w, LEAT_STUN_SUCCESS, 1, agent.parsed.tid);
    leat_stun_add_xor_mapped(&w, &agent.tuple.remote, agent.parsed.tid);
    return leat_stun_end(&w, &agent.key) > 0;
}

static bool respond(uint64_t number)
{
    const struct request *r = &agent.requests[number % REQUESTS];
    struct leat_ice_change change;
    struct leat_stun_msg m;
    uint64_t before = agent.out.count;

    if (leat_stun_parse(&m, leat_span(r->data, r->len)) != LEAT_STUN_OK ||
        leat_ice_check(&agent.ice, &m, &agent.tuple, NOW_US) != LEAT_ICE_OK) {
        return false;
    }
    leat_ice_accept(&agent.ice, &m, &agent.tuple, NOW_US, &agent.out.sink, &change);
    return agent.out.count == before + 1;
}

/* ---- rows ---- */

struct spec {
    const char *provider; /* NULL: none is involved */
    bool (*operate)(uint64_t number);
    uint64_t number;
};

static bool set_up(void *context, const char **why)
{
    const struct spec *s = context;

    *why = "the provider does not start";
    return s->provider == NULL || crypto_choose(s->provider, NULL);
}

static uint64_t run(void *context, uint64_t times, uint64_t *done)
{
    struct spec *s = context;
    uint64_t from;
    bool is_ok = true;

    bench_must(s->provider == NULL || crypto_choose(s->provider, NULL), "the choice of a provider");
    from = bench_now();
    for (uint64_t i = 0; i < times; i++) {
        is_ok &= s->operate(s->number++);
    }
    from = bench_now() - from;
    bench_must(is_ok, "an operation of bench_stun");
    *done = times;
    return from;
}

static void add(struct bench *b, const char *op, const char *provider,
                bool (*operate)(uint64_t number), size_t octets)
{
    struct spec *s = bench_context(b, sizeof(*s));
    struct bench_row row = {.key = {.op = op, .provider = provider, .octets = (unsigned)octets},
                            .set_up = set_up,
                            .run = run,
                            .context = s};

    *s = (struct spec){.provider = provider, .operate = operate};
    bench_add(b, &row);
}

static void add_under_each_provider(struct bench *b, const char *op,
                                    bool (*operate)(uint64_t number), size_t octets)
{
    const char *name;

    bench_group(b);
    for (size_t i = 0; (name = leat_crypto_provider_name(i)) != NULL; i++) {
        add(b, op, name, operate, octets);
    }
    add(b, op, CRYPTO_AUTO, operate, octets);
}

static void declare(struct bench *b)
{
    size_t octets = agent.requests[0].len;
    struct crypto_case hmac = {.op = CRYPTO_HMAC_SHA1, .octets = 100};
    struct crypto_case keyed = {.op = CRYPTO_HMAC_SHA1_KEY_PER_CALL, .octets = 100};

    bench_group(b);
    add(b, "parse", NULL, parse, octets);
    add_under_each_provider(b, "check-integrity", check_integrity, octets);
    add_under_each_provider(b, "build-response", build_response, 0);
    add_under_each_provider(b, "respond", respond, octets);
    bench_group(b);
    crypto_add_ours(b, &hmac);
    crypto_add_mbedtls(b, &hmac);
    crypto_add_openssl(b, &hmac);
    crypto_add_mbedtls(b, &keyed);
    crypto_add_openssl(b, &keyed);
}

int main(int argc, char **argv)
{
    if (leat_crypto_start() != 0) {
        fputs("bench_stun: no provider passes its known answers\n", stderr);
        return 1;
    }
    make_agent();
    return bench_main(argc, argv, "stun", declare);
}
