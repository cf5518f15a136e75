/* SPDX-License-Identifier: MIT */
/* Where the library's part ends and ours begins: numbers that go on, a last flight that comes
 * again, what arrives too early, too late or twice. */
#include <malloc.h>

#include "network.h"

#define FLIGHT_AT LEAT_DTLS_FLIGHT_AGAIN_US

static const struct flying *post_last(const struct network *net)
{
    LEAT_CHECK(net->flying_count != 0);
    return &net->flying[net->flying_count - 1];
}

static enum leat_dtls_verdict give(struct network *net, int to, const struct flying *f)
{
    enum leat_dtls_verdict verdict =
        leat_dtls_receive(net->ends[to].d, leat_span(f->data, f->len), net->now_us);
    net_work(net, to);
    return verdict;
}

static void take_data(struct network *net, int which, bool takes_data)
{
    struct leat_dtls_params p;
    net_params(&p, which, which, 1 - which);
    p.takes_data = takes_data;
    leat_dtls_free(net->ends[which].d);
    LEAT_CHECK_INT(leat_dtls_new(&net->ends[which].d, &p, net->now_us), 0);
}

static void connect(struct network *net, uint8_t seed)
{
    net_init(net, seed);
    take_data(net, SERVER, true);
    take_data(net, CLIENT, true);
    net_start(net);
    net_run(net, 1000000);
    LEAT_CHECK(net_is_connected(net));
    LEAT_CHECK_INT(net->flying_count, 0);
}

/* Sent by `from`, not yet arrived. */
static struct flying send(struct network *net, int from, const char *text)
{
    LEAT_CHECK_INT(leat_dtls_send(net->ends[from].d, leat_span_str(text)), 0);
    net_send(net, from);
    struct flying f = *post_last(net);
    net->flying_count--;
    return f;
}

static bool has_data(struct network *net, int which, const char *text)
{
    struct leat_span data;
    return leat_dtls_next_data(net->ends[which].d, &data) &&
           leat_span_equal(data, leat_span_str(text));
}

/* ---- numbers ---- */

struct losses {
    int from;
    size_t first, count;
};

static unsigned lose(struct network *net, int from, size_t index, uint64_t *delay_us)
{
    const struct losses *l = net->rule_state;
    (void)delay_us;
    return from == l->from && index >= l->first && index < l->first + l->count ? 0 : 1;
}

/* The highest number of epoch 1 on its way to `to`, plus one; at least `least`. */
static uint64_t next_number(const struct network *net, int to, uint64_t least)
{
    for (size_t i = 0; i < net->flying_count; i++) {
        const struct flying *f = &net->flying[i];
        for (size_t at = 0; f->to == to && at + 13 <= f->len;
             at += 13 + (size_t)leat_get_u16(f->data + at + 11)) {
            uint64_t number = leat_get_u64(f->data + at + 3);
            if (number >> 48 == 1 && (number & 0xffff) >= least) {
                least = (number & 0xffff) + 1;
            }
        }
    }
    return least;
}

/* The library has sent a Finished, number 0, and one more for each repetition of a client's second
 * flight. Ours go on from there. */
static void numbers__after_the_librarys__go_on(void)
{
    for (size_t lost = 0; lost < 3; lost++) {
        struct network net;
        struct losses l = {CLIENT, 1, lost};
        uint64_t expected[2] = {0, 0};
        net_init(&net, 31);
        net.rule = lost ? lose : NULL;
        net.rule_state = &l;
        net_start(&net);
        net_work(&net, CLIENT);
        while (net_step(&net, 20000000)) {
            for (int i = 0; i < 2; i++) {
                expected[i] = next_number(&net, 1 - i, expected[i]);
            }
        }
        LEAT_CHECK_ROW(lost, net_is_connected(&net));
        LEAT_CHECK_ROW(lost, expected[SERVER] == 1 && expected[CLIENT] >= lost + 1);
        for (int i = 0; i < 2; i++) {
            for (uint64_t k = 0; k < 3; k++) {
                struct flying f = send(&net, i, "data");
                LEAT_CHECK_ROW(lost, net_number(&f) == expected[i] + k);
                LEAT_CHECK_ROW(lost, leat_get_u64(f.data + 13) == leat_get_u64(f.data + 3));
                LEAT_CHECK_ROW(lost, give(&net, 1 - i, &f) == LEAT_DTLS_OK);
            }
        }
        for (int i = 0; i < 2; i++) {
            leat_dtls_close(net.ends[i].d, net.now_us);
            net_work(&net, i);
            LEAT_CHECK_ROW(lost, net_number(post_last(&net)) == expected[i] + 3);
        }
        net_deinit(&net);
    }
}

