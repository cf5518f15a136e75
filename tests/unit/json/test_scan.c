/* SPDX-License-Identifier: MIT */
/*
 * What is JSON and what is not, by RFC 8259, RFC 3629 and the limits of json.h. Texts with a length
 * of their own carry octets that end a C string.
 */
#include "harness.h"

#include <leat/json.h>

#include <stdlib.h>

struct row {
    const char *text;
    size_t len; /* 0: that of the string */
};

/** Parses a copy that is exactly as long as the text, so that a read past its end is seen. */
static bool is_taken(const char *text, size_t len)
{
    char why[LEAT_JSON_WHY_MAX];
    char *copy = malloc(len + 1);
    if (!copy) {
        abort();
    }
    memcpy(copy + 1, text, len);
    leat_json *j = leat_json_parse(leat_span(copy + 1, len), why);
    free(copy);
    bool is_right = j != NULL;
    LEAT_CHECK((why[0] == '\0') == is_right);
    LEAT_CHECK(strcmp(why, "out of memory") != 0); /* what cJSON alone refuses looks like that */
    leat_json_free(j);
    return is_right;
}

static void check_rows(const struct row *rows, size_t count, bool expected)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = rows[i].len != 0 ? rows[i].len : strlen(rows[i].text);
        LEAT_CHECK_ROW(i, is_taken(rows[i].text, len) == expected);
    }
}

#define TAKEN(...)                                                                                 \
    static const struct row rows[] = {__VA_ARGS__};                                                \
    check_rows(rows, LEAT_ARRAY_LEN(rows), true)
#define REFUSED(...)                                                                               \
    static const struct row rows[] = {__VA_ARGS__};                                                \
    check_rows(rows, LEAT_ARRAY_LEN(rows), false)
#define T(text)                                                                                    \
    {                                                                                              \
        text, 0                                                                                    \
    }
#define N(text)                                                                                    \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

static void grammar__right_texts__are_taken(void)
{
    TAKEN(T("{}"), T("[]"), T("null"), T("true"), T("false"), T("0"), T("\"\""),
          T(" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } } \n"), T("[[[]],{}]"),
          T("[null,true,false,\"x\",-1]"), T("{\"a\":1,\"A\":2}"), T("{\"\":1}"),
          T("[{\"a\":1},{\"a\":2}]"), T("{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}"));
}

static void grammar__wrong_texts__are_refused(void)
{
    REFUSED(T(""), T(" "), T("{"), T("}"), T("["), T("]"), T("[1"), T("[1,"), T("[1,]"), T("[,1]"),
            T("[1 2]"), T("[1,,2]"), T("{\"a\"}"), T("{\"a\":}"), T("{\"a\":1,}"), T("{\"a\" 1}"),
            T("{a:1}"), T("{'a':1}"), T("{1:1}"), T("{,}"), T("[1}"), T("{\"a\":1]"), T("nul"),
            T("nulll"), T("True"), T("NULL"), T("undefined"), T("NaN"), T("Infinity"),
            T("-Infinity"), T("\"a"), T("'a'"), T("// x\n1"), T("1 // x"), T("/**/1"), T("\f1"),
            T("\xc2\xa0"
              "1"));
}

static void trailing__text_behind_the_document__is_refused(void)
{
    REFUSED(T("{\"op\":1}{\"op\":2}"), T("{\"op\":\"ping\"}xyz"), T("1 2"), T("[] ]"), T("{},"),
            N("{}\0"), N("{}\0{}"), T("\"a\"\"b\""));
}

static void number__right_forms__are_taken(void)
{
    TAKEN(T("-0"), T("10"), T("1.5"), T("-1.25e3"), T("1E5"), T("1e+5"), T("1e-5"), T("0.0"),
          T("0e0"), T("1e308"), T("1e-400"), T("9007199254740993"),
          T("123456789012345678901234567890123456789012345678901234567890123"));
}

static void number__wrong_forms__are_refused(void)
{
    REFUSED(T("+1"), T("01"), T("-01"), T("00"), T("-"), T("1."), T(".5"), T("1.e5"), T("1e"),
            T("1e+"), T("0x10"), T("1_000"), T("1,5"), T("--1"), T("1.2.3"), T("1e5.5"), T("1e999"),
            T("-1e999"), T("[1e999]"), T("[-]"), T("[1.]"), T("[01]"),
            T("1234567890123456789012345678901234567890123456789012345678901234"));
}

static void string__right_escapes__are_taken(void)
{
    TAKEN(T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), T("\"\\u0001\\u00e9\\uFFFF\""),
          T("\"\\ud83d\\ude00\""), T("\"\\uD800\\uDC00\""), T("\"\\uDBFF\\uDFFF\""), T("\"\x7f\""),
          T("\"/\""));
}

