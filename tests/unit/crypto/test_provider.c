/* SPDX-License-Identifier: MIT */
/* Providers that lie or fail, made from the reference provider with one function replaced. */
#include "provider.h"

#include "harness.h"
#include "hex.h"

#define GOOD (&leat__crypto_mbedtls)

/* ---- liars: each is wrong in one way ---- */

static int lie_sha256(const void *data, size_t len, uint8_t out[static 32])
{
    int error = GOOD->sha256(data, len, out);
    out[31] ^= 1;
    return error;
}

/* Forgets that the key block was hashed before. */
static void lie_sha1_resume(void *state, const uint32_t words[static 5])
{
    (void)words;
    (void)GOOD->sha1.begin(state);
}

static int lie_sha1_end(void *state, uint8_t out[static 20])
{
    int error = GOOD->sha1.end(state, out);
    out[0] ^= 0x80;
    return error;
}

static int lie_aes_block(const void *state, const uint8_t in[static 16], uint8_t out[static 16])
{
    int error = GOOD->aes.block(state, in, out);
    out[7] ^= 1;
    return error;
}

/* As a 24-bit counter would: right until it carries. */
static int lie_aes_ctr(const void *state, const uint8_t iv[static 16], const uint8_t *in,
                       size_t len, uint8_t *out)
{
    uint8_t counter[16];
    int error = 0;
    memcpy(counter, iv, sizeof(counter));
    for (size_t at = 0; at < len && error == 0; at += 16) {
        error = GOOD->aes.ctr(state, counter, in + at, len - at < 16 ? len - at : 16, out + at);
        uint32_t low = leat_get_u32(counter + 12);
        leat_put_u32(counter + 12, (low & 0xff000000) | ((low + 1) & 0x00ffffff));
    }
    return error;
}

static int lie_gcm_seal(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                        const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[static 16])
{
    aad.len = 0;
    return GOOD->gcm.seal(state, iv, aad, in, len, out, tag);
}

/* Gives the last message of a full batch the tag of the first. */
static int lie_hmac_batch(const struct leat_crypto_provider *self,
                          const struct leat_hmac_sha1_job *jobs, size_t count)
{
    int error = 0;
    for (size_t i = 0; i < count && error == 0; i++) {
        const struct leat_hmac_sha1_job *j = i < 63 ? &jobs[i] : &jobs[0];
        error = leat__hmac_sha1(self, j->h, &j->message, 1, jobs[i].tag);
    }
    return error;
}

/* Takes the first key for all. */
static int lie_ctr_batch(const struct leat_crypto_provider *self,
                         const struct leat_aes_ctr_job *jobs, size_t count)
{
    int error = 0;
    (void)self;
    for (size_t i = 0; i < count && error == 0; i++) {
        error = leat_aes_ctr(jobs[0].aes, jobs[i].iv, jobs[i].in, jobs[i].len, jobs[i].out);
    }
    return error;
}

/* Takes the first one's additional data for all. */
static int lie_seal_batch(const struct leat_crypto_provider *self, const struct leat_gcm_job *jobs,
                          size_t count)
{
    int error = 0;
    (void)self;
    for (size_t i = 0; i < count && error == 0; i++) {
        const struct leat_gcm_job *j = &jobs[i];
        error = leat_gcm_seal(j->gcm, j->iv, jobs[0].aad, j->in, j->len, j->out, j->tag);
    }
    return error;
}

/* Forgets the last octet. */
static int lie_key_stream(const struct leat_crypto_provider *self, const uint8_t key[static 32],
                          uint8_t *out, size_t len)
{
    return GOOD->key_stream(self, key, out, len - 1);
}

/* Takes every tag. */
static int lie_gcm_open(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                        const uint8_t *in, size_t len, const uint8_t tag[static 16], uint8_t *out)
{
    uint8_t right_tag[16];
    (void)tag;
    return GOOD->gcm.seal(state, iv, aad, in, len, out, right_tag);
}