/* ---- the last flight ---- */

struct repeats {
    struct flying client, server; /* their last flights */
};

static struct repeats connect_and_keep(struct network *net, uint8_t seed)
{
    struct repeats r;
    net_init(net, seed);
    net_start(net);
    net_run(net, 2 * DELAY_US);
    LEAT_CHECK_INT(net->flying_count, 1);
    r.client = net->flying[0];
    net_run(net, DELAY_US);
    LEAT_CHECK_INT(net->flying_count, 1);
    r.server = net->flying[0];
    net_run(net, 100000);
    LEAT_CHECK(net_is_connected(net));
    return r;
}

static bool is_answered(struct network *net, const struct repeats *r)
{
    size_t flying = net->flying_count;
    LEAT_CHECK_INT(give(net, SERVER, &r->client), LEAT_DTLS_OK);
    LEAT_CHECK(net->flying_count <= flying + 1);
    if (net->flying_count == flying) {
        return false;
    }
    LEAT_CHECK_MEM(post_last(net)->data, post_last(net)->len, r->server.data, r->server.len);
    net->flying_count--;
    return true;
}

static void flight__exact_repeat_of_the_clients__brings_the_same_octets_every_50_ms(void)
{
    struct network net;
    struct repeats r = connect_and_keep(&net, 32);
    for (int i = 0; i < 3; i++) {
        LEAT_CHECK(is_answered(&net, &r));
        LEAT_CHECK(!is_answered(&net, &r));
        net.now_us += FLIGHT_AT - 1;
        LEAT_CHECK(!is_answered(&net, &r));
        net.now_us += 1;
    }
    LEAT_CHECK_INT(leat_dtls_counters_of(net.ends[SERVER].d)->flights_repeated, 3);
    LEAT_CHECK(leat_dtls_is_connected(net.ends[SERVER].d));
    LEAT_CHECK_INT(net.ends[SERVER].connected_events, 1);
    net_deinit(&net);
}

static void flight__settled_or_after_240_s__is_forgotten(void)
{
    for (int is_settled = 0; is_settled < 2; is_settled++) {
        struct network net;
        struct repeats r = connect_and_keep(&net, 33);
        struct leat_dtls *server = net.ends[SERVER].d;
        uint64_t until_us = net.ends[SERVER].connected_us + LEAT_DTLS_FLIGHT_US;
        LEAT_CHECK(leat_dtls_deadline(server) == until_us);
        if (is_settled) {
            leat_dtls_settled(server);
            leat_dtls_settled(net.ends[CLIENT].d); /* has none */
        } else {
            net.now_us = until_us - 1;
            leat_dtls_tick(server, net.now_us);
            LEAT_CHECK(is_answered(&net, &r));
            net.now_us += 1000000;
            leat_dtls_tick(server, net.now_us);
        }
        LEAT_CHECK(leat_dtls_deadline(server) == LEAT_NEVER);
        LEAT_CHECK(!is_answered(&net, &r));
        LEAT_CHECK(leat_dtls_is_connected(server));
        net_deinit(&net);
    }
}

/* The server's flight is lost; its own tries bring the client's library to its end with whatever
 * comes first: the flight itself or its repeats. */
static void flight__lost_in_part__client_connects_from_the_repeat(void)
{
    for (size_t lost = 1; lost < 4; lost++) {
        struct network net;
        struct losses l = {SERVER, 1, lost};
        net_init(&net, 34);
        net.rule = lose;
        net.rule_state = &l;
        net_start(&net);
        net_run(&net, 20000000);
        LEAT_CHECK_ROW(lost, net_is_connected(&net) && net_keys_mirror(&net));
        LEAT_CHECK_ROW(lost, leat_dtls_counters_of(net.ends[SERVER].d)->flights_repeated == lost);
        struct flying f = send(&net, SERVER, "still in step");
        LEAT_CHECK_ROW(lost, give(&net, CLIENT, &f) == LEAT_DTLS_OK);
        net_deinit(&net);
    }
}

/* ---- forged, old and replayed ---- */

