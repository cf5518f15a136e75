/* SPDX-License-Identifier: MIT */
/*
 * Random calls of every method with good and bad ids and numbers, from several connections that
 * come and go, over workers that answer late, in any interleaving, sometimes with an error, while
 * peers end by themselves. What must hold: every line out is JSON, every call with an id is
 * answered once, every error has a known word, and in the end both sides agree on what is alive.
 */
#include "harness.h"
#include "support.h"

#include <stdlib.h>

#define OPS 100000
#define READERS 4
#define IDS 22

static struct world w;
static char *offers[3];
static char long_id[10001];
static uint64_t asked, answered, faults;

static const char *const words[] = {"exists",
                                    "no_such_peer",
                                    "no_such_mid",
                                    "no_such_track",
                                    "no_such_sender",
                                    "bad_id",
                                    "draining",
                                    "ended",
                                    "rollback_without_offer",
                                    "cross_worker",
                                    "no_common_codec",
                                    "kind_mismatch",
                                    "bad_sdp",
                                    "no_ice",
                                    "no_fingerprint",
                                    "no_setup",
                                    "no_media",
                                    "new_association",
                                    "sections_removed",
                                    "mid_changed",
                                    "kind_changed",
                                    "duplicate_mid",
                                    "duplicate_sender",
                                    "payload_type_changed",
                                    "extension_id_changed",
                                    "too_large",
                                    "not_supported",
                                    "limit",
                                    "internal",
                                    "unknown_parameter",
                                    "missing_parameter",
                                    "wrong_type",
                                    "out_of_range",
                                    "conflicting_parameters"};

static uint32_t below(uint32_t bound)
{
    return leat_rng_below(&w.rng, bound);
}

