/* SPDX-License-Identifier: MIT */
/*
 * Parameters read by name and type. A reader is straight-line code: the first fault stays, later
 * reads go on harmlessly, and the caller checks the fault once. Every fault names the member by its
 * path ("routes[0].to.mid"). Text that came from outside is cut before it goes into a message.
 */
#include "private.h"

#include <stdarg.h>
#include <stdio.h>

void leat__control_fault_set(struct leat__control_fault *f, enum leat__control_code code,
                             const char *reason, const char *field, const char *format, ...)
{
    if (f->code != LEAT__RPC_NONE) {
        return;
    }
    f->code = code;
    f->reason = reason;
    (void)leat_text_copy(f->field, sizeof(f->field), leat_span_str(field));
    va_list args;
    va_start(args, format);
    (void)vsnprintf(f->message, sizeof(f->message), format, args);
    va_end(args);
}

void leat__control_fault_error(struct leat__control_fault *f, int error, const char *what)
{
    switch (error) {
    case LEAT_E_MISSING:
        leat__control_fault_set(f, LEAT__RPC_FAILED, "ended", "",
                                "%s: a peer or section of it ended meanwhile", what);
        break;
    case LEAT_E_RANGE:
        leat__control_fault_set(f, LEAT__RPC_FAILED, "limit", "",
                                "%s: a limit of the worker is reached", what);
        break;
    default:
        leat__control_fault_set(f, LEAT__RPC_FAILED, "internal", "", "%s: %s", what,
                                leat_error_text(error));
    }
}

bool leat__control_is_word(const char *words, struct leat_span text, int *index)
{
    int at = 0;
    for (const char *word = words; *word != '\0'; at++) {
        size_t len = strcspn(word, " ");
        if (leat_span_equal(leat_span(word, len), text)) {
            if (index) {
                *index = at;
            }
            return true;
        }
        word += word[len] == ' ' ? len + 1 : len;
    }
    return false;
}

const char *leat__control_params_path(const struct leat__control_params *p, const char *key,
                                      char out[static LEAT__CONTROL_FIELD_MAX])
{
    size_t at = 0;
    if (p->path[0] != '\0') {
        (void)leat_text_copy(out, LEAT__CONTROL_FIELD_MAX, leat_span_str(p->path));
        at = strlen(out);
        (void)leat_text_copy(out + at, LEAT__CONTROL_FIELD_MAX - at, leat_span_str("."));
        at = strlen(out);
    }
    (void)leat_text_copy(out + at, LEAT__CONTROL_FIELD_MAX - at, leat_span_str(key));
    return out;
}

static void refuse(const struct leat__control_params *p, const char *reason, const char *key,
                   const char *problem)
{
    char path[LEAT__CONTROL_FIELD_MAX];
    leat__control_params_path(p, key, path);
    leat__control_fault_set(p->fault, LEAT__RPC_PARAMS, reason, path, "%s %s", path, problem);
}

static void refuse_type(const struct leat__control_params *p, const char *key, const char *wanted,
                        const leat_json *got)
{
    char path[LEAT__CONTROL_FIELD_MAX];
    leat__control_params_path(p, key, path);
    leat__control_fault_set(p->fault, LEAT__RPC_PARAMS, "wrong_type", path, "%s must be %s, not %s",
                            path, wanted, leat_json_type_text(leat_json_type_of(got)));
}

/** The member, or NULL; absent and required is a fault. */
static const leat_json *member(const struct leat__control_params *p, const char *key,
                               bool is_required)
{
    const leat_json *found = leat_json_get(p->object, key);
    if (!found && is_required) {
        refuse(p, "missing_parameter", key, "is missing");
    }
    return found;
}

void leat__control_params_known(const struct leat__control_params *p, const char *known)
{
    for (const leat_json *m = leat_json_first(p->object); m; m = leat_json_next(m)) {
        if (!leat__control_is_word(known, leat_span_str(leat_json_key(m)), NULL)) {
            refuse(p, "unknown_parameter", leat_json_key(m), "is no parameter here");
            return;
        }
    }
}

bool leat__control_params_has(const struct leat__control_params *p, const char *key)
{
    return leat_json_get(p->object, key) != NULL;
}

bool leat__control_params_text(const struct leat__control_params *p, const char *key,
                               bool is_required, struct leat_span *out)
{
    const leat_json *found = member(p, key, is_required);
    if (found && !leat_json_string(found, out)) {
        refuse_type(p, key, "a string", found);
        return false;
    }
    return found != NULL;
}