static void forged__epoch_1_of_every_type__does_nothing(void)
{
    struct network net;
    connect(&net, 35);
    size_t sent = net.ends[SERVER].sent;
    struct flying f = send(&net, CLIENT, "genuine");
    uint32_t forged = 0;
    for (uint8_t type = 20; type < 24; type++) {
        for (size_t len = 14; len <= f.len; len += 1 + len / 8) {
            struct flying g = f;
            g.data[0] = type;
            g.data[10] ^= 9; /* another number */
            g.len = len;
            leat_put_u16(g.data + 11, (uint16_t)(len - 13));
            LEAT_CHECK_ROW(len, give(&net, SERVER, &g) == LEAT_DTLS_IGNORED);
            forged += len >= 13 + 24 ? 1 : 0; /* shorter ones have no room for a tag */
        }
    }
    LEAT_CHECK_INT(leat_dtls_counters_of(net.ends[SERVER].d)->records_forged, forged);
    LEAT_CHECK_INT(net.ends[SERVER].sent, sent);
    LEAT_CHECK(leat_dtls_is_connected(net.ends[SERVER].d));
    LEAT_CHECK_INT(give(&net, SERVER, &f), LEAT_DTLS_OK);
    LEAT_CHECK(has_data(&net, SERVER, "genuine"));
    net_deinit(&net);
}

static void replayed__data_in_any_order__is_given_once(void)
{
    struct network net;
    connect(&net, 36);
    for (int to = 0; to < 2; to++) {
        struct flying first = send(&net, 1 - to, "first"), second = send(&net, 1 - to, "second");
        LEAT_CHECK_INT(give(&net, to, &second), LEAT_DTLS_OK);
        LEAT_CHECK_INT(give(&net, to, &first), LEAT_DTLS_OK);
        LEAT_CHECK_INT(give(&net, to, &second), LEAT_DTLS_IGNORED);
        LEAT_CHECK_INT(give(&net, to, &first), LEAT_DTLS_IGNORED);
        LEAT_CHECK(has_data(&net, to, "second") && has_data(&net, to, "first"));
        LEAT_CHECK(!has_data(&net, to, "second"));
        LEAT_CHECK_INT(leat_dtls_counters_of(net.ends[to].d)->records_replayed, 2);
        /* the remote's own records, sent back to it */
        LEAT_CHECK_INT(give(&net, 1 - to, &first), LEAT_DTLS_IGNORED);
    }
    net_deinit(&net);
}

static void data__nobody_takes_it__is_dropped_and_counted(void)
{
    struct network net;
    net_init(&net, 37);
    net_start(&net);
    net_run(&net, 1000000);
    struct flying f = send(&net, CLIENT, "lost");
    LEAT_CHECK_INT(give(&net, SERVER, &f), LEAT_DTLS_OK);
    LEAT_CHECK(!has_data(&net, SERVER, "lost"));
    LEAT_CHECK_INT(leat_dtls_counters_of(net.ends[SERVER].d)->data_dropped, 1);
    net_deinit(&net);
}

static void send__before_and_after__is_refused(void)
{
    static uint8_t data[LEAT_DTLS_DATA_MAX + 1];
    struct network net;
    net_init(&net, 38);
    LEAT_CHECK_INT(leat_dtls_send(net.ends[CLIENT].d, leat_span(data, 1)), LEAT_E_STATE);
    net_start(&net);
    net_run(&net, DELAY_US + 1000);
    LEAT_CHECK_INT(leat_dtls_send(net.ends[CLIENT].d, leat_span(data, 1)), LEAT_E_STATE);
    net_run(&net, 1000000);
    LEAT_CHECK_INT(leat_dtls_send(net.ends[CLIENT].d, leat_span(data, 0)), LEAT_E_RANGE);
    LEAT_CHECK_INT(leat_dtls_send(net.ends[CLIENT].d, leat_span(data, sizeof(data))), LEAT_E_RANGE);
    LEAT_CHECK_INT(leat_dtls_send(net.ends[CLIENT].d, leat_span(data, sizeof(data) - 1)), 0);
    net_run(&net, 1000000);
    LEAT_CHECK_INT(net.ends[CLIENT].largest, LEAT_DTLS_DATA_MAX + 37);
    leat_dtls_close(net.ends[CLIENT].d, net.now_us);
    LEAT_CHECK_INT(leat_dtls_send(net.ends[CLIENT].d, leat_span(data, 1)), LEAT_E_STATE);
    net_deinit(&net);
}

