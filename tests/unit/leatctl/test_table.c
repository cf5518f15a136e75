/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "harness.h"
#include "print.h"
#include "table.h"

static void cell__values__are_one_line(void)
{
    static const struct {
        const char *json, *cell;
    } rows[] = {
        {"\"text\"", "text"},
        {"\"a\\u001b[31m\\nb\"", "a [31m b"},
        {"12", "12"},
        {"9007199254740991", "9007199254740991"},
        {"0.000244141", "0.000244141"},
        {"true", "yes"},
        {"null", ""},
        {"[]", ""},
        {"{\"peer\": \"b\", \"mid\": \"1\"}", "b/1"},
        {"{\"address\": \"::1\", \"port\": 5}", "::1:5"},
        {"[{\"mid\": \"0\", \"kind\": \"audio\"}, {\"mid\": \"1\", \"kind\": \"video\"}]",
         "0:audio,1:video"},
        {"[1, 2, 3, 4, 5, 6, 7, 8]", "1,2,3,4,5,6 and 2 more"},
        {"{\"a\": 1, \"b\": [\"c\"]}", "{a: 1, b: c}"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        char why[LEAT_JSON_WHY_MAX], cell[64];
        leat_json *j = leat_json_parse(leat_span_str(rows[i].json), why);
        LEAT_CHECK_ROW(i, j != NULL);
        LEAT_CHECK_STR(leat_ctl_cell(j, cell, sizeof cell), rows[i].cell);
        leat_json_free(j);
    }
}

static void cell__small_room__is_cut_off(void)
{
    char why[LEAT_JSON_WHY_MAX], cell[6];
    leat_json *j = leat_json_parse(leat_span_str("[\"abcdef\",\"gh\"]"), why);
    LEAT_CHECK_STR(leat_ctl_cell(j, cell, sizeof cell), "abcde");
    leat_json_free(j);
}

/** What a result looks like. */
static char *printed(const char *method, const char *result)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    LEAT_CHECK_INT(leat_ctl_print_result(f, method, leat_span_str(result)), 0);
    (void)fclose(f);
    return text;
}

static void result__of_each_kind__is_laid_out(void)
{
    static const struct {
        const char *method, *result, *text;
    } rows[] = {
        {"peer.list", "{\"peers\":[]}", "none\n"},
        {"peer.list",
         "{\"peers\":[{\"id\":\"a\",\"group\":\"\",\"state\":\"connected\",\"reason\":\"\","
         "\"worker\":0,\"remote\":{\"address\":\"10.0.0.1\",\"port\":9},\"tracks\":[],"
         "\"senders\":[]},{\"id\":\"longer\",\"group\":\"\",\"state\":\"ended\",\"reason\":"
         "\"closed\",\"worker\":10,\"remote\":null,\"tracks\":[],\"senders\":[]}]}",
         "PEER    STATE      REASON  WORKER  REMOTE\n"
         "a       connected               0  10.0.0.1:9\n"
         "longer  ended      closed      10\n"},
        {"route.list",
         "{\"routes\":[{\"to\":{\"peer\":\"b\",\"mid\":\"1\"},\"from\":{\"peer\":\"a\",\"mid\":"
         "\"0\"},\"paused\":false,\"state\":\"flowing\",\"reason\":\"\"}]}",
         "TO   FROM  STATE    PAUSED\n"
         "b/1  a/0   flowing  no\n"},
        {"stats.get",
         "{\"timestamp_us\":5,\"stats\":[{\"type\":\"inbound-rtp\",\"peer\":\"a\",\"mid\":\"0\"},"
         "{\"type\":\"transport\",\"peer\":\"a\"}]}",
         "TRANSPORT\n"
         "a\n"
         "\n"
         "INBOUND  MID\n"
         "a          0\n"},
        {"peer.create",
         "{\"id\":\"a\",\"answer\":\"v=0\\r\\ns=-\\r\\n\",\"created\":true,\"codecs\":[{\"name\":"
         "\"VP8\",\"x\":{\"y\":[1,2]}}],\"tracks\":[]}",
         "id: a\n"
         "answer:\n"
         "  v=0\n"
         "  s=-\n"
         "created: yes\n"
         "codecs:\n"
         "  - name: VP8\n"
         "    x:\n"
         "      y: 1,2\n"
         "tracks:\n"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        char *text = printed(rows[i].method, rows[i].result);
        LEAT_CHECK_ROW(i, strcmp(text, rows[i].text) == 0);
        LEAT_CHECK_STR(text, rows[i].text);
        free(text);
    }
}

LEAT_TESTS(LEAT_TEST(cell__values__are_one_line), LEAT_TEST(cell__small_room__is_cut_off),
           LEAT_TEST(result__of_each_kind__is_laid_out))
