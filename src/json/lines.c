/* SPDX-License-Identifier: MIT */
/*
 * A stream of octets to lines.
 *
 *     buffer: | taken lines | whole lines ... | unfinished line |
 *             0             start             tail              len
 *
 * Taken lines are dropped when octets are added, in one move for all of them, so many small lines
 * in one read stay linear. A line over the limit ends the stream at its beginning: the whole lines
 * before it can still be taken, nothing of it or behind it is kept.
 */
#include <leat/json.h>

#include <stdlib.h>

#define CAP_MIN 4096

void leat_json_lines_init(struct leat_json_lines *l)
{
    memset(l, 0, sizeof(*l));
}

void leat_json_lines_deinit(struct leat_json_lines *l)
{
    free(l->buffer);
    memset(l, 0, sizeof(*l));
}

static int reserve(struct leat_json_lines *l, size_t more)
{
    if (l->start != 0) {
        memmove(l->buffer, l->buffer + l->start, l->len - l->start);
        l->len -= l->start;
        l->tail -= l->start;
        l->start = 0;
    }
    if (more >= SIZE_MAX / 2 - l->len) {
        return LEAT_E_NOMEM;
    }
    size_t cap = l->cap != 0 ? l->cap : CAP_MIN;
    while (cap - l->len < more) {
        cap *= 2;
    }
    if (cap != l->cap) {
        char *grown = realloc(l->buffer, cap);
        if (!grown) {
            return LEAT_E_NOMEM;
        }
        l->buffer = grown;
        l->cap = cap;
    }
    return 0;
}

/** Length of a line without the CR of a CRLF, whether its LF has come or not. */
static size_t content_len(const char *line, size_t len)
{
    return len != 0 && line[len - 1] == '\r' ? len - 1 : len;
}

int leat_json_lines_add(struct leat_json_lines *l, struct leat_span octets)
{
    if (l->is_overlong) {
        return LEAT_E_RANGE;
    }
    if (octets.len == 0) {
        return 0;
    }
    int rc = reserve(l, octets.len);
    if (rc != 0) {
        return rc;
    }
    size_t at = l->len; /* everything before it has been searched */
    memcpy(l->buffer + at, octets.data, octets.len);
    l->len += octets.len;
    for (;;) {
        const char *lf = memchr(l->buffer + at, '\n', l->len - at);
        size_t end = lf ? (size_t)(lf - l->buffer) : l->len;
        if (content_len(l->buffer + l->tail, end - l->tail) > LEAT_JSON_LINE_MAX) {
            l->is_overlong = true;
            l->len = l->tail;
            return LEAT_E_RANGE;
        }
        if (!lf) {
            return 0;
        }
        at = l->tail = end + 1;
    }
}

bool leat_json_lines_next(struct leat_json_lines *l, bool is_end, struct leat_span *line)
{
    while (l->start < l->len && (l->start < l->tail || is_end)) {
        const char *first = l->buffer + l->start;
        const char *lf = memchr(first, '\n', l->len - l->start);
        size_t len = lf ? (size_t)(lf - first) : l->len - l->start;
        l->start += lf ? len + 1 : len;
        l->tail = l->tail < l->start ? l->start : l->tail;
        len = content_len(first, len);
        if (len != 0) {
            *line = leat_span(first, len);
            return true;
        }
    }
    return false;
}
