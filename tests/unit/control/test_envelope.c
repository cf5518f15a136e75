/* SPDX-License-Identifier: MIT */
/* Lines, requests and errors: JSON-RPC 2.0 and what its text leaves open. */
#include "harness.h"
#include "support.h"

#include <stdlib.h>

static struct world w;

static unsigned begin(void)
{
    world_prepare(&w);
    world_start(&w);
    return world_connect(&w);
}

/** Octets in, one error line out, nothing changed. */
struct bad_line {
    const char *octets;
    size_t len;
    int code;
    const char *id; /**< "null" or the text of a string id */
};
#define LINE(text) text, sizeof(text) - 1

static void line__malformed__is_answered_by_its_code(void)
{
    static const struct bad_line rows[] = {
        {LINE("{\n"), -32700, "null"},
        {LINE("[\n"), -32700, "null"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.info\"}xyz\n"), -32700, "null"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.info\"}{\"a\":1}\n"), -32700,
         "null"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0000b\",\"method\":\"daemon.info\"}\n"), -32700,
         "null"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"\xff\xfe\",\"method\":\"daemon.info\"}\n"), -32700,
         "null"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"\xc0\xaf\",\"method\":\"daemon.info\"}\n"), -32700,
         "null"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"a\0b\",\"method\":\"daemon.info\"}\n"), -32700,
         "null"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"daemon.info\"}\n"), -32700,
         "null"},
        {LINE("\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.info\"}\n"), -32700,
         "null"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"method\":\"daemon.info\"}\n"), -32700,
         "null"},
        {LINE("17\n"), -32600, "null"},
        {LINE("null\n"), -32600, "null"},
        {LINE("[]\n"), -32600, "null"},
        {LINE("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.info\"}]\n"), -32600, "null"},
        {LINE("{}\n"), -32600, "null"},
        {LINE("{\"jsonrpc\":\"1.0\",\"id\":\"q\",\"method\":\"daemon.info\"}\n"), -32600, "q"},
        {LINE("{\"id\":\"q\",\"method\":\"daemon.info\"}\n"), -32600, "q"},
        {LINE("{\"jsonrpc\":\"2.0\",\"method\":7}\n"), -32600, "null"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"q\"}\n"), -32600, "q"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"Method\":\"daemon.info\"}\n"), -32600, "q"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"daemon.info\",\"param\":{}}\n"),
         -32600, "q"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"daemon.info\",\"params\":[]}\n"),
         -32600, "q"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"daemon.info\",\"params\":null}\n"),
         -32600, "q"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"daemon.info\"}\n"), -32600, "null"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"daemon.info\"}\n"), -32600, "null"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"daemon.infos\"}\n"), -32601, "q"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"\"}\n"), -32601, "q"},
        {LINE("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"DAEMON.INFO\"}\n"), -32601, "q"},
    };
    unsigned r = begin();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        world_send(&w, r, rows[i].octets, rows[i].len);
        leat_json *j = world_next(&w, r);
        LEAT_CHECK_ROW(i, int_at(j, "error.code") == rows[i].code);
        LEAT_CHECK_ROW(i, strlen(text_at(j, "error.message")) > 5);
        LEAT_CHECK_ROW(i, strcmp(text_at(j, "jsonrpc"), "2.0") == 0);
        LEAT_CHECK_ROW(i, at(j, "result") == NULL);
        if (strcmp(rows[i].id, "null") == 0) {
            LEAT_CHECK_ROW(i,
                           at(j, "id") != NULL && leat_json_type_of(at(j, "id")) == LEAT_JSON_NULL);
        } else {
            LEAT_CHECK_ROW(i, strcmp(text_at(j, "id"), rows[i].id) == 0);
        }
        leat_json_free(j);
        LEAT_CHECK_ROW(i, world_next(&w, r) == NULL);
        LEAT_CHECK_ROW(i, !w.readers[r].wants_close);
    }
    world_stop(&w);
}

