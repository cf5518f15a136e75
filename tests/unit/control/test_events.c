/* SPDX-License-Identifier: MIT */
/* Events: order, numbers, filters, resuming, gaps, snapshots small and large, slow readers. */
#include "harness.h"
#include "support.h"

#include <leat/log.h>

#include <stdlib.h>
#include <unistd.h>

static struct world w;
static unsigned r, watcher;

static void begin(void)
{
    world_prepare(&w);
    world_start(&w);
    r = world_connect(&w);
    watcher = world_connect(&w);
}

static void subscribe(unsigned reader, const char *params)
{
    leat_json *j = world_call(&w, reader, "events.subscribe", params);
    LEAT_CHECK(at(j, "result.seq") != NULL);
    leat_json_free(j);
}

static void peer_event(leat_handle handle, enum leat_peer_state state)
{
    static const uint8_t ip[4] = {10, 0, 0, 9};
    struct leat_sfu_event event = {.type = LEAT_EVENT_PEER_STATE,
                                   .peer = handle,
                                   .peer_state = state,
                                   .remote = leat_addr_v4(ip, 4000),
                                   .reason = ""};
    world_event(&w, &event);
}

static void track_event(leat_handle handle, const char *mid, enum leat_track_state state)
{
    struct leat_sfu_event event = {
        .type = LEAT_EVENT_TRACK_STATE, .peer = handle, .track_state = state, .reason = ""};
    (void)leat_text_copy(event.mid, sizeof(event.mid), leat_span_str(mid));
    world_event(&w, &event);
}

static void events__of_a_peers_life__come_in_order_after_the_reply(void)
{
    begin();
    subscribe(r, "{}");
    char *params = form_params("a", "g", "sendrecv");
    char line[2600];
    (void)snprintf(line, sizeof(line),
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"peer.create\",\"params\":%s}",
                   params);
    world_line(&w, r, line);
    world_run(&w);
    leat_handle handle = w.last[LEAT_COMMAND_OPEN].handle;
    w.now_us += 250;
    peer_event(handle, LEAT_PEER_CONNECTING);
    peer_event(handle, LEAT_PEER_CONNECTING); /* nothing new: nothing told */
    peer_event(handle, LEAT_PEER_CONNECTED);
    track_event(handle, "1", LEAT_TRACK_LIVE);
    world_end_peer(&w, handle, LEAT_PEER_END_DTLS_ALERT);
    leat_json *j = world_next(&w, r);
    LEAT_CHECK_INT(int_at(j, "id"), 1);
    leat_json_free(j);
    static const struct {
        const char *method, *state, *reason;
        int64_t time_us;
    } rows[] = {{"peer.state", "new", "", 0},
                {"peer.state", "connecting", "", 250},
                {"peer.state", "connected", "", 250},
                {"track.state", "live", "(none)", 250},
                {"peer.state", "ended", "dtls_alert", 250}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        j = world_next(&w, r);
        LEAT_CHECK_STR(text_at(j, "method"), rows[i].method);
        LEAT_CHECK_STR(text_at(j, "params.state"), rows[i].state);
        LEAT_CHECK_STR(text_at(j, "params.reason"), rows[i].reason);
        LEAT_CHECK_STR(text_at(j, "params.peer"), "a");
        LEAT_CHECK_STR(text_at(j, "params.group"), "g");
        LEAT_CHECK_ROW(i, int_at(j, "params.seq") == (int64_t)i + 1);
        LEAT_CHECK_ROW(i, int_at(j, "params.time_us") == rows[i].time_us);
        LEAT_CHECK_ROW(i, at(j, "id") == NULL);
        leat_json_free(j);
    }
    LEAT_CHECK(world_next(&w, r) == NULL);
    j = world_call(&w, r, "peer.get", "{\"id\":\"a\"}");
    LEAT_CHECK_STR(text_at(j, "result.remote.address"), "10.0.0.9");
    leat_json_free(j);
    free(params);
    world_stop(&w);
}