static const char *pick(const char *const *choices, size_t count)
{
    return choices[below((uint32_t)count)];
}
#define PICK(...)                                                                                  \
    pick((const char *const[]){__VA_ARGS__},                                                       \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static const char *some_id(void)
{
    static char id[16];
    switch (below(24)) {
    case 0:
        return "";
    case 1:
        return "never-there";
    case 2:
        return below(20) == 0 ? long_id : "a b";
    default:
        (void)snprintf(id, sizeof(id), "p%u", below(IDS));
        return id;
    }
}

static const char *some_mid(void)
{
    return PICK("0", "0", "0", "0", "0", "0", "0", "1", "1", "1", "2", "", "12345678901234567",
                "x y");
}

static void put_id(struct leat_json_writer *p, const char *key)
{
    leat_json_put_text(p, key, some_id());
}

static void put_group(struct leat_json_writer *p)
{
    if (below(3) != 0) {
        leat_json_put_text(p, "group",
                           PICK("g0", "g0", "g0", "g0", "g0", "g1", "g2", "g0", "g1", ""));
    }
}

static void put_form(struct leat_json_writer *p)
{
    static const int64_t pts[] = {96, 96, 96, 97, 111, 0, -1, 72, 127, 128, 200, 255, 256};
    static const int64_t exts[] = {4, 4, 4, 0, 1, 14, 15, 16, 255, 256};
    char text[1600];
    (void)snprintf(
        text, sizeof(text),
        "{\"ice\":{\"ufrag\":\"%s\",\"pwd\":\"0123456789012345678901\"},\"fingerprint\":\"%s\","
        "\"setup\":"
        "\"%s\",\"sections\":[{\"mid\":\"0\",\"kind\":\"audio\",\"direction\":\"%s\",\"codecs\":[{"
        "\"name\":"
        "\"opus\",\"pt\":111}],\"extensions\":[{\"uri\":\"urn:ietf:params:rtp-hdrext:sdes:mid\","
        "\"id\":"
        "%d}]},{\"mid\":\"1\",\"kind\":\"%s\",\"direction\":\"%s\",\"codecs\":[{\"name\":\"%s\","
        "\"pt\":%d}],"
        "\"encodings\":[{\"ssrc\":%u}]}]}",
        PICK("abcd", "abcd", "abcd", "abcd", "abcd", "efgh", "x"), FINGERPRINT,
        PICK("actpass", "active", "passive"),
        PICK("sendrecv", "sendrecv", "sendrecv", "sendonly", "recvonly", "inactive"),
        (int)exts[below(8) == 0 ? below(LEAT_ARRAY_LEN(exts)) : 0],
        PICK("video", "video", "video", "video", "video", "audio"),
        PICK("sendrecv", "sendrecv", "sendrecv", "sendonly", "recvonly", "inactive"),
        PICK("VP8", "VP8", "VP8", "VP8", "H264", "rtx"),
        (int)pts[below(8) == 0 ? below(LEAT_ARRAY_LEN(pts)) : 0], below(3));
    leat_json_write_key(p, "remote");
    leat_json_write_raw(p, leat_span_str(text));
}

static void put_description(struct leat_json_writer *p)
{
    if (below(10) == 0) {
        leat_json_put_text(p, "offer", offers[below(3)]);
    } else {
        put_form(p);
    }
    if (below(30) == 0) {
        leat_json_put_bool(p, "rollback", true);
    }
}

static void put_end(struct leat_json_writer *p, const char *key)
{
    leat_json_write_key(p, key);
    leat_json_open(p, '{');
    put_id(p, "peer");
    leat_json_put_text(p, "mid", some_mid());
    leat_json_close(p, '}');
}

static void put_routes(struct leat_json_writer *p)
{
    leat_json_write_key(p, "routes");
    leat_json_open(p, '[');
    for (uint32_t n = below(3); n > 0; n--) {
        leat_json_open(p, '{');
        put_end(p, "to");
        if (below(4) == 0) {
            leat_json_write_key(p, "from");
            leat_json_write_null(p);
        } else {
            put_end(p, "from");
        }
        if (below(3) == 0) {
            leat_json_put_bool(p, "paused", below(2) == 0);
        }
        leat_json_close(p, '}');
    }
    leat_json_close(p, ']');
}

static void put_subscription(struct leat_json_writer *p)
{
    if (below(2) == 0) {
        leat_json_write_key(p, "since");
        leat_json_open(p, '{');
        leat_json_put_text(p, "boot", PICK("0123456789abcdef", "0123456789abcdef", "other"));
        leat_json_put_u64(p, "seq", below(20000));
        leat_json_close(p, '}');
    }
    if (below(2) == 0) {
        leat_json_write_key(p, "filter");
        leat_json_open(p, '{');
        put_group(p);
        leat_json_close(p, '}');
    }
}

/** A method with its parameters. */
static const char *put_call(struct leat_json_writer *p)
{
    switch (below(20)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        put_id(p, "id");
        put_group(p);
        put_description(p);
        return "peer.create";
    case 5:
    case 6:
        put_id(p, "id");
        put_description(p);
        return "peer.negotiate";
    case 7:
    case 8:
        put_id(p, "id");
        return PICK("peer.close", "peer.close", "peer.get", "peer.restart_ice");
    case 9:
        put_group(p);
        return PICK("peer.list", "route.list", "stats.get",
                    below(20) == 0 ? "group.close" : "peer.list");
    case 10:
    case 11:
    case 12:
    case 13:
        put_routes(p);
        return "route.set";
    case 14:
        put_end(p, "to");
        return "route.explain";
    case 15:
        put_id(p, "peer");
        leat_json_put_text(p, "mid", some_mid());
        return "track.request_keyframe";
    case 16:
        put_subscription(p);
        return "events.subscribe";
    case 17:
        return PICK("events.unsubscribe", "daemon.info", "daemon.stats", "rpc.discover", "nothing");
    case 18:
        leat_json_put_bool(p, "cancel", below(8) != 0);
        return "daemon.drain";
    default:
        leat_json_write_key(p, "peers");
        leat_json_open(p, '[');
        leat_json_write_text(p, some_id());
        leat_json_write_text(p, some_id());
        leat_json_close(p, ']');
        return "stats.get";
    }
}

static void call_at_random(void)
{
    unsigned reader = below(READERS);
    struct leat_json_writer p, line;
    if (!w.readers[reader].conn) {
        return;
    }
    leat_json_writer_init(&p);
    leat_json_writer_init(&line);
    leat_json_open(&p, '{');
    const char *method = put_call(&p);
    leat_json_close(&p, '}');
    leat_json_open(&line, '{');
    leat_json_put_text(&line, "jsonrpc", "2.0");
    if (below(20) != 0) {
        leat_json_put_u64(&line, "id", ++asked);
    }
    leat_json_put_text(&line, "method", method);
    leat_json_write_key(&line, "params");
    leat_json_write_raw(&line, leat_span(p.text, p.len));
    leat_json_close(&line, '}');
    world_line(&w, reader, line.text);
    leat_json_writer_deinit(&p);
    leat_json_writer_deinit(&line);
}

static leat_handle some_alive(void)
{
    unsigned worker = below(2);
    for (size_t i = 0; i < 64; i++) {
        leat_handle handle = w.alive[worker][below(64)];
        if (handle != 0) {
            return handle;
        }
    }
    return 0;
}

static void event_at_random(void)
{
    leat_handle handle = some_alive();
    if (handle == 0) {
        return;
    }
    if (below(8) == 0) {
        world_end_peer(&w, handle, (enum leat_peer_end)(1 + below(12)));
        return;
    }
    struct leat_sfu_event event = {.type = (enum leat_sfu_event_type)below(3),
                                   .peer = handle,
                                   .peer_state = (enum leat_peer_state)below(3),
                                   .track_state = (enum leat_track_state)below(4),
                                   .route_state = (enum leat_route_state)below(6),
                                   .from = below(2) != 0 ? some_alive() : 0,
                                   .mid = {(char)('0' + below(3))},
                                   .from_mid = {(char)('0' + below(3))},
                                   .reason = "set"};
    world_event(&w, &event);
}

static void check_word(const leat_json *j)
{
    const char *reason = text_at(j, REASON);
    bool is_known = int_at(j, "error.code") == -32601;
    for (size_t i = 0; i < LEAT_ARRAY_LEN(words); i++) {
        is_known = is_known || strcmp(reason, words[i]) == 0;
    }
    if (!is_known) {
        leat_test_fail(__FILE__, __LINE__, reason);
    }
    faults++;
}

static void read_all(void)
{
    for (unsigned i = 0; i < READERS; i++) {
        leat_json *j;
        while (w.readers[i].conn && (j = world_next(&w, i)) != NULL) {
            if (at(j, "id")) {
                answered++;
            } else {
                LEAT_CHECK(at(j, "params") != NULL);
            }
            if (at(j, "error")) {
                check_word(j);
            }
            leat_json_free(j);
        }
    }
}

static void step_at_random(void)
{
    if (below(50) == 0) {
        w.fail[below(LEAT_COMMAND_COUNTERS)] = below(2) ? LEAT_E_NOMEM : LEAT_E_RANGE;
    }
    w.fail[LEAT_COMMAND_CLOSE] =
        0; /* a close that fails otherwise than by absence does not exist */
    for (uint32_t n = below(4); n > 0; n--) {
        (void)world_step(&w, below(2));
    }
}

static size_t alive_count(void)
{
    size_t count = 0;
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        for (size_t k = 0; k < PEERS_MAX; k++) {
            count += w.alive[i][k] != 0 ? 1 : 0;
        }
    }
    return count;
}

