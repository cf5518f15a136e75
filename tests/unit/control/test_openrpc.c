/* SPDX-License-Identifier: MIT */
/* The document is what the program does: every method and parameter in both, nothing in one only.
 */
#include "harness.h"
#include "support.h"

#include "private.h"

#include <stdlib.h>

static struct world w;

static const leat_json *method_of(const leat_json *document, const char *name)
{
    const leat_json *m = leat_json_first(at(document, "result.methods"));
    while (m && strcmp(text_at(m, "name"), name) != 0) {
        m = leat_json_next(m);
    }
    return m;
}

static leat_json *discover(void)
{
    world_prepare(&w);
    world_start(&w);
    return world_call(&w, world_connect(&w), "rpc.discover", "{}");
}

static void document__is_openrpc_of_this_api(void)
{
    leat_json *j = discover();
    LEAT_CHECK_STR(text_at(j, "result.openrpc"), "1.2.6");
    LEAT_CHECK_STR(text_at(j, "result.info.version"), LEAT__CONTROL_API);
    LEAT_CHECK(strlen(text_at(j, "result.info.title")) > 3);
    for (const leat_json *m = leat_json_first(at(j, "result.methods")); m; m = leat_json_next(m)) {
        LEAT_CHECK(strlen(text_at(m, "summary")) > 10);
        LEAT_CHECK_STR(text_at(m, "paramStructure"), "by-name");
        LEAT_CHECK(at(m, "result.schema") != NULL && at(m, "result.name") != NULL);
        for (const leat_json *p = leat_json_first(at(m, "params")); p; p = leat_json_next(p)) {
            LEAT_CHECK(at(p, "name") != NULL && at(p, "schema") != NULL);
        }
    }
    leat_json_free(j);
    world_stop(&w);
}

/** Every $ref of the document points at something in it. */
static void check_refs(const leat_json *document, const leat_json *j)
{
    static const char start[] = "#/components/schemas/";
    struct leat_span ref;
    if (leat_json_string(leat_json_get(j, "$ref"), &ref)) {
        const char *text = (const char *)ref.data;
        LEAT_CHECK(strncmp(text, start, sizeof(start) - 1) == 0);
        if (!leat_json_get(at(document, "result.components.schemas"), text + sizeof(start) - 1)) {
            leat_test_fail(__FILE__, __LINE__, text);
        }
    }
    for (const leat_json *c = leat_json_first(j); c; c = leat_json_next(c)) {
        check_refs(document, c);
    }
}

static void document__references__are_all_there(void)
{
    leat_json *j = discover();
    check_refs(j, at(j, "result"));
    leat_json_free(j);
    world_stop(&w);
}

static void document__methods_and_parameters__are_the_tables(void)
{
    leat_json *j = discover();
    LEAT_CHECK_INT(leat_json_count(at(j, "result.methods")), leat__control_method_count);
    for (size_t i = 0; i < leat__control_method_count; i++) {
        const struct leat__control_method *method = &leat__control_methods[i];
        const leat_json *m = method_of(j, method->name);
        size_t words = method->params[0] != '\0' ? 1 : 0;
        for (const char *p = method->params; *p != '\0'; p++) {
            words += *p == ' ' ? 1 : 0;
        }
        if (!m || leat_json_count(at(m, "params")) != words) {
            leat_test_fail(__FILE__, __LINE__, method->name);
            continue;
        }
        for (const leat_json *p = leat_json_first(at(m, "params")); p; p = leat_json_next(p)) {
            LEAT_CHECK(
                leat__control_is_word(method->params, leat_span_str(text_at(p, "name")), NULL));
        }
    }
    leat_json_free(j);
    world_stop(&w);
}

/** Asks each method for each documented parameter, and for one that is not. */
static void method__parameters__documented_ones_are_known_others_refused(void)
{
    leat_json *j = discover();
    unsigned r = world_connect(&w);
    for (const leat_json *m = leat_json_first(at(j, "result.methods")); m; m = leat_json_next(m)) {
        const char *name = text_at(m, "name");
        char params[128];
        leat_json *reply = world_call(&w, r, name, "{\"no_such\":1}");
        LEAT_CHECK_STR(text_at(reply, REASON), "unknown_parameter");
        LEAT_CHECK_STR(text_at(reply, FIELD), "no_such");
        LEAT_CHECK_INT(int_at(reply, "error.code"), -32602);
        leat_json_free(reply);
        for (const leat_json *p = leat_json_first(at(m, "params")); p; p = leat_json_next(p)) {
            (void)snprintf(params, sizeof(params), "{\"%s\":null}", text_at(p, "name"));
            reply = world_call(&w, r, name, params);
            LEAT_CHECK(strcmp(text_at(reply, REASON), "unknown_parameter") != 0);
            leat_json_free(reply);
        }
        bool has_required = false;
        for (const leat_json *p = leat_json_first(at(m, "params")); p; p = leat_json_next(p)) {
            has_required = has_required || is_true(p, "required");
        }
        if (has_required) {
            reply = world_call(&w, r, name, "{}");
            LEAT_CHECK_STR(text_at(reply, REASON), "missing_parameter");
            leat_json_free(reply);
        }
    }
    leat_json_free(j);
    world_stop(&w);
}

LEAT_TESTS(LEAT_TEST(document__is_openrpc_of_this_api),
           LEAT_TEST(document__references__are_all_there),
           LEAT_TEST(document__methods_and_parameters__are_the_tables),
           LEAT_TEST(method__parameters__documented_ones_are_known_others_refused))