/* JSON-RPC 2.0, 5: the id of a response must be the value of the request's. */
static void id__number__comes_back_with_every_digit(void)
{
    static const char *const ids[] = {"0",
                                      "-7",
                                      "9007199254740991",
                                      "9007199254740993",
                                      "18446744073709551615",
                                      "-9223372036854775807",
                                      "1.25",
                                      "12345678901234567890123456789.5"};
    unsigned r = begin();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(ids); i++) {
        char line[160], expected[80];
        (void)snprintf(line, sizeof(line),
                       "{\"jsonrpc\":\"2.0\",\"params\":{\"id\":1},\"id\": %s ,\"method\":\"daemon."
                       "info\"}",
                       ids[i]);
        (void)snprintf(expected, sizeof(expected), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\"",
                       ids[i]);
        world_line(&w, r, line);
        const struct reader *reader = &w.readers[r];
        LEAT_CHECK_ROW(i, strncmp(reader->text + reader->at, expected, strlen(expected)) == 0);
        leat_json_free(world_next(&w, r));
    }
    world_stop(&w);
}

static void line__deep_nesting__is_refused_without_harm(void)
{
    unsigned r = begin();
    char line[1002];
    memset(line, '[', 1000);
    line[1000] = '\n';
    world_send(&w, r, line, 1001);
    leat_json *j = world_next(&w, r);
    LEAT_CHECK_INT(int_at(j, "error.code"), -32700);
    leat_json_free(j);
    world_stop(&w);
}

static void line__over_the_limit__is_an_error_then_the_end(void)
{
    unsigned r = begin();
    const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"daemon.info\"}\n";
    size_t len = LEAT_JSON_LINE_MAX + 10;
    char *flood = malloc(len);
    memset(flood, 'x', len);
    world_send(&w, r, ping, sizeof(ping) - 1);
    world_send(&w, r, flood, len);
    leat_json *j = world_next(&w, r);
    LEAT_CHECK_INT(int_at(j, "id"), 5); /* what came whole before is served */
    leat_json_free(j);
    j = world_next(&w, r);
    LEAT_CHECK_INT(int_at(j, "error.code"), -32700);
    LEAT_CHECK_STR(text_at(j, REASON), "too_large");
    leat_json_free(j);
    LEAT_CHECK(w.readers[r].wants_close);
    world_send(&w, r, ping, sizeof(ping) - 1); /* nothing is served any more */
    LEAT_CHECK(world_next(&w, r) == NULL);
    free(flood);
    world_stop(&w);
}

static void line__octet_by_octet__is_one_request(void)
{
    unsigned r = begin();
    const char line[] =
        "{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\xa4\\u00e4\",\"method\":\"daemon.info\"}\r\n";
    for (size_t i = 0; i + 1 < sizeof(line); i++) {
        LEAT_CHECK_INT(w.readers[r].len, 0);
        world_send(&w, r, &line[i], 1);
    }
    leat_json *j = world_next(&w, r);
    LEAT_CHECK_STR(text_at(j, "id"), "\xc3\xa4\xc3\xa4");
    LEAT_CHECK_STR(text_at(j, "result.name"), "leatd");
    leat_json_free(j);
    world_stop(&w);
}

static void lines__five_hundred_in_one_read__are_all_answered_in_order(void)
{
    unsigned r = begin();
    char *all = malloc(500 * 80);
    size_t len = 0;
    for (int i = 0; i < 500; i++) {
        len +=
            (size_t)snprintf(all + len, 80, "%s{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"}\n",
                             i % 7 == 0 ? "\r\n\n" : "", i, "peer.list");
    }
    world_send(&w, r, all, len);
    for (int i = 0; i < 500; i++) {
        leat_json *j = world_next(&w, r);
        LEAT_CHECK_ROW(i, int_at(j, "id") == i);
        LEAT_CHECK_ROW(i, at(j, "result.peers") != NULL);
        leat_json_free(j);
    }
    LEAT_CHECK(world_next(&w, r) == NULL);
    free(all);
    world_stop(&w);
}

