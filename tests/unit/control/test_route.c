/* SPDX-License-Identifier: MIT */
/* Routes: what a set refuses, what it tells the workers, and how the picture follows them. */
#include "harness.h"
#include "support.h"

#include <stdlib.h>

static struct world w;
static unsigned r;
static leat_handle a_handle, b_handle;

/** Peers a (brings media) and b (takes it) in one group. */
static const char *provider_of(const char *primitive)
{
    struct leat_crypto_row row;
    for (size_t i = 0; leat_crypto_describe(i, &row); i++) {
        if (strcmp(row.primitive, primitive) == 0) {
            return row.provider;
        }
    }
    return "no such primitive";
}

static void begin(void)
{
    world_prepare(&w);
    world_start(&w);
    r = world_connect(&w);
    create_form(&w, "a", "g", "sendrecv");
    a_handle = w.last[LEAT_COMMAND_OPEN].handle;
    create_form(&w, "b", "g", "sendrecv");
    b_handle = w.last[LEAT_COMMAND_OPEN].handle;
}

#define B1_FROM_A1 "{\"to\":{\"peer\":\"b\",\"mid\":\"1\"},\"from\":{\"peer\":\"a\",\"mid\":\"1\"}}"

static leat_json *set(const char *routes)
{
    char params[1024];
    (void)snprintf(params, sizeof(params), "{\"routes\":[%s]}", routes);
    return world_call(&w, r, "route.set", params);
}

static void route_event(leat_handle to, const char *mid, leat_handle from, const char *from_mid,
                        enum leat_route_state state, const char *reason)
{
    struct leat_sfu_event event = {.type = LEAT_EVENT_ROUTE_STATE,
                                   .peer = to,
                                   .route_state = state,
                                   .from = from,
                                   .reason = reason};
    (void)leat_text_copy(event.mid, sizeof(event.mid), leat_span_str(mid));
    (void)leat_text_copy(event.from_mid, sizeof(event.from_mid), leat_span_str(from_mid));
    world_event(&w, &event);
}

static void set__good__reaches_the_worker_and_the_list(void)
{
    begin();
    leat_json *j = set(B1_FROM_A1);
    LEAT_CHECK_STR(text_at(j, "result.routes.0.to.peer"), "b");
    LEAT_CHECK_STR(text_at(j, "result.routes.0.from.mid"), "1");
    LEAT_CHECK(is_false(j, "result.routes.0.paused"));
    LEAT_CHECK_STR(text_at(j, "result.routes.0.state"), "waiting");
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_ROUTES], 1);
    LEAT_CHECK_INT(w.last[LEAT_COMMAND_ROUTES].route_count, 1);
    leat_json_free(j);
    route_event(b_handle, "1", a_handle, "1", LEAT_ROUTE_FLOWING, "set");
    j = world_call(&w, r, "route.list", "{}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.routes")), 1);
    LEAT_CHECK_STR(text_at(j, "result.routes.0.state"), "flowing");
    LEAT_CHECK_STR(text_at(j, "result.routes.0.reason"), "set");
    leat_json_free(j);
    j = set(B1_FROM_A1); /* once more: the worker is asked, the state stays */
    LEAT_CHECK_STR(text_at(j, "result.routes.0.state"), "flowing");
    leat_json_free(j);
    j = set("{\"to\":{\"peer\":\"b\",\"mid\":\"1\"},\"from\":{\"peer\":\"a\",\"mid\":\"1\"},"
            "\"paused\":true}");
    LEAT_CHECK(is_true(j, "result.routes.0.paused"));
    LEAT_CHECK_STR(text_at(j, "result.routes.0.state"), "paused");
    leat_json_free(j);
    j = set("{\"to\":{\"peer\":\"b\",\"mid\":\"1\"},\"from\":null}");
    LEAT_CHECK(at(j, "result.routes.0.from") &&
               leat_json_type_of(at(j, "result.routes.0.from")) == LEAT_JSON_NULL);
    LEAT_CHECK_STR(text_at(j, "result.routes.0.state"), "none");
    leat_json_free(j);
    j = world_call(&w, r, "route.list", "{}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.routes")), 0);
    leat_json_free(j);
    world_stop(&w);
}

