/* SPDX-License-Identifier: MIT */
/*
 * An association after its handshake, without the TLS library (RFC 6347 4.1, 4.2.4; RFC 5246 7.2).
 *
 *   epoch 0             dropped unanswered, alerts and hellos included: anyone can send them
 *   epoch 1, alert      close_notify is answered in kind and ends, a fatal one ends, others nothing
 *   epoch 1, handshake  the client's Finished, again: it has not got ours, so a server sends its
 * last flight again, octet by octet, at most once in LEAT_DTLS_FLIGHT_AGAIN_US and until its owner
 * knows better or LEAT_DTLS_FLIGHT_US are over; anything else would be a renegotiation and gets one
 * no_renegotiation in the association's life epoch 1, data       kept for an owner that takes it,
 * else dropped
 *
 * A record that does not open is dropped and counted (RFC 6347 4.1.2.7).
 */
#include <stdlib.h>

#include "internal.h"

enum {
    MESSAGE_HEADER = 12,
    MESSAGE_FINISHED = 20,

    ALERT_WARNING = 1,
    ALERT_FATAL = 2,
    ALERT_CLOSE_NOTIFY = 0,
    ALERT_NO_RENEGOTIATION = 100
};

void leat__dtls_outcome_deinit(struct leat__dtls_outcome *o)
{
    leat__dtls_protection_deinit(&o->protection);
    free(o->flight.data);
    leat_wipe(o, sizeof(*o));
}

struct leat__dtls_established *leat__dtls_established_new(struct leat__dtls_outcome *o,
                                                          bool takes_data)
{
    struct leat__dtls_established *e = calloc(1, sizeof(*e));
    if (!e) {
        return NULL;
    }
    e->protection = o->protection; /* no context of it has been made yet */
    e->flight = o->flight;
    e->takes_data = takes_data;
    memset(&o->flight, 0, sizeof(o->flight));
    return e;
}

void leat__dtls_established_free(struct leat__dtls_established *e)
{
    if (!e) {
        return;
    }
    leat__dtls_protection_deinit(&e->protection);
    leat__dtls_established_forget_flight(e);
    leat__dtls_queue_truncate(&e->data, 0);
    free(e);
}

void leat__dtls_established_forget_flight(struct leat__dtls_established *e)
{
    free(e->flight.data);
    e->flight = (struct leat__dtls_datagram){NULL, 0};
}

/* ---- out ---- */

int leat__dtls_established_send(struct leat__dtls_established *e, uint8_t type,
                                struct leat_span plain)
{
    uint8_t record[LEAT_DTLS_DATA_MAX + LEAT__DTLS_RECORD_OVERHEAD_MAX];
    if (plain.len > LEAT_DTLS_DATA_MAX) {
        return LEAT_E_RANGE;
    }
    size_t len = leat__dtls_protection_seal(&e->protection, type, plain, record);
    if (len == 0) {
        return LEAT_E_CRYPTO;
    }
    return leat__dtls_queue_push(e->out, LEAT__DTLS_QUEUE_CAP, leat_span(record, len))
               ? 0
               : LEAT_E_AGAIN;
}

static void send_alert(struct leat__dtls_established *e, uint8_t level, uint8_t description)
{
    const uint8_t alert[2] = {level, description};
    (void)leat__dtls_established_send(e, LEAT__DTLS_TYPE_ALERT, leat_span(alert, sizeof(alert)));
}

void leat__dtls_established_close(struct leat__dtls_established *e)
{
    send_alert(e, ALERT_WARNING, ALERT_CLOSE_NOTIFY);
}

/* ---- in ---- */

static enum leat_dtls_end take_alert(struct leat__dtls_established *e, struct leat_span plain)
{
    if (plain.len != 2) {
        return LEAT_DTLS_END_NONE;
    }
    if (plain.data[1] == ALERT_CLOSE_NOTIFY) {
        leat__dtls_established_close(e);
        return LEAT_DTLS_END_CLOSED;
    }
    return plain.data[0] == ALERT_FATAL ? LEAT_DTLS_END_ALERT : LEAT_DTLS_END_NONE;
}

