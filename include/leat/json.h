/* SPDX-License-Identifier: MIT */
/**
 * @file  JSON the strict way: the only door to cJSON. Parse one document, read typed members, write
 * text.
 * @module json
 *
 * Refused before anything acts on it: invalid UTF-8, raw control octets, \u0000, lone surrogates, a
 * BOM, duplicate keys in one object (case matters everywhere), trailing text, nesting over
 * LEAT_JSON_DEPTH_MAX, documents over LEAT_JSON_LINE_MAX octets or LEAT_JSON_VALUES_MAX values,
 * numbers over 63 characters or out of a double's range. Integers are exact within +-(2^53 - 1);
 * larger ones, and fractions where an integer is asked for, are type errors.
 */
#ifndef LEAT_JSON_H
#define LEAT_JSON_H

#include <leat/bytes.h>
#include <leat/error.h>

#define LEAT_JSON_DEPTH_MAX 32
#define LEAT_JSON_LINE_MAX 262144
#define LEAT_JSON_VALUES_MAX 32768 /**< bounds the memory of one document to a few MB */
#define LEAT_JSON_WHY_MAX 160

typedef struct cJSON leat_json; /* opaque outside src/json */

enum leat_json_type {
    LEAT_JSON_NULL,
    LEAT_JSON_BOOL,
    LEAT_JSON_NUMBER,
    LEAT_JSON_STRING,
    LEAT_JSON_ARRAY,
    LEAT_JSON_OBJECT
};

/** @param why gets one sentence with line and column (in characters) on failure. @return the
 * document, to be freed; or NULL. */
leat_json *leat_json_parse(struct leat_span text, char why[static LEAT_JSON_WHY_MAX]);
/** Configuration files: the same, with // and block comments and trailing commas taken away first
 * (positions stay true). */
leat_json *leat_json_parse_commented(struct leat_span text, char why[static LEAT_JSON_WHY_MAX]);
void leat_json_free(leat_json *j); /**< NULL is fine */

/* Readers take NULL for a member that is absent: no type but NULL, no children, no value. */

enum leat_json_type leat_json_type_of(const leat_json *j);
/** "a string", "an object", ... for messages. */
const char *leat_json_type_text(enum leat_json_type type);
/** Case-sensitive member, or NULL. */
const leat_json *leat_json_get(const leat_json *object, const char *key);
/** Walk an object or array: first child, then next; NULL at the end. */
const leat_json *leat_json_first(const leat_json *j);
const leat_json *leat_json_next(const leat_json *child);
const char *leat_json_key(const leat_json *member);
size_t leat_json_count(const leat_json *j);
/** Typed values; false when the type (or exactness) is another. */
bool leat_json_string(const leat_json *j, struct leat_span *out);
bool leat_json_int(const leat_json *j, int64_t *out);
bool leat_json_number(const leat_json *j, double *out);
bool leat_json_bool(const leat_json *j, bool *out);
/** A member of the outermost object as it stands in `text`, which leat_json_parse has taken: for a
 * number that no double holds. @return false when it is not there, or without memory. */
bool leat_json_member_text(struct leat_span text, const char *key, struct leat_span *out);

/* ---- writer: straight to text, no tree ---- */

/** Grows as needed; after a failed allocation every write is void and `failed` stays set until
 * reset. */
struct leat_json_writer {
    char *text; /**< len octets and a terminator; NULL before the first write */
    size_t len, cap;
    unsigned depth;
    bool needs_comma, failed;
};

void leat_json_writer_init(struct leat_json_writer *w);
void leat_json_writer_deinit(struct leat_json_writer *w);
void leat_json_writer_reset(struct leat_json_writer *w);        /**< as after init, memory kept */
void leat_json_open(struct leat_json_writer *w, char bracket);  /**< '{' or '[' */
void leat_json_close(struct leat_json_writer *w, char bracket); /**< '}' or ']' */
void leat_json_write_key(struct leat_json_writer *w, const char *key);
void leat_json_write_text(struct leat_json_writer *w, const char *text);
/** What is not UTF-8 becomes U+FFFD. */
void leat_json_write_span(struct leat_json_writer *w, struct leat_span text);
void leat_json_write_i64(struct leat_json_writer *w, int64_t v);
void leat_json_write_u64(struct leat_json_writer *w, uint64_t v); /**< exact, all 64 bits */
/** The shortest of 9, 15, 16 and 17 digits that reads back; non-finite is null. */
void leat_json_write_double(struct leat_json_writer *w, double v);
void leat_json_write_bool(struct leat_json_writer *w, bool v);
void leat_json_write_null(struct leat_json_writer *w);
/** A parsed value again (request ids, opaque data). */
void leat_json_write_value(struct leat_json_writer *w, const leat_json *j);
/** Text that is JSON already. */
void leat_json_write_raw(struct leat_json_writer *w, struct leat_span json);
/** key and value in one call. */
void leat_json_put_text(struct leat_json_writer *w, const char *key, const char *text);
void leat_json_put_i64(struct leat_json_writer *w, const char *key, int64_t v);
void leat_json_put_u64(struct leat_json_writer *w, const char *key, uint64_t v);
void leat_json_put_double(struct leat_json_writer *w, const char *key, double v);
void leat_json_put_bool(struct leat_json_writer *w, const char *key, bool v);

/* ---- lines ---- */

/** Cuts a stream into lines (LF or CRLF, empty ones skipped) of at most LEAT_JSON_LINE_MAX octets.
 */
struct leat_json_lines {
    char *buffer;
    size_t len, cap;
    size_t start, tail; /**< offsets: of the first octet not taken; of the unfinished line */
    bool is_overlong;   /**< a line was too long: the stream cannot go on */
};

void leat_json_lines_init(struct leat_json_lines *l);
void leat_json_lines_deinit(struct leat_json_lines *l);
/** @return 0, LEAT_E_RANGE (line too long: serve what next() still yields, then close the stream)
 * or LEAT_E_NOMEM. The buffer grows by what is added and not taken: take all lines before adding
 * more. */
int leat_json_lines_add(struct leat_json_lines *l, struct leat_span octets);
/** The next whole line, valid until the next call. At the end of the stream `is_end` also yields a
 * last unfinished line. */
bool leat_json_lines_next(struct leat_json_lines *l, bool is_end, struct leat_span *line);

/** "1.7.15" */
const char *leat_json_library_version(void);

#endif