static void set__own_track__is_an_echo(void)
{
    begin();
    leat_json *j =
        set("{\"to\":{\"peer\":\"a\",\"mid\":\"0\"},\"from\":{\"peer\":\"a\",\"mid\":\"0\"}}");
    LEAT_CHECK_STR(text_at(j, "result.routes.0.from.peer"), "a");
    leat_json_free(j);
    world_stop(&w);
}

#define TO_B "{\"to\":{\"peer\":\"b\",\"mid\":\"1\"},"

static void set__wrong__is_refused_as_a_whole(void)
{
    static const struct {
        const char *routes, *reason, *field;
    } rows[] = {
        {"{\"to\":{\"peer\":\"x\",\"mid\":\"1\"},\"from\":null}", "no_such_peer",
         "routes[1].to.peer"},
        {"{\"to\":{\"peer\":\"b\",\"mid\":\"7\"},\"from\":null}", "no_such_mid",
         "routes[1].to.mid"},
        {"{\"to\":{\"peer\":\"b\",\"mid\":\"\"},\"from\":null}", "bad_id", "routes[1].to.mid"},
        {"{\"to\":{\"peer\":\"sender\",\"mid\":\"1\"},\"from\":null}", "no_such_sender",
         "routes[1].to.mid"},
        {TO_B "\"from\":{\"peer\":\"x\",\"mid\":\"1\"}}", "no_such_peer", "routes[1].from.peer"},
        {TO_B "\"from\":{\"peer\":\"a\",\"mid\":\"9\"}}", "no_such_mid", "routes[1].from.mid"},
        {TO_B "\"from\":{\"peer\":\"receiver\",\"mid\":\"1\"}}", "no_such_track",
         "routes[1].from.mid"},
        {TO_B "\"from\":{\"peer\":\"a\",\"mid\":\"0\"}}", "kind_mismatch", "routes[1].from"},
        {TO_B "\"from\":{\"peer\":\"h264\",\"mid\":\"1\"}}", "no_common_codec", "routes[1].from"},
        {TO_B "\"from\":{\"peer\":\"far\",\"mid\":\"1\"}}", "cross_worker", "routes[1].from"},
        {TO_B "\"from\":{\"peer\":\"gone\",\"mid\":\"1\"}}", "ended", "routes[1].from.peer"},
        {TO_B "\"from\":{\"group\":\"g\",\"select\":\"loudest\"}}", "not_supported",
         "routes[1].from.group"},
        {TO_B "\"from\":{\"peer\":\"a\",\"mid\":\"1\"},\"layer\":1}", "not_supported",
         "routes[1].layer"},
        {TO_B "\"from\":{\"peer\":\"a\",\"mid\":\"1\"},\"priority\":1}", "not_supported",
         "routes[1].priority"},
        {TO_B "\"from\":{\"peer\":\"a\",\"mid\":\"1\"},\"paused\":1}", "wrong_type",
         "routes[1].paused"},
        {TO_B "\"from\":null,\"paused\":1}", "wrong_type", "routes[1].paused"},
        {"{\"to\":{\"peer\":\"b\",\"mid\":\"1\"}}", "missing_parameter", "routes[1].from"},
        {TO_B "\"from\":7}", "wrong_type", "routes[1].from"},
        {"{\"to\":{\"peer\":\"b\",\"mid\":\"0\"},\"from\":null}", "duplicate_sender",
         "routes[1].to"},
    };
    begin();
    create_form(&w, "sender", "g", "sendonly");
    create_form(&w, "receiver", "g", "recvonly");
    create_form(&w, "far", "h", "sendrecv");
    create_form(&w, "gone", "g", "sendrecv");
    world_end_peer(&w, w.last[LEAT_COMMAND_OPEN].handle, LEAT_PEER_END_CLOSED_BY_REMOTE);
    char *vp8 = form_params("h264", "g", "sendrecv");
    char *h264 = replaced(vp8, "\"VP8\"", "\"H264\"");
    leat_json_free(world_call(&w, r, "peer.create", h264));
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        char routes[600];
        (void)snprintf(
            routes, sizeof(routes),
            "{\"to\":{\"peer\":\"b\",\"mid\":\"0\"},\"from\":{\"peer\":\"a\",\"mid\":\"0\"}}"
            ",%s",
            rows[i].routes);
        leat_json *j = set(routes);
        LEAT_CHECK_STR(text_at(j, REASON), rows[i].reason);
        LEAT_CHECK_STR(text_at(j, FIELD), rows[i].field);
        if (strcmp(rows[i].reason, "no_common_codec") == 0) {
            LEAT_CHECK_STR(text_at(j, "error.data.have.0"), "H264/90000");
            LEAT_CHECK_STR(text_at(j, "error.data.want.0"), "VP8/90000");
        }
        if (strcmp(rows[i].reason, "cross_worker") == 0) {
            LEAT_CHECK(strstr(text_at(j, "error.message"), "one group") != NULL);
        }
        leat_json_free(j);
    }
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_ROUTES], 0);
    leat_json *j = world_call(&w, r, "route.list", "{}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.routes")), 0);
    leat_json_free(j);
    free(h264);
    free(vp8);
    world_stop(&w);
}

