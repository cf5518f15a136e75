/* SPDX-License-Identifier: MIT */
/**
 * @file  Tables of JSON objects: a row each, columns as wide as they must be.
 * @module leatctl
 */
#ifndef LEAT_CTL_TABLE_H
#define LEAT_CTL_TABLE_H

#include <stdio.h>

#include <leat/json.h>

#define LEAT_CTL_COLUMNS_MAX 16

struct leat_ctl_column {
    const char *title;
    const char *key;
};

struct leat_ctl_table {
    const struct leat_ctl_column *columns;
    size_t column_count;
    char **cells; /**< row after row */
    size_t count, cap;
    bool failed; /**< out of memory: the table is not complete */
};

void leat_ctl_table_init(struct leat_ctl_table *t, const struct leat_ctl_column *columns,
                         size_t column_count);
void leat_ctl_table_deinit(struct leat_ctl_table *t);
void leat_ctl_table_add(struct leat_ctl_table *t, const leat_json *object);
/** Numbers to the right, columns without any content left out. Nothing when there is no row. */
void leat_ctl_table_print(const struct leat_ctl_table *t, FILE *out);

/** A value in one line: "b/1" of {peer, mid}, "127.0.0.1:3478" of an address, a list with commas.
 * @return out, terminated and cut off where it does not fit. */
const char *leat_ctl_cell(const leat_json *j, char *out, size_t cap);

#endif
