/* SPDX-License-Identifier: MIT */
/* Arguments into a tree, the tree into JSON. */
#include "params.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_MAX ((size_t)LEAT_JSON_LINE_MAX)

/** Keys whose values are strings whatever they look like. */
static const char *const string_keys[] = {
    "id",   "peer",        "mid",    "group", "offer", "answer",     "ufrag", "pwd",
    "name", "fingerprint", "stream", "uri",   "boot",  "parameters", "setup", "state",
};
/** Keys whose values are lists of strings. */
static const char *const list_keys[] = {"peers", "types"};

static bool is_one_of(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i], key) == 0) {
            return true;
        }
    }
    return false;
}

void leat_ctl_params_init(struct leat_ctl_params *p)
{
    memset(p, 0, sizeof *p);
    p->count = 1;
}

void leat_ctl_params_deinit(struct leat_ctl_params *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->nodes[i].key);
        free(p->nodes[i].json);
    }
    p->count = 0;
}

/* ---- values ---- */

/** A file's text, terminated. @return NULL with a sentence. */
static char *read_file(const char *path, size_t *len, char why[static LEAT_CTL_WHY_MAX])
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    char *text = f != NULL ? malloc(FILE_MAX + 1) : NULL;
    if (text == NULL) {
        (void)snprintf(why, LEAT_CTL_WHY_MAX, "%.128s: %s", path, strerror(errno));
    } else {
        *len = fread(text, 1, FILE_MAX + 1, f);
        if (ferror(f) != 0 || *len > FILE_MAX) {
            (void)snprintf(why, LEAT_CTL_WHY_MAX, "%.128s: %s", path,
                           *len > FILE_MAX ? "is longer than a request may be" : strerror(errno));
            free(text);
            text = NULL;
        } else {
            text[*len] = '\0';
        }
    }
    if (f != NULL && !is_stdin) {
        (void)fclose(f);
    }
    return text;
}

static void write_list(struct leat_json_writer *w, struct leat_span text)
{
    leat_json_open(w, '[');
    for (size_t from = 0; from < text.len;) {
        const uint8_t *comma = memchr(text.data + from, ',', text.len - from);
        size_t to = comma != NULL ? (size_t)(comma - text.data) : text.len;
        leat_json_write_span(w, leat_span(text.data + from, to - from));
        from = to + 1;
    }
    leat_json_close(w, ']');
}

static void write_value(struct leat_json_writer *w, const char *key, bool is_name,
                        struct leat_span text)
{
    char why[LEAT_JSON_WHY_MAX];
    leat_json *value = leat_json_parse(text, why);
    enum leat_json_type type = leat_json_type_of(value);
    bool is_list = is_one_of(key, list_keys, LEAT_ARRAY_LEN(list_keys));
    bool is_string = is_name || is_one_of(key, string_keys, LEAT_ARRAY_LEN(string_keys));
    if (is_list && type != LEAT_JSON_ARRAY) {
        write_list(w, text);
    } else if (value != NULL && (!is_string || type == LEAT_JSON_STRING)) {
        leat_json_write_value(w, value);
    } else {
        leat_json_write_span(w, text);
    }
    leat_json_free(value);
}

/** JSON of a value, to be freed. */
static char *value_json(const char *key, bool is_name, const char *value,
                        char why[static LEAT_CTL_WHY_MAX])
{
    char *file = NULL;
    size_t len = strlen(value);
    if (value[0] == '@') {
        value = file = read_file(value + 1, &len, why);
        if (file == NULL) {
            return NULL;
        }
    }
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    write_value(&w, key, is_name, leat_span(value, len));
    free(file);
    if (w.failed) {
        (void)snprintf(why, LEAT_CTL_WHY_MAX, "out of memory");
        leat_json_writer_deinit(&w);
        return NULL;
    }
    return w.text; /* ours now */
}

/* ---- tree ---- */

static struct leat_ctl_node *child_of(const struct leat_ctl_node *n, struct leat_span key)
{
    for (struct leat_ctl_node *c = n->first; c != NULL; c = c->next) {
        if (leat_span_equal(leat_span_str(c->key), key)) {
            return c;
        }
    }
    return NULL;
}