static void set__over_two_workers__is_one_command_each(void)
{
    begin();
    create_form(&w, "c", "h", "sendrecv");
    leat_json *j =
        set(B1_FROM_A1 ",{\"to\":{\"peer\":\"c\",\"mid\":\"1\"},\"from\":{\"peer\":\"c\","
                       "\"mid\":\"1\"}},{\"to\":{\"peer\":\"a\",\"mid\":\"0\"},\"from\":null}");
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_ROUTES], 2);
    LEAT_CHECK_INT(leat_json_count(at(j, "result.routes")), 3);
    leat_json_free(j);
    j = set("");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.routes")), 0);
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_ROUTES], 2);
    leat_json_free(j);
    world_stop(&w);
}

static void set__refused_by_the_worker__leaves_the_picture(void)
{
    begin();
    leat_json_free(set(B1_FROM_A1));
    w.fail[LEAT_COMMAND_ROUTES] = LEAT_E_NOMEM;
    leat_json *j = set("{\"to\":{\"peer\":\"b\",\"mid\":\"1\"},\"from\":null}");
    LEAT_CHECK_STR(text_at(j, REASON), "internal");
    leat_json_free(j);
    j = world_call(&w, r, "route.list", "{}");
    LEAT_CHECK_STR(text_at(j, "result.routes.0.from.peer"), "a");
    leat_json_free(j);
    world_stop(&w);
}

/** The source vanishes while a set that names it is on its way. */
static void set__source_gone_meanwhile__is_told_and_clears(void)
{
    begin();
    world_line(
        &w, r,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"route.set\",\"params\":{\"routes\":[" B1_FROM_A1
        "]}}");
    leat_json *j = world_call(&w, world_connect(&w), "rpc.discover", "{}"); /* runs all */
    leat_json_free(j);
    j = world_next(&w, r);
    LEAT_CHECK_STR(text_at(j, "result.routes.0.from.peer"), "a");
    leat_json_free(j);
    world_line(
        &w, r,
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"route.set\",\"params\":{\"routes\":[" B1_FROM_A1
        "]}}");
    route_event(b_handle, "1", 0, "", LEAT_ROUTE_NONE, "source_ended");
    world_end_peer(&w, a_handle, LEAT_PEER_END_CLOSED_BY_REMOTE);
    world_run(&w);
    j = world_next(&w, r);
    LEAT_CHECK_STR(text_at(j, REASON), "ended");
    leat_json_free(j);
    j = world_call(&w, r, "route.list", "{}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.routes")), 0);
    leat_json_free(j);
    world_stop(&w);
}