static void refuse_id(const struct leat__control_params *p, const char *key, const char *shape)
{
    char path[LEAT__CONTROL_FIELD_MAX];
    leat__control_params_path(p, key, path);
    leat__control_fault_set(p->fault, LEAT__RPC_FAILED, "bad_id", path, "%s must be %s", path,
                            shape);
}

bool leat__control_params_id(const struct leat__control_params *p, const char *key,
                             bool is_required, char out[static LEAT_ID_MAX + 1])
{
    struct leat_span text;
    if (!leat__control_params_text(p, key, is_required, &text)) {
        return false;
    }
    if (!leat_id_is_valid(text)) {
        refuse_id(p, key, "1 to 64 characters of A-Z a-z 0-9 . _ : -");
        return false;
    }
    return leat_text_copy(out, LEAT_ID_MAX + 1, text);
}

bool leat__control_params_mid(const struct leat__control_params *p, const char *key,
                              char out[static LEAT_MID_MAX + 1])
{
    struct leat_span text;
    if (!leat__control_params_text(p, key, true, &text)) {
        return false;
    }
    if (!leat_mid_is_valid(text)) {
        refuse_id(p, key, "a mid: 1 to 16 token characters");
        return false;
    }
    return leat_text_copy(out, LEAT_MID_MAX + 1, text);
}

bool leat__control_params_int(const struct leat__control_params *p, const char *key,
                              bool is_required, int64_t min, int64_t max, int64_t *out)
{
    const leat_json *found = member(p, key, is_required);
    int64_t value;
    if (!found) {
        return false;
    }
    if (!leat_json_int(found, &value)) {
        refuse_type(p, key, "an integer", found);
        return false;
    }
    if (value < min || value > max) {
        char path[LEAT__CONTROL_FIELD_MAX];
        leat__control_params_path(p, key, path);
        leat__control_fault_set(p->fault, LEAT__RPC_PARAMS, "out_of_range", path,
                                "%s must be within %lld and %lld", path, (long long)min,
                                (long long)max);
        return false;
    }
    *out = value;
    return true;
}

bool leat__control_params_bool(const struct leat__control_params *p, const char *key, bool *out)
{
    const leat_json *found = leat_json_get(p->object, key);
    if (found && !leat_json_bool(found, out)) {
        refuse_type(p, key, "true or false", found);
        return false;
    }
    return found != NULL;
}

bool leat__control_params_object(const struct leat__control_params *p, const char *key,
                                 bool is_required, struct leat__control_params *out)
{
    const leat_json *found = member(p, key, is_required);
    if (found && leat_json_type_of(found) != LEAT_JSON_OBJECT) {
        refuse_type(p, key, "an object", found);
        return false;
    }
    out->object = found;
    out->fault = p->fault;
    leat__control_params_path(p, key, out->path);
    return found != NULL;
}

bool leat__control_params_array(const struct leat__control_params *p, const char *key,
                                bool is_required, size_t max, const leat_json **out)
{
    const leat_json *found = member(p, key, is_required);
    if (!found) {
        return false;
    }
    if (leat_json_type_of(found) != LEAT_JSON_ARRAY) {
        refuse_type(p, key, "an array", found);
        return false;
    }
    if (leat_json_count(found) > max) {
        char path[LEAT__CONTROL_FIELD_MAX];
        leat__control_params_path(p, key, path);
        leat__control_fault_set(p->fault, LEAT__RPC_PARAMS, "out_of_range", path,
                                "%s may have at most %zu elements", path, max);
        return false;
    }
    *out = found;
    return true;
}

void leat__control_index_name(const char *key, size_t index, char out[static 48])
{
    (void)snprintf(out, 48, "%.24s[%zu]", key, index);
}

bool leat__control_params_element(const struct leat__control_params *p, const char *key,
                                  size_t index, const leat_json *element,
                                  struct leat__control_params *out)
{
    char name[48];
    leat__control_index_name(key, index, name);
    out->object = element;
    out->fault = p->fault;
    leat__control_params_path(p, name, out->path);
    if (leat_json_type_of(element) != LEAT_JSON_OBJECT) {
        refuse_type(p, name, "an object", element);
        return false;
    }
    return true;
}

int leat__control_params_word(const struct leat__control_params *p, const char *key,
                              bool is_required, const char *words)
{
    struct leat_span text;
    int index = -1;
    if (!leat__control_params_text(p, key, is_required, &text)) {
        return -1;
    }
    if (!leat__control_is_word(words, text, &index)) {
        char path[LEAT__CONTROL_FIELD_MAX];
        leat__control_params_path(p, key, path);
        leat__control_fault_set(p->fault, LEAT__RPC_PARAMS, "out_of_range", path,
                                "%s must be one of: %s", path, words);
    }
    return index;
}
