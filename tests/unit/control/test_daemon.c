/* SPDX-License-Identifier: MIT */
/* daemon.info, daemon.stats, draining and the end. */
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
}

/* Every row of the provider table, in its order. */
static void check_crypto(const leat_json *rows)
{
    struct leat_crypto_row row;
    size_t count = 0;
    for (const leat_json *j = leat_json_first(rows); j != NULL; j = leat_json_next(j), count++) {
        LEAT_CHECK(leat_crypto_describe(count, &row));
        LEAT_CHECK_STR(text_at(j, "primitive"), row.primitive);
        LEAT_CHECK_STR(text_at(j, "provider"), row.provider);
        LEAT_CHECK((leat_json_get(j, "level") != NULL) == (row.level != NULL));
        LEAT_CHECK(row.level == NULL || strcmp(text_at(j, "level"), row.level) == 0);
        double ns = 0;
        LEAT_CHECK(leat_json_number(leat_json_get(j, "ns_100"), &ns) && ns > 0);
        LEAT_CHECK(leat_json_number(leat_json_get(j, "ns_1200"), &ns) && ns > 0);
    }
    LEAT_CHECK(count > 10 && !leat_crypto_describe(count, &row));
}

static void info__tells_what_runs(void)
{
    begin();
    w.now_us += 7999999;
    leat_json *j = world_call(&w, r, "daemon.info", "{}");
    LEAT_CHECK_STR(text_at(j, "result.name"), "leatd");
    LEAT_CHECK_STR(text_at(j, "result.version"), "0.1.0");
    LEAT_CHECK_STR(text_at(j, "result.api"), "1.0");
    LEAT_CHECK_STR(text_at(j, "result.boot"), "0123456789abcdef");
    LEAT_CHECK_INT(int_at(j, "result.pid"), 42);
    LEAT_CHECK_INT(int_at(j, "result.uptime_s"), 7);
    LEAT_CHECK_STR(text_at(j, "result.state"), "running");
    LEAT_CHECK_INT(int_at(j, "result.workers"), 2);
    LEAT_CHECK_INT(leat_json_count(at(j, "result.listen")), 2);
    LEAT_CHECK_INT(int_at(j, "result.listen.1.worker"), 1);
    LEAT_CHECK_INT(int_at(j, "result.listen.1.port"), 3479);
    LEAT_CHECK_STR(text_at(j, "result.announce.0.address"), "127.0.0.1");
    LEAT_CHECK_INT(strlen(text_at(j, "result.fingerprint")), 95);
    LEAT_CHECK_STR(text_at(j, "result.dtls.backend"), "openssl");
    LEAT_CHECK_STR(text_at(j, "result.dtls.library"), "OpenSSL 3.0.17");
    LEAT_CHECK_STR(text_at(j, "result.libraries.mbedtls"), "Mbed TLS 2.28.3");
    LEAT_CHECK_STR(text_at(j, "result.dtls.key_exchange"), "openssl");
    LEAT_CHECK_STR(text_at(j, "result.libraries.uv"), "1.44.2");
    LEAT_CHECK_STR(text_at(j, "result.libraries.cjson"), leat_json_library_version());
    check_crypto(at(j, "result.crypto"));
    LEAT_CHECK_INT(int_at(j, "result.receive_buffer"), 8388608);
    LEAT_CHECK(strstr(text_at(j, "result.firewall"), "3478-3479") != NULL);
    leat_json_free(j);
    world_stop(&w);
}

static void stats__of_all_workers__are_exact(void)
{
    begin();
    world_line(&w, r, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.stats\"}");
    LEAT_CHECK(world_step(&w, 1)); /* in any order */
    LEAT_CHECK(world_next(&w, r) == NULL);
    world_run(&w);
    LEAT_CHECK(strstr(w.readers[r].text, "\"rtp_in\":18446744073709551615,") != NULL);
    leat_json *j = world_next(&w, r);
    LEAT_CHECK_INT(int_at(j, "result.workers.0.peers"), 1);
    LEAT_CHECK_INT(int_at(j, "result.workers.1.peers"), 2);
    LEAT_CHECK_INT(int_at(j, "result.workers.1.worker"), 1);
    LEAT_CHECK_INT(int_at(j, "result.control.connections"), 1);
    LEAT_CHECK_INT(int_at(j, "result.control.requests_in_flight"), 0);
    leat_json_free(j);
    world_stop(&w);
}

