/* SPDX-License-Identifier: MIT */
/* What a handshake inside a library is watched for, whichever library it is. */
#include <stdlib.h>

#include "internal.h"

#define TIMEOUT_MIN_MS 100

void leat__dtls_backend_watch(struct leat__dtls_backend *b, const struct leat__dtls_record *rec)
{
    if (rec->epoch == 1 && rec->seq >= b->next_seq) {
        b->next_seq = rec->seq + 1;
    }
    bool is_of_last_flight = rec->epoch == 1 || rec->type == LEAT__DTLS_TYPE_CHANGE_CIPHER_SPEC;
    if (b->role == LEAT_DTLS_SERVER && is_of_last_flight &&
        rec->whole.len <= sizeof(b->flight) - b->flight_len) {
        memcpy(b->flight + b->flight_len, rec->whole.data, rec->whole.len);
        b->flight_len += rec->whole.len;
    }
}

/* A client sees the round trip in what answers its hello: its next flight, which also brings back a
 * lost last flight of the server, starts from there and not from 1 s again. Measured from the
 * latest hello to each datagram, the shortest counts; should it have answered an earlier hello, the
 * first timeout comes early and the next is doubled. */
bool leat__dtls_backend_fit_timeout(struct leat__dtls_backend *b)
{
    uint64_t ms = (b->now_us - b->last_send_us) / 500; /* twice the round trip */
    ms = ms > TIMEOUT_MIN_MS ? ms : TIMEOUT_MIN_MS;
    if (ms >= b->timeout_ms) {
        return false;
    }
    b->timeout_ms = (uint32_t)ms;
    return true;
}

void leat__dtls_backend_set_timer(struct leat__dtls_backend *b, uint64_t us)
{
    b->timer_start_us = us != 0 ? b->now_us : LEAT_NEVER;
    b->timer_us = us;
    b->is_timer_new = true;
}

void leat__dtls_backend_settle_timer(struct leat__dtls_backend *b, uint64_t now_us)
{
    if (b->is_timer_new && b->timer_start_us != LEAT_NEVER) {
        b->timer_start_us = now_us;
    }
    b->is_timer_new = false;
}

uint64_t leat__dtls_backend_deadline(const struct leat__dtls_backend *b)
{
    return b->timer_start_us == LEAT_NEVER ? LEAT_NEVER : b->timer_start_us + b->timer_us;
}

int leat__dtls_backend_take_flight(const struct leat__dtls_backend *b,
                                   struct leat__dtls_datagram *out)
{
    *out = (struct leat__dtls_datagram){NULL, 0};
    if (b->flight_len == 0) {
        return 0;
    }
    out->data = malloc(b->flight_len);
    if (!out->data) {
        return LEAT_E_NOMEM;
    }
    memcpy(out->data, b->flight, b->flight_len);
    out->len = b->flight_len;
    return 0;
}
