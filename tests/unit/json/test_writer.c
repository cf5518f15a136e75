/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <leat/json.h>

#include <math.h>
#include <stdlib.h>

static void check_text(struct leat_json_writer *w, const char *expected)
{
    LEAT_CHECK(!w->failed);
    LEAT_CHECK_STR(w->text, expected);
    LEAT_CHECK_INT(w->len, strlen(expected));
    LEAT_CHECK_INT(w->depth, 0);
    leat_json_writer_reset(w);
}

static void structure__nested__has_its_commas(void)
{
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    leat_json_open(&w, '{');
    leat_json_put_text(&w, "a", "x");
    leat_json_write_key(&w, "b");
    leat_json_open(&w, '[');
    leat_json_write_null(&w);
    leat_json_write_bool(&w, true);
    leat_json_open(&w, '{');
    leat_json_close(&w, '}');
    leat_json_open(&w, '[');
    leat_json_close(&w, ']');
    leat_json_write_raw(&w, leat_span_str("{\"r\":1}"));
    leat_json_write_i64(&w, -5);
    leat_json_close(&w, ']');
    leat_json_put_bool(&w, "c", false);
    leat_json_put_i64(&w, "d", INT64_MIN);
    leat_json_put_u64(&w, "e", UINT64_MAX);
    leat_json_put_double(&w, "f", 0.5);
    leat_json_close(&w, '}');
    check_text(&w, "{\"a\":\"x\",\"b\":[null,true,{},[],{\"r\":1},-5],\"c\":false,"
                   "\"d\":-9223372036854775808,\"e\":18446744073709551615,\"f\":0.5}");
    leat_json_writer_deinit(&w);
}

static void structure__documents_in_a_row__are_not_joined(void)
{
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    for (int i = 0; i < 2; i++) {
        leat_json_open(&w, '[');
        leat_json_write_i64(&w, i);
        leat_json_close(&w, ']');
        leat_json_write_raw(&w, leat_span_str("\n"));
    }
    check_text(&w, "[0]\n[1]\n");
    leat_json_writer_deinit(&w);
}

static void string__special_octets__are_escaped(void)
{
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    leat_json_write_text(&w, "\"\\/\b\f\n\r\t\x01\x1f\x7f \xc3\xa9\xf0\x9f\x98\x80");
    check_text(&w,
               "\"\\\"\\\\/\\u0008\\u000c\\n\\r\\t\\u0001\\u001f\x7f \xc3\xa9\xf0\x9f\x98\x80\"");
    leat_json_write_span(&w, leat_span("a\0b", 3));
    check_text(&w, "\"a\\u0000b\"");
    leat_json_write_span(&w, leat_span(NULL, 0));
    check_text(&w, "\"\"");
    leat_json_open(&w, '{');
    leat_json_put_text(&w, "k\"\n", "");
    leat_json_close(&w, '}');
    check_text(&w, "{\"k\\\"\\n\":\"\"}");
    leat_json_writer_deinit(&w);
}

static void string__not_utf8__becomes_the_replacement_character(void)
{
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    leat_json_write_text(&w, "a\xff\xfe"
                             "b\xe2\x82");
    check_text(&w, "\"a\xef\xbf\xbd\xef\xbf\xbd"
                   "b\xef\xbf\xbd\xef\xbf\xbd\"");
    leat_json_writer_deinit(&w);
}

static void double__any_value__reads_back(void)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0"},
        {0.1, "0.1"},
        {-2.5, "-2.5"},
        {1e21, "1e+21"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1234567890.125, "1234567890.125"},
        {5e-324, "4.94065646e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
    };
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json_write_double(&w, rows[i].value);
        double back = strtod(w.text, NULL);
        LEAT_CHECK_ROW(i, !(back < rows[i].value) && !(back > rows[i].value));
        check_text(&w, rows[i].text);
    }
    leat_json_open(&w, '[');
    leat_json_write_double(&w, (double)INFINITY);
    leat_json_write_double(&w, -(double)INFINITY);
    leat_json_write_double(&w, (double)NAN);
    leat_json_close(&w, ']');
    check_text(&w, "[null,null,null]");
    leat_json_writer_deinit(&w);
}

static void value__parsed_document__is_written_again(void)
{
    static const struct {
        const char *text, *again;
    } rows[] = {
        {"{ \"b\" : [ 1 , null , true , false ] , \"a\" : { \"\" : \"\" } }",
         "{\"b\":[1,null,true,false],\"a\":{\"\":\"\"}}"},
        {"[9007199254740991,-9007199254740991,4294967296,2147483648]",
         "[9007199254740991,-9007199254740991,4294967296,2147483648]"},
        {"[1.5,1e3,-0,0.1]", "[1.5,1000,0,0.1]"},
        {"\"\\u00e9\\n\\u0001\\\"\\ud83d\\ude00\"", "\"\xc3\xa9\\n\\u0001\\\"\xf0\x9f\x98\x80\""},
        {"[]", "[]"},
    };
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        char why[LEAT_JSON_WHY_MAX];
        leat_json *j = leat_json_parse(leat_span_str(rows[i].text), why);
        LEAT_CHECK_STR(why, "");
        leat_json_write_value(&w, j);
        check_text(&w, rows[i].again);
        leat_json_free(j);
    }
    leat_json_writer_deinit(&w);
}

static void growth__long_text__is_kept_whole(void)
{
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    leat_json_open(&w, '[');
    for (int i = 0; i < 100000; i++) {
        leat_json_write_i64(&w, i % 10);
    }
    leat_json_close(&w, ']');
    LEAT_CHECK_INT(w.len, 200001);
    LEAT_CHECK_INT(w.text[1], '0');
    LEAT_CHECK_INT(w.text[199999], '9');
    size_t cap = w.cap;
    leat_json_writer_reset(&w);
    LEAT_CHECK_INT(w.len, 0);
    LEAT_CHECK_STR(w.text, "");
    LEAT_CHECK_INT(w.cap, cap);
    leat_json_writer_deinit(&w);
    LEAT_CHECK(w.text == NULL && w.cap == 0);
}

static void failure__no_memory__voids_every_write_until_reset(void)
{
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    leat_json_write_i64(&w, 1);
    leat_json_write_raw(&w, (struct leat_span){(const uint8_t *)"x", SIZE_MAX / 2});
    LEAT_CHECK(w.failed);
    leat_json_write_i64(&w, 2);
    LEAT_CHECK(w.failed);
    LEAT_CHECK_STR(w.text, "1");
    leat_json_writer_reset(&w);
    leat_json_write_i64(&w, 3);
    check_text(&w, "3");
    leat_json_writer_deinit(&w);
}

LEAT_TESTS(LEAT_TEST(structure__nested__has_its_commas),
           LEAT_TEST(structure__documents_in_a_row__are_not_joined),
           LEAT_TEST(string__special_octets__are_escaped),
           LEAT_TEST(string__not_utf8__becomes_the_replacement_character),
           LEAT_TEST(double__any_value__reads_back),
           LEAT_TEST(value__parsed_document__is_written_again),
           LEAT_TEST(growth__long_text__is_kept_whole),
           LEAT_TEST(failure__no_memory__voids_every_write_until_reset))
