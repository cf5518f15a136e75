/* SPDX-License-Identifier: MIT */
/* Of an OpenRPC document: methods, their parameters and the members of their results, with types in
 * a few words. */
#include "discover.h"

#include "print.h"

#define DEPTH_MAX 4

static struct leat_span text_of(const leat_json *object, const char *key)
{
    struct leat_span text = {(const uint8_t *)"", 0};
    (void)leat_json_string(leat_json_get(object, key), &text);
    return text;
}

void leat_ctl_print_methods(FILE *out, const leat_json *document)
{
    const leat_json *methods = leat_json_get(document, "methods");
    for (const leat_json *m = leat_json_first(methods); m != NULL; m = leat_json_next(m)) {
        struct leat_span name = text_of(m, "name");
        leat_ctl_print_text(out, name);
        (void)fprintf(out, "%*s", name.len < 24 ? (int)(24 - name.len) : 1, "");
        leat_ctl_print_text(out, text_of(m, "summary"));
        (void)fputc('\n', out);
    }
}

static void print_alternatives(FILE *out, const leat_json *list, unsigned depth);

/** "Id", "integer", "[Track]", "auto|active|passive", ... */
static void print_type(FILE *out, const leat_json *schema, unsigned depth)
{
    struct leat_span ref = text_of(schema, "$ref"), type = text_of(schema, "type");
    const leat_json *values = leat_json_get(schema, "enum");
    const leat_json *either = leat_json_get(schema, "oneOf");
    if (depth == DEPTH_MAX) {
        (void)fputs("...", out);
    } else if (ref.len != 0) {
        size_t from = ref.len;
        while (from > 0 && ref.data[from - 1] != '/') {
            from--;
        }
        leat_ctl_print_text(out, leat_span(ref.data + from, ref.len - from));
    } else if (values != NULL) {
        for (const leat_json *v = leat_json_first(values); v != NULL; v = leat_json_next(v)) {
            struct leat_span value = {(const uint8_t *)"", 0};
            (void)leat_json_string(v, &value);
            (void)fputs(v != leat_json_first(values) ? "|" : "", out);
            leat_ctl_print_text(out, value);
        }
    } else if (either != NULL) {
        print_alternatives(out, either, depth);
    } else if (leat_span_equal(type, leat_span_str("array"))) {
        (void)fputc('[', out);
        print_type(out, leat_json_get(schema, "items"), depth + 1);
        (void)fputc(']', out);
    } else {
        leat_ctl_print_text(out, type.len != 0 ? type : leat_span_str("any"));
    }
}

static void print_alternatives(FILE *out, const leat_json *list, unsigned depth)
{
    for (const leat_json *e = leat_json_first(list); e != NULL; e = leat_json_next(e)) {
        (void)fputs(e != leat_json_first(list) ? " or " : "", out);
        print_type(out, e, depth + 1);
    }
}

static void print_param(FILE *out, const leat_json *p)
{
    struct leat_span about = text_of(p, "description");
    bool is_required = false;
    (void)leat_json_bool(leat_json_get(p, "required"), &is_required);
    (void)fputs("  ", out);
    leat_ctl_print_text(out, text_of(p, "name"));
    (void)fputs(": ", out);
    print_type(out, leat_json_get(p, "schema"), 0);
    (void)fputs(is_required ? ", required" : "", out);
    if (about.len != 0) {
        (void)fputs("  -- ", out);
        leat_ctl_print_text(out, about);
    }
    (void)fputc('\n', out);
}

/** A schema itself, or what it refers to in the document's components. */
static const leat_json *resolve(const leat_json *document, const leat_json *schema)
{
    static const char prefix[] = "#/components/schemas/";
    struct leat_span ref = text_of(schema, "$ref");
    char name[64];
    if (ref.len < sizeof prefix || memcmp(ref.data, prefix, sizeof prefix - 1) != 0 ||
        !leat_text_copy(name, sizeof name,
                        leat_span(ref.data + sizeof prefix - 1, ref.len - (sizeof prefix - 1)))) {
        return schema;
    }
    return leat_json_get(leat_json_get(leat_json_get(document, "components"), "schemas"), name);
}

static void print_result(FILE *out, const leat_json *document, const leat_json *schema)
{
    const leat_json *members = leat_json_get(resolve(document, schema), "properties");
    (void)fputs(leat_json_count(members) != 0 ? "result:\n" : "", out);
    for (const leat_json *m = leat_json_first(members); m != NULL; m = leat_json_next(m)) {
        (void)fputs("  ", out);
        leat_ctl_print_text(out, leat_span_str(leat_json_key(m)));
        (void)fputs(": ", out);
        print_type(out, m, 0);
        (void)fputc('\n', out);
    }
}

bool leat_ctl_print_method(FILE *out, const leat_json *document, const char *name)
{
    const leat_json *m = leat_json_first(leat_json_get(document, "methods"));
    while (m != NULL && !leat_span_equal(text_of(m, "name"), leat_span_str(name))) {
        m = leat_json_next(m);
    }
    if (m == NULL) {
        return false;
    }
    (void)fprintf(out, "%s: ", name);
    leat_ctl_print_text(out, text_of(m, "summary"));
    (void)fputc('\n', out);
    struct leat_span about = text_of(m, "description");
    leat_ctl_print_text(out, about);
    (void)fputs(about.len != 0 ? "\n" : "", out);
    const leat_json *params = leat_json_get(m, "params");
    (void)fputs(leat_json_count(params) != 0 ? "parameters:\n" : "no parameters\n", out);
    for (const leat_json *p = leat_json_first(params); p != NULL; p = leat_json_next(p)) {
        print_param(out, p);
    }
    print_result(out, document, leat_json_get(leat_json_get(m, "result"), "schema"));
    return true;
}