static void connection__ended_behind_an_unfinished_line__is_served_then_closed(void)
{
    unsigned r = begin();
    const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"daemon.stats\"}";
    world_send(&w, r, line, sizeof(line) - 1);
    leat_control_conn_ended(w.c, w.readers[r].conn, w.now_us);
    LEAT_CHECK(!w.readers[r].wants_close); /* the workers have not answered yet */
    while (world_step(&w, 0) || world_step(&w, 1)) {
    }
    leat_json *j = world_next(&w, r);
    LEAT_CHECK_INT(int_at(j, "id"), 9);
    LEAT_CHECK_INT(int_at(j, "result.workers.1.peers"), 2);
    LEAT_CHECK(w.readers[r].wants_close);
    leat_json_free(j);
    world_stop(&w);
}

static void request__ids_of_every_kind__are_echoed(void)
{
    static const char *const ids[] = {"1",    "-7",         "1.5", "9007199254740991",
                                      "\"\"", "\"x\\\"y\"", "null"};
    unsigned r = begin();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(ids); i++) {
        char line[128], wanted[64];
        (void)snprintf(line, sizeof(line),
                       "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"rpc.discover\"}", ids[i]);
        (void)snprintf(wanted, sizeof(wanted),
                       "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":", ids[i]);
        world_line(&w, r, line);
        LEAT_CHECK_ROW(i, strncmp(w.readers[r].text, wanted, strlen(wanted)) == 0);
        leat_json_free(world_next(&w, r));
    }
    world_stop(&w);
}

static void request__without_id__is_carried_out_and_not_answered(void)
{
    unsigned r = begin();
    world_line(&w, r, "{\"jsonrpc\":\"2.0\",\"method\":\"daemon.drain\"}");
    LEAT_CHECK(leat_control_is_draining(w.c));
    world_line(&w, r, "{\"jsonrpc\":\"2.0\",\"method\":\"no.such\"}");
    world_line(&w, r, "{\"jsonrpc\":\"2.0\",\"method\":\"daemon.stats\",\"params\":{}}");
    world_run(&w);
    LEAT_CHECK(world_next(&w, r) == NULL);
    world_stop(&w);
}

static void method__near_miss__is_named(void)
{
    static const char *const rows[][2] = {
        {"peer.creat", "peer.create"},
        {"peers.list", "peer.list"},
        {"peer.lst", "peer.list"},
        {"route-set", "route.set"},
        {"daemon.inf", "daemon.info"},
        {"event.subscribe", "events.subscribe"},
        {"rpc.discove", "rpc.discover"},
        {"frobnicate", "(none)"},
        {"x", "(none)"},
        {"peer.peer.peer.peer.peer.peer.peer.peer.peer.peer.peer", "(none)"},
    };
    unsigned r = begin();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json *j = world_call(&w, r, rows[i][0], "{}");
        LEAT_CHECK_ROW(i, int_at(j, "error.code") == -32601);
        LEAT_CHECK_STR(text_at(j, "error.data.did_you_mean"), rows[i][1]);
        leat_json_free(j);
    }
    world_stop(&w);
}