static void repeat_flight(struct leat__dtls_established *e, uint64_t now_us)
{
    if (e->flight.len != 0 && now_us >= e->flight_again_us &&
        leat__dtls_queue_push(e->out, LEAT__DTLS_QUEUE_CAP,
                              leat_span(e->flight.data, e->flight.len))) {
        e->flight_again_us = now_us + LEAT_DTLS_FLIGHT_AGAIN_US;
        e->counters->flights_repeated++;
    }
}

static void take_handshake(struct leat__dtls_established *e, struct leat_span plain,
                           uint64_t now_us)
{
    if (plain.len < MESSAGE_HEADER) {
        return;
    }
    if (plain.data[0] == MESSAGE_FINISHED) {
        repeat_flight(e, now_us);
    } else if (!e->has_refused) {
        e->has_refused = true;
        send_alert(e, ALERT_WARNING, ALERT_NO_RENEGOTIATION);
    }
}

static void take_data(struct leat__dtls_established *e, struct leat_span plain)
{
    if (plain.len != 0 &&
        (!e->takes_data || !leat__dtls_queue_push(&e->data, LEAT_DTLS_QUEUE, plain))) {
        e->counters->data_dropped++;
    }
}

/* @return whether the record is authentic. */
static bool take_record(struct leat__dtls_established *e, const struct leat__dtls_record *rec,
                        uint64_t now_us, bool is_resumed, enum leat_dtls_end *end)
{
    uint8_t octets[LEAT__DTLS_DATAGRAM_MAX];
    size_t len;
    switch (leat__dtls_protection_open(&e->protection, rec, octets, &len)) {
    case LEAT__DTLS_OPEN_OK:
    case LEAT__DTLS_OPEN_REPEATED:
        break;
    case LEAT__DTLS_OPEN_REPLAYED:
        e->counters->records_replayed++;
        return false;
    case LEAT__DTLS_OPEN_FORGED:
        e->counters->records_forged++;
        return false;
    case LEAT__DTLS_OPEN_MALFORMED:
        return false;
    }
    struct leat_span plain = leat_span(octets, len);
    if (rec->type == LEAT__DTLS_TYPE_ALERT) {
        *end = take_alert(e, plain);
    } else if (rec->type == LEAT__DTLS_TYPE_APPLICATION_DATA) {
        take_data(e, plain);
    } else if (rec->type == LEAT__DTLS_TYPE_HANDSHAKE && !is_resumed) {
        take_handshake(e, plain, now_us);
    }
    return true;
}

static enum leat_dtls_verdict take_datagram(struct leat__dtls_established *e,
                                            struct leat_span datagram, uint64_t now_us,
                                            bool is_resumed, enum leat_dtls_end *end)
{
    struct leat_reader r;
    struct leat__dtls_record rec;
    enum leat_dtls_verdict verdict = LEAT_DTLS_MALFORMED;
    leat_reader_init(&r, datagram.data, datagram.len);
    while (*end == LEAT_DTLS_END_NONE && leat_reader_left(&r) != 0 &&
           leat__dtls_record_next(&r, &rec)) {
        if (!leat__dtls_record_is_known(&rec)) {
            continue;
        }
        if (verdict == LEAT_DTLS_MALFORMED) {
            verdict = LEAT_DTLS_IGNORED;
        }
        if (take_record(e, &rec, now_us, is_resumed, end)) {
            verdict = LEAT_DTLS_OK;
        }
    }
    return verdict;
}

enum leat_dtls_verdict leat__dtls_established_receive(struct leat__dtls_established *e,
                                                      struct leat_span datagram, uint64_t now_us,
                                                      enum leat_dtls_end *end)
{
    return take_datagram(e, datagram, now_us, false, end);
}

enum leat_dtls_verdict leat__dtls_established_resume(struct leat__dtls_established *e,
                                                     struct leat_span datagram, uint64_t now_us,
                                                     enum leat_dtls_end *end)
{
    return take_datagram(e, datagram, now_us, true, end);
}