/* ---- what comes with the Finished or before it ---- */

/* The server is connected and its last flight under way, at flying[0]. */
static void up_to_last_flight(struct network *net, uint8_t seed)
{
    net_init(net, seed);
    take_data(net, CLIENT, true);
    net_start(net);
    net_run(net, 3 * DELAY_US);
    LEAT_CHECK(net->ends[SERVER].is_connected && !net->ends[CLIENT].is_connected);
    LEAT_CHECK_INT(net->flying_count, 1);
}

static void append(struct flying *f, const struct flying *more)
{
    LEAT_CHECK(f->len + more->len <= sizeof(f->data));
    memcpy(f->data + f->len, more->data, more->len);
    f->len += more->len;
}

static void datagram__data_behind_the_finished__is_not_lost(void)
{
    struct network net;
    up_to_last_flight(&net, 39);
    struct flying joined = net.flying[0], data = send(&net, SERVER, "at once");
    append(&joined, &data);
    LEAT_CHECK_INT(give(&net, CLIENT, &joined), LEAT_DTLS_OK);
    LEAT_CHECK(net.ends[CLIENT].is_connected);
    LEAT_CHECK(has_data(&net, CLIENT, "at once"));
    LEAT_CHECK_INT(give(&net, CLIENT, &data), LEAT_DTLS_IGNORED); /* it is seen as replayed */
    LEAT_CHECK_INT(leat_dtls_counters_of(net.ends[CLIENT].d)->records_forged, 0);
    net_deinit(&net);
}

static void datagram__close_behind_the_finished__connects_and_ends(void)
{
    struct network net;
    up_to_last_flight(&net, 40);
    struct flying joined = net.flying[0];
    leat_dtls_close(net.ends[SERVER].d, net.now_us);
    net_work(&net, SERVER);
    append(&joined, post_last(&net));
    LEAT_CHECK_INT(give(&net, CLIENT, &joined), LEAT_DTLS_OK);
    LEAT_CHECK_INT(net.ends[CLIENT].connected_events, 1);
    LEAT_CHECK_INT(net.ends[CLIENT].ended_events, 1);
    LEAT_CHECK_INT(net.ends[CLIENT].end, LEAT_DTLS_END_CLOSED);
    net_deinit(&net);
}

static void datagrams__while_the_last_job_runs__are_read_when_it_ends(void)
{
    struct network net;
    up_to_last_flight(&net, 41);
    struct leat_dtls *client = net.ends[CLIENT].d;
    struct flying flight = net.flying[0], data = send(&net, SERVER, "early");
    (void)leat_dtls_receive(client, leat_span(flight.data, flight.len), net.now_us);
    (void)leat_dtls_receive(client, leat_span(data.data, data.len), net.now_us); /* same job */
    leat_dtls_job_begin(client, net.now_us);
    struct flying more = send(&net, SERVER, "later");
    (void)leat_dtls_receive(client, leat_span(more.data, more.len), net.now_us);
    (void)leat_dtls_receive(client, leat_span(more.data, more.len), net.now_us);
    leat_dtls_job_run(client, &net.rng);
    LEAT_CHECK(!leat_dtls_is_connected(client));
    LEAT_CHECK(!has_data(&net, CLIENT, "early"));
    leat_dtls_job_end(client, net.now_us);
    LEAT_CHECK(leat_dtls_is_connected(client));
    LEAT_CHECK(has_data(&net, CLIENT, "early") && has_data(&net, CLIENT, "later"));
    LEAT_CHECK(!has_data(&net, CLIENT, "later"));
    LEAT_CHECK_INT(leat_dtls_counters_of(client)->records_replayed, 1);
    net_deinit(&net);
}

static void data__ahead_of_the_finished__does_no_harm(void)
{
    struct network net;
    up_to_last_flight(&net, 42);
    struct flying data = send(&net, SERVER, "too early");
    (void)give(&net, CLIENT, &data);
    LEAT_CHECK(!net.ends[CLIENT].is_connected && !net.ends[CLIENT].is_ended);
    net_run(&net, 5000000);
    LEAT_CHECK(net_is_connected(&net) && net_keys_mirror(&net));
    net_deinit(&net);
}

/* ---- closing ---- */

