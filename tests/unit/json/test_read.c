/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <leat/json.h>

#include <stdlib.h>

static leat_json *parse(const char *text)
{
    char why[LEAT_JSON_WHY_MAX];
    leat_json *j = leat_json_parse(leat_span_str(text), why);
    if (!j) {
        fprintf(stderr, "%s: %s\n", text, why);
        abort();
    }
    return j;
}

static void type__of_each_value__is_named(void)
{
    static const struct {
        const char *text;
        enum leat_json_type type;
        const char *name;
    } rows[] = {
        {"null", LEAT_JSON_NULL, "null"},           {"true", LEAT_JSON_BOOL, "true or false"},
        {"false", LEAT_JSON_BOOL, "true or false"}, {"0", LEAT_JSON_NUMBER, "a number"},
        {"\"\"", LEAT_JSON_STRING, "a string"},     {"[]", LEAT_JSON_ARRAY, "an array"},
        {"{}", LEAT_JSON_OBJECT, "an object"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json *j = parse(rows[i].text);
        LEAT_CHECK_INT(leat_json_type_of(j), rows[i].type);
        LEAT_CHECK_STR(leat_json_type_text(rows[i].type), rows[i].name);
        leat_json_free(j);
    }
}

static void member__other_case__is_another_key(void)
{
    leat_json *j = parse("{\"SSRC\":1,\"ssrc\":2,\"x\":null}");
    int64_t v = 0;
    LEAT_CHECK(leat_json_int(leat_json_get(j, "ssrc"), &v));
    LEAT_CHECK_INT(v, 2);
    LEAT_CHECK(leat_json_int(leat_json_get(j, "SSRC"), &v));
    LEAT_CHECK_INT(v, 1);
    LEAT_CHECK(leat_json_get(j, "Ssrc") == NULL);
    LEAT_CHECK(leat_json_get(j, "x") != NULL);
    LEAT_CHECK(leat_json_get(j, "") == NULL);
    leat_json_free(j);
}

static void walk__members_and_elements__come_in_order(void)
{
    leat_json *j = parse("{\"b\":[10,20,30],\"a\":{},\"\":0}");
    LEAT_CHECK_INT(leat_json_count(j), 3);
    const leat_json *m = leat_json_first(j);
    LEAT_CHECK_STR(leat_json_key(m), "b");
    LEAT_CHECK_INT(leat_json_count(m), 3);
    int64_t sum = 0, v;
    for (const leat_json *e = leat_json_first(m); e; e = leat_json_next(e)) {
        LEAT_CHECK(leat_json_int(e, &v));
        LEAT_CHECK_STR(leat_json_key(e), "");
        sum = sum * 100 + v;
    }
    LEAT_CHECK_INT(sum, 102030);
    m = leat_json_next(m);
    LEAT_CHECK_STR(leat_json_key(m), "a");
    LEAT_CHECK_INT(leat_json_count(m), 0);
    m = leat_json_next(m);
    LEAT_CHECK_STR(leat_json_key(m), "");
    LEAT_CHECK(leat_json_next(m) == NULL);
    leat_json_free(j);
}

static void int__exact_values__and_nothing_else(void)
{
    static const struct {
        const char *text;
        bool is_int;
        int64_t value;
    } rows[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"-1", true, -1},
        {"1e3", true, 1000},
        {"1.0", true, 1},
        {"2147483647", true, 2147483647},
        {"2147483648", true, 2147483648},
        {"4294967295", true, 4294967295},
        {"-2147483649", true, -2147483649},
        {"9007199254740991", true, 9007199254740991},
        {"-9007199254740991", true, -9007199254740991},
        {"9007199254740992", false, 0}, /* is also what 2^53 + 1 becomes */
        {"9007199254740993", false, 0},
        {"-9007199254740992", false, 0},
        {"18446744073709551615", false, 0},
        {"1e300", false, 0},
        {"0.5", false, 0},
        {"-1.5", false, 0},
        {"4503599627370495.5", false, 0},
        {"1e-300", false, 0},
        {"\"1\"", false, 0},
        {"true", false, 0},
        {"null", false, 0},
        {"[1]", false, 0},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json *j = parse(rows[i].text);
        int64_t v = 12345;
        LEAT_CHECK_ROW(i, leat_json_int(j, &v) == rows[i].is_int);
        LEAT_CHECK_ROW(i, v == (rows[i].is_int ? rows[i].value : 12345));
        leat_json_free(j);
    }
}

