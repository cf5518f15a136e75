/* SPDX-License-Identifier: MIT */
/*
 * One DTLS association: when the library works, on what, and what takes over after it.
 *
 *   IDLE --start--> WAITING --hello whole (server), job (client)--> HANDSHAKE --job--> CONNECTED
 *     \                \                                               \                 /
 *      `----------------`------------- close, timeout, failure ---------`-------> ENDED <
 *
 * In HANDSHAKE the library is touched by jobs only, also for what costs no public-key operation (a
 * retransmission), so that there is one rule. The job that finds the handshake over takes its
 * outcome and frees the library's context; in CONNECTED there are no jobs (established.c).
 *
 * The library may have been given more than it has read by then: what the remote has sent behind
 * its Finished in the same datagram. So that datagram is read once more by the one that takes over,
 * which marks the Finished as seen and finds what is left. A Finished that came ahead of its
 * ChangeCipherSpec, in another datagram, is not marked: it would be recognised all the same when it
 * is repeated.
 *
 * Who touches what while a job runs: the job has `backend`, `out`, `job_*`, `latest`, `established`
 * and `keys`, and reads the hello's body; the owner has everything else and only collects: filtered
 * datagrams in `input`, and wishes (hello_wanted, is_close_wanted, is_alert_seen) that job_end
 * looks at. State and the cipher's name change in job_end, on the owner's thread.
 */
#include <assert.h>
#include <stdlib.h>

#include "internal.h"

#define FIRST_TIMEOUT_MIN_US 100000u
#define FIRST_TIMEOUT_MAX_US 1000000u

enum state { IDLE, WAITING, HANDSHAKE, CONNECTED, ENDED };

struct leat_dtls {
    struct leat_dtls_params params;
    enum state state;
    uint64_t start_us, reply_us, first_hello_us;
    bool has_first_hello;
    struct leat__dtls_hello hello;
    struct leat__dtls_backend *backend;

    struct leat__dtls_queue input; /* filtered, waits for a job */
    bool is_hello_wanted;          /* a whole hello waits for a job */
    bool is_feed_wanted;           /* the first flight of a client, or a retransmission */
    bool is_close_wanted;          /* asked for while a job ran */
    bool is_alert_seen;            /* a fatal one, while a job ran */

    bool is_job_running;
    bool is_job_with_hello;
    uint64_t job_us;
    struct leat__dtls_queue job_input;
    int job_error;
    const char *job_cipher;
    struct leat__dtls_datagram latest; /* what made the handshake come to its end */

    struct leat__dtls_established *established; /* from the end of the handshake on */
    struct leat_dtls_counters counters;

    struct leat__dtls_queue out;
    struct leat__dtls_datagram sent; /* what next_datagram gave last */
    struct leat__dtls_datagram read; /* what next_data gave last */
    bool has_connected_event, has_ended_event;
    struct leat_srtp_keys keys;
    enum leat_dtls_end end;
    const char *cipher;
};

/* ---- life ---- */

int leat_dtls_new(struct leat_dtls **out, const struct leat_dtls_params *params, uint64_t now_us)
{
    *out = NULL;
    (void)now_us;
    bool has_profile = false;
    if (params->profile_count > LEAT_SRTP_PROFILES_MAX) {
        return LEAT_E_INVALID;
    }
    for (size_t i = 0; i < params->profile_count; i++) {
        has_profile |= leat__dtls_identity_ops(params->identity)->has_profile(params->profiles[i]);
    }
    if (!has_profile) {
        return LEAT_E_UNSUPPORTED;
    }
    struct leat_dtls *d = calloc(1, sizeof(*d));
    if (!d) {
        return LEAT_E_NOMEM;
    }
    d->params = *params;
    (void)leat_dtls_identity_hold(params->identity);
    d->cipher = "";
    *out = d;
    return 0;
}

static void free_backend(struct leat_dtls *d)
{
    if (d->backend) {
        d->backend->ops->free(d->backend);
        d->backend = NULL;
    }
}

static void forget_handshake(struct leat_dtls *d)
{
    free_backend(d);
    leat__dtls_hello_deinit(&d->hello);
    leat__dtls_queue_truncate(&d->input, 0);
    leat__dtls_queue_truncate(&d->job_input, 0);
    free(d->latest.data);
    d->latest = (struct leat__dtls_datagram){NULL, 0};
    d->is_hello_wanted = d->is_feed_wanted = false;
}

void leat_dtls_free(struct leat_dtls *d)
{
    if (!d) {
        return;
    }
    assert(!d->is_job_running);
    forget_handshake(d);
    leat__dtls_established_free(d->established);
    free(d->read.data);
    leat__dtls_queue_truncate(&d->out, 0);
    free(d->sent.data);
    leat_dtls_identity_free(d->params.identity);
    leat_wipe(d, sizeof(*d));
    free(d);
}

