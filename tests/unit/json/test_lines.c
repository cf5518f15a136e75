/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <leat/json.h>

#include <stdlib.h>

/** Adds in pieces of `step` octets and takes all lines after each; joins them with '|'. */
static void cut(const char *stream, size_t len, size_t step, char *out, size_t cap)
{
    struct leat_json_lines l;
    struct leat_span line;
    size_t used = 0;
    leat_json_lines_init(&l);
    for (size_t at = 0; at <= len; at += step) {
        size_t n = len - at < step ? len - at : step;
        LEAT_CHECK_INT(leat_json_lines_add(&l, leat_span(stream + at, n)), 0);
        while (leat_json_lines_next(&l, at + n == len, &line) && used + line.len + 2 < cap) {
            memcpy(out + used, line.data, line.len);
            used += line.len;
            out[used++] = '|';
        }
    }
    out[used] = '\0';
    leat_json_lines_deinit(&l);
}

static void cut__any_piece_size__gives_the_same_lines(void)
{
    static const struct {
        const char *stream, *lines;
    } rows[] = {
        {"{\"op\":1}\n{\"op\":2}\n", "{\"op\":1}|{\"op\":2}|"},
        {"a\r\nb\nc", "a|b|c|"},
        {"\n\n\r\na\n\r\n\n", "a|"},
        {"a\rb\n", "a\rb|"},
        {"a\r", "a|"},
        {"a\r\r\n", "a\r|"},
        {"", ""},
        {"\n", ""},
        {"\r", ""},
        {"\xf0\x9f\x98\x80\n\"\\ud83d\\ude00\"\n", "\xf0\x9f\x98\x80|\"\\ud83d\\ude00\"|"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        size_t len = strlen(rows[i].stream);
        for (size_t step = 1; step <= len + 1; step++) {
            char found[128];
            cut(rows[i].stream, len, step, found, sizeof(found));
            LEAT_CHECK_ROW(i, strcmp(found, rows[i].lines) == 0);
            LEAT_CHECK_STR(found, rows[i].lines);
        }
    }
}

static void next__stream_goes_on__keeps_the_unfinished_line(void)
{
    struct leat_json_lines l;
    struct leat_span line;
    leat_json_lines_init(&l);
    LEAT_CHECK_INT(leat_json_lines_add(&l, leat_span_str("a\nb")), 0);
    LEAT_CHECK(leat_json_lines_next(&l, false, &line));
    LEAT_CHECK_MEM(line.data, line.len, "a", (size_t)1);
    LEAT_CHECK(!leat_json_lines_next(&l, false, &line));
    LEAT_CHECK_INT(leat_json_lines_add(&l, leat_span_str("c\n")), 0);
    LEAT_CHECK(leat_json_lines_next(&l, false, &line));
    LEAT_CHECK_MEM(line.data, line.len, "bc", (size_t)2);
    LEAT_CHECK(!leat_json_lines_next(&l, true, &line));
    /* an end that was none after all */
    LEAT_CHECK_INT(leat_json_lines_add(&l, leat_span_str("d")), 0);
    LEAT_CHECK(leat_json_lines_next(&l, true, &line));
    LEAT_CHECK_INT(leat_json_lines_add(&l, leat_span_str("e\n")), 0);
    LEAT_CHECK(leat_json_lines_next(&l, false, &line));
    LEAT_CHECK_MEM(line.data, line.len, "e", (size_t)1);
    leat_json_lines_deinit(&l);
}

static void next__five_hundred_lines_in_one_read__come_in_order(void)
{
    static char stream[500 * 16];
    struct leat_json_lines l;
    struct leat_span line;
    size_t len = 0;
    for (int i = 0; i < 500; i++) {
        len += (size_t)snprintf(stream + len, sizeof(stream) - len, "{\"id\":%d}\n", i);
    }
    leat_json_lines_init(&l);
    LEAT_CHECK_INT(leat_json_lines_add(&l, leat_span(stream, len)), 0);
    for (int i = 0; i < 500; i++) {
        char expected[16];
        int n = snprintf(expected, sizeof(expected), "{\"id\":%d}", i);
        LEAT_CHECK(leat_json_lines_next(&l, false, &line));
        LEAT_CHECK_MEM(line.data, line.len, expected, (size_t)n);
    }
    LEAT_CHECK(!leat_json_lines_next(&l, false, &line));
    leat_json_lines_deinit(&l);
}

/** `before`, then `count` x, then `after`, in one piece or in pieces of 1000. */
static void check_long(const char *before, size_t count, const char *after, size_t step,
                       int expected, size_t expected_lines)
{
    size_t head = strlen(before), tail = strlen(after), len = head + count + tail;
    char *stream = malloc(len);
    if (!stream) {
        abort();
    }
    memcpy(stream, before, head);
    memset(stream + head, 'x', count);
    memcpy(stream + head + count, after, tail);
    struct leat_json_lines l;
    struct leat_span line;
    leat_json_lines_init(&l);
    int rc = 0;
    for (size_t at = 0; at < len && rc == 0; at += step) {
        rc = leat_json_lines_add(&l, leat_span(stream + at, len - at < step ? len - at : step));
    }
    free(stream);
    LEAT_CHECK_INT(rc, expected);
    LEAT_CHECK_INT(l.is_overlong, expected != 0);
    size_t lines = 0;
    while (leat_json_lines_next(&l, true, &line)) {
        lines++;
    }
    LEAT_CHECK_INT(lines, expected_lines);
    LEAT_CHECK(l.cap <= 4 * LEAT_JSON_LINE_MAX);
    if (expected != 0) {
        LEAT_CHECK_INT(leat_json_lines_add(&l, leat_span_str("b\n")), LEAT_E_RANGE);
        LEAT_CHECK(!leat_json_lines_next(&l, true, &line));
    }
    leat_json_lines_deinit(&l);
}

static void limit__line_of_the_largest_length__is_a_line(void)
{
    for (size_t step = 1000; step <= 1000000; step *= 1000) {
        check_long("", LEAT_JSON_LINE_MAX, "\nb\n", step, 0, 2);
        check_long("", LEAT_JSON_LINE_MAX, "\r\nb\n", step, 0, 2);
        check_long("", LEAT_JSON_LINE_MAX, "", step, 0, 1);
        check_long("", LEAT_JSON_LINE_MAX, "\r", step, 0, 1);
    }
}

static void limit__longer_line__ends_the_stream_behind_the_lines_before(void)
{
    for (size_t step = 1000; step <= 1000000; step *= 1000) {
        check_long("a\na\n", LEAT_JSON_LINE_MAX + 1, "\nb\n", step, LEAT_E_RANGE, 2);
        check_long("a\na\n", LEAT_JSON_LINE_MAX + 1, "\r\nb\n", step, LEAT_E_RANGE, 2);
        check_long("", LEAT_JSON_LINE_MAX + 1, "", step, LEAT_E_RANGE, 0);
        check_long("", LEAT_JSON_LINE_MAX, "\ry\n", step, LEAT_E_RANGE, 0);
    }
}

LEAT_TESTS(LEAT_TEST(cut__any_piece_size__gives_the_same_lines),
           LEAT_TEST(next__stream_goes_on__keeps_the_unfinished_line),
           LEAT_TEST(next__five_hundred_lines_in_one_read__come_in_order),
           LEAT_TEST(limit__line_of_the_largest_length__is_a_line),
           LEAT_TEST(limit__longer_line__ends_the_stream_behind_the_lines_before))
