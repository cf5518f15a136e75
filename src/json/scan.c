/* SPDX-License-Identifier: MIT */
/*
 * A strict reader of RFC 8259 that builds nothing. cJSON takes far more than JSON (invalid UTF-8,
 * control octets, \u0000 that ends a string early, repeated keys, text behind the document) and
 * spends 40 octets of memory on one of text; what passes here is plain JSON of bounded depth and
 * number of values, so that cJSON only has to be right about right text.
 *
 * Recursion is bounded by LEAT_JSON_DEPTH_MAX. Keys of the objects that are open lie on one stack;
 * when an object closes, its keys are sorted and neighbours compared as they would be decoded, so
 * "a" and "\u0061" are one key and an object of many keys costs n log n.
 */
#include "scan.h"

#include <leat/json.h>

#include <math.h>
#include <stdlib.h>

#define NUMBER_MAX 63 /* cJSON 1.7.15 copies a number into 64 octets and cuts the rest off */

struct key {
    const uint8_t *at; /* behind the opening quote */
    size_t len;
    bool has_escape;
};

struct scan {
    const uint8_t *start, *at, *end;
    unsigned depth;
    size_t value_count;
    struct key *keys;
    size_t key_count, key_cap;
    struct leat__json_fault *fault;
};

size_t leat__json_utf8_len(const uint8_t *p, size_t left)
{
    static const struct {
        uint8_t first_low, first_high, second_low, second_high, len;
    } forms[] = {
        {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; left != 0 && i < LEAT_ARRAY_LEN(forms); i++) {
        if (p[0] < forms[i].first_low || p[0] > forms[i].first_high) {
            continue;
        }
        size_t len = forms[i].len;
        if (len > left ||
            (len > 1 && (p[1] < forms[i].second_low || p[1] > forms[i].second_high)) ||
            (len > 2 && (p[2] & 0xc0) != 0x80) || (len > 3 && (p[3] & 0xc0) != 0x80)) {
            return 0;
        }
        return len;
    }
    return 0;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool set_fault(struct leat__json_fault *fault, size_t offset, const char *what)
{
    *fault = (struct leat__json_fault){.offset = offset, .what = what};
    return false;
}

bool leat__json_check_octets(struct leat_span text, struct leat__json_fault *fault)
{
    if (text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0) {
        return set_fault(fault, 0, "a byte order mark is not allowed");
    }
    for (size_t i = 0; i < text.len;) {
        size_t len = leat__json_utf8_len(text.data + i, text.len - i);
        if (len == 0) {
            return set_fault(fault, i, "not UTF-8");
        }
        if (text.data[i] < 0x20 && !is_blank(text.data[i])) {
            return set_fault(fault, i, "a control character");
        }
        i += len;
    }
    return true;
}

static bool fail_at(struct scan *s, const uint8_t *at, const char *what)
{
    return set_fault(s->fault, (size_t)(at - s->start), what);
}

static void skip_blanks(struct scan *s)
{
    while (s->at < s->end && is_blank(*s->at)) {
        s->at++;
    }
}

/** Take the octet if it is next. */
static bool take(struct scan *s, char c)
{
    if (s->at < s->end && *s->at == (uint8_t)c) {
        s->at++;
        return true;
    }
    return false;
}

static bool is_digit_next(const struct scan *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

static bool take_digits(struct scan *s)
{
    bool any = false;
    while (is_digit_next(s)) {
        s->at++;
        any = true;
    }
    return any;
}

static bool scan_number(struct scan *s)
{
    const uint8_t *first = s->at;
    (void)take(s, '-');
    bool is_right = take(s, '0') || take_digits(s);
    if (is_right && take(s, '.')) {
        is_right = take_digits(s);
    }
    if (is_right && (take(s, 'e') || take(s, 'E'))) {
        (void)(take(s, '+') || take(s, '-'));
        is_right = take_digits(s);
    }
    if (!is_right || is_digit_next(s)) {
        return fail_at(s, first, "not a number");
    }
    size_t len = (size_t)(s->at - first);
    char digits[NUMBER_MAX + 1];
    if (len > NUMBER_MAX) {
        return fail_at(s, first, "a number of too many digits");
    }
    memcpy(digits, first, len);
    digits[len] = '\0';
    return isfinite(strtod(digits, NULL)) || fail_at(s, first, "a number out of range");
}

static bool read_hex4(const uint8_t *at, const uint8_t *end, uint32_t *out)
{
    uint8_t octets[2];
    if (end - at < 4 || leat_hex_decode((const char *)at, 4, octets, sizeof(octets)) != 2) {
        return false;
    }
    *out = leat_get_u16(octets);
    return true;
}

/** Behind "\u". */
static bool scan_unicode_escape(struct scan *s)
{
    const uint8_t *first = s->at - 2;
    uint32_t unit, low;
    if (!read_hex4(s->at, s->end, &unit)) {
        return fail_at(s, first, "\\u needs four hexadecimal digits");
    }
    s->at += 4;
    if (unit == 0) {
        return fail_at(s, first, "\\u0000 is not allowed");
    }
    if (unit < 0xd800 || unit > 0xdfff) {
        return true;
    }
    if (unit > 0xdbff || !take(s, '\\') || !take(s, 'u') || !read_hex4(s->at, s->end, &low) ||
        low < 0xdc00 || low > 0xdfff) {
        return fail_at(s, first, "half of a surrogate pair");
    }
    s->at += 4;
    return true;
}

static bool scan_escape(struct scan *s)
{
    if (s->at < s->end && *s->at == 'u') {
        s->at++;
        return scan_unicode_escape(s);
    }
    if (s->at < s->end && strchr("\"\\/bfnrt", *s->at) != NULL) {
        s->at++;
        return true;
    }
    return fail_at(s, s->at - 1, "an unknown escape");
}

/** At the opening quote. */
static bool scan_string(struct scan *s, struct key *out)
{
    const uint8_t *quote = s->at++;
    *out = (struct key){.at = s->at};
    while (s->at < s->end && *s->at != '"') {
        uint8_t c = *s->at++;
        if (c == '\\') {
            out->has_escape = true;
            if (!scan_escape(s)) {
                return false;
            }
        } else if (c < 0x20) {
            return fail_at(s, s->at - 1, "a control character in a string");
        }
    }
    if (s->at == s->end) {
        return fail_at(s, quote, "a string without an end");
    }
    out->len = (size_t)(s->at - out->at);
    s->at++;
    return true;
}

/** The next character of a checked string: 1 + its code point, 0 at the end. */
static uint32_t next_character(const uint8_t **at, const uint8_t *end)
{
    static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
    if (*at == end) {
        return 0;
    }
    const uint8_t *p = *at;
    if (p[0] == '\\' && p[1] == 'u') {
        uint32_t unit = 0, low = 0;
        (void)read_hex4(p + 2, end, &unit);
        *at += 6;
        if (unit < 0xd800 || unit > 0xdfff) {
            return unit + 1;
        }
        (void)read_hex4(p + 8, end, &low);
        *at += 6;
        return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) + 1;
    }
    if (p[0] == '\\') {
        const char *name = strchr(names, p[1]);
        *at += 2;
        return (name ? (uint32_t)values[name - names] : p[1]) + 1;
    }
    size_t len = leat__json_utf8_len(p, (size_t)(end - p));
    uint32_t point = len == 1 ? p[0] : p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        point = point << 6 | (p[i] & 0x3f);
    }
    *at += len;
    return point + 1;
}

/** Any order will do as long as keys that decode to one text compare equal. */
static int compare_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    if (!a->has_escape && !b->has_escape) {
        int order = memcmp(a->at, b->at, a->len < b->len ? a->len : b->len);
        return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
    }
    const uint8_t *at_a = a->at, *at_b = b->at;
    for (;;) {
        uint32_t in_a = next_character(&at_a, a->at + a->len);
        uint32_t in_b = next_character(&at_b, b->at + b->len);
        if (in_a != in_b || in_a == 0) {
            return (in_a > in_b) - (in_a < in_b);
        }
    }
}