/** Events about the time before a set do not change what it has set. */
static void set__in_flight__is_not_undone_by_older_events(void)
{
    begin();
    create_form(&w, "c", "g", "sendrecv");
    leat_json_free(set(B1_FROM_A1));
    world_line(
        &w, r,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"route.set\",\"params\":{\"routes\":[{\"to\":{"
        "\"peer\":\"b\",\"mid\":\"1\"},\"from\":{\"peer\":\"c\",\"mid\":\"1\"}}]}}");
    route_event(b_handle, "1", 0, "", LEAT_ROUTE_NONE, "source_ended");
    world_line(&w, r, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"route.list\"}");
    leat_json *j = world_next(&w, r); /* the set is seen before the worker has carried it out */
    LEAT_CHECK_INT(int_at(j, "id"), 2);
    LEAT_CHECK_STR(text_at(j, "result.routes.0.from.peer"), "c");
    leat_json_free(j);
    world_run(&w);
    j = world_next(&w, r);
    LEAT_CHECK_STR(text_at(j, "result.routes.0.from.peer"), "c");
    leat_json_free(j);
    j = world_call(&w, r, "route.list", "{}");
    LEAT_CHECK_STR(text_at(j, "result.routes.0.from.peer"), "c");
    leat_json_free(j);
    world_stop(&w);
}

static void list__filters__take_both_ends(void)
{
    begin();
    leat_json_free(set(B1_FROM_A1));
    static const struct {
        const char *params;
        size_t count;
    } rows[] = {{"{\"peer\":\"a\"}", 1},  {"{\"peer\":\"b\"}", 1},  {"{\"peer\":\"c\"}", 0},
                {"{\"group\":\"g\"}", 1}, {"{\"group\":\"h\"}", 0}, {"{}", 1}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json *j = world_call(&w, r, "route.list", rows[i].params);
        LEAT_CHECK_ROW(i, leat_json_count(at(j, "result.routes")) == rows[i].count);
        leat_json_free(j);
    }
    world_stop(&w);
}

static void route__source_closed__follows_the_workers_event(void)
{
    begin();
    unsigned watcher = world_connect(&w);
    leat_json_free(set(B1_FROM_A1));
    leat_json_free(world_call(&w, watcher, "events.subscribe", "{}"));
    route_event(b_handle, "1", 0, "", LEAT_ROUTE_NONE, "source_ended");
    leat_json *j = world_notification(&w, watcher, "route.state");
    LEAT_CHECK_STR(text_at(j, "params.to.peer"), "b");
    LEAT_CHECK(leat_json_type_of(at(j, "params.from")) == LEAT_JSON_NULL);
    LEAT_CHECK_STR(text_at(j, "params.reason"), "source_ended");
    LEAT_CHECK_STR(text_at(j, "params.state"), "none");
    leat_json_free(j);
    j = world_call(&w, r, "route.list", "{}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.routes")), 0);
    leat_json_free(j);
    world_stop(&w);
}