/* The counter block of one message too far. */
static int lie_chachapoly_seal(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                               const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[static 16])
{
    uint8_t other[12];
    memcpy(other, iv, sizeof(other));
    other[11]++;
    return GOOD->chachapoly.seal(state, other, aad, in, len, out, tag);
}

static int lie_chachapoly_open(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                               const uint8_t *in, size_t len, const uint8_t tag[static 16],
                               uint8_t *out)
{
    uint8_t right_tag[16];
    (void)tag;
    return GOOD->chachapoly.seal(state, iv, aad, in, len, out, right_tag);
}

static bool passes_all_but(const struct leat_crypto_provider *p, unsigned failing)
{
    unsigned failed = 0;
    for (unsigned i = 0; i < LEAT_CRYPTO_PRIMITIVE_COUNT; i++) {
        failed |= (unsigned)!leat__crypto_provider_passes(p, (enum leat_crypto_primitive)i) << i;
    }
    return failed == failing;
}

#define SHA256 (1u << LEAT_CRYPTO_SHA256)
#define HMAC (1u << LEAT_CRYPTO_HMAC_SHA1 | 1u << LEAT_CRYPTO_HMAC_SHA1_BATCH)
#define AES                                                                                        \
    (1u << LEAT_CRYPTO_AES_128_CTR | 1u << LEAT_CRYPTO_AES_256_CTR |                               \
     1u << LEAT_CRYPTO_AES_128_CTR_BATCH | 1u << LEAT_CRYPTO_AES_256_CTR_BATCH)
#define GCM                                                                                        \
    (1u << LEAT_CRYPTO_AES_128_GCM | 1u << LEAT_CRYPTO_AES_256_GCM |                               \
     1u << LEAT_CRYPTO_AES_128_GCM_BATCH | 1u << LEAT_CRYPTO_AES_256_GCM_BATCH)
#define CHACHAPOLY (1u << LEAT_CRYPTO_CHACHA20_POLY1305)
#define KEY_STREAM (1u << LEAT_CRYPTO_KEY_STREAM)

static void known_answers__reference_provider__pass(void)
{
    LEAT_CHECK(passes_all_but(GOOD, 0));
}

static void known_answers__one_function_lies__fail_for_its_primitive_only(void)
{
    struct leat_crypto_provider p = *GOOD;
    p.sha256 = lie_sha256;
    LEAT_CHECK(passes_all_but(&p, SHA256));
    p = *GOOD;
    p.sha1.resume = lie_sha1_resume;
    LEAT_CHECK(passes_all_but(&p, HMAC));
    p = *GOOD;
    p.sha1.end = lie_sha1_end;
    LEAT_CHECK(passes_all_but(&p, HMAC));
    p = *GOOD;
    p.aes.block = lie_aes_block;
    LEAT_CHECK(passes_all_but(&p, AES));
    p = *GOOD;
    p.aes.ctr = lie_aes_ctr;
    LEAT_CHECK(passes_all_but(&p, AES));
    p = *GOOD;
    p.gcm.seal = lie_gcm_seal;
    LEAT_CHECK(passes_all_but(&p, GCM));
    p = *GOOD;
    p.gcm.open = lie_gcm_open;
    LEAT_CHECK(passes_all_but(&p, GCM));
    p = *GOOD;
    p.chachapoly.seal = lie_chachapoly_seal;
    LEAT_CHECK(passes_all_but(&p, CHACHAPOLY));
    p = *GOOD;
    p.chachapoly.open = lie_chachapoly_open;
    LEAT_CHECK(passes_all_but(&p, CHACHAPOLY));
    p = *GOOD;
    p.key_stream = lie_key_stream;
    LEAT_CHECK(passes_all_but(&p, KEY_STREAM));
}