static void close__of_ours__is_a_record_that_the_remote_opens_once(void)
{
    for (int which = 0; which < 2; which++) {
        struct network net;
        connect(&net, 43);
        leat_dtls_close(net.ends[which].d, net.now_us);
        net_work(&net, which);
        struct flying f = *post_last(&net);
        LEAT_CHECK_INT(f.data[0], 21);
        LEAT_CHECK_INT(f.len, 13 + 8 + 2 + 16);
        LEAT_CHECK_INT(give(&net, 1 - which, &f), LEAT_DTLS_OK);
        LEAT_CHECK_INT(net.ends[1 - which].end, LEAT_DTLS_END_CLOSED);
        LEAT_CHECK_INT(give(&net, 1 - which, &f), LEAT_DTLS_IGNORED);
        LEAT_CHECK_INT(net.ends[1 - which].ended_events, 1);
        net_deinit(&net);
    }
}

static void close__with_the_last_flight_unsent__sends_both(void)
{
    struct network net;
    net_init(&net, 44);
    net_start(&net);
    net_run(&net, 2 * DELAY_US);
    struct leat_dtls *server = net.ends[SERVER].d;
    struct flying second = net.flying[0];
    net.flying_count = 0;
    (void)leat_dtls_receive(server, leat_span(second.data, second.len), net.now_us);
    leat_dtls_job_begin(server, net.now_us);
    leat_dtls_job_run(server, &net.rng);
    leat_dtls_close(server, net.now_us);
    leat_dtls_job_end(server, net.now_us);
    net_work(&net, SERVER);
    LEAT_CHECK_INT(net.flying_count, 2);
    net_run(&net, 1000000);
    LEAT_CHECK_INT(net.ends[CLIENT].connected_events, 1);
    LEAT_CHECK_INT(net.ends[CLIENT].end, LEAT_DTLS_END_CLOSED);
    net_deinit(&net);
}

/* ---- memory ---- */

/* There in builds with a sanitizer only. */
__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

static size_t heap_in_use(void)
{
    struct mallinfo2 m = mallinfo2();
    return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes()
                                                   : m.uordblks + m.hblkhd;
}

static void memory__of_a_connected_session__is_below_2_kib(void)
{
    enum { SESSIONS = 16, LIMIT = 2048 };
    static struct network net; /* its own size does not count */
    for (int role = 0; role < 2; role++) {
        struct leat_dtls *kept[SESSIONS + 1];
        size_t before = 0;
        for (size_t i = 0; i <= SESSIONS; i++) {
            before = i == 1 ? heap_in_use() : before; /* the first makes what is made once */
            net_init(&net, 45);
            net_start(&net);
            net_run(&net, 1000000);
            LEAT_CHECK(net_is_connected(&net));
            kept[i] = net.ends[role].d;
            leat_dtls_free(net.ends[1 - role].d);
        }
        size_t each = (heap_in_use() - before) / SESSIONS;
        LEAT_CHECK_ROW(each, each > 200 && each < LIMIT);
        for (size_t i = 0; i <= SESSIONS; i++) {
            leat_dtls_free(kept[i]);
        }
    }
}

LEAT_TESTS(LEAT_TEST(numbers__after_the_librarys__go_on),
           LEAT_TEST(flight__exact_repeat_of_the_clients__brings_the_same_octets_every_50_ms),
           LEAT_TEST(flight__settled_or_after_240_s__is_forgotten),
           LEAT_TEST(flight__lost_in_part__client_connects_from_the_repeat),
           LEAT_TEST(forged__epoch_1_of_every_type__does_nothing),
           LEAT_TEST(replayed__data_in_any_order__is_given_once),
           LEAT_TEST(data__nobody_takes_it__is_dropped_and_counted),
           LEAT_TEST(send__before_and_after__is_refused),
           LEAT_TEST(datagram__data_behind_the_finished__is_not_lost),
           LEAT_TEST(datagram__close_behind_the_finished__connects_and_ends),
           LEAT_TEST(datagrams__while_the_last_job_runs__are_read_when_it_ends),
           LEAT_TEST(data__ahead_of_the_finished__does_no_harm),
           LEAT_TEST(close__of_ours__is_a_record_that_the_remote_opens_once),
           LEAT_TEST(close__with_the_last_flight_unsent__sends_both),
           LEAT_TEST(memory__of_a_connected_session__is_below_2_kib))