static void filter__group_peer_and_types__narrow_what_is_sent(void)
{
    begin();
    unsigned by_peer = world_connect(&w), by_type = world_connect(&w);
    create_form(&w, "a", "g", "sendrecv");
    leat_handle a = w.last[LEAT_COMMAND_OPEN].handle;
    create_form(&w, "b", "h", "sendrecv");
    leat_handle b = w.last[LEAT_COMMAND_OPEN].handle;
    subscribe(watcher, "{\"filter\":{\"group\":\"g\"}}");
    subscribe(by_peer, "{\"filter\":{\"peer\":\"b\"}}");
    subscribe(by_type, "{\"filter\":{\"types\":[\"track.state\",\"daemon.state\"]}}");
    peer_event(a, LEAT_PEER_CONNECTING);
    peer_event(b, LEAT_PEER_CONNECTING);
    track_event(b, "0", LEAT_TRACK_STALLED);
    leat_control_drain(w.c, LEAT_NEVER, w.now_us);
    static const struct {
        unsigned reader;
        const char *methods[4];
    } rows[] = {{1, {"peer.state", "daemon.state"}},
                {2, {"peer.state", "track.state", "daemon.state"}},
                {3, {"track.state", "daemon.state"}}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        for (size_t k = 0; rows[i].methods[k]; k++) {
            leat_json *j = world_next(&w, rows[i].reader);
            LEAT_CHECK_STR(text_at(j, "method"), rows[i].methods[k]);
            leat_json_free(j);
        }
        LEAT_CHECK_ROW(i, world_next(&w, rows[i].reader) == NULL);
    }
    leat_json_free(world_call(&w, watcher, "events.unsubscribe", "{}"));
    peer_event(a, LEAT_PEER_CONNECTED);
    LEAT_CHECK(world_next(&w, watcher) == NULL);
    world_stop(&w);
}

static void subscribe__first__has_the_picture(void)
{
    begin();
    create_form(&w, "a", "g", "sendrecv");
    create_form(&w, "b", "g", "sendrecv");
    create_form(&w, "c", "h", "sendrecv");
    leat_json_free(
        world_call(&w, r, "route.set",
                   "{\"routes\":[{\"to\":{\"peer\":\"b\",\"mid\":\"1\"},\"from\":{\"peer\":"
                   "\"a\",\"mid\":\"1\"}}]}"));
    leat_json *j = world_call(&w, watcher, "events.subscribe", "{}");
    LEAT_CHECK_STR(text_at(j, "result.boot"), "0123456789abcdef");
    LEAT_CHECK_INT(int_at(j, "result.seq"), 3);
    LEAT_CHECK(is_false(j, "result.resumed"));
    LEAT_CHECK(at(j, "result.gap") == NULL);
    LEAT_CHECK_INT(leat_json_count(at(j, "result.snapshot.peers")), 3);
    LEAT_CHECK_INT(leat_json_count(at(j, "result.snapshot.routes")), 1);
    LEAT_CHECK_STR(text_at(j, "result.snapshot.peers.0.tracks.1.codecs.0.name"), "VP8");
    leat_json_free(j);
    j = world_call(&w, watcher, "events.subscribe",
                   "{\"filter\":{\"group\":\"h\",\"types\":[\"daemon.state\"]}}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.snapshot.peers")), 1);
    LEAT_CHECK_INT(leat_json_count(at(j, "result.snapshot.routes")), 0);
    leat_json_free(j);
    world_stop(&w);
}

static void subscribe__since_what_is_kept__goes_on_without_a_hole(void)
{
    begin();
    create_form(&w, "a", "g", "sendrecv");
    leat_handle a = w.last[LEAT_COMMAND_OPEN].handle;
    subscribe(watcher, "{}"); /* seq 1 */
    world_disconnect(&w, watcher);
    peer_event(a, LEAT_PEER_CONNECTING);
    track_event(a, "0", LEAT_TRACK_LIVE);
    watcher = world_connect(&w);
    leat_json *j = world_call(&w, watcher, "events.subscribe",
                              "{\"since\":{\"boot\":\"0123456789abcdef\",\"seq\":1}}");
    LEAT_CHECK(is_true(j, "result.resumed"));
    LEAT_CHECK(leat_json_type_of(at(j, "result.snapshot")) == LEAT_JSON_NULL);
    LEAT_CHECK_INT(int_at(j, "result.seq"), 1);
    leat_json_free(j);
    peer_event(a, LEAT_PEER_CONNECTED);
    for (int64_t seq = 2; seq <= 4; seq++) {
        j = world_next(&w, watcher);
        LEAT_CHECK_INT(int_at(j, "params.seq"), seq);
        leat_json_free(j);
    }
    LEAT_CHECK(world_next(&w, watcher) == NULL);
    world_stop(&w);
}