/* The one way into ENDED. What waits to be sent stays. */
static void end(struct leat_dtls *d, enum leat_dtls_end reason)
{
    d->state = ENDED;
    d->end = reason;
    d->has_ended_event = true;
    forget_handshake(d);
    leat__dtls_established_free(d->established);
    d->established = NULL;
}

void leat_dtls_start(struct leat_dtls *d, uint64_t reply_us, uint64_t now_us)
{
    if (d->state != IDLE) {
        return;
    }
    d->state = WAITING;
    d->reply_us = reply_us;
    d->start_us = now_us;
    d->is_feed_wanted = d->params.role == LEAT_DTLS_CLIENT;
}

void leat_dtls_close(struct leat_dtls *d, uint64_t now_us)
{
    (void)now_us;
    if (d->state == ENDED) {
        return;
    }
    if (d->is_job_running) {
        d->is_close_wanted = true;
        return;
    }
    if (d->established) {
        leat__dtls_established_close(d->established);
    } else if (d->backend) {
        d->backend->ops->close(d->backend);
    }
    d->has_connected_event = false; /* nobody wants these keys any more */
    leat_wipe(&d->keys, sizeof(d->keys));
    end(d, LEAT_DTLS_END_CLOSED);
}

/* ---- datagrams in ---- */

static enum leat_dtls_verdict read_established(struct leat_dtls *d, struct leat_span datagram,
                                               uint64_t now_us)
{
    enum leat_dtls_end reason = LEAT_DTLS_END_NONE;
    enum leat_dtls_verdict verdict =
        leat__dtls_established_receive(d->established, datagram, now_us, &reason);
    if (reason != LEAT_DTLS_END_NONE) {
        end(d, reason);
    }
    return verdict;
}

static enum leat__dtls_phase phase_of(const struct leat_dtls *d)
{
    /* a server's library context comes with the whole hello, a client's with its first job */
    bool has_begun = d->params.role == LEAT_DTLS_SERVER ? d->hello.is_whole : d->state == HANDSHAKE;
    return has_begun ? LEAT__DTLS_HANDSHAKE : LEAT__DTLS_BEFORE;
}

static enum leat_dtls_verdict read_handshake(struct leat_dtls *d, struct leat_span datagram,
                                             uint64_t now_us)
{
    uint8_t pass[LEAT__DTLS_DATAGRAM_MAX];
    struct leat__dtls_filtered f =
        leat__dtls_filter(&d->hello, d->params.role, phase_of(d), datagram, pass);
    if (f.is_hello_taken && !d->has_first_hello) {
        d->has_first_hello = true;
        d->first_hello_us = now_us;
    }
    d->is_hello_wanted |= f.is_hello_whole;
    if (f.is_fatal_alert) {
        d->is_alert_seen = true;
        if (!d->is_job_running) {
            end(d, LEAT_DTLS_END_ALERT);
        }
        return LEAT_DTLS_OK;
    }
    if (f.len != 0) {
        return leat__dtls_queue_push(&d->input, LEAT_DTLS_QUEUE, leat_span(pass, f.len))
                   ? LEAT_DTLS_OK
                   : LEAT_DTLS_QUEUE_FULL;
    }
    if (f.is_hello_taken) {
        return LEAT_DTLS_OK;
    }
    return f.is_well_formed ? LEAT_DTLS_IGNORED : LEAT_DTLS_MALFORMED;
}

enum leat_dtls_verdict leat_dtls_receive(struct leat_dtls *d, struct leat_span datagram,
                                         uint64_t now_us)
{
    if (d->state == IDLE || d->state == ENDED) {
        return LEAT_DTLS_IGNORED;
    }
    if (datagram.len == 0 || datagram.len > LEAT__DTLS_DATAGRAM_MAX) {
        return LEAT_DTLS_MALFORMED;
    }
    return d->state == CONNECTED ? read_established(d, datagram, now_us)
                                 : read_handshake(d, datagram, now_us);
}

/* ---- jobs ---- */

bool leat_dtls_wants_job(const struct leat_dtls *d)
{
    return !d->is_job_running && (d->state == WAITING || d->state == HANDSHAKE) &&
           (d->is_hello_wanted || d->is_feed_wanted || d->input.count != 0);
}

bool leat_dtls_is_shaking_hands(const struct leat_dtls *d)
{
    return d->state == HANDSHAKE;
}

bool leat_dtls_is_job_running(const struct leat_dtls *d)
{
    return d->is_job_running;
}

void leat_dtls_job_begin(struct leat_dtls *d, uint64_t now_us)
{
    assert(leat_dtls_wants_job(d));
    d->is_job_running = true;
    d->is_job_with_hello = d->is_hello_wanted;
    d->is_hello_wanted = d->is_feed_wanted = false;
    d->job_us = now_us;
    d->job_error = 0;
    d->job_input = d->input;
    memset(&d->input, 0, sizeof(d->input));
}