static void random_calls__any_order__keep_both_sides_in_agreement(void)
{
    world_prepare(&w);
    w.info.ended_keep_us = 5000;
    w.info.peers_max = 20;
    world_start(&w);
    offers[0] = read_offer("chromium156-default");
    offers[1] = read_offer("firefox153-default");
    offers[2] = replaced(offers[0], "733B", "ZZZZ");
    memset(long_id, 'a', sizeof(long_id) - 1);
    for (unsigned i = 0; i < READERS; i++) {
        (void)world_connect(&w);
    }
    for (int op = 0; op < OPS; op++) {
        call_at_random();
        step_at_random();
        if (below(4) == 0) {
            event_at_random();
        }
        if (below(500) == 0) { /* both change: what was asked and not answered is not counted on */
            read_all();
            world_run(&w);
            read_all();
            LEAT_CHECK_INT(answered, asked);
            unsigned reader = below(READERS);
            world_disconnect(&w, reader);
            (void)world_connect(&w);
        }
        w.now_us += below(300);
        if (leat_control_deadline(w.c) <= w.now_us) {
            leat_control_tick(w.c, w.now_us);
        }
        read_all();
    }
    world_run(&w);
    read_all();
    LEAT_CHECK_INT(answered, asked);
    LEAT_CHECK(faults > OPS / 10 && faults < OPS);
    LEAT_CHECK_INT(alive_count(), leat_control_live_peers(w.c));
    LEAT_CHECK(w.posted[LEAT_COMMAND_OPEN] > 2000 && w.posted[LEAT_COMMAND_ROUTES] > 200);
    LEAT_CHECK(w.posted[LEAT_COMMAND_MEDIA] > 500 && w.posted[LEAT_COMMAND_RESTART_ICE] > 100);
    for (size_t i = 0; i < 3; i++) {
        free(offers[i]);
    }
    world_stop(&w);
}

LEAT_TESTS(LEAT_TEST(random_calls__any_order__keep_both_sides_in_agreement))
