/* SPDX-License-Identifier: MIT */
#include "stun_test.h"

static const uint8_t seed[32] = {1, 2, 3};

static void local__made__has_worker_generation_and_form(void)
{
    struct leat_rng rng;
    struct leat_ice_local l;
    leat_rng_init_seeded(&rng, seed);
    leat_ice_local_make(&l, &rng, 63, (1u << 12) | (27u << 6) | 62u);
    LEAT_CHECK_INT(strlen(l.ufrag), LEAT_ICE_LOCAL_UFRAG_LEN);
    LEAT_CHECK_INT(strlen(l.pwd), LEAT_ICE_LOCAL_PWD_LEN);
    LEAT_CHECK_MEM(l.ufrag, 4, "/Bb+", 4); /* A-Z a-z 0-9 + /, as in base 64 (RFC 4648 table 1) */
    LEAT_CHECK(leat_ice_remote_is_valid(leat_span_str(l.ufrag), leat_span_str(l.pwd)));
}

static void local__every_worker__found_again(void)
{
    struct leat_rng rng;
    leat_rng_init_seeded(&rng, seed);
    for (unsigned worker = 0; worker < 64; worker++) {
        struct leat_ice_local l;
        uint32_t generation = leat_rng_u32(&rng);
        leat_ice_local_make(&l, &rng, worker, generation);
        struct leat_span ufrag = leat_span_str(l.ufrag);
        LEAT_CHECK_ROW(worker, leat_ice_local_worker(ufrag, generation) == (int)worker);
        LEAT_CHECK_ROW(worker,
                       leat_ice_local_worker(ufrag, generation ^ 0xfffc0000u) == (int)worker);
        for (unsigned bit = 0; bit < 18; bit++) {
            LEAT_CHECK_ROW(worker, leat_ice_local_worker(ufrag, generation ^ (1u << bit)) == -1);
        }
    }
}

static void local__other_forms__no_worker(void)
{
    static const char *const rows[] = {"",
                                       "A",
                                       "AAAA",
                                       "AAAAAAAAAAA",
                                       "AAAAAAAAAAAAA",
                                       "AAAAAAAAAAA:",
                                       ":AAAAAAAAAAA",
                                       "AA-AAAAAAAAA",
                                       "AAAAAAAAAA\xc3\xa9"};
    LEAT_CHECK_INT(leat_ice_local_worker(leat_span_str("AAAAAAAAAAAA"), 0), 0);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        LEAT_CHECK_ROW(i, leat_ice_local_worker(guarded(leat_span_str(rows[i])), 0) == -1);
    }
    LEAT_CHECK_INT(leat_ice_local_worker(leat_span("AAAAAAAAAA\0A", 12), 0), -1);
    LEAT_CHECK_INT(leat_ice_local_worker(leat_span(NULL, 0), 0), -1);
}

static int compare_locals(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct leat_ice_local));
}

static int compare_passwords(const void *a, const void *b)
{
    const struct leat_ice_local *l = a, *r = b;
    return strcmp(l->pwd, r->pwd);
}

static void local__hundred_thousand__all_different(void)
{
    enum { COUNT = 100000 };
    struct leat_rng rng;
    struct leat_ice_local *made = calloc(COUNT, sizeof(*made));
    unsigned same = 0;
    if (made == NULL) {
        abort();
    }
    leat_rng_init_seeded(&rng, seed);
    for (size_t i = 0; i < COUNT; i++) {
        leat_ice_local_make(&made[i], &rng, 0, 7);
    }
    qsort(made, COUNT, sizeof(*made), compare_locals); /* the ufrag is first */
    for (size_t i = 1; i < COUNT; i++) {
        same += strcmp(made[i].ufrag, made[i - 1].ufrag) == 0;
    }
    qsort(made, COUNT, sizeof(*made), compare_passwords);
    for (size_t i = 1; i < COUNT; i++) {
        same += strcmp(made[i].pwd, made[i - 1].pwd) == 0;
    }
    LEAT_CHECK_INT(same, 0);
    free(made);
}

static void remote__limits__rfc8839(void)
{
    char text[300];
    memset(text, 'x', sizeof(text));
    static const struct {
        size_t ufrag, pwd;
        bool is_valid;
    } rows[] = {{4, 22, true},    {256, 256, true}, {3, 22, false}, {4, 21, false},
                {257, 22, false}, {4, 257, false},  {0, 22, false}, {4, 0, false}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        LEAT_CHECK_ROW(i,
                       leat_ice_remote_is_valid(leat_span(text, rows[i].ufrag),
                                                leat_span(text, rows[i].pwd)) == rows[i].is_valid);
    }
}

static void remote__every_octet__only_ice_chars_pass(void)
{
    static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (unsigned c = 0; c < 256; c++) {
        char ufrag[] = "abcd", pwd[] = "0123456789012345678901";
        bool expected = c != 0 && strchr(chars, (int)c) != NULL;
        ufrag[3] = (char)c;
        LEAT_CHECK_ROW(c, leat_ice_remote_is_valid(leat_span(ufrag, 4), leat_span(pwd, 22)) ==
                              expected);
        pwd[21] = (char)c;
        LEAT_CHECK_ROW(c, leat_ice_remote_is_valid(leat_span("abcd", 4), leat_span(pwd, 22)) ==
                              expected);
    }
}

STUN_TESTS(LEAT_TEST(local__made__has_worker_generation_and_form),
           LEAT_TEST(local__every_worker__found_again), LEAT_TEST(local__other_forms__no_worker),
           LEAT_TEST(local__hundred_thousand__all_different), LEAT_TEST(remote__limits__rfc8839),
           LEAT_TEST(remote__every_octet__only_ice_chars_pass))