/* RFC 6347 4.2.4.1 recommends 1 s and allows less where the round trip is known. */
static uint32_t first_timeout_ms(const struct leat_dtls *d)
{
    uint64_t us = FIRST_TIMEOUT_MAX_US;
    if (d->params.role == LEAT_DTLS_SERVER) {
        us = d->first_hello_us > d->reply_us ? 2 * (d->first_hello_us - d->reply_us) : 0;
    }
    us = us < FIRST_TIMEOUT_MIN_US ? FIRST_TIMEOUT_MIN_US : us;
    us = us > FIRST_TIMEOUT_MAX_US ? FIRST_TIMEOUT_MAX_US : us;
    return (uint32_t)(us / 1000);
}

/* The handshake is over: from here on the library is not needed. */
static void take_over(struct leat_dtls *d)
{
    struct leat__dtls_outcome outcome;
    d->job_error = d->backend->ops->take(d->backend, &outcome);
    if (d->job_error != 0) {
        return;
    }
    d->keys = outcome.srtp;
    d->job_cipher = outcome.cipher;
    d->established = leat__dtls_established_new(&outcome, d->params.takes_data);
    leat__dtls_outcome_deinit(&outcome);
    if (!d->established) {
        d->job_error = LEAT_E_NOMEM;
        return;
    }
    d->established->out = &d->out;
    d->established->counters = &d->counters;
    free_backend(d);
}

static void feed_all(struct leat_dtls *d)
{
    if (d->is_job_with_hello) {
        uint8_t record[LEAT__DTLS_HELLO_RECORD_MAX];
        size_t len = leat__dtls_hello_record(&d->hello, record);
        d->backend->ops->feed(d->backend, leat_span(record, len), d->job_us);
    } else if (d->job_input.count == 0) {
        d->backend->ops->feed(d->backend, leat_span(NULL, 0), d->job_us);
    }
    while (!d->backend->is_connected && leat__dtls_queue_pop(&d->job_input, &d->latest)) {
        d->backend->ops->feed(d->backend, leat_span(d->latest.data, d->latest.len), d->job_us);
        if (!d->backend->is_connected) {
            free(d->latest.data);
            d->latest = (struct leat__dtls_datagram){NULL, 0};
        }
    }
}

/* A server's choice among the SRTP profiles of the hello is the first of ours; the libraries choose
 * by orders of their own, so it is left one. Where there is none the library is to find out. */
static struct leat_dtls_params params_of_handshake(const struct leat_dtls *d)
{
    struct leat_dtls_params params = d->params;
    if (params.role == LEAT_DTLS_SERVER) {
        const struct leat__dtls_backend_ops *ops = leat__dtls_identity_ops(params.identity);
        enum leat_srtp_profile able[LEAT_SRTP_PROFILES_MAX];
        size_t count = 0;
        for (size_t i = 0; i < params.profile_count; i++) {
            able[count] = params.profiles[i];
            count += ops->has_profile(params.profiles[i]) ? 1 : 0;
        }
        enum leat_srtp_profile first = leat__dtls_hello_profile(&d->hello, able, count);
        if (first != LEAT_SRTP_PROFILE_NONE) {
            params.profiles[0] = first;
            params.profile_count = 1;
        }
    }
    return params;
}

void leat_dtls_job_run(struct leat_dtls *d, struct leat_rng *rng)
{
    if (!d->backend) {
        const struct leat_dtls_params params = params_of_handshake(d);
        d->job_error = leat__dtls_identity_ops(params.identity)
                           ->new (&d->backend, &params, first_timeout_ms(d), &d->out);
        if (d->job_error != 0) {
            return;
        }
    }
    d->backend->rng = rng;
    feed_all(d);
    d->backend->rng = NULL;
    if (d->backend->is_connected) {
        take_over(d);
    }
}

static void install_result(struct leat_dtls *d, uint64_t now_us)
{
    if (d->job_error != 0) {
        end(d, LEAT_DTLS_END_INTERNAL);
        return;
    }
    if (d->established) {
        d->state = CONNECTED;
        d->cipher = d->job_cipher;
        d->has_connected_event = true;
        d->established->flight_until_us = now_us + LEAT_DTLS_FLIGHT_US;
        return;
    }
    d->state = HANDSHAKE;
    leat__dtls_backend_settle_timer(d->backend, now_us);
    if (d->backend->end != LEAT_DTLS_END_NONE) {
        end(d, d->backend->end);
    }
}

