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
#include <sys/mman.h>
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
    b = a;
    a.at = b.at = LEAT_RNG_BLOCK;
    LEAT_CHECK(leat_rng_u64(&a) != leat_rng_u64(&b));
    LEAT_CHECK_INT(a.refills, 1);

    init_model(&a);
    a.refills = UINT64_C(1) << 20;
    LEAT_CHECK_INT(leat_rng_u32(&a), 0x0ebcb5de);
}

static void rng__five_minutes_after_its_seed__takes_a_new_one(void)
{
    struct leat_rng a, b;
    LEAT_CHECK_INT(leat_rng_init(&a), 0);
    b = a;
    LEAT_CHECK(leat_rng_u64(&a) == leat_rng_u64(&b));
    a.at = b.at = LEAT_RNG_BLOCK;
    LEAT_CHECK(leat_rng_u64(&a) == leat_rng_u64(&b));
    a.at = b.at = LEAT_RNG_BLOCK;
    a.seeded_s -= 300;
    LEAT_CHECK(leat_rng_u64(&a) != leat_rng_u64(&b));
    LEAT_CHECK_INT(a.refills, 1);
    LEAT_CHECK_INT(b.refills, 3);
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

/* ---- threads and processes ---- */

enum { PROCESSES = 4, THREADS = 2, PASSWORDS = 1250000, PASSWORD_LEN = 24 };
#define ALL ((size_t)PROCESSES * THREADS * PASSWORDS)

/* 64 bits of each password: two of 10^7 different ones agree in one of 370,000 runs. */
static void *draw_passwords(void *out)
{
    uint64_t *prints = out;
    for (size_t i = 0; i < PASSWORDS; i++) {
        char password[PASSWORD_LEN];
        uint64_t print = 0xcbf29ce484222325u;
        leat_rng_ice_chars(leat_rng_thread(), password, sizeof(password));
        for (size_t at = 0; at < sizeof(password); at++) {
            print = (print ^ (uint8_t)password[at]) * 0x100000001b3u;
        }
        prints[i] = print;
    }
    return NULL;
}

/* Each process draws with the thread that was there at the fork and with one of its own. */
static void draw_in_two_threads(uint64_t *prints)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, draw_passwords, prints + PASSWORDS) != 0) {
        abort();
    }
    draw_passwords(prints);
    pthread_join(thread, NULL);
}

static int compare_prints(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void rng__ten_million_passwords_over_threads_and_forks__have_no_duplicate(void)
{
    uint64_t *prints = mmap(NULL, ALL * sizeof(*prints), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[PROCESSES - 1];
    size_t duplicates = 0;
    int status = 0;

    if (prints == MAP_FAILED) {
        abort();
    }
    (void)leat_rng_u32(leat_rng_thread()); /* so that there is a block that children could share */
    for (size_t i = 0; i < PROCESSES - 1; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            draw_in_two_threads(prints + (i + 1) * THREADS * PASSWORDS);
            _exit(0);
        }
    }
    draw_in_two_threads(prints);
    for (size_t i = 0; i < PROCESSES - 1; i++) {
        LEAT_CHECK_INT(waitpid(children[i], &status, 0), children[i]);
        LEAT_CHECK_INT(status, 0);
    }
    qsort(prints, ALL, sizeof(*prints), compare_prints);
    for (size_t i = 1; i < ALL; i++) {
        duplicates += prints[i - 1] == prints[i];
    }
    LEAT_CHECK_INT(duplicates, 0);
    munmap(prints, ALL * sizeof(*prints));
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
           LEAT_TEST(rng__five_minutes_after_its_seed__takes_a_new_one),
           LEAT_TEST(rng__ten_million_passwords_over_threads_and_forks__have_no_duplicate),
           LEAT_TEST(rng__octets__are_evenly_spread),
           LEAT_TEST(rng_below__a_bound_that_does_not_divide__is_without_bias),
           LEAT_TEST(rng_below__small_bounds__reach_every_result),
           LEAT_TEST(rng_ice_chars__of_the_model__are_the_known_characters),
           LEAT_TEST(rng_ice_chars__many__are_the_64_characters_equally_often))
