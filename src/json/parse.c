/* SPDX-License-Identifier: MIT */
/*
 * Text to document: our own check first (scan.c), then cJSON on exactly the octets that passed.
 * For configuration files, comments and trailing commas are overwritten with blanks in a copy, so
 * that every offset in it is an offset in the file.
 */
#include "scan.h"

#include <leat/json.h>

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#define KEY_SHOWN_MAX 48

/** The key cut to a length that fits a message, never inside a character. */
static int shown_len(struct leat_span key)
{
    size_t len = key.len;
    if (len > KEY_SHOWN_MAX) {
        len = KEY_SHOWN_MAX;
        while (len != 0 && (key.data[len] & 0xc0) == 0x80) {
            len--;
        }
    }
    return (int)len;
}

/** Columns count characters, not octets. */
static void explain(struct leat_span text, const struct leat__json_fault *fault,
                    char why[static LEAT_JSON_WHY_MAX])
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < fault->offset; i++) {
        if (text.data[i] == '\n') {
            line++;
            column = 1;
        } else if ((text.data[i] & 0xc0) != 0x80) {
            column++;
        }
    }
    if (fault->key.data) {
        (void)snprintf(why, LEAT_JSON_WHY_MAX, "line %zu, column %zu: \"%.*s\" %s", line, column,
                       shown_len(fault->key), (const char *)fault->key.data, fault->what);
    } else {
        (void)snprintf(why, LEAT_JSON_WHY_MAX, "line %zu, column %zu: %s", line, column,
                       fault->what);
    }
}

static bool check_size(struct leat_span text, char why[static LEAT_JSON_WHY_MAX])
{
    if (text.len > LEAT_JSON_LINE_MAX) {
        (void)snprintf(why, LEAT_JSON_WHY_MAX, "longer than %d octets", LEAT_JSON_LINE_MAX);
        return false;
    }
    return true;
}

static leat_json *build(struct leat_span text, char why[static LEAT_JSON_WHY_MAX])
{
    leat_json *j = cJSON_ParseWithLengthOpts((const char *)text.data, text.len, NULL, 0);
    if (!j) {
        (void)snprintf(why, LEAT_JSON_WHY_MAX, "out of memory");
    }
    return j;
}

leat_json *leat_json_parse(struct leat_span text, char why[static LEAT_JSON_WHY_MAX])
{
    struct leat__json_fault fault;
    why[0] = '\0';
    if (!check_size(text, why)) {
        return NULL;
    }
    if (!leat__json_check_octets(text, &fault) || !leat__json_scan(text, &fault)) {
        explain(text, &fault, why);
        return NULL;
    }
    return build(text, why);
}

/** @return the offset behind the string that begins at `at`, or len when it has no end. */
static size_t skip_string(const uint8_t *text, size_t len, size_t at)
{
    for (size_t i = at + 1; i < len; i++) {
        if (text[i] == '\\') {
            i++;
        } else if (text[i] == '"') {
            return i + 1;
        }
    }
    return len;
}

/** Overwrite the comment that begins at `at`. @return the offset behind it; 0 when it has no end.
 */
static size_t blank_comment(uint8_t *text, size_t len, size_t at)
{
    bool is_block = text[at + 1] == '*';
    for (size_t i = at + 2; i < len; i++) {
        if (is_block ? text[i] == '*' && i + 1 < len && text[i + 1] == '/' : text[i] == '\n') {
            size_t end = is_block ? i + 2 : i;
            memset(text + at, ' ', end - at);
            return end;
        }
    }
    if (is_block) {
        return 0;
    }
    memset(text + at, ' ', len - at);
    return len;
}

static bool is_comment(const uint8_t *text, size_t len, size_t at)
{
    return text[at] == '/' && at + 1 < len && (text[at + 1] == '/' || text[at + 1] == '*');
}

/** A comma is only a trailing one behind a value: "[,]" and "[1,,]" stay what they are. */
static bool strip(uint8_t *text, size_t len, struct leat__json_fault *fault)
{
    size_t comma = len; /* of the last comma while only blanks followed it; len: none */
    uint8_t last = '[';
    for (size_t i = 0; i < len;) {
        uint8_t c = text[i];
        if (is_comment(text, len, i)) {
            size_t end = blank_comment(text, len, i);
            if (end == 0) {
                *fault = (struct leat__json_fault){.offset = i, .what = "a comment without an end"};
                return false;
            }
            i = end;
            continue;
        }
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            i++;
            continue;
        }
        if ((c == ']' || c == '}') && comma != len) {
            text[comma] = ' ';
        }
        comma = c == ',' && strchr("[{,:", last) == NULL ? i : len;
        last = c;
        i = c == '"' ? skip_string(text, len, i) : i + 1;
    }
    return true;
}

leat_json *leat_json_parse_commented(struct leat_span text, char why[static LEAT_JSON_WHY_MAX])
{
    struct leat__json_fault fault;
    why[0] = '\0';
    if (!check_size(text, why)) {
        return NULL;
    }
    if (!leat__json_check_octets(text, &fault)) {
        explain(text, &fault, why);
        return NULL;
    }
    uint8_t *copy = malloc(text.len + 1);
    if (!copy) {
        (void)snprintf(why, LEAT_JSON_WHY_MAX, "out of memory");
        return NULL;
    }
    leat_json *j = NULL;
    if (text.len != 0) {
        memcpy(copy, text.data, text.len);
    }
    if (strip(copy, text.len, &fault) && leat__json_scan(leat_span(copy, text.len), &fault)) {
        j = build(leat_span(copy, text.len), why);
    } else {
        explain(text, &fault, why);
    }
    free(copy);
    return j;
}

void leat_json_free(leat_json *j)
{
    cJSON_Delete(j);
}
