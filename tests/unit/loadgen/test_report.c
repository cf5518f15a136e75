/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>

#include <leat/json.h>

#include "harness.h"
#include "report.h"

static struct leat_load_result good(void)
{
    return (struct leat_load_result){.connected = 3, .sent = 10, .expected = 20, .received = 20};
}

static void result__without_fault__is_good(void)
{
    struct leat_load_result r = good();
    LEAT_CHECK(leat_load_result_is_good(&r));
    LEAT_CHECK_INT(leat_load_result_wrong(&r), 0);
}

static void result__any_fault__is_not_good(void)
{
    static const size_t faults[] = {offsetof(struct leat_load_result, lost),
                                    offsetof(struct leat_load_result, not_connected),
                                    offsetof(struct leat_load_result, ended_early),
                                    offsetof(struct leat_load_result, undecryptable),
                                    offsetof(struct leat_load_result, unknown_ssrc)};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(faults); i++) {
        struct leat_load_result r = good();
        uint64_t one = 1;
        memcpy((char *)&r + faults[i], &one, sizeof one);
        LEAT_CHECK_ROW(i, !leat_load_result_is_good(&r));
    }
    for (size_t fate = LEAT_LOAD_REORDERED; fate < LEAT_LOAD_FATES; fate++) {
        struct leat_load_result r = good();
        r.fates[fate] = 1;
        LEAT_CHECK_ROW(fate, !leat_load_result_is_good(&r));
        LEAT_CHECK_ROW(fate, leat_load_result_wrong(&r) == (fate >= LEAT_LOAD_WRONG_PT ? 1u : 0u));
    }
    struct leat_load_result nothing = good(), interrupted = good(), failed = good();
    nothing.sent = 0;
    interrupted.is_interrupted = true;
    failed.failure[0] = 'x';
    LEAT_CHECK(!leat_load_result_is_good(&nothing));
    LEAT_CHECK(!leat_load_result_is_good(&interrupted));
    LEAT_CHECK(!leat_load_result_is_good(&failed));
}

static void report__json__is_one_object(void)
{
    struct leat_load_options o = {.publishers = 2, .subscribers = 1};
    struct leat_load_result r = good();
    char *text = NULL, why[LEAT_JSON_WHY_MAX];
    size_t len = 0;
    int64_t value = 0;
    bool is_good = true;
    r.fates[LEAT_LOAD_WRONG_CRC] = 2;
    r.undecryptable = 3;
    FILE *f = open_memstream(&text, &len);
    LEAT_CHECK_INT(leat_load_report_json(f, &o, &r), 0);
    (void)fclose(f);
    leat_json *j = leat_json_parse(leat_span(text, len - 1), why);
    LEAT_CHECK(text[len - 1] == '\n' && j != NULL);
    LEAT_CHECK(leat_json_bool(leat_json_get(j, "good"), &is_good) && !is_good);
    LEAT_CHECK(leat_json_int(leat_json_get(j, "wrong"), &value) && value == 5);
    const leat_json *by = leat_json_get(j, "wrong_by");
    LEAT_CHECK(leat_json_int(leat_json_get(by, "crc"), &value) && value == 2);
    LEAT_CHECK(leat_json_int(leat_json_get(by, "undecryptable"), &value) && value == 3);
    leat_json_free(j);
    free(text);
}

LEAT_TESTS(LEAT_TEST(result__without_fault__is_good), LEAT_TEST(result__any_fault__is_not_good),
           LEAT_TEST(report__json__is_one_object))