static void string__wrong_escapes__are_refused(void)
{
    REFUSED(T("\"\\x41\""), T("\"\\a\""), T("\"\\'\""), T("\"\\U0041\""), T("\"\\u\""),
            T("\"\\u12\""), T("\"\\u123g\""), T("\"\\u 123\""), T("\"\\"), T("\"\\\""),
            T("\"\\u00"), N("\"\\\0\""));
}

static void string__nul_in_any_form__is_refused(void)
{
    REFUSED(T("\"\\u0000\""), T("\"a\\u0000b\""), T("{\"op\":\"x\\u0000\"}"),
            T("{\"op\":\"peer.remove\",\"id\":\"p1\\u0000zz\"}"), T("{\"peer\\u0000x\":1}"),
            N("\"a\0b\""), N("{\"a\":\0 1}"), N("\0"), N("[1\0]"));
}

static void string__half_a_surrogate_pair__is_refused(void)
{
    REFUSED(T("\"\\ud83d\""), T("\"\\ude00\""), T("\"\\ud83dx\""), T("\"\\ud83d\\n\""),
            T("\"\\ud83d\\u0041\""), T("\"\\ud83d\\ud83d\""), T("\"\\ude00\\ud83d\""),
            T("\"\\ude00\\ude00\""), T("\"\\ud83d\\ude0\""), T("\"\\ud83d\\"),
            T("{\"\\ud83d\":1}"));
}

static void string__control_octets__are_refused(void)
{
    for (unsigned c = 0; c < 0x20; c++) {
        char inside[] = {'"', (char)c, '"'};
        LEAT_CHECK_ROW(c, !is_taken(inside, sizeof(inside)));
        bool is_blank = c == '\t' || c == '\n' || c == '\r';
        char between[] = {'[', (char)c, ']'};
        LEAT_CHECK_ROW(c, is_taken(between, sizeof(between)) == is_blank);
    }
}