/** Every method that needs a worker, when no command can be handed over. */
static void commands__cannot_be_posted__fail_and_leave_the_picture(void)
{
    static const char *const rows[][2] = {
        {"route.set",
         "{\"routes\":[" B1_FROM_A1 ",{\"to\":{\"peer\":\"c\",\"mid\":\"1\"},\"from\":{"
         "\"peer\":\"c\",\"mid\":\"1\"}}]}"},
        {"route.explain", "{\"to\":{\"peer\":\"b\",\"mid\":\"1\"}}"},
        {"track.request_keyframe", "{\"peer\":\"b\",\"mid\":\"1\"}"},
        {"stats.get", "{}"},
        {"peer.close", "{\"id\":\"a\"}"},
        {"group.close", "{\"group\":\"g\"}"},
        {"daemon.stats", "{}"},
    };
    begin();
    create_form(&w, "c", "h", "sendrecv");
    w.is_out_of_memory = true;
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json *j = world_call(&w, r, rows[i][0], rows[i][1]);
        LEAT_CHECK_STR(text_at(j, REASON), "internal");
        leat_json_free(j);
        LEAT_CHECK_ROW(i, world_next(&w, r) == NULL);
    }
    char *params = form_params("d", "g", "sendrecv");
    leat_json *j = world_call(&w, r, "peer.create", params);
    LEAT_CHECK_STR(text_at(j, REASON), "internal");
    leat_json_free(j);
    char *negotiation = replaced(params, "\"id\":\"d\",\"group\":\"g\"", "\"id\":\"a\"");
    char *restarted = replaced(negotiation, "abcd", "efgh");
    j = world_call(&w, r, "peer.negotiate", restarted);
    LEAT_CHECK_STR(text_at(j, REASON), "internal");
    leat_json_free(j);
    w.is_out_of_memory = false;
    j = world_call(&w, r, "route.list", "{}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.routes")), 0);
    leat_json_free(j);
    j = world_call(&w, r, "peer.negotiate", restarted);
    LEAT_CHECK_STR(text_at(j, "result.changed.0"), "ice_restart"); /* still new to us */
    leat_json_free(j);
    LEAT_CHECK_INT(leat_control_live_peers(w.c), 3);
    free(restarted);
    free(negotiation);
    free(params);
    world_stop(&w);
}

/* ---- explain, keyframes ---- */

static void explain__facts__name_the_first_hop_that_fails(void)
{
    const struct leat_explain good = {.has_sender = true,
                                      .has_route = true,
                                      .has_source = true,
                                      .sender_active = true,
                                      .track_active = true,
                                      .to_state = LEAT_PEER_CONNECTED,
                                      .from_state = LEAT_PEER_CONNECTED,
                                      .source_packets = 1000,
                                      .source_last_us = 0,
                                      .forwarded = 1000,
                                      .fraction_lost = -1,
                                      .profile = LEAT_SRTP_AES128_CM_SHA1_80};
    struct {
        struct leat_explain facts;
        const char *verdict, *hop;
    } rows[20];
    size_t count = 0;
#define ROW(word, failing, change)                                                                 \
    do {                                                                                           \
        struct leat_explain x = good;                                                              \
        change;                                                                                    \
        rows[count].facts = x;                                                                     \
        rows[count].verdict = word;                                                                \
        rows[count++].hop = failing;                                                               \
    } while (0)
    begin();
    const uint64_t recent = w.now_us - 100000, old = w.now_us - 3000000;
    ROW("ok", "", x.source_last_us = recent);
    ROW("no_route", "route", x.has_route = false);
    ROW("no_packets", "source", x.has_source = false);
    ROW("no_consent", "source", x.from_state = LEAT_PEER_NEW);
    ROW("no_keys", "source", x.from_state = LEAT_PEER_CONNECTING);
    ROW("section_inactive", "track", x.track_active = false);
    ROW("undecryptable", "track", x.source_packets = 0; x.source_auth_fail = 5);
    ROW("no_packets", "track", x.source_packets = 0);
    ROW("no_packets", "track", x.source_last_us = old);
    ROW("paused", "route", x.source_last_us = recent; x.is_paused = true);
    ROW("section_inactive", "sender", x.source_last_us = recent; x.sender_active = false);
    ROW("no_consent", "receiver", x.source_last_us = recent; x.to_state = LEAT_PEER_NEW);
    ROW("no_keys", "receiver", x.source_last_us = recent; x.to_state = LEAT_PEER_CONNECTING);
    ROW("codec_mismatch", "route", x.source_last_us = recent; x.unmapped_payload = 2000);
    ROW("no_keyframe", "route", x.source_last_us = recent; x.waits_for_keyframe = true);
    ROW("queue_drops", "sender", x.source_last_us = recent; x.dropped = 100);
    ROW("receiver_lossy", "receiver", x.source_last_us = recent; x.fraction_lost = 0.3);
    ROW("receiver_asks_keyframes", "receiver", x.source_last_us = recent;
        x.receiver_pli_recent = 9);
#undef ROW
    leat_json_free(set(B1_FROM_A1));
    for (size_t i = 0; i < count; i++) {
        w.explain = rows[i].facts;
        leat_json *j =
            world_call(&w, r, "route.explain", "{\"to\":{\"peer\":\"b\",\"mid\":\"1\"}}");
        LEAT_CHECK_STR(text_at(j, "result.verdict"), rows[i].verdict);
        LEAT_CHECK_ROW(i, strlen(text_at(j, "result.sentence")) > 5);
        LEAT_CHECK_STR(text_at(j, "result.path.srtp_profile"), "SRTP_AES128_CM_HMAC_SHA1_80");
        LEAT_CHECK_STR(text_at(j, "result.path.provider"), provider_of("aes-128-ctr-batch"));
        const leat_json *hops = at(j, "result.hops");
        for (const leat_json *h = leat_json_first(hops); h; h = leat_json_next(h)) {
            LEAT_CHECK_ROW(i, is_true(h, "ok") == (strcmp(text_at(h, "hop"), rows[i].hop) != 0));
        }
        leat_json_free(j);
    }
    LEAT_CHECK_STR(w.last[LEAT_COMMAND_EXPLAIN].mid, "1");
    world_stop(&w);
}

