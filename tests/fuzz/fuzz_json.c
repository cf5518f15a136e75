/* SPDX-License-Identifier: MIT */
/*
 * Any octets as a JSON text, as a commented text, and as a stream of lines. What is taken must be
 * written as JSON that is taken again and then written the same; a refusal must say why.
 */
#include <leat/json.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void walk(const leat_json *j, unsigned depth)
{
    struct leat_span text;
    int64_t i;
    double d;
    bool b;
    require(depth <= LEAT_JSON_DEPTH_MAX);
    (void)leat_json_string(j, &text);
    (void)leat_json_number(j, &d);
    (void)leat_json_bool(j, &b);
    if (leat_json_int(j, &i)) {
        require(i >= -9007199254740991 && i <= 9007199254740991);
    }
    for (const leat_json *c = leat_json_first(j); c; c = leat_json_next(c)) {
        require(leat_json_type_of(j) != LEAT_JSON_OBJECT ||
                leat_json_get(j, leat_json_key(c)) == c);
        walk(c, depth + 1);
    }
}

static void check_document(leat_json *j, const char *why)
{
    char why_again[LEAT_JSON_WHY_MAX];
    struct leat_json_writer first, second;
    require((j != NULL) == (why[0] == '\0'));
    if (!j) {
        return;
    }
    walk(j, 0);
    leat_json_writer_init(&first);
    leat_json_writer_init(&second);
    leat_json_write_value(&first, j);
    leat_json *again = leat_json_parse(leat_span(first.text, first.len), why_again);
    /* escapes of control characters may grow a text over the limit */
    require(again || first.len > LEAT_JSON_LINE_MAX);
    if (again) {
        leat_json_write_value(&second, again);
        require(
            leat_span_equal(leat_span(first.text, first.len), leat_span(second.text, second.len)));
    }
    leat_json_writer_deinit(&first);
    leat_json_writer_deinit(&second);
    leat_json_free(again);
    leat_json_free(j);
}

static void cut_lines(const uint8_t *data, size_t size)
{
    struct leat_json_lines l;
    struct leat_span line;
    size_t step = size != 0 ? data[0] % 16u + 1u : 1;
    leat_json_lines_init(&l);
    for (size_t at = 0; at < size; at += step) {
        size_t n = size - at < step ? size - at : step;
        if (leat_json_lines_add(&l, leat_span(data + at, n)) != 0) {
            break;
        }
        while (leat_json_lines_next(&l, at + n == size, &line)) {
            require(line.len != 0 && line.len <= LEAT_JSON_LINE_MAX);
            require(memchr(line.data, '\n', line.len) == NULL);
        }
    }
    leat_json_lines_deinit(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[LEAT_JSON_WHY_MAX];
    leat_json *j = leat_json_parse(leat_span(data, size), why);
    check_document(j, why);
    j = leat_json_parse_commented(leat_span(data, size), why);
    check_document(j, why);
    cut_lines(data, size);
    return 0;
}