static void known_answers__a_batch_lies__fail_for_batches_only(void)
{
    struct leat_crypto_provider p = *GOOD;
    p.hmac_sha1.batch = lie_hmac_batch;
    LEAT_CHECK(passes_all_but(&p, 1u << LEAT_CRYPTO_HMAC_SHA1_BATCH));
    p = *GOOD;
    p.aes.ctr_batch = lie_ctr_batch;
    LEAT_CHECK(passes_all_but(&p, 1u << LEAT_CRYPTO_AES_128_CTR_BATCH |
                                      1u << LEAT_CRYPTO_AES_256_CTR_BATCH));
    p = *GOOD;
    p.gcm.seal_batch = lie_seal_batch;
    LEAT_CHECK(passes_all_but(&p, 1u << LEAT_CRYPTO_AES_128_GCM_BATCH |
                                      1u << LEAT_CRYPTO_AES_256_GCM_BATCH));
}

static void known_answers__primitive_not_served_or_too_large__fail_for_it(void)
{
    struct leat_crypto_provider p = {.name = "none"};
    LEAT_CHECK(passes_all_but(&p, SHA256 | HMAC | AES | GCM | CHACHAPOLY | KEY_STREAM));
    p = *GOOD;
    p.sha1.state_size = LEAT_CRYPTO_SHA1_STATE_MAX + 1;
    p.aes.state_size = sizeof(((struct leat_aes *)0)->state) + 1;
    p.gcm.state_size = sizeof(((struct leat_gcm *)0)->state) + 1;
    p.chachapoly.state_size = sizeof(((struct leat_chachapoly *)0)->state) + 1;
    LEAT_CHECK(passes_all_but(&p, HMAC | AES | GCM | CHACHAPOLY));
}

/* ---- the choice ---- */

static struct leat_crypto_row row_of(const char *wanted)
{
    struct leat_crypto_row row;
    for (size_t i = 0; leat_crypto_describe(i, &row); i++) {
        if (strcmp(row.primitive, wanted) == 0) {
            return row;
        }
    }
    return (struct leat_crypto_row){.provider = "no such row"};
}

/* Costs by name and by kind, in place of a measurement. */
static bool examine_made_up(const struct leat_crypto_provider *p,
                            enum leat_crypto_primitive primitive, struct leat_crypto_cost *cost)
{
    bool is_batch =
        primitive == LEAT_CRYPTO_HMAC_SHA1_BATCH || primitive == LEAT_CRYPTO_AES_128_GCM_BATCH;
    if (strcmp(p->name, "lanes") == 0) { /* many at once; one alone costs as much as sixteen */
        *cost = is_batch ? (struct leat_crypto_cost){10, 100, 1600}
                         : (struct leat_crypto_cost){160, 1600, 0};
        return primitive != LEAT_CRYPTO_SHA256;
    }
    if (strcmp(p->name, "single") == 0) {
        *cost = (struct leat_crypto_cost){40, 400, 400};
        return primitive != LEAT_CRYPTO_AES_256_CTR;
    }
    if (strcmp(p->name, "near") == 0) { /* within what noise can do of the one before */
        *cost = (struct leat_crypto_cost){39, 398, 400};
        return true;
    }
    *cost = (struct leat_crypto_cost){100, 1000, 1000};
    return true;
}

static const struct leat_crypto_provider slow_one = {.name = "slow"}, lanes = {.name = "lanes"},
                                         single = {.name = "single"}, near_one = {.name = "near"};
static const struct leat_crypto_provider *const made_up[] = {&slow_one, &lanes, &single, &near_one};