static void request_keyframe__video_track__tells_whether_it_went_out(void)
{
    begin();
    for (int sent = 0; sent <= 1; sent++) {
        w.was_sent = sent;
        leat_json *j =
            world_call(&w, r, "track.request_keyframe", "{\"peer\":\"a\",\"mid\":\"1\"}");
        LEAT_CHECK(sent ? is_true(j, "result.requested") : is_false(j, "result.requested"));
        leat_json_free(j);
    }
    static const struct {
        const char *params, *reason;
    } rows[] = {{"{\"peer\":\"a\",\"mid\":\"0\"}", "kind_mismatch"},
                {"{\"peer\":\"a\",\"mid\":\"5\"}", "no_such_mid"},
                {"{\"peer\":\"x\",\"mid\":\"0\"}", "no_such_peer"},
                {"{\"peer\":\"a\"}", "missing_parameter"}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json *j = world_call(&w, r, "track.request_keyframe", rows[i].params);
        LEAT_CHECK_STR(text_at(j, REASON), rows[i].reason);
        leat_json_free(j);
    }
    world_stop(&w);
}

LEAT_TESTS(LEAT_TEST(set__good__reaches_the_worker_and_the_list),
           LEAT_TEST(set__own_track__is_an_echo), LEAT_TEST(set__wrong__is_refused_as_a_whole),
           LEAT_TEST(set__over_two_workers__is_one_command_each),
           LEAT_TEST(set__refused_by_the_worker__leaves_the_picture),
           LEAT_TEST(set__source_gone_meanwhile__is_told_and_clears),
           LEAT_TEST(set__in_flight__is_not_undone_by_older_events),
           LEAT_TEST(list__filters__take_both_ends),
           LEAT_TEST(route__source_closed__follows_the_workers_event),
           LEAT_TEST(commands__cannot_be_posted__fail_and_leave_the_picture),
           LEAT_TEST(explain__facts__name_the_first_hop_that_fails),
           LEAT_TEST(request_keyframe__video_track__tells_whether_it_went_out))