static void drain__with_peers__refuses_new_ones_and_ends_with_the_last(void)
{
    begin();
    create_form(&w, "a", "g", "sendrecv");
    leat_json_free(world_call(&w, r, "events.subscribe", "{}"));
    leat_json *j = world_call(&w, r, "daemon.drain", "{}");
    LEAT_CHECK_STR(text_at(j, "result.state"), "draining");
    leat_json_free(j);
    char *params = form_params("b", "g", "sendrecv");
    j = world_call(&w, r, "peer.create", params);
    LEAT_CHECK_STR(text_at(j, REASON), "draining");
    leat_json_free(j);
    char *again = form_params("a", "g", "sendrecv");
    j = world_call(&w, r, "peer.create", again); /* a repeat makes nothing new */
    LEAT_CHECK(is_false(j, "result.created"));
    leat_json_free(j);
    j = world_call(&w, r, "peer.negotiate", "{\"id\":\"a\"}"); /* the rest goes on */
    LEAT_CHECK_STR(text_at(j, REASON), "missing_parameter");
    leat_json_free(j);
    LEAT_CHECK_INT(w.shutdowns, 0);
    LEAT_CHECK(leat_control_deadline(w.c) > w.now_us);
    world_end_peer(&w, w.last[LEAT_COMMAND_OPEN].handle, LEAT_PEER_END_CLOSED_BY_REMOTE);
    LEAT_CHECK(leat_control_deadline(w.c) <= w.now_us);
    world_run(&w);
    LEAT_CHECK_INT(w.shutdowns, 1);
    world_run(&w);
    LEAT_CHECK_INT(w.shutdowns, 1);
    free(again);
    free(params);
    world_stop(&w);
}

static void drain__cancelled__takes_peers_again(void)
{
    begin();
    create_form(&w, "a", "g", "sendrecv");
    unsigned watcher = world_connect(&w);
    leat_json_free(world_call(&w, watcher, "events.subscribe", "{}"));
    leat_json_free(world_call(&w, r, "daemon.drain", "{\"deadline_s\":5}"));
    LEAT_CHECK(leat_control_is_draining(w.c));
    leat_json *j = world_call(&w, r, "daemon.drain", "{\"cancel\":true}");
    LEAT_CHECK_STR(text_at(j, "result.state"), "running");
    leat_json_free(j);
    create_form(&w, "b", "g", "sendrecv");
    w.now_us += 6000000;
    world_run(&w);
    LEAT_CHECK_INT(w.shutdowns, 0);
    j = world_notification(&w, watcher, "daemon.state");
    LEAT_CHECK_STR(text_at(j, "params.state"), "draining");
    leat_json_free(j);
    j = world_notification(&w, watcher, "daemon.state");
    LEAT_CHECK_STR(text_at(j, "params.state"), "running");
    leat_json_free(j);
    world_stop(&w);
}

static void drain__deadline_passed__ends_with_peers(void)
{
    begin();
    create_form(&w, "a", "g", "sendrecv");
    leat_json_free(world_call(&w, r, "daemon.drain", "{\"deadline_s\":5}"));
    LEAT_CHECK_INT(leat_control_deadline(w.c), w.now_us + 5000000);
    w.now_us += 4999999;
    world_run(&w);
    LEAT_CHECK_INT(w.shutdowns, 0);
    w.now_us += 1;
    world_run(&w);
    LEAT_CHECK_INT(w.shutdowns, 1);
    world_stop(&w);
}

static void shutdown__is_answered_before_it_happens(void)
{
    begin();
    create_form(&w, "a", "g", "sendrecv");
    world_line(&w, r, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.shutdown\"}");
    LEAT_CHECK_INT(w.shutdowns, 0);
    leat_json *j = world_next(&w, r);
    LEAT_CHECK(at(j, "result") != NULL);
    leat_json_free(j);
    world_run(&w);
    LEAT_CHECK_INT(w.shutdowns, 1);
    world_stop(&w);
}

LEAT_TESTS(LEAT_TEST(info__tells_what_runs), LEAT_TEST(stats__of_all_workers__are_exact),
           LEAT_TEST(drain__with_peers__refuses_new_ones_and_ends_with_the_last),
           LEAT_TEST(drain__cancelled__takes_peers_again),
           LEAT_TEST(drain__deadline_passed__ends_with_peers),
           LEAT_TEST(shutdown__is_answered_before_it_happens))