/** Wrong parameters, by reason word and path. */
static void params__wrong__are_named_by_reason_and_field(void)
{
    static const struct {
        const char *method, *params, *reason, *field;
        int code;
    } rows[] = {
        {"peer.get", "{}", "missing_parameter", "id", -32602},
        {"peer.get", "{\"id\":1}", "wrong_type", "id", -32602},
        {"peer.get", "{\"id\":null}", "wrong_type", "id", -32602},
        {"peer.get", "{\"id\":\"a\",\"ID\":\"a\"}", "unknown_parameter", "ID", -32602},
        {"peer.get", "{\"id\":\"\"}", "bad_id", "id", -32000},
        {"peer.get", "{\"id\":\"a b\"}", "bad_id", "id", -32000},
        {"peer.get", "{\"id\":\"a\"}", "no_such_peer", "id", -32000},
        {"peer.list", "{\"state\":\"dead\"}", "out_of_range", "state", -32602},
        {"route.set", "{\"routes\":{}}", "wrong_type", "routes", -32602},
        {"route.set", "{\"routes\":[7]}", "wrong_type", "routes[0]", -32602},
        {"route.set", "{\"routes\":[{}]}", "missing_parameter", "routes[0].to", -32602},
        {"route.set", "{\"routes\":[{\"to\":{\"peer\":\"a\"},\"from\":null}]}", "no_such_peer",
         "routes[0].to.peer", -32000},
        {"route.set", "{\"routes\":[{\"to\":{\"peer\":\"a\",\"md\":\"0\"}}]}", "unknown_parameter",
         "routes[0].to.md", -32602},
        {"daemon.drain", "{\"deadline_s\":1.5}", "wrong_type", "deadline_s", -32602},
        {"daemon.drain", "{\"deadline_s\":-1}", "out_of_range", "deadline_s", -32602},
        {"daemon.drain", "{\"deadline_s\":1e300}", "wrong_type", "deadline_s", -32602},
        {"daemon.drain", "{\"deadline_s\":1,\"cancel\":true}", "conflicting_parameters", "cancel",
         -32602},
        {"events.subscribe", "{\"filter\":{\"types\":[\"x\"]}}", "out_of_range", "filter.types",
         -32602},
        {"events.subscribe", "{\"since\":{\"boot\":\"b\"}}", "missing_parameter", "since.seq",
         -32602},
        {"stats.get", "{\"peers\":[\"a\",3]}", "no_such_peer", "peers[0]", -32000},
        {"stats.get", "{\"group\":\"g\",\"peers\":[]}", "conflicting_parameters", "peers", -32602},
    };
    unsigned r = begin();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json *j = world_call(&w, r, rows[i].method, rows[i].params);
        LEAT_CHECK_ROW(i, int_at(j, "error.code") == rows[i].code);
        LEAT_CHECK_STR(text_at(j, REASON), rows[i].reason);
        LEAT_CHECK_STR(text_at(j, FIELD), rows[i].field);
        leat_json_free(j);
    }
    LEAT_CHECK(!leat_control_is_draining(w.c));
    world_stop(&w);
}

static void id__of_ten_thousand_octets__is_refused_by_its_shape(void)
{
    unsigned r = begin();
    char *params = malloc(10100);
    memset(params, 'a', 10100);
    memcpy(params, "{\"id\":\"", 7);
    memcpy(params + 10007, "\"}", 3);
    leat_json *j = world_call(&w, r, "peer.close", params);
    LEAT_CHECK_STR(text_at(j, REASON), "bad_id");
    leat_json_free(j);
    free(params);
    world_stop(&w);
}

LEAT_TESTS(LEAT_TEST(line__malformed__is_answered_by_its_code),
           LEAT_TEST(id__number__comes_back_with_every_digit),
           LEAT_TEST(line__deep_nesting__is_refused_without_harm),
           LEAT_TEST(line__over_the_limit__is_an_error_then_the_end),
           LEAT_TEST(line__octet_by_octet__is_one_request),
           LEAT_TEST(lines__five_hundred_in_one_read__are_all_answered_in_order),
           LEAT_TEST(connection__ended_behind_an_unfinished_line__is_served_then_closed),
           LEAT_TEST(request__ids_of_every_kind__are_echoed),
           LEAT_TEST(request__without_id__is_carried_out_and_not_answered),
           LEAT_TEST(method__near_miss__is_named),
           LEAT_TEST(params__wrong__are_named_by_reason_and_field),
           LEAT_TEST(id__of_ten_thousand_octets__is_refused_by_its_shape))
