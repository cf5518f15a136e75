/* SPDX-License-Identifier: MIT */
/* Control over real shards: what control asks for is what leat_sfu takes, and what it says back is
 * understood. */
#include "harness.h"
#include "rooms.h"
#include "support.h"

#include <stdlib.h>

static struct world w;
static unsigned r;
static struct rooms rooms;

static uint8_t *reserve(struct leat_sink *sink, size_t max)
{
    (void)sink;
    return rooms_reserve(&rooms, max);
}

static void commit(struct leat_sink *sink, size_t len, const struct leat_tuple *tuple)
{
    (void)sink;
    (void)len;
    (void)tuple;
}

static void commit_room(struct leat_sink *sink, uint8_t *room, size_t len,
                        const struct leat_tuple *tuple)
{
    (void)room;
    commit(sink, len, tuple);
}

static struct leat_sink sink = {.reserve = reserve, .commit = commit, .commit_room = commit_room};

static void execute(struct world *world, unsigned worker, struct leat_command *command)
{
    struct leat_sfu **shards = world->data;
    leat_sfu_execute(shards[worker], command, world->now_us, &sink);
}

static void events(struct world *world, unsigned worker)
{
    struct leat_sfu **shards = world->data;
    struct leat_sfu_event event;
    while (leat_sfu_next_event(shards[worker], &event)) {
        world_event(world, &event);
    }
}

static struct leat_sfu *shards[2];

static void begin(void)
{
    world_prepare(&w);
    for (unsigned i = 0; i < 2; i++) {
        const struct leat_sfu_params params = {.worker = i,
                                               .generation = 5,
                                               .peers_max = 100,
                                               .packets = 512,
                                               .jobs_max = 1,
                                               .waiting_max = 8,
                                               .rng = &w.rng};
        LEAT_CHECK_INT(leat_sfu_new(&shards[i], &params), 0);
    }
    w.execute = execute;
    w.events = events;
    w.data = shards;
    world_start(&w);
    r = world_connect(&w);
}

static void end(void)
{
    for (unsigned i = 0; i < 2; i++) {
        leat_sfu_free(shards[i]);
    }
    world_stop(&w);
}

static void tick(uint64_t after_us)
{
    w.now_us += after_us;
    for (unsigned i = 0; i < 2; i++) {
        leat_sfu_tick(shards[i], w.now_us, w.now_us, &sink);
        events(&w, i);
    }
}

static void peers__from_offers__open_route_and_close(void)
{
    begin();
    unsigned watcher = world_connect(&w);
    leat_json_free(world_call(&w, watcher, "events.subscribe", "{}"));
    static const char *const ids[] = {"chromium156-default", "firefox153-default", "pion-recv"};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(ids); i++) {
        char *sdp = read_offer(ids[i]);
        char *params = offer_params(ids[i], "g", sdp, NULL);
        leat_json *j = world_call(&w, r, "peer.create", params);
        LEAT_CHECK_ROW(i, is_true(j, "result.created"));
        leat_json_free(j);
        free(params);
        free(sdp);
    }
    LEAT_CHECK_INT(leat_sfu_peer_count(shards[0]), 3);
    LEAT_CHECK_INT(leat_sfu_peer_count(shards[1]), 0);
    leat_json *j =
        world_call(&w, r, "route.set",
                   "{\"routes\":[{\"to\":{\"peer\":\"firefox153-default\",\"mid\":\"1\"},"
                   "\"from\":{\"peer\":\"chromium156-default\",\"mid\":\"1\"}}]}");
    LEAT_CHECK_STR(text_at(j, "result.routes.0.state"), "waiting");
    leat_json_free(j);
    j = world_notification(&w, watcher, "route.state");
    LEAT_CHECK_STR(text_at(j, "params.to.peer"), "firefox153-default");
    LEAT_CHECK_STR(text_at(j, "params.from.peer"), "chromium156-default");
    LEAT_CHECK_STR(text_at(j, "params.state"), "waiting");
    LEAT_CHECK_STR(text_at(j, "params.reason"), "set");
    leat_json_free(j);
    j = world_call(&w, r, "route.explain",
                   "{\"to\":{\"peer\":\"firefox153-default\",\"mid\":\"1\"}}");
    LEAT_CHECK_STR(text_at(j, "result.verdict"), "no_consent");
    LEAT_CHECK_STR(text_at(j, "result.hops.0.hop"), "source");
    LEAT_CHECK(is_false(j, "result.hops.0.ok"));
    leat_json_free(j);
    j = world_call(&w, r, "peer.close", "{\"id\":\"chromium156-default\"}");
    LEAT_CHECK(is_true(j, "result.closed"));
    leat_json_free(j);
    j = world_notification(&w, watcher, "route.state");
    LEAT_CHECK_STR(text_at(j, "params.state"), "none");
    LEAT_CHECK_STR(text_at(j, "params.reason"), "source_ended");
    leat_json_free(j);
    j = world_call(&w, r, "route.list", "{}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.routes")), 0);
    leat_json_free(j);
    LEAT_CHECK_INT(leat_sfu_peer_count(shards[0]), 2);
    LEAT_CHECK_INT(leat_control_live_peers(w.c), 2);
    end();
}