static bool push_key(struct scan *s, const struct key *key)
{
    if (s->key_count == s->key_cap) {
        size_t cap = s->key_cap != 0 ? s->key_cap * 2 : 64;
        struct key *grown = realloc(s->keys, cap * sizeof(*grown));
        if (!grown) {
            return fail_at(s, s->at, "out of memory");
        }
        s->keys = grown;
        s->key_cap = cap;
    }
    s->keys[s->key_count++] = *key;
    return true;
}

/** Keys from `first` on belong to the object that just closed; takes them off the stack. */
static bool check_keys(struct scan *s, size_t first)
{
    size_t count = s->key_count - first;
    struct key *keys = s->keys + first;
    s->key_count = first;
    if (count < 2) {
        return true;
    }
    qsort(keys, count, sizeof(*keys), compare_keys);
    for (size_t i = 1; i < count; i++) {
        if (compare_keys(&keys[i - 1], &keys[i]) == 0) {
            const struct key *later = keys[i].at > keys[i - 1].at ? &keys[i] : &keys[i - 1];
            (void)fail_at(s, later->at - 1, "appears twice in one object");
            s->fault->key = leat_span(later->at, later->len);
            return false;
        }
    }
    return true;
}

static bool scan_value(struct scan *s);

static bool scan_members(struct scan *s)
{
    size_t first_key = s->key_count;
    struct key key;
    do {
        skip_blanks(s);
        if (s->at == s->end || *s->at != '"') {
            return fail_at(s, s->at, "expected a key in double quotes");
        }
        if (!scan_string(s, &key) || !push_key(s, &key)) {
            return false;
        }
        skip_blanks(s);
        if (!take(s, ':')) {
            return fail_at(s, s->at, "expected ':'");
        }
        if (!scan_value(s)) {
            return false;
        }
        skip_blanks(s);
    } while (take(s, ','));
    if (!take(s, '}')) {
        return fail_at(s, s->at, "expected ',' or '}'");
    }
    return check_keys(s, first_key);
}

