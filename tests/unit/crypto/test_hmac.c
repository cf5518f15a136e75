/* SPDX-License-Identifier: MIT */
/* The seven cases of RFC 2202 3, through every form of the interface. */
#include <leat/crypto.h>

#include "harness.h"
#include "hex.h"

static const struct {
    const char *key; /* hex; repeated octets are written once with their count */
    size_t key_count;
    const char *text;
    size_t text_count;
    const char *tag;
} rows[] = {
    {"0b", 20, "Hi There", 1, "b617318655057264e28bc0b6fb378c8ef146be00"},
    {"4a656665", 1, "what do ya want for nothing?", 1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
    {"aa", 20, "\xdd", 50, "125d7342b9ac11cd91a39af48aa17b4f63f175d3"},
    {"0102030405060708090a0b0c0d0e0f10111213141516171819", 1, "\xcd", 50,
     "4c9007f4026250c6bc8414f9bf50c86c2d7235da"},
    {"0c", 20, "Test With Truncation", 1, "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"},
    {"aa", 80, "Test Using Larger Than Block-Size Key - Hash Key First", 1,
     "aa4ae5e15272d00e95705637ce8a3b55ed402112"},
    {"aa", 80, "Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data", 1,
     "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"},
};

struct hmac_case {
    struct leat_hmac_sha1 h;
    uint8_t text[128];
    size_t text_len;
    struct octets tag;
};

static size_t repeat(uint8_t *out, const void *data, size_t len, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        memcpy(out + i * len, data, len);
    }
    return len * count;
}

static struct hmac_case make_case(size_t row)
{
    struct hmac_case c;
    struct octets key_unit = from_hex(rows[row].key);
    uint8_t key[128];
    size_t key_len = repeat(key, key_unit.data, key_unit.len, rows[row].key_count);
    c.text_len = repeat(c.text, rows[row].text, strlen(rows[row].text), rows[row].text_count);
    c.tag = from_hex(rows[row].tag);
    leat_hmac_sha1_init(&c.h, key, key_len);
    return c;
}

static void hmac__rfc_2202_in_one_part__gives_the_tag_again_and_again(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct hmac_case c = make_case(i);
        struct leat_span part = leat_span(c.text, c.text_len);
        for (int times = 0; times < 3; times++) {
            uint8_t tag[20];
            leat_hmac_sha1(&c.h, &part, 1, tag);
            LEAT_CHECK_MEM(tag, 20, c.tag.data, c.tag.len);
        }
    }
}

static void hmac__rfc_2202_cut_anywhere__gives_the_same_tag(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct hmac_case c = make_case(i);
        for (size_t cut = 0; cut <= c.text_len; cut++) {
            struct leat_span parts[4] = {
                {NULL, 0},
                leat_span(c.text, cut),
                leat_span(c.text + cut, (c.text_len - cut) / 2),
                leat_span(c.text + cut + (c.text_len - cut) / 2, (c.text_len - cut + 1) / 2),
            };
            uint8_t tag[20];
            leat_hmac_sha1(&c.h, parts, 4, tag);
            LEAT_CHECK_MEM(tag, 20, c.tag.data, c.tag.len);
        }
    }
}

static void hmac_batch__rfc_2202__gives_the_tags(void)
{
    struct hmac_case cases[LEAT_ARRAY_LEN(rows)];
    struct leat_hmac_sha1_job jobs[100];
    uint8_t tags[LEAT_ARRAY_LEN(jobs)][20];
    for (size_t i = 0; i < LEAT_ARRAY_LEN(cases); i++) {
        cases[i] = make_case(i);
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(jobs); i++) {
        const struct hmac_case *c = &cases[i % LEAT_ARRAY_LEN(cases)];
        jobs[i] = (struct leat_hmac_sha1_job){&c->h, leat_span(c->text, c->text_len), tags[i]};
    }
    leat_hmac_sha1_batch(jobs, 0);
    leat_hmac_sha1_batch(jobs, LEAT_ARRAY_LEN(jobs));
    for (size_t i = 0; i < LEAT_ARRAY_LEN(jobs); i++) {
        const struct hmac_case *c = &cases[i % LEAT_ARRAY_LEN(cases)];
        LEAT_CHECK_MEM(tags[i], 20, c->tag.data, c->tag.len);
    }
}

/* hmac.new(b"", b"", "sha1") of Python's hmac. */
static void hmac__empty_key_and_message__give_the_known_tag(void)
{
    struct leat_hmac_sha1 h;
    uint8_t tag[20];
    leat_hmac_sha1_init(&h, NULL, 0);
    leat_hmac_sha1(&h, NULL, 0, tag);
    LEAT_CHECK_MEM(tag, 20, from_hex("fbdb1d1b18aa6c08324b7d64b71fb76370690e1d").data, 20);
}

/* Around the block size, where a key stops being padded and starts being hashed. By Python's hmac:
 * key bytes(range(n)), message b"leat". */
static void hmac__key_as_long_as_a_block__is_not_hashed(void)
{
    static const struct {
        size_t key_len;
        const char *tag;
    } keys[] = {{63, "a18a8cf0c9c1f3e4a7f11f732c4bb513287ef340"},
                {64, "199708d6a4728e15e6d6971eec133492b3a57e66"},
                {65, "81babc2ab159fa400b0372642866c4efb8b1e028"}};
    uint8_t key[66], tag[20];
    struct leat_span part = leat_span_str("leat");
    for (size_t i = 0; i < sizeof(key); i++) {
        key[i] = (uint8_t)i;
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(keys); i++) {
        struct leat_hmac_sha1 h;
        leat_hmac_sha1_init(&h, key, keys[i].key_len);
        leat_hmac_sha1(&h, &part, 1, tag);
        LEAT_CHECK_MEM(tag, 20, from_hex(keys[i].tag).data, 20);
    }
}

static void hmac__deinit__keeps_nothing(void)
{
    struct hmac_case c = make_case(0);
    LEAT_CHECK(!is_all_zero(&c.h, sizeof(c.h)));
    leat_hmac_sha1_deinit(&c.h);
    LEAT_CHECK(is_all_zero(&c.h, sizeof(c.h)));
}

LEAT_TESTS(LEAT_TEST(hmac__rfc_2202_in_one_part__gives_the_tag_again_and_again),
           LEAT_TEST(hmac__rfc_2202_cut_anywhere__gives_the_same_tag),
           LEAT_TEST(hmac_batch__rfc_2202__gives_the_tags),
           LEAT_TEST(hmac__empty_key_and_message__give_the_known_tag),
           LEAT_TEST(hmac__key_as_long_as_a_block__is_not_hashed),
           LEAT_TEST(hmac__deinit__keeps_nothing))