static void choose__by_cost__takes_the_cheapest_for_each_primitive(void)
{
    LEAT_CHECK_INT(leat__crypto_choose(made_up, 4, NULL, examine_made_up), 0);
    LEAT_CHECK_STR(row_of("hmac-sha1").provider, "single");
    LEAT_CHECK_STR(row_of("hmac-sha1-batch").provider, "lanes");
    LEAT_CHECK_STR(row_of("aes-128-gcm").provider, "single");
    LEAT_CHECK_STR(row_of("aes-128-gcm-batch").provider, "lanes");
    LEAT_CHECK_STR(row_of("aes-256-ctr").provider, "near");
    LEAT_CHECK(row_of("hmac-sha1").ns_100 == 40 && row_of("hmac-sha1-batch").ns_1200 == 100);
    /* 1600 ns for a set of lanes against 400 for one. */
    LEAT_CHECK_INT(leat__crypto_hmac_batch_from(), 5);
    LEAT_CHECK_INT(leat_crypto_start(), 0);
}

static void choose__a_wanted_one__takes_it_where_it_serves_and_others_elsewhere(void)
{
    LEAT_CHECK_INT(leat__crypto_choose(made_up, 4, "lanes", examine_made_up), 0);
    LEAT_CHECK_STR(row_of("hmac-sha1").provider, "lanes");
    LEAT_CHECK_STR(row_of("sha-256").provider, "single");
    LEAT_CHECK_INT(leat__crypto_hmac_batch_from(), 1);
    LEAT_CHECK_INT(leat_crypto_start(), 0);
}

static void choose__a_liar__is_dropped_where_it_lies(void)
{
    struct leat_crypto_provider liar = *GOOD;
    const struct leat_crypto_provider *providers[] = {&liar, GOOD};
    struct leat_aes a;
    liar.name = "liar";
    liar.aes.ctr = lie_aes_ctr;
    LEAT_CHECK_INT(leat__crypto_choose(providers, 2, "liar", leat__crypto_examine), 0);
    LEAT_CHECK_STR(row_of("aes-128-ctr").provider, "mbedtls");
    LEAT_CHECK_STR(row_of("aes-256-ctr").provider, "mbedtls");
    LEAT_CHECK_STR(row_of("hmac-sha1").provider, "liar");
    LEAT_CHECK_STR(row_of("aes-256-gcm").provider, "liar");
    LEAT_CHECK(row_of("aes-256-gcm").ns_100 > 0);
    LEAT_CHECK_INT(leat_aes_init(&a, "0123456789abcdef", 16), 0);
    LEAT_CHECK(a.provider == GOOD);
    leat_aes_deinit(&a);
    LEAT_CHECK_INT(leat_crypto_start(), 0);
}

static void choose__no_provider_passes__is_an_error_and_changes_nothing(void)
{
    static const struct leat_crypto_options reference = {.provider = "mbedtls"};
    struct leat_crypto_provider liar = *GOOD;
    const struct leat_crypto_provider *providers[] = {&liar};
    liar.name = "liar";
    liar.gcm.open = lie_gcm_open;
    LEAT_CHECK_INT(leat_crypto_start_with(&reference), 0);
    LEAT_CHECK_INT(leat__crypto_choose(providers, 1, NULL, leat__crypto_examine), LEAT_E_CRYPTO);
    LEAT_CHECK_STR(row_of("sha-256").provider, "mbedtls");
    LEAT_CHECK_INT(leat__crypto_choose(NULL, 0, NULL, leat__crypto_examine), LEAT_E_CRYPTO);
    LEAT_CHECK_INT(leat_crypto_start(), 0);
}