static void utf8__well_formed__is_taken(void)
{
    TAKEN(T("\"\xc2\x80\xdf\xbf\""), T("\"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\""),
          T("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""), T("{\"\xc3\xa9\":\"\xe2\x82\xac\"}"));
}

static void utf8__malformed__is_refused(void)
{
    REFUSED(T("\"\xff\xfe\""), T("\"\xc0\xaf\""), T("\"\xc1\xbf\""), T("\"\x80\""), T("\"\xbf\""),
            T("\"\xc3\""), T("\"\xc3"), T("\"\xe0\x80\x80\""), T("\"\xe0\x9f\xbf\""),
            T("\"\xe2\x82\""), T("\"\xe2\x82"), T("\"\xe2\x28\xa1\""), T("\"\xed\xa0\x80\""),
            T("\"\xed\xbf\xbf\""), T("\"\xf0\x8f\xbf\xbf\""), T("\"\xf0\x90\x80\""),
            T("\"\xf0\x90\x28\x80\""), T("\"\xf4\x90\x80\x80\""), T("\"\xf5\x80\x80\x80\""),
            T("\"\xf8\x88\x80\x80\x80\""), T("{\"op\":\"stats\",\"id\":\"\xff\xfe\"}"),
            T("\xef\xbb\xbf{}"), T("[\xef\xbb\xbf]"), T("\xff"));
}

static void keys__twice_in_one_object__are_refused(void)
{
    REFUSED(T("{\"peer\":\"a\",\"peer\":\"b\"}"), T("{\"a\":1,\"b\":2,\"a\":1}"),
            T("{\"a\":1,\"\\u0061\":2}"), T("{\"\\u0061\":1,\"\\u0061\":2}"),
            T("{\"\xc3\xa9\":1,\"\\u00e9\":2}"), T("{\"\xe2\x82\xac\":1,\"\\u20AC\":2}"),
            T("{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\ude00\":2}"), T("{\"/\":1,\"\\/\":2}"),
            T("{\"\xd0\x80\":1,\"\\u0400\":2}"), T("{\"\\n\":1,\"\\u000a\":2}"),
            T("{\"\\b\\f\\r\\t\":1,\"\\u0008\\u000c\\u000d\\u0009\":2}"),
            T("{\"\\\"\":1,\"\\u0022\":2}"), T("{\"\":1,\"\":2}"), T("[{\"x\":{\"a\":1,\"a\":1}}]"),
            T("{\"x\":{\"a\":1},\"y\":[{\"a\":2}],\"x\":3}"));
}

static void keys__that_only_look_alike__are_taken(void)
{
    TAKEN(T("{\"a\":1,\"ab\":2,\"\":3,\"b\":4}"), T("{\"a\":1,\"\\u0062\":2}"),
          T("{\"a\":1,\"A\":2}"), T("{\"\\\\n\":1,\"\\n\":2}"),
          T("{\"a\\u0301\":1,\"\xc3\xa1\":2}"), T("{\"\\ud83d\\ude00\":1,\"\\ud83d\\ude01\":2}"));
}

static char *make(const char *open, const char *part, size_t times, const char *close)
{
    size_t part_len = strlen(part), at = strlen(open);
    char *text = malloc(at + part_len * times + strlen(close) + 1);
    if (!text) {
        abort();
    }
    memcpy(text, open, at);
    for (size_t i = 0; i < times; i++) {
        memcpy(text + at, part, part_len);
        at += part_len;
    }
    memcpy(text + at, close, strlen(close) + 1);
    return text;
}

static bool is_made_taken(const char *open, const char *part, size_t times, const char *close)
{
    char *text = make(open, part, times, close);
    bool is_right = is_taken(text, strlen(text));
    free(text);
    return is_right;
}

static void depth__up_to_the_limit__is_taken(void)
{
    char close[LEAT_JSON_DEPTH_MAX + 2] = {0};
    memset(close, ']', LEAT_JSON_DEPTH_MAX);
    LEAT_CHECK(is_made_taken("", "[", LEAT_JSON_DEPTH_MAX, close));
    close[LEAT_JSON_DEPTH_MAX] = ']';
    LEAT_CHECK(!is_made_taken("", "[", LEAT_JSON_DEPTH_MAX + 1, close));
    LEAT_CHECK(!is_made_taken("", "[", 1000, ""));
    LEAT_CHECK(!is_made_taken("", "[", LEAT_JSON_LINE_MAX, ""));
    LEAT_CHECK(!is_made_taken("", "{\"a\":", 40000, ""));
    /* breadth is no depth */
    LEAT_CHECK(is_made_taken("[[]", ",[[]]", 1000, "]"));
}

static void size__up_to_the_limits__is_taken(void)
{
    LEAT_CHECK(is_made_taken("\"", "x", LEAT_JSON_LINE_MAX - 2, "\""));
    LEAT_CHECK(!is_made_taken("\"", "x", LEAT_JSON_LINE_MAX - 1, "\""));
    LEAT_CHECK(is_made_taken("[0", ",0", LEAT_JSON_VALUES_MAX - 2, "]"));
    LEAT_CHECK(!is_made_taken("[0", ",0", LEAT_JSON_VALUES_MAX - 1, "]"));
}

/** An object of `count` keys of which the last is `last`. */
static bool is_object_taken(unsigned count, const char *last)
{
    char *text = malloc((size_t)count * 12 + 64);
    if (!text) {
        abort();
    }
    size_t len = (size_t)sprintf(text, "{");
    for (unsigned i = 1; i < count; i++) {
        len += (size_t)sprintf(text + len, "\"%x\":0,", i);
    }
    len += (size_t)sprintf(text + len, "\"%s\":0}", last);
    bool is_right = is_taken(text, len);
    free(text);
    return is_right;
}

static void keys__twenty_thousand__are_compared(void)
{
    LEAT_CHECK(is_object_taken(20000, "last"));
    LEAT_CHECK(!is_object_taken(20000, "2710"));
    LEAT_CHECK(!is_object_taken(20000, "\\u0031"));
}

LEAT_TESTS(LEAT_TEST(grammar__right_texts__are_taken), LEAT_TEST(grammar__wrong_texts__are_refused),
           LEAT_TEST(trailing__text_behind_the_document__is_refused),
           LEAT_TEST(number__right_forms__are_taken), LEAT_TEST(number__wrong_forms__are_refused),
           LEAT_TEST(string__right_escapes__are_taken),
           LEAT_TEST(string__wrong_escapes__are_refused),
           LEAT_TEST(string__nul_in_any_form__is_refused),
           LEAT_TEST(string__half_a_surrogate_pair__is_refused),
           LEAT_TEST(string__control_octets__are_refused), LEAT_TEST(utf8__well_formed__is_taken),
           LEAT_TEST(utf8__malformed__is_refused),
           LEAT_TEST(keys__twice_in_one_object__are_refused),
           LEAT_TEST(keys__that_only_look_alike__are_taken),
           LEAT_TEST(depth__up_to_the_limit__is_taken), LEAT_TEST(size__up_to_the_limits__is_taken),
           LEAT_TEST(keys__twenty_thousand__are_compared))
