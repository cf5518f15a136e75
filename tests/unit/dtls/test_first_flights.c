/* SPDX-License-Identifier: MIT */
/* The first flights of real clients against a server session: whole, cut, reordered, repeated,
 * damaged. */
#include "flights.h"
#include "network.h"

static struct leat_dtls *server_new(struct leat_rng *rng)
{
    struct leat_dtls *d;
    struct leat_dtls_params p;
    net_rng(rng, 42);
    net_params(&p, SERVER, SERVER, CLIENT);
    LEAT_CHECK_INT(leat_dtls_new(&d, &p, 0), 0);
    leat_dtls_start(d, 1000, 1000);
    return d;
}

/* Run what is wanted. @return whether what is sent begins with a ServerHello, in datagrams that fit
 * and whose last record is the ServerHelloDone. */
static bool sends_server_flight(struct leat_dtls *d, struct leat_rng *rng, uint64_t now_us)
{
    struct leat_span out;
    struct leat_dtls_event event;
    bool is_flight = false, is_done = false;
    while (leat_dtls_wants_job(d)) {
        leat_dtls_job_begin(d, now_us);
        leat_dtls_job_run(d, rng);
        leat_dtls_job_end(d, now_us);
    }
    LEAT_CHECK(!leat_dtls_next_event(d, &event));
    for (bool is_first = true; leat_dtls_next_datagram(d, &out); is_first = false) {
        if (is_first) {
            is_flight = out.len > 25 && out.data[0] == 22 && out.data[13] == 2;
        }
        is_done = out.len >= 25 && out.data[out.len - 12] == 14;
        LEAT_CHECK(out.len <= LEAT_DTLS_MTU);
    }
    return is_flight && is_done;
}

static void give(struct leat_dtls *d, const void *data, size_t len)
{
    LEAT_CHECK_INT(leat_dtls_receive(d, leat_span(data, len), 5000), LEAT_DTLS_OK);
}

static void flight__as_captured__is_answered_and_again_for_each_repeat(void)
{
    struct client_flight *clients;
    size_t count = flights_load(&clients);
    for (size_t i = 0; i < count; i++) {
        struct leat_rng rng;
        struct leat_dtls *d = server_new(&rng);
        unsigned answers = 0;
        for (size_t k = 0; k < clients[i].datagram_count; k++) {
            give(d, clients[i].datagrams[k].data, clients[i].datagrams[k].len);
            if (leat_dtls_wants_job(d)) {
                LEAT_CHECK_ROW(i, sends_server_flight(d, &rng, 5000 + k));
                answers++;
            }
        }
        LEAT_CHECK_ROW(i, answers >= 2);
        /* the same datagrams once more, record numbers and all (werift repeats so) */
        for (size_t k = 0; k < clients[i].datagram_count; k++) {
            give(d, clients[i].datagrams[k].data, clients[i].datagrams[k].len);
        }
        LEAT_CHECK_ROW(i, sends_server_flight(d, &rng, 6000));
        leat_dtls_free(d);
    }
    free(clients);
}

static void flight__reordered_and_doubled__is_answered_once_a_job(void)
{
    struct client_flight *clients;
    size_t count = flights_load(&clients);
    for (size_t i = 0; i < count; i++) {
        struct leat_rng rng;
        struct leat_dtls *d = server_new(&rng);
        for (size_t k = clients[i].datagram_count; k-- > 0;) {
            give(d, clients[i].datagrams[k].data, clients[i].datagrams[k].len);
            give(d, clients[i].datagrams[k].data, clients[i].datagrams[k].len);
        }
        LEAT_CHECK_ROW(i, sends_server_flight(d, &rng, 5000));
        LEAT_CHECK_ROW(i, !leat_dtls_wants_job(d));
        leat_dtls_free(d);
    }
    free(clients);
}

/* One fragment in a datagram of its own. */
static void give_cut(struct leat_dtls *d, const struct client_flight *c, size_t offset, size_t len,
                     uint64_t seq)
{
    uint8_t datagram[2048];
    struct leat_writer w;
    leat_writer_init(&w, datagram, sizeof(datagram));
    leat_write_u8(&w, 22);
    leat_write_u16(&w, 0xfeff);
    leat_write_u16(&w, 0);
    leat_write_u48(&w, seq);
    leat_write_u16(&w, (uint16_t)(12 + len));
    leat_write_u8(&w, 1);
    leat_write_u24(&w, (uint32_t)c->hello_len);
    leat_write_u16(&w, 0);
    leat_write_u24(&w, (uint32_t)offset);
    leat_write_u24(&w, (uint32_t)len);
    leat_write_bytes(&w, c->hello + offset, len);
    LEAT_CHECK(!w.failed);
    give(d, datagram, leat_writer_len(&w));
}

