/* SPDX-License-Identifier: MIT */
/*
 * Text that is not JSON yields nothing or pieces that the parser then refuses; nothing is read past
 * its end.
 */
#include "scan.h"

static size_t skip_space(struct leat_span t, size_t at)
{
    while (at < t.len &&
           (t.data[at] == ' ' || t.data[at] == '\t' || t.data[at] == '\n' || t.data[at] == '\r')) {
        at++;
    }
    return at;
}

/** Behind the string that begins at `at`. */
static size_t skip_string(struct leat_span t, size_t at)
{
    for (at++; at < t.len && t.data[at] != '"'; at++) {
        at += t.data[at] == '\\' ? 1 : 0;
    }
    return at < t.len ? at + 1 : t.len;
}

/** Behind the value that begins at `at`. */
static size_t skip_value(struct leat_span t, size_t at)
{
    size_t depth = 0;
    while (at < t.len) {
        uint8_t c = t.data[at];
        if (c == '"') {
            at = skip_string(t, at);
        } else if (c == '{' || c == '[') {
            depth++;
            at++;
        } else if (c == '}' || c == ']') {
            if (depth == 0) {
                return at;
            }
            depth--;
            at++;
        } else if (depth == 0 && c == ',') {
            return at;
        } else {
            at++;
            continue; /* inside a number or a word, or between */
        }
        if (depth == 0) {
            return at;
        }
    }
    return t.len;
}

bool leat_ctl_scan_member(struct leat_span object, const char *key, struct leat_span *value)
{
    struct leat_span wanted = leat_span_str(key);
    size_t at = skip_space(object, 0);
    if (at == object.len || object.data[at] != '{') {
        return false;
    }
    at = skip_space(object, at + 1);
    while (at < object.len && object.data[at] == '"') {
        size_t key_end = skip_string(object, at);
        struct leat_span name = key_end - at >= 2
                                    ? leat_span(object.data + at + 1, key_end - at - 2)
                                    : leat_span(NULL, 0);
        at = skip_space(object, key_end);
        if (at == object.len || object.data[at] != ':') {
            return false;
        }
        at = skip_space(object, at + 1);
        size_t end = skip_value(object, at);
        if (leat_span_equal(name, wanted)) {
            *value = leat_span(object.data + at, end - at);
            return true;
        }
        at = skip_space(object, end);
        if (at < object.len && object.data[at] == ',') {
            at = skip_space(object, at + 1);
        }
    }
    return false;
}

bool leat_ctl_scan_next(struct leat_span array, size_t *cursor, struct leat_span *element)
{
    size_t at = skip_space(array, *cursor);
    if (at < array.len && array.data[at] == (*cursor == 0 ? '[' : ',')) {
        at = skip_space(array, at + 1);
    } else {
        return false;
    }
    size_t end = skip_value(array, at);
    if (end == at) {
        return false; /* the end of the array, or no JSON */
    }
    *element = leat_span(array.data + at, end - at);
    *cursor = end;
    return true;
}