static void start__every_provider_pinned__serves_what_it_can(void)
{
    const char *name;
    size_t count = 0;
    LEAT_CHECK_STR(leat_crypto_provider_name(0), "mbedtls");
    LEAT_CHECK(strncmp(leat_crypto_provider_version(0), "mbedTLS ", 8) == 0);
    LEAT_CHECK(leat_crypto_provider_version(0)[8] >= '2');
    for (; (name = leat_crypto_provider_name(count)) != NULL; count++) {
        struct leat_crypto_options options = {.provider = name};
        struct leat_crypto_row row;
        size_t rows = 0;
        LEAT_CHECK_INT(leat_crypto_start_with(&options), 0);
        for (; leat_crypto_describe(rows, &row); rows++) {
            LEAT_CHECK(row.ns_100 > 0 && row.ns_1200 > 0);
        }
        LEAT_CHECK_INT(rows, LEAT_CRYPTO_PRIMITIVE_COUNT);
        LEAT_CHECK_STR(row_of("hmac-sha1-batch").provider, name);
        LEAT_CHECK_STR(row_of("aes-128-ctr-batch").provider, name);
        LEAT_CHECK_STR(row_of("aes-256-gcm").provider, name);
        LEAT_CHECK_STR(row_of("key-stream").provider, name);
        LEAT_CHECK(strlen(leat_crypto_provider_version(count)) > 4);
    }
    LEAT_CHECK(leat_crypto_provider_version(count) == NULL);
    LEAT_CHECK_INT(leat_crypto_start(), 0);
}

/* Every level that the machine has, by masking those above it. */
static void start__a_highest_level__nothing_above_it_serves(void)
{
    static const char *const levels[] = {"none", "sse", "avx2", "avx512"};
    for (size_t highest = 0; highest < LEAT_ARRAY_LEN(levels); highest++) {
        struct leat_crypto_options options = {.level = levels[highest]};
        struct leat_crypto_row row;
        LEAT_CHECK_INT(leat_crypto_start_with(&options), 0);
        for (size_t i = 0; leat_crypto_describe(i, &row); i++) {
            bool is_allowed = row.level == NULL;
            for (size_t at = 1; at <= highest; at++) {
                is_allowed = is_allowed || strcmp(row.level, levels[at]) == 0;
            }
            LEAT_CHECK_ROW(highest, is_allowed);
        }
    }
    LEAT_CHECK_INT(leat_crypto_start(), 0);
}

static void start__unknown_provider_or_level__is_refused(void)
{
    static const struct leat_crypto_options wrong[] = {{.provider = "rot13"}, {.level = "avx1024"}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(wrong); i++) {
        LEAT_CHECK_INT(leat_crypto_start_with(&wrong[i]), LEAT_E_INVALID);
    }
}

/* ---- a provider that fails later: an error for one caller, never a known result ---- */

static bool is_failing;

static int fail_sha256(const void *data, size_t len, uint8_t out[static 32])
{
    return is_failing ? LEAT_E_CRYPTO : GOOD->sha256(data, len, out);
}

static int fail_sha1_update(void *state, const void *data, size_t len)
{
    return is_failing ? LEAT_E_CRYPTO : GOOD->sha1.update(state, data, len);
}

static int fail_aes_init(const struct leat_crypto_provider *self, void *state, const uint8_t *key,
                         size_t key_len)
{
    return is_failing ? LEAT_E_CRYPTO : GOOD->aes.init(self, state, key, key_len);
}

static int fail_gcm_open(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                         const uint8_t *in, size_t len, const uint8_t tag[static 16], uint8_t *out)
{
    int error = GOOD->gcm.open(state, iv, aad, in, len, tag, out);
    return is_failing ? LEAT_E_CRYPTO : error;
}

static struct leat_crypto_provider failing;

static void use_failing_provider(void)
{
    const struct leat_crypto_provider *providers[] = {&failing};
    failing = *GOOD;
    failing.name = "failing";
    failing.sha256 = fail_sha256;
    failing.sha1.update = fail_sha1_update;
    failing.aes.init = fail_aes_init;
    failing.gcm.open = fail_gcm_open;
    is_failing = false;
    LEAT_CHECK_INT(leat__crypto_choose(providers, 1, NULL, leat__crypto_examine), 0);
}

static void stop_failing(void)
{
    is_failing = false;
    LEAT_CHECK_INT(leat_crypto_start(), 0);
}

