/* SPDX-License-Identifier: MIT */
/*
 * JSON text without a tree. Commas follow from two facts: whether something stands before in the
 * innermost bracket, and whether there is a bracket at all (documents of a stream are not joined).
 * cJSON's printer is not used: it loses digits of integers and passes invalid UTF-8 through.
 */
#include "scan.h"

#include <leat/json.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CAP_MIN 512

void leat_json_writer_init(struct leat_json_writer *w)
{
    memset(w, 0, sizeof(*w));
}

void leat_json_writer_deinit(struct leat_json_writer *w)
{
    free(w->text);
    memset(w, 0, sizeof(*w));
}

void leat_json_writer_reset(struct leat_json_writer *w)
{
    w->len = 0;
    w->depth = 0;
    w->needs_comma = false;
    w->failed = false;
    if (w->text) {
        w->text[0] = '\0';
    }
}

/** Room for `more` octets and a terminator. */
static bool reserve(struct leat_json_writer *w, size_t more)
{
    if (w->failed || more >= SIZE_MAX / 2 - w->len) {
        w->failed = true;
        return false;
    }
    size_t cap = w->cap != 0 ? w->cap : CAP_MIN;
    while (cap - w->len <= more) {
        cap *= 2;
    }
    if (cap != w->cap) {
        char *grown = realloc(w->text, cap);
        if (!grown) {
            w->failed = true;
            return false;
        }
        w->text = grown;
        w->cap = cap;
    }
    return true;
}

static void append(struct leat_json_writer *w, const void *data, size_t len)
{
    if (reserve(w, len)) {
        if (len != 0) {
            memcpy(w->text + w->len, data, len);
        }
        w->len += len;
        w->text[w->len] = '\0';
    }
}

static void append_text(struct leat_json_writer *w, const char *text)
{
    append(w, text, strlen(text));
}

static void begin_value(struct leat_json_writer *w)
{
    if (w->needs_comma && w->depth != 0) {
        append(w, ",", 1);
    }
    w->needs_comma = true;
}

void leat_json_open(struct leat_json_writer *w, char bracket)
{
    begin_value(w);
    append(w, &bracket, 1);
    w->depth++;
    w->needs_comma = false;
}

void leat_json_close(struct leat_json_writer *w, char bracket)
{
    append(w, &bracket, 1);
    w->depth--;
    w->needs_comma = true;
}

/** The escape of one octet, or NULL when it may stand as it is. */
static const char *escape(uint8_t c, char hex[static 7])
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        if (c >= 0x20) {
            return NULL;
        }
        (void)snprintf(hex, 7, "\\u%04x", c);
        return hex;
    }
}

static void append_string(struct leat_json_writer *w, struct leat_span text)
{
    append(w, "\"", 1);
    size_t plain = 0; /* first octet not written yet */
    for (size_t i = 0; i < text.len;) {
        char hex[7];
        size_t len = leat__json_utf8_len(text.data + i, text.len - i);
        const char *instead = len == 0 ? "\xef\xbf\xbd" : escape(text.data[i], hex);
        size_t next = i + (len != 0 ? len : 1);
        if (instead) {
            append(w, text.data + plain, i - plain);
            append_text(w, instead);
            plain = next;
        }
        i = next;
    }
    if (text.len != 0) {
        append(w, text.data + plain, text.len - plain);
    }
    append(w, "\"", 1);
}

void leat_json_write_key(struct leat_json_writer *w, const char *key)
{
    begin_value(w);
    append_string(w, leat_span_str(key));
    append(w, ":", 1);
    w->needs_comma = false;
}

void leat_json_write_text(struct leat_json_writer *w, const char *text)
{
    leat_json_write_span(w, leat_span_str(text));
}

void leat_json_write_span(struct leat_json_writer *w, struct leat_span text)
{
    begin_value(w);
    append_string(w, text);
}

void leat_json_write_i64(struct leat_json_writer *w, int64_t v)
{
    char digits[24];
    (void)snprintf(digits, sizeof(digits), "%" PRId64, v);
    begin_value(w);
    append_text(w, digits);
}

void leat_json_write_u64(struct leat_json_writer *w, uint64_t v)
{
    char digits[24];
    (void)snprintf(digits, sizeof(digits), "%" PRIu64, v);
    begin_value(w);
    append_text(w, digits);
}

void leat_json_write_double(struct leat_json_writer *w, double v)
{
    static const int precisions[] = {9, 15, 16, 17};
    char digits[40] = "null";
    for (size_t i = 0; isfinite(v) && i < LEAT_ARRAY_LEN(precisions); i++) {
        (void)snprintf(digits, sizeof(digits), "%.*g", precisions[i], v);
        double back = strtod(digits, NULL);
        if (!(back < v) && !(back > v)) {
            break;
        }
    }
    begin_value(w);
    append_text(w, digits);
}

void leat_json_write_bool(struct leat_json_writer *w, bool v)
{
    begin_value(w);
    append_text(w, v ? "true" : "false");
}

void leat_json_write_null(struct leat_json_writer *w)
{
    begin_value(w);
    append_text(w, "null");
}

static void write_number(struct leat_json_writer *w, const leat_json *j)
{
    int64_t exact;
    double v = 0;
    if (leat_json_int(j, &exact)) {
        leat_json_write_i64(w, exact);
    } else if (leat_json_number(j, &v)) {
        leat_json_write_double(w, v);
    }
}

static void write_children(struct leat_json_writer *w, const leat_json *j, bool is_object)
{
    leat_json_open(w, is_object ? '{' : '[');
    for (const leat_json *c = leat_json_first(j); c; c = leat_json_next(c)) {
        if (is_object) {
            leat_json_write_key(w, leat_json_key(c));
        }
        leat_json_write_value(w, c); /* as deep as the parser let the document be */
    }
    leat_json_close(w, is_object ? '}' : ']');
}

void leat_json_write_value(struct leat_json_writer *w, const leat_json *j)
{
    struct leat_span text = {NULL, 0};
    bool truth = false;
    switch (leat_json_type_of(j)) {
    case LEAT_JSON_NULL:
        leat_json_write_null(w);
        break;
    case LEAT_JSON_BOOL:
        (void)leat_json_bool(j, &truth);
        leat_json_write_bool(w, truth);
        break;
    case LEAT_JSON_NUMBER:
        write_number(w, j);
        break;
    case LEAT_JSON_STRING:
        (void)leat_json_string(j, &text);
        leat_json_write_span(w, text);
        break;
    case LEAT_JSON_ARRAY:
        write_children(w, j, false);
        break;
    case LEAT_JSON_OBJECT:
        write_children(w, j, true);
        break;
    }
}

void leat_json_write_raw(struct leat_json_writer *w, struct leat_span json)
{
    begin_value(w);
    append(w, json.data, json.len);
}

void leat_json_put_text(struct leat_json_writer *w, const char *key, const char *text)
{
    leat_json_write_key(w, key);
    leat_json_write_text(w, text);
}

void leat_json_put_i64(struct leat_json_writer *w, const char *key, int64_t v)
{
    leat_json_write_key(w, key);
    leat_json_write_i64(w, v);
}

void leat_json_put_u64(struct leat_json_writer *w, const char *key, uint64_t v)
{
    leat_json_write_key(w, key);
    leat_json_write_u64(w, v);
}

void leat_json_put_double(struct leat_json_writer *w, const char *key, double v)
{
    leat_json_write_key(w, key);
    leat_json_write_double(w, v);
}

void leat_json_put_bool(struct leat_json_writer *w, const char *key, bool v)
{
    leat_json_write_key(w, key);
    leat_json_write_bool(w, v);
}