static void flight__cut_anew_in_any_order__is_answered(void)
{
    struct client_flight *clients;
    size_t count = flights_load(&clients);
    for (size_t i = 0; i < count; i++) {
        size_t total = clients[i].hello_len;
        for (size_t pieces = 1; pieces <= 9; pieces++) {
            struct leat_rng rng;
            struct leat_dtls *d = server_new(&rng);
            size_t size = (total + pieces - 1) / pieces;
            for (size_t k = 0; k < pieces; k++) {
                size_t at = (k * 4 + 1) % pieces == k ? k : (k * 7 + 3) % pieces; /* some repeat */
                give_cut(d, &clients[i], at * size < total ? at * size : 0,
                         at * size < total && total - at * size < size ? total - at * size : size,
                         k);
            }
            for (size_t at = 0; at < total && !leat_dtls_wants_job(d); at += size) {
                give_cut(d, &clients[i], at, total - at < size ? total - at : size, 20 + at);
            }
            LEAT_CHECK_ROW(i * 10 + pieces, sends_server_flight(d, &rng, 5000));
            leat_dtls_free(d);
        }
    }
    free(clients);
}

/* ---- damage ---- */

/* Whatever comes of it, the session is at rest afterwards and can be freed. */
static void run_damaged(const struct client_flight *c, size_t which, const uint8_t *data,
                        size_t len)
{
    struct leat_rng rng;
    struct leat_dtls *d = server_new(&rng);
    struct leat_dtls_event event;
    struct leat_span out;
    for (size_t k = 0; k < c->datagram_count; k++) {
        uint8_t *exact = malloc(len + 1);
        struct leat_span s = leat_span(c->datagrams[k].data, c->datagrams[k].len);
        if (k == which) {
            memcpy(exact, data, len);
            s = leat_span(exact, len);
        }
        (void)leat_dtls_receive(d, s, 5000);
        free(exact);
    }
    if (leat_dtls_wants_job(d)) {
        leat_dtls_job_begin(d, 5000);
        leat_dtls_job_run(d, &rng);
        leat_dtls_job_end(d, 5000);
    }
    while (leat_dtls_next_event(d, &event)) {
        LEAT_CHECK(event.type == LEAT_DTLS_EVENT_ENDED);
    }
    while (leat_dtls_next_datagram(d, &out)) {
        LEAT_CHECK(out.len <= LEAT_DTLS_MTU);
    }
    LEAT_CHECK(!leat_dtls_is_connected(d));
    leat_dtls_free(d);
}

static void flight__cut_off_or_with_a_flipped_octet__does_no_harm(void)
{
    struct client_flight *clients;
    size_t count = flights_load(&clients);
    for (size_t i = 0; i < count; i++) {
        const struct client_flight *c = &clients[i];
        uint8_t damaged[1600];
        /* only the first datagram: a retransmission would repair the hello */
        struct client_flight first = *c;
        first.datagram_count = 1;
        size_t len = c->datagrams[0].len;
        for (size_t cut = 0; cut < len; cut += 1 + cut / 16) {
            run_damaged(&first, 0, c->datagrams[0].data, cut);
        }
        bool is_in_one = c->hello_len + 25 <= len;
        for (size_t at = 0; is_in_one && at < len; at += at < 120 ? 1 : 5) {
            memcpy(damaged, c->datagrams[0].data, len);
            damaged[at] ^= (uint8_t)(1u << (at % 8));
            run_damaged(&first, 0, damaged, len);
            damaged[at] = 0xff;
            run_damaged(&first, 0, damaged, len);
        }
    }
    free(clients);
}

LEAT_TESTS(LEAT_TEST(flight__as_captured__is_answered_and_again_for_each_repeat),
           LEAT_TEST(flight__reordered_and_doubled__is_answered_once_a_job),
           LEAT_TEST(flight__cut_anew_in_any_order__is_answered),
           LEAT_TEST(flight__cut_off_or_with_a_flipped_octet__does_no_harm))