static void hmac_and_digest__provider_fails__give_octets_nobody_knows(void)
{
    static const uint8_t key[20] = {7};
    struct leat_span part = leat_span_str("message");
    struct leat_hmac_sha1 h;
    uint8_t tags[4][20] = {{0}}, digests[2][32] = {{0}};

    use_failing_provider();
    leat_hmac_sha1_init(&h, key, sizeof(key));
    is_failing = true;
    for (size_t i = 0; i < 2; i++) {
        leat_hmac_sha1(&h, &part, 1, tags[i]);
        leat_hmac_sha1_batch(&(struct leat_hmac_sha1_job){&h, part, tags[2 + i]}, 1);
        leat_sha256(part.data, part.len, digests[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        LEAT_CHECK_ROW(i, !is_all_zero(tags[i], 20));
        LEAT_CHECK_ROW(i, memcmp(tags[i], tags[(i + 1) % 4], 20) != 0);
    }
    LEAT_CHECK(!is_all_zero(digests[0], 32));
    LEAT_CHECK(memcmp(digests[0], digests[1], 32) != 0);
    stop_failing();
}

static void aes_and_gcm__provider_fails__is_an_error_for_the_caller(void)
{
    static const uint8_t key[16] = {7}, iv[16] = {1};
    uint8_t text[24] = "text", tag[16];
    struct leat_span none = {NULL, 0};
    struct leat_aes a;
    struct leat_gcm g;

    use_failing_provider();
    LEAT_CHECK_INT(leat_gcm_init(&g, key, sizeof(key)), 0);
    LEAT_CHECK_INT(leat_gcm_seal(&g, iv, none, text, sizeof(text), text, tag), 0);
    is_failing = true;
    LEAT_CHECK_INT(leat_aes_init(&a, key, sizeof(key)), LEAT_E_CRYPTO);
    LEAT_CHECK_INT(leat_aes_ctr(&a, iv, text, sizeof(text), text), LEAT_E_CRYPTO);
    leat_aes_deinit(&a);
    LEAT_CHECK_INT(leat_gcm_open(&g, iv, none, text, sizeof(text), tag, text), LEAT_E_CRYPTO);
    LEAT_CHECK(is_all_zero(text, sizeof(text)));
    leat_gcm_deinit(&g);
    stop_failing();
}

/* The random generator does not depend on the choice. */
static void rng__provider_fails__goes_on(void)
{
    static const uint8_t seed[32] = {9};
    struct leat_rng r;
    use_failing_provider();
    leat_rng_init_seeded(&r, seed);
    uint64_t before = leat_rng_u64(&r);
    is_failing = true;
    leat_rng_init_seeded(&r, seed);
    LEAT_CHECK(leat_rng_u64(&r) == before);
    stop_failing();
}

LEAT_TESTS(LEAT_TEST(known_answers__reference_provider__pass),
           LEAT_TEST(known_answers__one_function_lies__fail_for_its_primitive_only),
           LEAT_TEST(known_answers__a_batch_lies__fail_for_batches_only),
           LEAT_TEST(known_answers__primitive_not_served_or_too_large__fail_for_it),
           LEAT_TEST(choose__by_cost__takes_the_cheapest_for_each_primitive),
           LEAT_TEST(choose__a_wanted_one__takes_it_where_it_serves_and_others_elsewhere),
           LEAT_TEST(choose__a_liar__is_dropped_where_it_lies),
           LEAT_TEST(choose__no_provider_passes__is_an_error_and_changes_nothing),
           LEAT_TEST(start__every_provider_pinned__serves_what_it_can),
           LEAT_TEST(start__a_highest_level__nothing_above_it_serves),
           LEAT_TEST(start__unknown_provider_or_level__is_refused),
           LEAT_TEST(hmac_and_digest__provider_fails__give_octets_nobody_knows),
           LEAT_TEST(aes_and_gcm__provider_fails__is_an_error_for_the_caller),
           LEAT_TEST(rng__provider_fails__goes_on))