static void string__escapes__are_decoded_to_utf8(void)
{
    leat_json *j = parse("\"a\\n\\u00e9\\u20ac\\ud83d\\ude00\\/\"");
    struct leat_span text = {NULL, 0};
    LEAT_CHECK(leat_json_string(j, &text));
    LEAT_CHECK_MEM(text.data, text.len, "a\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80/", (size_t)12);
    leat_json_free(j);
}

static void values__of_another_type__are_not_read(void)
{
    leat_json *j = parse("{\"s\":\"x\",\"n\":1.5,\"t\":true,\"f\":false,\"z\":null}");
    const leat_json *s = leat_json_get(j, "s"), *n = leat_json_get(j, "n");
    const leat_json *t = leat_json_get(j, "t"), *z = leat_json_get(j, "z");
    struct leat_span text;
    double d = 0;
    bool b = false;
    LEAT_CHECK(leat_json_string(s, &text) && !leat_json_string(n, &text) &&
               !leat_json_string(z, &text) && !leat_json_string(j, &text));
    LEAT_CHECK(leat_json_number(n, &d) && !leat_json_number(s, &d) && !leat_json_number(t, &d));
    LEAT_CHECK(d > 1.49 && d < 1.51);
    LEAT_CHECK(leat_json_bool(t, &b) && b);
    LEAT_CHECK(leat_json_bool(leat_json_get(j, "f"), &b) && !b);
    LEAT_CHECK(!leat_json_bool(n, &b) && !leat_json_bool(z, &b) && !leat_json_bool(s, &b));
    LEAT_CHECK(leat_json_get(s, "x") == NULL);
    leat_json_free(j);
}

static void absent__every_reader__takes_null(void)
{
    struct leat_span text;
    int64_t i;
    double d;
    bool b;
    LEAT_CHECK_INT(leat_json_type_of(NULL), LEAT_JSON_NULL);
    LEAT_CHECK(leat_json_get(NULL, "a") == NULL);
    LEAT_CHECK(leat_json_first(NULL) == NULL && leat_json_next(NULL) == NULL);
    LEAT_CHECK_STR(leat_json_key(NULL), "");
    LEAT_CHECK_INT(leat_json_count(NULL), 0);
    LEAT_CHECK(!leat_json_string(NULL, &text) && !leat_json_int(NULL, &i));
    LEAT_CHECK(!leat_json_number(NULL, &d) && !leat_json_bool(NULL, &b));
    leat_json_free(NULL);
}

static void member_text__stands_as_it_was_written(void)
{
    static const struct {
        const char *text, *key, *expected;
    } rows[] = {
        {"{\"id\":9007199254740993}", "id", "9007199254740993"},
        {" { \"a\" : {\"id\":1} , \"id\" : -18446744073709551615 } ", "id",
         "-18446744073709551615"},
        {"{\"a\":[1,{\"b\":\"}\"}],\"\\u0069d\":1.50,\"ID\":2}", "id", "1.50"},
        {"{\"id\":\"a\\\"b\"}", "id", "\"a\\\"b\""},
        {"{\"a\":{\"id\":1}}", "id", NULL},
        {"{}", "id", NULL},
        {"[\"id\",1]", "id", NULL},
        {"7", "id", NULL},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_span out = {NULL, 0};
        leat_json_free(parse(rows[i].text));
        bool is_there = leat_json_member_text(leat_span_str(rows[i].text), rows[i].key, &out);
        LEAT_CHECK_ROW(i, is_there == (rows[i].expected != NULL));
        LEAT_CHECK_ROW(i, !is_there || leat_span_equal(out, leat_span_str(rows[i].expected)));
    }
}

LEAT_TESTS(LEAT_TEST(type__of_each_value__is_named), LEAT_TEST(member__other_case__is_another_key),
           LEAT_TEST(walk__members_and_elements__come_in_order),
           LEAT_TEST(int__exact_values__and_nothing_else),
           LEAT_TEST(string__escapes__are_decoded_to_utf8),
           LEAT_TEST(values__of_another_type__are_not_read),
           LEAT_TEST(absent__every_reader__takes_null),
           LEAT_TEST(member_text__stands_as_it_was_written))
