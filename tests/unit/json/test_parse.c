/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <leat/json.h>

static const char *explain(const char *text, char why[static LEAT_JSON_WHY_MAX])
{
    leat_json *j = leat_json_parse(leat_span_str(text), why);
    LEAT_CHECK(j == NULL);
    leat_json_free(j);
    return why;
}

static void why__each_kind_of_fault__names_the_place(void)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "line 1, column 1: expected a value"},
        {"{\"a\":\n  01}", "line 2, column 3: not a number"},
        {"[1,\n2,\n\n  x]", "line 4, column 3: expected a value"},
        {"{\"a\":1} x", "line 1, column 9: text behind the document"},
        {"{\"\xc3\xa9\xe2\x82\xac\":x}", "line 1, column 7: expected a value"},
        {"{\"a\":1,\n \"b\":2, \"a\":3}", "line 2, column 9: \"a\" appears twice in one object"},
        {"[\"a\x01\"]", "line 1, column 4: a control character"},
        {"[\"\xff\"]", "line 1, column 3: not UTF-8"},
        {"\xef\xbb\xbf{}", "line 1, column 1: a byte order mark is not allowed"},
        {"\"\\u0000\"", "line 1, column 2: \\u0000 is not allowed"},
        {"\"\\ud800\"", "line 1, column 2: half of a surrogate pair"},
        {"\"\\q\"", "line 1, column 2: an unknown escape"},
        {"\"a\nb\"", "line 1, column 3: a control character in a string"},
        {"[\"abc", "line 1, column 2: a string without an end"},
        {"{\"a\" 1}", "line 1, column 6: expected ':'"},
        {"{\"a\":1", "line 1, column 7: expected ',' or '}'"},
        {"[1 2]", "line 1, column 4: expected ',' or ']'"},
        {"{a:1}", "line 1, column 2: expected a key in double quotes"},
        {"1e999", "line 1, column 1: a number out of range"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        char why[LEAT_JSON_WHY_MAX];
        LEAT_CHECK_STR(explain(rows[i].text, why), rows[i].why);
    }
}

static void why__long_key_twice__is_cut_between_characters(void)
{
    char text[400], why[LEAT_JSON_WHY_MAX], key[151] = {0};
    for (size_t i = 0; i < 50; i++) {
        memcpy(key + 3 * i, "\xe2\x82\xac", 3);
    }
    (void)snprintf(text, sizeof(text), "{\"x%s\":1,\"x%s\":2}", key, key);
    key[45] = '\0';
    char expected[256];
    (void)snprintf(expected, sizeof(expected),
                   "line 1, column 58: \"x%s\" appears twice in one object", key);
    LEAT_CHECK_STR(explain(text, why), expected);
}

static void why__text_over_the_limit__says_the_limit(void)
{
    static char text[LEAT_JSON_LINE_MAX + 2];
    char why[LEAT_JSON_WHY_MAX];
    memset(text, ' ', sizeof(text) - 1);
    LEAT_CHECK_STR(explain(text, why), "longer than 262144 octets");
    LEAT_CHECK(leat_json_parse_commented(leat_span_str(text), why) == NULL);
    LEAT_CHECK_STR(why, "longer than 262144 octets");
}

/** The document written again, or the reason why it is none. */
static void check_commented(size_t row, const char *text, const char *expected)
{
    char why[LEAT_JSON_WHY_MAX];
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    leat_json *j = leat_json_parse_commented(leat_span_str(text), why);
    if (j) {
        leat_json_write_value(&w, j);
    }
    const char *found = j ? w.text : why;
    LEAT_CHECK_ROW(row, strcmp(found, expected) == 0);
    LEAT_CHECK_STR(found, expected);
    leat_json_writer_deinit(&w);
    leat_json_free(j);
}

static void commented__comments_and_trailing_commas__are_taken_away(void)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"// a\n{ /* b */ \"k\" /**/ : 1, // c\n}", "{\"k\":1}"},
        {"[1,2,]", "[1,2]"},
        {"[1,2, // last\n /* really */ ]", "[1,2]"},
        {"{\"a\":[1,],\"b\":{\"c\":2,},}", "{\"a\":[1],\"b\":{\"c\":2}}"},
        {"{\"url\":\"http://x/*y*/,]\"}", "{\"url\":\"http://x/*y*/,]\"}"},
        {"[\"a\\\"// b\",]", "[\"a\\\"// b\"]"},
        {"[\"\\\\\",]// x", "[\"\\\\\"]"},
        {"1 /* * / ** */", "1"},
        {"1//", "1"},
        {"[\"\",]", "[\"\"]"},
        {"/* \xe2\x82\xac */ [true,]", "[true]"},
        /* still no JSON */
        {"[,]", "line 1, column 2: expected a value"},
        {"{,}", "line 1, column 2: expected a key in double quotes"},
        {"[1,,]", "line 1, column 4: expected a value"},
        {"{\"a\":,}", "line 1, column 6: expected a value"},
        {"[1],", "line 1, column 4: text behind the document"},
        {"1 / 2", "line 1, column 3: text behind the document"},
        {"# no\n1", "line 1, column 1: expected a value"},
        {"1 /* open", "line 1, column 3: a comment without an end"},
        {"1 /*/", "line 1, column 3: a comment without an end"},
        {"1 /* \xff */", "line 1, column 6: not UTF-8"},
        {"1 // \x01", "line 1, column 6: a control character"},
        {"/* nothing */", "line 1, column 14: expected a value"},
        {"", "line 1, column 1: expected a value"},
        /* positions are the file's */
        {"{ // \xe2\x82\xac\n  /* \xe2\x82\xac\n */ \"a\": 1, \"a\": 2 }",
         "line 3, column 13: \"a\" appears twice in one object"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        check_commented(i, rows[i].text, rows[i].expected);
    }
}

static void commented__plain_parse__knows_no_comments(void)
{
    char why[LEAT_JSON_WHY_MAX];
    LEAT_CHECK_STR(explain("1 // x", why), "line 1, column 3: text behind the document");
    LEAT_CHECK_STR(explain("[1,]", why), "line 1, column 4: expected a value");
}

LEAT_TESTS(LEAT_TEST(why__each_kind_of_fault__names_the_place),
           LEAT_TEST(why__long_key_twice__is_cut_between_characters),
           LEAT_TEST(why__text_over_the_limit__says_the_limit),
           LEAT_TEST(commented__comments_and_trailing_commas__are_taken_away),
           LEAT_TEST(commented__plain_parse__knows_no_comments))