static void peer__without_checks__ends_with_its_statistics(void)
{
    begin();
    char *params = form_params("a", "g", "sendrecv");
    leat_json_free(world_call(&w, r, "peer.create", params));
    tick(29000000);
    LEAT_CHECK_INT(leat_control_live_peers(w.c), 1);
    tick(2000000);
    LEAT_CHECK_INT(leat_control_live_peers(w.c), 0);
    leat_json *j = world_call(&w, r, "peer.get", "{\"id\":\"a\"}");
    LEAT_CHECK_STR(text_at(j, "result.state"), "ended");
    LEAT_CHECK_STR(text_at(j, "result.reason"), "ice_timeout");
    LEAT_CHECK_STR(text_at(j, "result.stats.0.type"), "transport");
    leat_json_free(j);
    free(params);
    end();
}

static void negotiation__restart_and_dead_section__are_taken(void)
{
    begin();
    char *sdp = read_offer("chromium156-default");
    char *restarted = replaced(sdp, "733B", "ZZZZ");
    char *unbundled = replaced(restarted, "BUNDLE 0 1 2", "BUNDLE 0 2");
    char *without = replaced(unbundled, "m=video 9", "m=video 0");
    char *params[3] = {offer_params("a", "g", sdp, NULL), offer_params("a", NULL, restarted, NULL),
                       offer_params("a", NULL, without, NULL)};
    leat_json_free(world_call(&w, r, "peer.create", params[0]));
    leat_json_free(
        world_call(&w, r, "route.set",
                   "{\"routes\":[{\"to\":{\"peer\":\"a\",\"mid\":\"1\"},\"from\":{\"peer\":\"a\","
                   "\"mid\":\"1\"}},{\"to\":{\"peer\":\"a\",\"mid\":\"0\"},\"from\":{\"peer\":"
                   "\"a\",\"mid\":\"0\"}}]}"));
    leat_json *j = world_call(&w, r, "peer.negotiate", params[1]);
    LEAT_CHECK_STR(text_at(j, "result.changed.0"), "ice_restart");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.changed")), 1);
    leat_json_free(j);
    j = world_call(&w, r, "route.list", "{}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.routes")), 2);
    leat_json_free(j);
    j = world_call(&w, r, "peer.negotiate", params[2]);
    LEAT_CHECK_STR(text_at(j, "result.changed.0"), "sections");
    leat_json_free(j);
    j = world_call(&w, r, "route.list", "{}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.routes")), 1);
    LEAT_CHECK_STR(text_at(j, "result.routes.0.to.mid"), "0");
    leat_json_free(j);
    j = world_call(&w, r, "stats.get", "{}");
    LEAT_CHECK_STR(text_at(j, "result.stats.0.id"), "a/transport");
    LEAT_CHECK(leat_json_count(at(j, "result.stats")) >= 2);
    leat_json_free(j);
    for (size_t i = 0; i < 3; i++) {
        free(params[i]);
    }
    free(without);
    free(unbundled);
    free(restarted);
    free(sdp);
    end();
}

LEAT_TESTS(LEAT_TEST(peers__from_offers__open_route_and_close),
           LEAT_TEST(peer__without_checks__ends_with_its_statistics),
           LEAT_TEST(negotiation__restart_and_dead_section__are_taken))
