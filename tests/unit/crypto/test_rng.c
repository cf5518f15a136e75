/* SPDX-License-Identifier: MIT */
/*
 * Expected octets come from a model of the generator in Python, over the AES of its cryptography
 * package:
 *
 *     key = bytes(range(32))
 *     while True: stream = aes_256_ctr(key, iv=bytes(16)).encrypt(bytes(544)); key = stream[:32];
 * give(stream[32:])
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <leat/crypto.h>

#include "harness.h"
#include "hex.h"

static void init_model(struct leat_rng *r)
{
    uint8_t seed[32];
    for (size_t i = 0; i < sizeof(seed); i++) {
        seed[i] = (uint8_t)i;
    }
    leat_rng_init_seeded(r, seed);
}

/* ---- the stream ---- */

static void rng__seeded__gives_the_octets_of_the_model(void)
{
    uint8_t out[3 * LEAT_RNG_BLOCK], digest[32];
    struct leat_rng r;
    init_model(&r);
    leat_rng_fill(&r, out, sizeof(out));
    LEAT_CHECK_MEM(
        out, 32, from_hex("0ebcb5deb52c83bd08a8a935182c9199d24356532881602f809eb383c5ff5d56").data,
        32);
    LEAT_CHECK_MEM(
        out + 500, 32,
        from_hex("370c6bee6dc868b569fb67b19720e40516407d2c249a9b756a46f71a80de9097").data, 32);
    LEAT_CHECK_MEM(
        out + 1504, 32,
        from_hex("ee2029d6a8f28351be56be9edaaebb5bb811417470401d148afa83b610c9f100").data, 32);
    leat_sha256(out, sizeof(out), digest);
    LEAT_CHECK_MEM(
        digest, 32,
        from_hex("0f4e198999366ab2ead92d7f3fa729fc279a4d619caa2bf27979bfa0a7028cbc").data, 32);
}

static void rng__read_in_pieces__gives_the_same_octets(void)
{
    uint8_t whole[2000], pieces[2000];
    struct leat_rng r;
    init_model(&r);
    leat_rng_fill(&r, whole, sizeof(whole));
    init_model(&r);
    for (size_t at = 0, n = 0; at < sizeof(pieces); at += n) {
        n = at % 97 < sizeof(pieces) - at ? at % 97 : sizeof(pieces) - at;
        n = n == 0 ? 1 : n;
        LEAT_CHECK_INT(leat_rng_callback(&r, pieces + at, n), 0);
    }
    LEAT_CHECK_MEM(pieces, sizeof(pieces), whole, sizeof(whole));
}

static void rng__numbers__are_the_streams_octets_in_network_order(void)
{
    struct leat_rng r;
    init_model(&r);
    LEAT_CHECK_INT(leat_rng_u32(&r), 0x0ebcb5de);
    LEAT_CHECK(leat_rng_u64(&r) == UINT64_C(0xb52c83bd08a8a935));
}

/* ---- what is forgotten ---- */

static void rng__octets_read__are_wiped_and_the_others_not_yet(void)
{
    uint8_t out[100];
    struct leat_rng r;
    init_model(&r);
    leat_rng_fill(&r, out, sizeof(out));
    LEAT_CHECK_INT(r.at, 100);
    LEAT_CHECK(is_all_zero(r.block, 100));
    LEAT_CHECK(!is_all_zero(r.block + 100, 16));
    LEAT_CHECK_MEM(r.block + 500, 12, from_hex("370c6bee6dc868b569fb67b1").data, 12);
}

/* The key after one refill is the first 32 octets of the stream: CTR under the seed, by the model.
 */
static void rng__refill__replaces_the_key_first(void)
{
    uint8_t octet;
    struct leat_rng r;
    init_model(&r);
    leat_rng_fill(&r, &octet, 1);
    LEAT_CHECK_MEM(
        r.key, 32,
        from_hex("f29000b62a499fd0a9f39a6add2e7780f05d76ae4ab99fe5a6f69b3148c2363d").data, 32);
    LEAT_CHECK_INT(r.refills, 1);
}

static void rng__deinit__keeps_nothing(void)
{
    struct leat_rng r;
    LEAT_CHECK_INT(leat_rng_init(&r), 0);
    LEAT_CHECK(!is_all_zero(r.key, sizeof(r.key)));
    (void)leat_rng_u32(&r);
    leat_rng_deinit(&r);
    LEAT_CHECK(is_all_zero(&r, sizeof(r)));
}

/* ---- the system's seed ---- */

static void rng__two_seeded_from_the_system__differ(void)
{
    struct leat_rng a, b;
    uint8_t from_a[32], from_b[32];
    LEAT_CHECK_INT(leat_rng_init(&a), 0);
    LEAT_CHECK_INT(leat_rng_init(&b), 0);
    leat_rng_fill(&a, from_a, sizeof(from_a));
    leat_rng_fill(&b, from_b, sizeof(from_b));
    LEAT_CHECK(memcmp(from_a, from_b, sizeof(from_a)) != 0);
    leat_rng_deinit(&a);
    leat_rng_deinit(&b);
}

