/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "harness.h"
#include "scan.h"

static void scan__members__are_found(void)
{
    static const struct {
        const char *object, *key, *value; /* NULL: not there */
    } rows[] = {
        {"{\"a\":1}", "a", "1"},
        {" { \"a\" : 1 , \"b\" : [ 1 , 2 ] } ", "b", "[ 1 , 2 ]"},
        {"{\"x\":{\"a\":1},\"a\":2}", "a", "2"},
        {"{\"x\":\"}\\\"a\\\":1,\",\"a\":{\"b\":\"]\"}}", "a", "{\"b\":\"]\"}"},
        {"{\"a\":\"\\\\\",\"b\":true}", "b", "true"},
        {"{\"aa\":1}", "a", NULL},
        {"{}", "a", NULL},
        {"[\"a\"]", "a", NULL},
        {"", "a", NULL},
        {"{", "a", NULL},
        {"{\"a", "a", NULL},
        {"{\"a\"", "a", NULL},
        {"{\"b\":1", "a", NULL},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_span value = {NULL, 0};
        bool is_there = leat_ctl_scan_member(leat_span_str(rows[i].object), rows[i].key, &value);
        LEAT_CHECK_ROW(i, is_there == (rows[i].value != NULL));
        LEAT_CHECK_ROW(i, !is_there || leat_span_equal(value, leat_span_str(rows[i].value)));
    }
}

static void scan__elements__come_in_order(void)
{
    static const char array[] = " [ {\"a\":[1,2]} , \"x,]\" ,3, [] , null ] ";
    static const char *const elements[] = {"{\"a\":[1,2]}", "\"x,]\"", "3", "[]", "null "};
    struct leat_span element;
    size_t cursor = 0, count = 0;
    while (count < 8 && leat_ctl_scan_next(leat_span_str(array), &cursor, &element)) {
        LEAT_CHECK_ROW(count, count < LEAT_ARRAY_LEN(elements) &&
                                  leat_span_equal(element, leat_span_str(elements[count])));
        count++;
    }
    LEAT_CHECK_INT(count, LEAT_ARRAY_LEN(elements));
}

static void scan__what_is_no_array__has_no_elements(void)
{
    static const char *const texts[] = {"", "[]", "[ ]", "{}", "1", "[", "]", "null"};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(texts); i++) {
        struct leat_span element;
        size_t cursor = 0;
        LEAT_CHECK_ROW(i, !leat_ctl_scan_next(leat_span_str(texts[i]), &cursor, &element));
    }
}

/** Every prefix in memory of its own length, so that a read past the end is seen. */
static void scan__prefixes__end(void)
{
    static const char text[] = "{\"k\":\"a\\\"\",\"a\":[{\"b\":\"\\\\\"},[[1]],-1.5e3,true]}";
    for (size_t len = 0; len < sizeof text; len++) {
        uint8_t *copy = malloc(len != 0 ? len : 1);
        struct leat_span value = {NULL, 0}, element;
        size_t cursor = 0, count = 0;
        memcpy(copy, text, len);
        if (leat_ctl_scan_member(leat_span(copy, len), "a", &value)) {
            while (count <= len && leat_ctl_scan_next(value, &cursor, &element)) {
                count++;
            }
        }
        LEAT_CHECK_ROW(len, count <= len);
        free(copy);
    }
}

LEAT_TESTS(LEAT_TEST(scan__members__are_found), LEAT_TEST(scan__elements__come_in_order),
           LEAT_TEST(scan__what_is_no_array__has_no_elements), LEAT_TEST(scan__prefixes__end))
