/* SPDX-License-Identifier: MIT */
/* All cells are kept as text until the last row is in: only then the widths are known. */
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>

#define CELL_MAX 200
#define LIST_MAX 6 /* elements that a cell shows */
#define GAP 2

/* ---- cells ---- */

struct line {
    char *out;
    size_t cap, len;
};

static void put(struct line *l, struct leat_span text)
{
    for (size_t i = 0; i < text.len && l->len + 1 < l->cap; i++) {
        uint8_t c = text.data[i];
        l->out[l->len++] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
    }
    l->out[l->len] = '\0';
}

static void put_text(struct line *l, const char *text)
{
    put(l, leat_span_str(text));
}

static void put_value(struct line *l, const leat_json *j);

static void put_number(struct line *l, const leat_json *j)
{
    char digits[40];
    int64_t integer;
    double number = 0;
    if (leat_json_int(j, &integer)) {
        (void)snprintf(digits, sizeof digits, "%" PRId64, integer);
    } else {
        (void)leat_json_number(j, &number);
        (void)snprintf(digits, sizeof digits, "%.6g", number);
    }
    put_text(l, digits);
}

/** Two members with a mark between them. @return false when one is not there. */
static bool put_pair(struct line *l, const leat_json *j, const char *a, const char *mark,
                     const char *b)
{
    const leat_json *first = leat_json_get(j, a), *second = leat_json_get(j, b);
    if (first == NULL || second == NULL) {
        return false;
    }
    put_value(l, first);
    put_text(l, mark);
    put_value(l, second);
    return true;
}

static void put_object(struct line *l, const leat_json *j)
{
    if (put_pair(l, j, "peer", "/", "mid") || put_pair(l, j, "address", ":", "port") ||
        put_pair(l, j, "mid", ":", "kind") || put_pair(l, j, "name", "/", "pt")) {
        return;
    }
    put_text(l, "{");
    for (const leat_json *m = leat_json_first(j); m != NULL; m = leat_json_next(m)) {
        put_text(l, m == leat_json_first(j) ? "" : ", ");
        put_text(l, leat_json_key(m));
        put_text(l, ": ");
        put_value(l, m);
    }
    put_text(l, "}");
}

static void put_array(struct line *l, const leat_json *j)
{
    size_t count = leat_json_count(j), shown = 0;
    for (const leat_json *e = leat_json_first(j); e != NULL && shown < LIST_MAX;
         e = leat_json_next(e), shown++) {
        put_text(l, shown != 0 ? "," : "");
        put_value(l, e);
    }
    if (count > shown) {
        char more[32];
        (void)snprintf(more, sizeof more, " and %zu more", count - shown);
        put_text(l, more);
    }
}

static void put_value(struct line *l, const leat_json *j)
{
    struct leat_span text;
    bool is_true = false;
    switch (leat_json_type_of(j)) {
    case LEAT_JSON_NULL:
        break;
    case LEAT_JSON_BOOL:
        (void)leat_json_bool(j, &is_true);
        put_text(l, is_true ? "yes" : "no");
        break;
    case LEAT_JSON_NUMBER:
        put_number(l, j);
        break;
    case LEAT_JSON_STRING:
        (void)leat_json_string(j, &text);
        put(l, text);
        break;
    case LEAT_JSON_ARRAY:
        put_array(l, j);
        break;
    case LEAT_JSON_OBJECT:
        put_object(l, j); /* the parser bounds the depth */
        break;
    }
}

const char *leat_ctl_cell(const leat_json *j, char *out, size_t cap)
{
    struct line l = {out, cap, 0};
    out[0] = '\0';
    put_value(&l, j);
    return out;
}

/* ---- table ---- */

void leat_ctl_table_init(struct leat_ctl_table *t, const struct leat_ctl_column *columns,
                         size_t column_count)
{
    *t = (struct leat_ctl_table){.columns = columns, .column_count = column_count};
}

void leat_ctl_table_deinit(struct leat_ctl_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->cells[i]);
    }
    free(t->cells);
}

static bool make_room(struct leat_ctl_table *t)
{
    if (t->cap - t->count >= t->column_count) {
        return true;
    }
    size_t cap = t->cap == 0 ? 256 : 2 * t->cap;
    char **grown = realloc(t->cells, cap * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    t->cells = grown;
    t->cap = cap;
    return true;
}

void leat_ctl_table_add(struct leat_ctl_table *t, const leat_json *object)
{
    if (t->failed || !make_room(t)) {
        t->failed = true;
        return;
    }
    for (size_t i = 0; i < t->column_count; i++) {
        char cell[CELL_MAX];
        (void)leat_ctl_cell(leat_json_get(object, t->columns[i].key), cell, sizeof cell);
        t->cells[t->count] = strdup(cell);
        t->failed = t->failed || t->cells[t->count] == NULL;
        t->count++;
    }
}

static bool is_number(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789.-+e") == strlen(text);
}

/** Characters on a terminal, roughly: UTF-8 octets that begin one. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

struct layout {
    size_t width[LEAT_CTL_COLUMNS_MAX];
    bool is_right[LEAT_CTL_COLUMNS_MAX], is_shown[LEAT_CTL_COLUMNS_MAX];
};

static void measure(const struct leat_ctl_table *t, struct layout *l)
{
    for (size_t column = 0; column < t->column_count; column++) {
        l->width[column] = width_of(t->columns[column].title);
        l->is_right[column] = true;
        l->is_shown[column] = false;
        for (size_t i = column; i < t->count; i += t->column_count) {
            size_t width = width_of(t->cells[i]);
            l->width[column] = width > l->width[column] ? width : l->width[column];
            l->is_right[column] = l->is_right[column] && (width == 0 || is_number(t->cells[i]));
            l->is_shown[column] = l->is_shown[column] || width != 0;
        }
    }
}

static void print_row(const struct leat_ctl_table *t, const struct layout *l,
                      const char *const *cells, FILE *out)
{
    size_t owed = 0; /* blanks that are printed only when something follows */
    for (size_t i = 0; i < t->column_count; i++) {
        if (!l->is_shown[i]) {
            continue;
        }
        const char *text = cells != NULL ? cells[i] : t->columns[i].title;
        size_t pad = l->width[i] - width_of(text);
        if (text[0] == '\0') {
            owed += l->width[i] + GAP;
            continue;
        }
        (void)fprintf(out, "%*s%s", (int)(owed + (l->is_right[i] ? pad : 0)), "", text);
        owed = GAP + (l->is_right[i] ? 0 : pad);
    }
    (void)fputc('\n', out);
}

void leat_ctl_table_print(const struct leat_ctl_table *t, FILE *out)
{
    struct layout layout;
    if (t->failed || t->count == 0) {
        return;
    }
    measure(t, &layout);
    print_row(t, &layout, NULL, out);
    for (size_t i = 0; i < t->count; i += t->column_count) {
        print_row(t, &layout, (const char *const *)&t->cells[i], out);
    }
}