static void rng__after_its_volume__takes_a_new_seed_unless_it_is_a_tests(void)
{
    struct leat_rng a, b;
    LEAT_CHECK_INT(leat_rng_init(&a), 0);
    a.refills = (UINT64_C(1) << 16) - 1;
    b = a;
    LEAT_CHECK(leat_rng_u64(&a) == leat_rng_u64(&b)); /* the last refill under this seed */
    LEAT_CHECK_INT(a.refills, UINT64_C(1) << 16);
    LEAT_CHECK(leat_rng_u64(&a) != leat_rng_u64(&b));
    LEAT_CHECK_INT(a.refills, 1);

    init_model(&a);
    a.refills = UINT64_C(1) << 20;
    LEAT_CHECK_INT(leat_rng_u32(&a), 0x0ebcb5de);
}

/* What a child process draws from r; all zero when it could not say. */
static void draw_in_child(struct leat_rng *r, uint8_t out[static 32])
{
    int ends[2];
    memset(out, 0, 32);
    if (pipe(ends) != 0) {
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        uint8_t drawn[32];
        leat_rng_fill(r, drawn, sizeof(drawn));
        _exit(write(ends[1], drawn, sizeof(drawn)) == (ssize_t)sizeof(drawn) ? 0 : 1);
    }
    close(ends[1]);
    if (child > 0) {
        ssize_t got = read(ends[0], out, 32);
        LEAT_CHECK_INT(got, 32);
        LEAT_CHECK_INT(waitpid(child, NULL, 0), child);
    }
    close(ends[0]);
}

static void check_children_differ(struct leat_rng *r)
{
    uint8_t children[2][32], parent[32];
    (void)leat_rng_u32(r); /* so that there is a block that a child could share */
    draw_in_child(r, children[0]);
    draw_in_child(r, children[1]);
    leat_rng_fill(r, parent, sizeof(parent));
    LEAT_CHECK(!is_all_zero(children[0], 32));
    LEAT_CHECK(!is_all_zero(children[1], 32));
    LEAT_CHECK(memcmp(children[0], parent, 32) != 0);
    LEAT_CHECK(memcmp(children[1], parent, 32) != 0);
    LEAT_CHECK(memcmp(children[0], children[1], 32) != 0);
}

static void rng__fork__gives_child_and_parent_different_octets(void)
{
    struct leat_rng r;
    check_children_differ(leat_rng_thread());
    LEAT_CHECK_INT(leat_rng_init(&r), 0);
    check_children_differ(&r);
    leat_rng_deinit(&r);
}

static void rng__fork__leaves_a_tests_generator_alone(void)
{
    struct leat_rng r;
    uint8_t child[32], parent[32];
    init_model(&r);
    draw_in_child(&r, child);
    leat_rng_fill(&r, parent, sizeof(parent));
    LEAT_CHECK_MEM(child, 32, parent, 32);
}

/* ---- threads ---- */

enum { THREADS = 4, DRAWS = 250000, DRAW_LEN = 16 };

struct drawer {
    uint8_t *out;
    struct leat_rng *own;
};

static void *draw_many(void *arg)
{
    struct drawer *d = arg;
    d->own = leat_rng_thread();
    for (size_t i = 0; i < DRAWS; i++) {
        leat_rng_fill(leat_rng_thread(), d->out + i * DRAW_LEN, DRAW_LEN);
    }
    return NULL;
}

static int compare_draws(const void *a, const void *b)
{
    return memcmp(a, b, DRAW_LEN);
}