static void subscribe__since_what_is_gone__is_told_of_the_gap(void)
{
    static const char *const rows[] = {
        "{\"since\":{\"boot\":\"0123456789abcdef\",\"seq\":3}}",    /* older than what is kept */
        "{\"since\":{\"boot\":\"0123456789abcdef\",\"seq\":9999}}", /* never was */
        "{\"since\":{\"boot\":\"fedcba9876543210\",\"seq\":4099}}", /* of another start */
    };
    begin();
    create_form(&w, "a", "g", "sendrecv");
    leat_handle a = w.last[LEAT_COMMAND_OPEN].handle;
    for (int i = 0; i < 4099; i++) { /* seq 4100, of which 5..4100 are kept */
        track_event(a, "0", LEAT_TRACK_LIVE);
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json *j = world_call(&w, watcher, "events.subscribe", rows[i]);
        LEAT_CHECK_ROW(i, is_false(j, "result.resumed"));
        LEAT_CHECK_ROW(i, is_true(j, "result.gap"));
        LEAT_CHECK_ROW(i, leat_json_count(at(j, "result.snapshot.peers")) == 1);
        LEAT_CHECK_ROW(i, int_at(j, "result.seq") == 4100);
        leat_json_free(j);
    }
    leat_json *j = world_call(&w, watcher, "events.subscribe",
                              "{\"since\":{\"boot\":\"0123456789abcdef\",\"seq\":4}}");
    LEAT_CHECK(is_true(j, "result.resumed")); /* the oldest cursor that loses nothing */
    leat_json_free(j);
    j = world_next(&w, watcher);
    LEAT_CHECK_INT(int_at(j, "params.seq"), 5);
    leat_json_free(j);
    world_stop(&w);
}

/** The parts of a large snapshot up to its reply. @return peers and routes seen. */
static void read_parts(unsigned reader, size_t *peers, size_t *routes, size_t *parts)
{
    *peers = *routes = *parts = 0;
    for (;;) {
        size_t before = w.readers[reader].at;
        leat_json *j = world_next(&w, reader);
        while (!j && leat_control_deadline(w.c) != LEAT_NEVER) { /* the reader was faster */
            w.now_us = leat_control_deadline(w.c);
            leat_control_tick(w.c, w.now_us);
            before = w.readers[reader].at;
            j = world_next(&w, reader);
        }
        if (!j || strcmp(text_at(j, "method"), "snapshot") != 0) {
            LEAT_CHECK(is_false(j, "result.resumed"));
            LEAT_CHECK_INT(int_at(j, "result.parts"), *parts);
            LEAT_CHECK(leat_json_type_of(at(j, "result.snapshot")) == LEAT_JSON_NULL);
            leat_json_free(j);
            return;
        }
        size_t len = w.readers[reader].at > before ? w.readers[reader].at - before : 0;
        LEAT_CHECK(len <= 65536);
        LEAT_CHECK_INT(int_at(j, "params.part"), ++*parts);
        *peers += leat_json_count(at(j, "params.peers"));
        *routes += leat_json_count(at(j, "params.routes"));
        leat_json_free(j);
    }
}

static void subscribe__large_world__comes_in_parts_before_the_reply(void)
{
    begin();
    for (int i = 0; i < 300; i++) {
        char id[16], routes[256];
        (void)snprintf(id, sizeof(id), "peer-%d", i);
        create_form(&w, id, "g", "sendrecv");
        (void)snprintf(
            routes, sizeof(routes),
            "{\"routes\":[{\"to\":{\"peer\":\"%s\",\"mid\":\"0\"},\"from\":{\"peer\":\"%s\","
            "\"mid\":\"0\"}}]}",
            id, id);
        leat_json_free(world_call(&w, r, "route.set", routes));
    }
    size_t peers, routes, parts;
    world_line(&w, watcher, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"events.subscribe\"}");
    read_parts(watcher, &peers, &routes, &parts);
    LEAT_CHECK_INT(peers, 300);
    LEAT_CHECK_INT(routes, 300);
    LEAT_CHECK(parts > 2);
    world_stop(&w);
}

/** A snapshot that is longer than the queue of a reader comes whole all the same. */
static void subscribe__world_over_the_queue__is_not_cut_off(void)
{
    world_prepare(&w);
    w.info.peers_max = 4000;
    world_start(&w);
    r = world_connect(&w);
    watcher = world_connect(&w);
    char *sdp = read_offer("chromium156-default");
    for (int i = 0; i < 2000; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "peer-%d", i);
        char *params = offer_params(id, "g", sdp, NULL);
        leat_json_free(world_call(&w, r, "peer.create", params));
        free(params);
    }
    leat_json *j;
    w.readers[watcher].limit = 1048576;
    size_t peers, routes, parts;
    world_line(&w, watcher, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"events.subscribe\"}");
    leat_control_drain(w.c, LEAT_NEVER, w.now_us); /* an event in the middle of it */
    world_line(&w, watcher, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"events.subscribe\"}");
    read_parts(watcher, &peers, &routes, &parts);
    LEAT_CHECK_INT(peers, 2000);
    LEAT_CHECK(!w.readers[watcher].wants_close);
    j = world_next(&w, watcher);
    LEAT_CHECK_STR(text_at(j, "method"),
                   "daemon.state"); /* behind the picture that it is newer than */
    leat_json_free(j);
    j = world_next(&w, watcher);
    LEAT_CHECK_STR(text_at(j, REASON), "limit"); /* no second one on top of an unread one */
    leat_json_free(j);
    free(sdp);
    world_stop(&w);
}