/* What came in the handshake and is not of it. */
static void read_rest(struct leat_dtls *d, uint64_t now_us)
{
    struct leat__dtls_datagram datagram;
    enum leat_dtls_end reason = LEAT_DTLS_END_NONE;
    (void)leat__dtls_established_resume(d->established, leat_span(d->latest.data, d->latest.len),
                                        now_us, &reason);
    if (reason != LEAT_DTLS_END_NONE) {
        end(d, reason);
    }
    while (d->state == CONNECTED && (leat__dtls_queue_pop(&d->job_input, &datagram) ||
                                     leat__dtls_queue_pop(&d->input, &datagram))) {
        (void)read_established(d, leat_span(datagram.data, datagram.len), now_us);
        free(datagram.data);
    }
    forget_handshake(d);
}

void leat_dtls_job_end(struct leat_dtls *d, uint64_t now_us)
{
    assert(d->is_job_running);
    d->is_job_running = false;
    install_result(d, now_us);
    if (d->is_close_wanted) {
        leat_dtls_close(d, now_us);
    } else if (d->is_alert_seen && d->state == HANDSHAKE) {
        end(d, LEAT_DTLS_END_ALERT);
    }
    if (d->state == CONNECTED) {
        read_rest(d, now_us);
    }
    leat_dtls_tick(d, now_us);
}

/* ---- events, datagrams and time ---- */

bool leat_dtls_next_event(struct leat_dtls *d, struct leat_dtls_event *event)
{
    memset(event, 0, sizeof(*event));
    if (d->is_job_running) {
        return false;
    }
    if (d->has_connected_event) {
        d->has_connected_event = false;
        event->type = LEAT_DTLS_EVENT_CONNECTED;
        event->keys = d->keys;
        leat_wipe(&d->keys, sizeof(d->keys));
        return true;
    }
    if (d->has_ended_event) {
        d->has_ended_event = false;
        event->type = LEAT_DTLS_EVENT_ENDED;
        event->end = d->end;
        return true;
    }
    return false;
}

bool leat_dtls_next_datagram(struct leat_dtls *d, struct leat_span *out)
{
    free(d->sent.data);
    d->sent = (struct leat__dtls_datagram){NULL, 0};
    if (d->is_job_running || !leat__dtls_queue_pop(&d->out, &d->sent)) {
        *out = leat_span(NULL, 0);
        return false;
    }
    *out = leat_span(d->sent.data, d->sent.len);
    return true;
}

uint64_t leat_dtls_deadline(const struct leat_dtls *d)
{
    if (d->state == CONNECTED && d->established->flight.len != 0) {
        return d->established->flight_until_us;
    }
    if (d->is_job_running || (d->state != WAITING && d->state != HANDSHAKE)) {
        return LEAT_NEVER;
    }
    uint64_t limit_us = d->start_us + LEAT_DTLS_HANDSHAKE_US;
    uint64_t timer_us = LEAT_NEVER;
    if (d->backend && !d->is_feed_wanted) {
        timer_us = leat__dtls_backend_deadline(d->backend);
    }
    return timer_us < limit_us ? timer_us : limit_us;
}

void leat_dtls_tick(struct leat_dtls *d, uint64_t now_us)
{
    if (now_us < leat_dtls_deadline(d)) {
        return;
    }
    if (d->state == CONNECTED) {
        leat__dtls_established_forget_flight(d->established);
    } else if (now_us >= d->start_us + LEAT_DTLS_HANDSHAKE_US) {
        end(d, LEAT_DTLS_END_TIMEOUT);
    } else {
        d->is_feed_wanted = true;
    }
}

/* ---- established ---- */

void leat_dtls_settled(struct leat_dtls *d)
{
    if (d->state == CONNECTED) {
        leat__dtls_established_forget_flight(d->established);
    }
}

bool leat_dtls_next_data(struct leat_dtls *d, struct leat_span *out)
{
    free(d->read.data);
    d->read = (struct leat__dtls_datagram){NULL, 0};
    if (d->state != CONNECTED || !leat__dtls_queue_pop(&d->established->data, &d->read)) {
        *out = leat_span(NULL, 0);
        return false;
    }
    *out = leat_span(d->read.data, d->read.len);
    return true;
}

int leat_dtls_send(struct leat_dtls *d, struct leat_span data)
{
    if (d->state != CONNECTED) {
        return LEAT_E_STATE;
    }
    if (data.len == 0) {
        return LEAT_E_RANGE;
    }
    return leat__dtls_established_send(d->established, LEAT__DTLS_TYPE_APPLICATION_DATA, data);
}

/* ---- questions ---- */

bool leat_dtls_is_connected(const struct leat_dtls *d)
{
    return d->state == CONNECTED;
}

const char *leat_dtls_cipher(const struct leat_dtls *d)
{
    return d->cipher;
}

enum leat_dtls_role leat_dtls_role_of(const struct leat_dtls *d)
{
    return d->params.role;
}

const struct leat_dtls_counters *leat_dtls_counters_of(const struct leat_dtls *d)
{
    return &d->counters;
}