static void rng__a_million_draws_in_four_threads__have_no_duplicate(void)
{
    enum { ALL = THREADS * DRAWS };
    uint8_t *draws = calloc(ALL, DRAW_LEN);
    pthread_t threads[THREADS];
    struct drawer drawers[THREADS];
    size_t duplicates = 0;

    if (draws == NULL) {
        abort();
    }
    for (size_t i = 0; i < THREADS; i++) {
        drawers[i].out = draws + i * DRAWS * DRAW_LEN;
        if (pthread_create(&threads[i], NULL, draw_many, &drawers[i]) != 0) {
            abort();
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        LEAT_CHECK(drawers[i].own != leat_rng_thread());
    }
    qsort(draws, ALL, DRAW_LEN, compare_draws);
    for (size_t i = 1; i < ALL; i++) {
        duplicates += compare_draws(draws + (i - 1) * DRAW_LEN, draws + i * DRAW_LEN) == 0;
    }
    LEAT_CHECK_INT(duplicates, 0);
    free(draws);
}

/* ---- distributions (seeded, so that the outcome is the same in every run) ---- */

/* Chi-square of the octets of 1 MiB: 255 degrees of freedom, so 255 on average with a deviation
 * of 22.6. */
static void rng__octets__are_evenly_spread(void)
{
    enum { COUNT = 1 << 20 };
    uint32_t seen[256] = {0};
    double chi_square = 0, expected = COUNT / 256.0;
    struct leat_rng r;

    init_model(&r);
    for (size_t i = 0; i < COUNT / 64; i++) {
        uint8_t out[64];
        leat_rng_fill(&r, out, sizeof(out));
        for (size_t n = 0; n < sizeof(out); n++) {
            seen[out[n]]++;
        }
    }
    for (size_t i = 0; i < 256; i++) {
        chi_square += (seen[i] - expected) * (seen[i] - expected) / expected;
    }
    LEAT_CHECK(chi_square > 255 - 4 * 22.6);
    LEAT_CHECK(chi_square < 255 + 4 * 22.6);
}

/* 3/4 of 2^32: a plain modulo would give half of the results below 2^30 instead of a third. */
static void rng_below__a_bound_that_does_not_divide__is_without_bias(void)
{
    enum { COUNT = 60000 };
    const uint32_t bound = UINT32_C(3) << 30;
    size_t low = 0;
    struct leat_rng r;

    init_model(&r);
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t draw = leat_rng_below(&r, bound);
        LEAT_CHECK(draw < bound);
        low += draw < UINT32_C(1) << 30;
    }
    LEAT_CHECK(low > COUNT / 3 - 500); /* deviation: 115 */
    LEAT_CHECK(low < COUNT / 3 + 500);
}

static void rng_below__small_bounds__reach_every_result(void)
{
    struct leat_rng r;
    init_model(&r);
    for (uint32_t bound = 1; bound <= 20; bound++) {
        uint32_t seen = 0;
        for (int i = 0; i < 1000; i++) {
            uint32_t draw = leat_rng_below(&r, bound);
            LEAT_CHECK_ROW(bound, draw < bound);
            seen |= UINT32_C(1) << draw;
        }
        LEAT_CHECK_ROW(bound, seen == (UINT32_C(1) << bound) - 1);
    }
}

/* The low six bits of the model's first octets in the order of RFC 4648's base64 alphabet. */
static void rng_ice_chars__of_the_model__are_the_known_characters(void)
{
    char text[33];
    struct leat_rng r;
    init_model(&r);
    text[32] = '#';
    leat_rng_ice_chars(&r, text, 32);
    LEAT_CHECK_INT(text[32], '#');
    text[32] = '\0';
    LEAT_CHECK_STR(text, "O81e1sD9Iop1YsRZSDWToBgvAezDF/dW");
}

static void rng_ice_chars__many__are_the_64_characters_equally_often(void)
{
    enum { COUNT = 64000 };
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static char text[COUNT];
    size_t total = 0;
    struct leat_rng r;

    init_model(&r);
    leat_rng_ice_chars(&r, text, sizeof(text));
    for (size_t i = 0; i < 64; i++) {
        size_t seen = 0;
        for (size_t n = 0; n < COUNT; n++) {
            seen += text[n] == allowed[i];
        }
        LEAT_CHECK_ROW(i, seen > 1000 - 150 && seen < 1000 + 150); /* deviation: 31 */
        total += seen;
    }
    LEAT_CHECK_INT(total, COUNT);
}

LEAT_TESTS(LEAT_TEST(rng__seeded__gives_the_octets_of_the_model),
           LEAT_TEST(rng__read_in_pieces__gives_the_same_octets),
           LEAT_TEST(rng__numbers__are_the_streams_octets_in_network_order),
           LEAT_TEST(rng__octets_read__are_wiped_and_the_others_not_yet),
           LEAT_TEST(rng__refill__replaces_the_key_first), LEAT_TEST(rng__deinit__keeps_nothing),
           LEAT_TEST(rng__two_seeded_from_the_system__differ),
           LEAT_TEST(rng__after_its_volume__takes_a_new_seed_unless_it_is_a_tests),
           LEAT_TEST(rng__fork__gives_child_and_parent_different_octets),
           LEAT_TEST(rng__fork__leaves_a_tests_generator_alone),
           LEAT_TEST(rng__a_million_draws_in_four_threads__have_no_duplicate),
           LEAT_TEST(rng__octets__are_evenly_spread),
           LEAT_TEST(rng_below__a_bound_that_does_not_divide__is_without_bias),
           LEAT_TEST(rng_below__small_bounds__reach_every_result),
           LEAT_TEST(rng_ice_chars__of_the_model__are_the_known_characters),
           LEAT_TEST(rng_ice_chars__many__are_the_64_characters_equally_often))