static void reader__does_not_read__is_cut_off_and_others_go_on(void)
{
    begin();
    create_form(&w, "a", "g", "sendrecv");
    leat_handle a = w.last[LEAT_COMMAND_OPEN].handle;
    subscribe(watcher, "{}");
    subscribe(r, "{}");
    w.readers[watcher].limit = 2000;
    size_t seen = 0;
    for (int i = 0; i < 100; i++) {
        track_event(a, "0", LEAT_TRACK_LIVE);
        leat_json *j = world_next(&w, r);
        seen += strcmp(text_at(j, "method"), "track.state") == 0 ? 1 : 0;
        leat_json_free(j);
    }
    LEAT_CHECK_INT(seen, 100);
    LEAT_CHECK(w.readers[watcher].wants_close);
    LEAT_CHECK(!w.readers[r].wants_close);
    size_t len = w.readers[watcher].len;
    LEAT_CHECK(len <= 2000);
    world_run(&w); /* it is closed */
    track_event(a, "0", LEAT_TRACK_STALLED);
    leat_json *j = world_call(&w, r, "daemon.stats", "{}");
    LEAT_CHECK_INT(int_at(j, "result.control.readers_cut_off"), 1);
    LEAT_CHECK_INT(int_at(j, "result.control.connections"), 1);
    LEAT_CHECK_INT(int_at(j, "result.control.subscribers"), 1);
    leat_json_free(j);
    world_stop(&w);
}

static void connection__gone__takes_nothing_with_it(void)
{
    begin();
    char *params = form_params("a", "g", "sendrecv");
    char line[2600];
    (void)snprintf(line, sizeof(line),
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"peer.create\",\"params\":%s}",
                   params);
    world_line(&w, r, line);
    world_disconnect(&w, r); /* before the worker has answered */
    world_run(&w);
    LEAT_CHECK_INT(leat_control_live_peers(w.c), 1);
    leat_json *j = world_call(&w, watcher, "peer.create", params);
    LEAT_CHECK(is_false(j, "result.created")); /* the next controller finds it */
    leat_json_free(j);
    free(params);
    world_stop(&w);
}

/* What an operator without a controller at hand can follow. */
static void log__of_a_peers_life__has_a_line_a_turn(void)
{
    static const char *const expected[] = {
        "level=info event=peer_created peer=a group=g worker=0\n",
        "level=info event=peer_connected peer=a group=g\n",
        "level=info event=peer_ended peer=a group=g reason=consent_expired\n"};
    char text[1024];
    int fds[2];
    begin();
    LEAT_CHECK_INT(pipe(fds), 0);
    leat_log_setup(LEAT_LOG_INFO, fds[1]);
    create_form(&w, "a", "g", "sendrecv");
    leat_handle handle = w.last[LEAT_COMMAND_OPEN].handle;
    peer_event(handle, LEAT_PEER_CONNECTING);
    peer_event(handle, LEAT_PEER_CONNECTED);
    peer_event(handle, LEAT_PEER_CONNECTED); /* nothing new: nothing said */
    world_end_peer(&w, handle, LEAT_PEER_END_CONSENT_EXPIRED);
    leat_log_setup(LEAT_LOG_WARN, STDERR_FILENO);
    (void)close(fds[1]);
    ssize_t len = read(fds[0], text, sizeof(text) - 1);
    (void)close(fds[0]);
    text[len > 0 ? len : 0] = '\0';
    const char *from = text;
    for (size_t i = 0; i < LEAT_ARRAY_LEN(expected); i++) {
        const char *at = strstr(from, "level=");
        LEAT_CHECK_ROW(i, at != NULL && strncmp(at, expected[i], strlen(expected[i])) == 0);
        from = at != NULL ? at + 1 : from;
    }
    LEAT_CHECK(strstr(from, "level=") == NULL);
    world_stop(&w);
}

LEAT_TESTS(LEAT_TEST(events__of_a_peers_life__come_in_order_after_the_reply),
           LEAT_TEST(log__of_a_peers_life__has_a_line_a_turn),
           LEAT_TEST(filter__group_peer_and_types__narrow_what_is_sent),
           LEAT_TEST(subscribe__first__has_the_picture),
           LEAT_TEST(subscribe__since_what_is_kept__goes_on_without_a_hole),
           LEAT_TEST(subscribe__since_what_is_gone__is_told_of_the_gap),
           LEAT_TEST(subscribe__large_world__comes_in_parts_before_the_reply),
           LEAT_TEST(subscribe__world_over_the_queue__is_not_cut_off),
           LEAT_TEST(reader__does_not_read__is_cut_off_and_others_go_on),
           LEAT_TEST(connection__gone__takes_nothing_with_it))