static bool scan_elements(struct scan *s)
{
    do {
        if (!scan_value(s)) {
            return false;
        }
        skip_blanks(s);
    } while (take(s, ','));
    return take(s, ']') || fail_at(s, s->at, "expected ',' or ']'");
}

/** Behind the opening bracket. */
static bool scan_container(struct scan *s, char close)
{
    if (s->depth == LEAT_JSON_DEPTH_MAX) {
        return fail_at(s, s->at - 1, "nested too deeply");
    }
    skip_blanks(s);
    if (take(s, close)) {
        return true;
    }
    s->depth++;
    bool is_right = close == '}' ? scan_members(s) : scan_elements(s);
    s->depth--;
    return is_right;
}

static bool scan_word(struct scan *s, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(s->end - s->at) < len || memcmp(s->at, word, len) != 0) {
        return fail_at(s, s->at, "expected a value");
    }
    s->at += len;
    return true;
}

static bool scan_value(struct scan *s)
{
    struct key ignored;
    skip_blanks(s);
    if (s->at == s->end) {
        return fail_at(s, s->at, "expected a value");
    }
    if (++s->value_count > LEAT_JSON_VALUES_MAX) {
        return fail_at(s, s->at, "too many values");
    }
    switch (*s->at) {
    case '{':
        s->at++;
        return scan_container(s, '}');
    case '[':
        s->at++;
        return scan_container(s, ']');
    case '"':
        return scan_string(s, &ignored);
    case 't':
        return scan_word(s, "true");
    case 'f':
        return scan_word(s, "false");
    case 'n':
        return scan_word(s, "null");
    default:
        return *s->at == '-' || is_digit_next(s) ? scan_number(s)
                                                 : fail_at(s, s->at, "expected a value");
    }
}

bool leat_json_member_text(struct leat_span text, const char *key, struct leat_span *out)
{
    struct leat__json_fault fault;
    struct key wanted = {.at = (const uint8_t *)key, .len = strlen(key)}, member;
    struct scan s = {
        .start = text.data, .at = text.data, .end = text.data + text.len, .fault = &fault};
    bool is_found = false;
    skip_blanks(&s);
    if (!take(&s, '{')) {
        return false;
    }
    do {
        skip_blanks(&s);
        if (s.at == s.end || *s.at != '"' || !scan_string(&s, &member)) {
            break;
        }
        skip_blanks(&s);
        (void)take(&s, ':');
        skip_blanks(&s);
        const uint8_t *value = s.at;
        if (!scan_value(&s)) {
            break;
        }
        is_found = compare_keys(&member, &wanted) == 0;
        *out = leat_span(value, (size_t)(s.at - value));
        skip_blanks(&s);
    } while (!is_found && take(&s, ','));
    free(s.keys);
    return is_found;
}

bool leat__json_scan(struct leat_span text, struct leat__json_fault *fault)
{
    if (text.len == 0) {
        return set_fault(fault, 0, "expected a value");
    }
    struct scan s = {
        .start = text.data, .at = text.data, .end = text.data + text.len, .fault = fault};
    bool is_right = scan_value(&s);
    if (is_right) {
        skip_blanks(&s);
        is_right = s.at == s.end || fail_at(&s, s.at, "text behind the document");
    }
    free(s.keys);
    return is_right;
}
