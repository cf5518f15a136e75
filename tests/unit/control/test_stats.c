/* SPDX-License-Identifier: MIT */
/* stats.get: whose, in which shape, exact. */
#include "harness.h"
#include "support.h"

#include <stdlib.h>

static struct world w;
static unsigned r;

static void begin(void)
{
    world_prepare(&w);
    world_start(&w);
    r = world_connect(&w);
    for (int i = 0; i < 4; i++) {
        char id[8];
        (void)snprintf(id, sizeof(id), "p%d", i);
        create_form(&w, id, i < 3 ? "g" : "h", "sendrecv");
    }
}

static size_t count_of(const char *params)
{
    leat_json *j = world_call(&w, r, "stats.get", params);
    size_t count = at(j, "result.stats") ? leat_json_count(at(j, "result.stats")) : 999;
    leat_json_free(j);
    return count;
}

static void get__group_or_peers__selects(void)
{
    begin();
    LEAT_CHECK_INT(count_of("{}"), 4);
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_STATS], 2); /* one a worker */
    LEAT_CHECK_INT(count_of("{\"group\":\"g\"}"), 3);
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_STATS], 3);
    LEAT_CHECK_INT(count_of("{\"group\":\"none\"}"), 0);
    LEAT_CHECK_INT(count_of("{\"peers\":[\"p0\",\"p3\",\"p0\"]}"), 2);
    LEAT_CHECK_INT(count_of("{\"peers\":[]}"), 0);
    leat_json *j = world_call(&w, r, "stats.get", "{\"peers\":[\"p0\",\"p9\"]}");
    LEAT_CHECK_STR(text_at(j, REASON), "no_such_peer");
    LEAT_CHECK_STR(text_at(j, FIELD), "peers[1]");
    leat_json_free(j);
    world_stop(&w);
}

static void get__records__have_their_names_and_all_digits(void)
{
    begin();
    world_line(&w, r, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"stats.get\",\"params\":{}}");
    w.now_us += 5;
    world_run(&w);
    LEAT_CHECK(strstr(w.readers[r].text, "\"packetsReceived\":18446744073709551615,") != NULL);
    leat_json *j = world_next(&w, r);
    LEAT_CHECK_INT(int_at(j, "result.timestamp_us"), 5);
    LEAT_CHECK_STR(text_at(j, "result.stats.0.type"), "transport");
    LEAT_CHECK_STR(text_at(j, "result.stats.0.id"), "p0/transport");
    LEAT_CHECK_STR(text_at(j, "result.stats.0.dtlsState"), "new");
    LEAT_CHECK_STR(text_at(j, "result.stats.0.dtlsRole"), "server");
    LEAT_CHECK_STR(text_at(j, "result.stats.1.type"), "inbound-rtp");
    LEAT_CHECK_STR(text_at(j, "result.stats.1.id"), "p1/1/in/4294967295");
    LEAT_CHECK_STR(text_at(j, "result.stats.1.kind"), "video");
    LEAT_CHECK_STR(text_at(j, "result.stats.1.group"), "g");
    LEAT_CHECK_INT(int_at(j, "result.stats.1.ssrc"), 4294967295);
    LEAT_CHECK_INT(int_at(j, "result.stats.1.packetsLost"), -3);
    LEAT_CHECK(at(j, "result.stats.1.jitter") == NULL); /* not known */
    LEAT_CHECK_STR(text_at(j, "result.stats.2.type"), "outbound-rtp");
    LEAT_CHECK_STR(text_at(j, "result.stats.2.id"), "p2/1/out/4294967295");
    leat_json_free(j);
    world_stop(&w);
}

/** A peer that ends while its statistics are fetched answers with its last ones. */
static void get__peer_ends_meanwhile__has_its_final_ones(void)
{
    begin();
    world_line(
        &w, r,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"stats.get\",\"params\":{\"peers\":[\"p3\"]}}");
    world_end_peer(&w, w.last[LEAT_COMMAND_OPEN].handle, LEAT_PEER_END_ICE_TIMEOUT);
    world_run(&w);
    leat_json *j = world_next(&w, r);
    LEAT_CHECK_INT(leat_json_count(at(j, "result.stats")), 1);
    LEAT_CHECK_INT(int_at(j, "result.stats.0.bytesReceived"), 4711);
    LEAT_CHECK_STR(text_at(j, "result.stats.0.dtlsState"), "closed");
    leat_json_free(j);
    world_stop(&w);
}

LEAT_TESTS(LEAT_TEST(get__group_or_peers__selects),
           LEAT_TEST(get__records__have_their_names_and_all_digits),
           LEAT_TEST(get__peer_ends_meanwhile__has_its_final_ones))
