/* SPDX-License-Identifier: MIT */
/*
 * Words and numbers of SDP lines. Own number reading: the C library's depends on the locale, skips
 * blanks, takes signs and saturates.
 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static uint8_t to_lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

struct leat_span leat__sdp_trim(struct leat_span s)
{
    while (s.len != 0 && is_blank(s.data[0])) {
        s.data++;
        s.len--;
    }
    while (s.len != 0 && is_blank(s.data[s.len - 1])) {
        s.len--;
    }
    return s;
}

struct leat_span leat__sdp_word(struct leat_span *rest)
{
    while (rest->len != 0 && is_blank(rest->data[0])) {
        rest->data++;
        rest->len--;
    }
    struct leat_span word = {rest->data, 0};
    while (word.len < rest->len && !is_blank(rest->data[word.len])) {
        word.len++;
    }
    if (word.len != 0) {
        rest->data += word.len;
        rest->len -= word.len;
    }
    return word;
}

struct leat_span leat__sdp_until(struct leat_span *rest, char separator)
{
    struct leat_span before = *rest;
    const uint8_t *at = rest->len != 0 ? memchr(rest->data, separator, rest->len) : NULL;
    if (at == NULL) {
        rest->len = 0;
        return before;
    }
    before.len = (size_t)(at - rest->data);
    rest->data += before.len + 1;
    rest->len -= before.len + 1;
    return before;
}

bool leat__sdp_is(struct leat_span s, const char *text)
{
    return leat_span_equal(s, leat_span_str(text));
}

bool leat__sdp_equal_ignoring_case(struct leat_span a, struct leat_span b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (to_lower(a.data[i]) != to_lower(b.data[i])) {
            return false;
        }
    }
    return true;
}

bool leat__sdp_is_ignoring_case(struct leat_span s, const char *text)
{
    return leat__sdp_equal_ignoring_case(s, leat_span_str(text));
}

bool leat__sdp_is_printable(struct leat_span s, bool with_blanks)
{
    for (size_t i = 0; i < s.len; i++) {
        bool is_ok = (s.data[i] > 0x20 && s.data[i] < 0x7f) || (with_blanks && is_blank(s.data[i]));
        if (!is_ok) {
            return false;
        }
    }
    return s.len != 0;
}

bool leat__sdp_number(struct leat_span s, uint32_t max, uint32_t *out)
{
    uint64_t value = 0;
    if (s.len == 0) {
        return false;
    }
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] < '0' || s.data[i] > '9') {
            return false;
        }
        value = value * 10 + (uint64_t)(s.data[i] - '0');
        if (value > max) {
            return false;
        }
    }
    *out = (uint32_t)value;
    return true;
}

int leat__sdp_fail(int error, char *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(why, LEAT_SDP_WHY_MAX, format, arguments);
    va_end(arguments);
    return error;
}