static struct leat_ctl_node *add_child(struct leat_ctl_params *p, struct leat_ctl_node *n,
                                       struct leat_span key)
{
    struct leat_ctl_node *c = &p->nodes[p->count];
    if (p->count == LEAT_CTL_NODES_MAX || (c->key = malloc(key.len + 1)) == NULL) {
        return NULL;
    }
    (void)leat_text_copy(c->key, key.len + 1, key);
    p->count++;
    struct leat_ctl_node **last = &n->first;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = c;
    return c;
}

/** The node of a dotted path, made as needed. */
static struct leat_ctl_node *walk(struct leat_ctl_params *p, struct leat_ctl_node *n,
                                  struct leat_span path, bool *is_name,
                                  char why[static LEAT_CTL_WHY_MAX])
{
    *is_name = false;
    for (size_t from = 0; from <= path.len;) {
        const uint8_t *dot =
            from < path.len ? memchr(path.data + from, '.', path.len - from) : NULL;
        size_t to = dot != NULL ? (size_t)(dot - path.data) : path.len;
        struct leat_span key = leat_span(path.data + from, to - from);
        if (key.len == 0) {
            (void)snprintf(why, LEAT_CTL_WHY_MAX, "a part of the key is empty");
            return NULL;
        }
        if (n->json != NULL) {
            (void)snprintf(why, LEAT_CTL_WHY_MAX, "%.64s is a value already", n->key);
            return NULL;
        }
        *is_name = n->key != NULL && strcmp(n->key, "streams") == 0; /* stream ids by mid */
        struct leat_ctl_node *c = child_of(n, key);
        n = c != NULL ? c : add_child(p, n, key);
        if (n == NULL) {
            (void)snprintf(why, LEAT_CTL_WHY_MAX, "too many parameters");
            return NULL;
        }
        from = to + 1;
    }
    return n;
}

int leat_ctl_params_add(struct leat_ctl_params *p, const char *argument, const char *below,
                        char why[static LEAT_CTL_WHY_MAX])
{
    const char *equals = strchr(argument, '=');
    char reason[LEAT_CTL_WHY_MAX] = "";
    bool is_name = false;
    if (equals == NULL || equals == argument) {
        (void)snprintf(why, LEAT_CTL_WHY_MAX, "'%.128s' is not key=value", argument);
        return LEAT_E_INVALID;
    }
    struct leat_ctl_node *n = &p->nodes[0];
    if (below != NULL) {
        n = walk(p, n, leat_span_str(below), &is_name, reason);
    }
    if (n != NULL) {
        n = walk(p, n, leat_span(argument, (size_t)(equals - argument)), &is_name, reason);
    }
    if (n != NULL && (n->json != NULL || n->first != NULL)) {
        (void)snprintf(reason, sizeof reason, "given twice");
        n = NULL;
    }
    if (n != NULL && (n->json = value_json(n->key, is_name, equals + 1, reason)) != NULL) {
        return 0;
    }
    (void)snprintf(why, LEAT_CTL_WHY_MAX, "%.*s: %.160s", (int)(equals - argument), argument,
                   reason);
    return LEAT_E_INVALID;
}

bool leat_ctl_params_has(const struct leat_ctl_params *p, const char *key)
{
    return child_of(&p->nodes[0], leat_span_str(key)) != NULL;
}

static void write_node(const struct leat_ctl_node *n, struct leat_json_writer *w)
{
    if (n->json != NULL) {
        leat_json_write_raw(w, leat_span_str(n->json));
        return;
    }
    leat_json_open(w, '{');
    for (const struct leat_ctl_node *c = n->first; c != NULL; c = c->next) {
        leat_json_write_key(w, c->key);
        write_node(c, w); /* as deep as a key has dots: an argument's length bounds it */
    }
    leat_json_close(w, '}');
}

void leat_ctl_params_write(const struct leat_ctl_params *p, struct leat_json_writer *w)
{
    write_node(&p->nodes[0], w);
}
