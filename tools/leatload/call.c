/* SPDX-License-Identifier: MIT */
/*
 * The phases of a run:
 *
 *   OPENING -> PUBLISHERS_JOIN -> SUBSCRIBERS_JOIN -> SENDING -> DRAINING -> CLOSING -> OVER
 *
 * At most JOINS_MAX members are on their way in at a time: handshakes run inline here, and a client
 * whose flight waits behind too many others sends it twice. Media starts when everybody is in and
 * routed, so that every subscriber must get every packet. Whatever goes wrong leads to CLOSING,
 * which takes back what was created.
 */
#include "call.h"

#include <stdlib.h>
#include <unistd.h>

#define JOINS_MAX 16
#define CLOSES_MAX 64
#define JOIN_US 20000000u  /* a client that takes longer has failed */
#define REPLY_US 30000000u /* the daemon answers within */
#define DRAIN_US 500000u
#define CLOSE_US 10000000u
#define PROGRESS_US 1000000u
#define NOTICES_MAX 8

static void go_on(struct leat_load_call *call, uint64_t now_us);

/** CPU time of this process. */
static uint64_t cpu_us(void)
{
    char text[1024];
    unsigned long user = 0, system = 0;
    FILE *f = fopen("/proc/self/stat", "r");
    if (f == NULL) {
        return 0;
    }
    size_t len = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[len] = '\0';
    const char *after_name = strrchr(text, ')');
    if (after_name == NULL ||
        sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &system) != 2) {
        return 0;
    }
    return (uint64_t)(user + system) * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void enter(struct leat_load_call *call, enum leat_load_phase phase, uint64_t until_us)
{
    call->phase = phase;
    call->phase_until_us = until_us;
}

static void begin_closing(struct leat_load_call *call, uint64_t now_us)
{
    if (call->phase == LEAT_LOAD_SENDING || call->phase == LEAT_LOAD_DRAINING) {
        call->result.cpu_share =
            (double)(cpu_us() - call->cpu_start_us) / (double)(now_us - call->media_start_us + 1);
    }
    if (call->phase == LEAT_LOAD_SENDING) {
        call->result.media_us = now_us - call->media_start_us;
    }
    call->next = 0;
    enter(call, LEAT_LOAD_CLOSING, now_us + CLOSE_US);
}

/** The run cannot go on. The first reason stays. */
static void fail(struct leat_load_call *call, const char *what, const char *why)
{
    if (call->result.failure[0] == '\0') {
        (void)snprintf(call->result.failure, sizeof call->result.failure, "%s%s%s", what,
                       what[0] != '\0' ? ": " : "", why);
    }
    if (call->phase < LEAT_LOAD_CLOSING) {
        begin_closing(call, leat_now_us());
    }
}

static void notice(struct leat_load_call *call, const struct leat_load_member *m, const char *what)
{
    if (call->noticed++ < NOTICES_MAX) {
        (void)fprintf(stderr, "leatload: %s: %s\n", m->id, what);
    }
}

/* ---- members ---- */

static void watch(struct leat_load_call *call, struct leat_load_member *m)
{
    uint64_t deadline_us = leat_client_deadline(&m->client);
    if (m->state == LEAT_LOAD_JOINING && m->created_us + JOIN_US < deadline_us) {
        deadline_us = m->created_us + JOIN_US;
    }
    (void)leat_heap_set(&call->deadlines, &m->node, deadline_us); /* room was reserved */
}

static void give_up(struct leat_load_call *call, struct leat_load_member *m, const char *why)
{
    if (call->phase >= LEAT_LOAD_CLOSING) {
        return;
    }
    if (m->state == LEAT_LOAD_CREATING || m->state == LEAT_LOAD_JOINING) {
        m->state = LEAT_LOAD_FAILED;
        call->joining--;
        notice(call, m, why);
    } else if (m->state == LEAT_LOAD_CONNECTED) {
        m->state = LEAT_LOAD_ENDED_EARLY;
        notice(call, m, why);
    }
}

static const char *end_text(enum leat_dtls_end end)
{
    switch (end) {
    case LEAT_DTLS_END_CLOSED:
        return "closed by leatd";
    case LEAT_DTLS_END_FINGERPRINT:
        return "leatd's certificate has another fingerprint";
    case LEAT_DTLS_END_ALERT:
        return "DTLS alert from leatd";
    case LEAT_DTLS_END_TIMEOUT:
        return "the DTLS handshake took too long";
    case LEAT_DTLS_END_NONE:
    case LEAT_DTLS_END_NO_CERT:
    case LEAT_DTLS_END_NO_PROFILE:
    case LEAT_DTLS_END_PROTOCOL:
    case LEAT_DTLS_END_INTERNAL:
        break;
    }
    return "the DTLS handshake failed";
}

/** After anything that may have moved a client's state. */
static void follow(struct leat_load_call *call, struct leat_load_member *m, uint64_t now_us)
{
    if (m->client.state == LEAT_CLIENT_CONNECTED && m->state == LEAT_LOAD_JOINING) {
        m->state = LEAT_LOAD_CONNECTED;
        call->joining--;
        leat_hist_add(&call->result.join_us, now_us - m->created_us);
        leat_hist_add(&call->result.ice_us, m->client.valid_us - m->client.started_us);
        leat_hist_add(&call->result.dtls_us, m->client.connected_us - m->client.valid_us);
        go_on(call, now_us);
    } else if (m->client.state == LEAT_CLIENT_ENDED &&
               (m->state == LEAT_LOAD_JOINING || m->state == LEAT_LOAD_CONNECTED)) {
        give_up(call, m, end_text(m->client.end));
        go_on(call, now_us);
    }
    watch(call, m);
}

static void on_datagram(void *data, size_t owner, struct leat_datagram *d, uint64_t now_us)
{
    struct leat_load_call *call = data;
    struct leat_load_member *m = &call->members[owner];
    if (!m->has_client || !leat_addr_equal(&d->tuple.remote, &m->client.params.tuple.remote)) {
        call->sockets.stray++;
        return;
    }
    size_t len = d->len;
    switch (leat_client_receive(&m->client, d->data, &len, now_us, call->rng, m->out)) {
    case LEAT_CLIENT_RTP:
        leat_load_traffic_take(call, m, d->data, len, false, now_us);
        break;
    case LEAT_CLIENT_RTCP:
        leat_load_traffic_take(call, m, d->data, len, true, now_us);
        break;
    case LEAT_CLIENT_NOTHING:
        follow(call, m, now_us);
        break;
    }
}

static void tick_members(struct leat_load_call *call, uint64_t now_us)
{
    struct leat_heap_node *node;
    while ((node = leat_heap_peek(&call->deadlines)) != NULL && node->deadline_us <= now_us) {
        struct leat_load_member *m = LEAT_CONTAINER(node, struct leat_load_member, node);
        if (m->state == LEAT_LOAD_JOINING && m->created_us + JOIN_US <= now_us) {
            give_up(call, m,
                    m->client.state == LEAT_CLIENT_CHECKING ? "no answer to connectivity checks"
                                                            : "not connected in time");
            go_on(call, now_us);
        }
        leat_client_tick(&m->client, now_us, call->rng, m->out);
        follow(call, m, now_us);
        if (m->node.index != 0 && m->node.deadline_us <= now_us) {
            (void)leat_heap_set(&call->deadlines, &m->node, now_us + 1000); /* not for ever here */
        }
    }
}

/* ---- joining ---- */

/** The daemon's words of an error, with its reason. */
static void refused(struct leat_load_call *call, const char *method, const leat_json *error)
{
    char text[160];
    struct leat_span message = leat_span_str("refused"), reason = {NULL, 0};
    (void)leat_json_string(leat_json_get(error, "message"), &message);
    (void)leat_json_string(leat_json_get(leat_json_get(error, "data"), "reason"), &reason);
    (void)snprintf(text, sizeof text, "%.*s (%.*s)", (int)message.len, (const char *)message.data,
                   (int)reason.len, reason.len != 0 ? (const char *)reason.data : "");
    fail(call, method, text);
}

static void on_routed(void *data, size_t index, const leat_json *result, const leat_json *error)
{
    struct leat_load_call *call = data;
    (void)index;
    call->routes_pending--;
    if (result == NULL) {
        refused(call, "route.set", error);
    }
    go_on(call, leat_now_us());
}

static void route(struct leat_load_call *call, const struct leat_load_member *m)
{
    struct leat_json_writer *w = leat_load_control_begin(&call->control, "route.set");
    leat_load_member_write_routes(m, w, call->members);
    int error = leat_load_control_send(&call->control, on_routed, 0);
    if (error != 0) {
        fail(call, "route.set", leat_error_text(error));
        return;
    }
    call->routes_pending++;
}

static int start_client(struct leat_load_call *call, struct leat_load_member *m,
                        const struct leat_load_remote *remote, uint64_t now_us, char *why,
                        size_t why_cap)
{
    static const enum leat_srtp_profile profiles[] = {
        LEAT_SRTP_AES128_CM_SHA1_80, LEAT_SRTP_AES128_CM_SHA1_32, LEAT_SRTP_AEAD_AES_128_GCM,
        LEAT_SRTP_AEAD_AES_256_GCM};
    struct leat_client_params params = {.local = m->local};
    m->out = leat_load_sockets_bind(&call->sockets, &remote->addr, (size_t)(m - call->members),
                                    &params.tuple.local, why, why_cap);
    if (m->out == NULL) {
        return LEAT_E_IO;
    }
    params.tuple.remote = remote->addr;
    memcpy(params.remote_ufrag, remote->ufrag, sizeof params.remote_ufrag);
    memcpy(params.remote_pwd, remote->pwd, sizeof params.remote_pwd);
    params.dtls.identity = call->identity;
    params.dtls.role = LEAT_DTLS_CLIENT;
    memcpy(params.dtls.remote_fingerprint, remote->fingerprint, LEAT_FINGERPRINT_LEN);
    memcpy(params.dtls.profiles, profiles, sizeof profiles); /* without GCM where it cannot */
    params.dtls.profile_count = LEAT_ARRAY_LEN(profiles);
    int error = leat_client_init(&m->client, &params, call->rng, now_us);
    m->has_client = true;
    if (error != 0) {
        (void)snprintf(why, why_cap, "%s", leat_error_text(error));
    }
    return error;
}

static void on_created(void *data, size_t index, const leat_json *result, const leat_json *error)
{
    struct leat_load_call *call = data;
    struct leat_load_member *m = &call->members[index];
    struct leat_load_remote remote;
    char why[160];
    uint64_t now_us = leat_now_us();
    if (m->state != LEAT_LOAD_CREATING || call->phase >= LEAT_LOAD_CLOSING) {
        return;
    }
    if (result == NULL) {
        refused(call, "peer.create", error);
        return;
    }
    if (leat_load_member_read_created(m, result, call->own, call->own_count, &remote, why,
                                      sizeof why) != 0 ||
        start_client(call, m, &remote, now_us, why, sizeof why) != 0) {
        fail(call, m->id, why);
        return;
    }
    m->state = LEAT_LOAD_JOINING;
    watch(call, m);
    if (!m->is_publisher) {
        route(call, m);
    }
}

/** Ask for members until enough are under way. */
static void create_more(struct leat_load_call *call, size_t end, uint64_t now_us)
{
    while (call->next < end && call->joining < JOINS_MAX && call->phase < LEAT_LOAD_SENDING) {
        struct leat_load_member *m = &call->members[call->next];
        struct leat_json_writer *w = leat_load_control_begin(&call->control, "peer.create");
        leat_load_member_write_create(m, w, call->group, call->fingerprint);
        int error = leat_load_control_send(&call->control, on_created, call->next);
        if (error != 0) {
            fail(call, "peer.create", leat_error_text(error));
            return;
        }
        m->state = LEAT_LOAD_CREATING;
        m->is_asked_for = true;
        m->created_us = now_us;
        call->next++;
        call->joining++;
        call->phase_until_us = now_us + JOIN_US + REPLY_US;
    }
}

/* ---- closing ---- */

static void on_peer_closed(void *data, size_t index, const leat_json *result,
                           const leat_json *error)
{
    struct leat_load_call *call = data;
    (void)index;
    if (result == NULL) {
        refused(call, "peer.close", error);
    }
    go_on(call, leat_now_us());
}

static void close_more(struct leat_load_call *call)
{
    while (call->next < call->count && call->control.in_flight < CLOSES_MAX) {
        const struct leat_load_member *m = &call->members[call->next++];
        if (!m->is_asked_for) {
            continue;
        }
        struct leat_json_writer *w = leat_load_control_begin(&call->control, "peer.close");
        leat_json_put_text(w, "id", m->id);
        if (leat_load_control_send(&call->control, on_peer_closed, 0) != 0) {
            fail(call, "peer.close", "the control connection does not take it");
            enter(call, LEAT_LOAD_OVER, 0);
            return;
        }
    }
    if (call->next == call->count && call->control.in_flight == 0) {
        enter(call, LEAT_LOAD_OVER, 0);
    }
}

/* ---- phases ---- */

static void progress(struct leat_load_call *call, const char *text)
{
    if (call->has_progress) {
        (void)fprintf(stderr, "leatload: %s\n", text);
    }
}

static void start_media(struct leat_load_call *call, uint64_t now_us)
{
    progress(call, "everybody is in, media starts");
    call->cpu_start_us = cpu_us();
    call->progress_us = now_us + PROGRESS_US;
    leat_load_traffic_start(call, now_us);
    enter(call, LEAT_LOAD_SENDING, now_us + call->options->seconds * UINT64_C(1000000));
}

/** Whatever can be done next in this phase. */
static void go_on(struct leat_load_call *call, uint64_t now_us)
{
    if (call->phase == LEAT_LOAD_PUBLISHERS_JOIN) {
        create_more(call, call->options->publishers, now_us);
        if (call->next == call->options->publishers && call->joining == 0) {
            progress(call, "publishers are in");
            enter(call, LEAT_LOAD_SUBSCRIBERS_JOIN, now_us + REPLY_US);
        }
    }
    if (call->phase == LEAT_LOAD_SUBSCRIBERS_JOIN) {
        create_more(call, call->count, now_us);
        if (call->next == call->count && call->joining == 0 && call->routes_pending == 0) {
            start_media(call, now_us);
        }
    }
    if (call->phase == LEAT_LOAD_CLOSING) {
        close_more(call);
    }
}

static void pass_deadline(struct leat_load_call *call, uint64_t now_us)
{
    switch (call->phase) {
    case LEAT_LOAD_OPENING:
    case LEAT_LOAD_PUBLISHERS_JOIN:
    case LEAT_LOAD_SUBSCRIBERS_JOIN:
        fail(call, "", "leatd does not answer");
        break;
    case LEAT_LOAD_SENDING:
        call->result.media_us = now_us - call->media_start_us;
        enter(call, LEAT_LOAD_DRAINING, now_us + DRAIN_US);
        break;
    case LEAT_LOAD_DRAINING:
        begin_closing(call, now_us);
        break;
    case LEAT_LOAD_CLOSING:
        fail(call, "peer.close", "leatd does not answer");
        enter(call, LEAT_LOAD_OVER, 0);
        break;
    case LEAT_LOAD_OVER:
        break;
    }
}

static void show_progress(struct leat_load_call *call, uint64_t now_us)
{
    if (now_us < call->progress_us) {
        return;
    }
    call->progress_us += PROGRESS_US;
    if (call->has_progress) {
        (void)fprintf(stderr, "leatload: %3.0f s, %llu packets received, %.0f kbit/s sent\n",
                      (double)(now_us - call->media_start_us) / 1e6,
                      (unsigned long long)call->result.received,
                      (double)call->result.octets_sent * 8000.0 /
                          (double)(now_us - call->media_start_us));
    }
}

static void on_timer(void *data, uint64_t now_us)
{
    struct leat_load_call *call = data;
    tick_members(call, now_us);
    if (call->phase_until_us <= now_us) {
        pass_deadline(call, now_us);
    }
    go_on(call, now_us);
}

/** The end of a turn: media that is due, then everything to the kernel. */
static void on_turn(void *data)
{
    struct leat_load_call *call = data;
    uint64_t now_us = leat_now_us();
    uint64_t next_us = call->phase_until_us;
    if (call->phase == LEAT_LOAD_OVER) {
        leat_loop_stop(call->loop);
    }
    if (call->phase == LEAT_LOAD_SENDING && now_us < call->phase_until_us) {
        uint64_t media_us = leat_load_traffic_send(call, now_us);
        next_us = media_us < next_us ? media_us : next_us;
        show_progress(call, now_us);
    }
    const struct leat_heap_node *first = leat_heap_peek(&call->deadlines);
    if (first != NULL && first->deadline_us < next_us) {
        next_us = first->deadline_us;
    }
    leat_load_sockets_flush(&call->sockets);
    leat_timer_set(call->timer, call->phase == LEAT_LOAD_OVER ? LEAT_NEVER : next_us);
}

/* ---- control ---- */

static void on_subscribed(void *data, size_t index, const leat_json *result, const leat_json *error)
{
    struct leat_load_call *call = data;
    uint64_t now_us = leat_now_us();
    (void)index;
    if (call->phase != LEAT_LOAD_OPENING) {
        return;
    }
    if (result == NULL) {
        refused(call, "events.subscribe", error);
        return;
    }
    enter(call, LEAT_LOAD_PUBLISHERS_JOIN, now_us + REPLY_US);
    go_on(call, now_us);
}

static void subscribe(struct leat_load_call *call)
{
    struct leat_json_writer *w = leat_load_control_begin(&call->control, "events.subscribe");
    leat_json_write_key(w, "filter");
    leat_json_open(w, '{');
    leat_json_put_text(w, "group", call->group);
    leat_json_write_key(w, "types");
    leat_json_open(w, '[');
    leat_json_write_text(w, "peer.state");
    leat_json_close(w, ']');
    leat_json_close(w, '}');
    int error = leat_load_control_send(&call->control, on_subscribed, 0);
    if (error != 0) {
        fail(call, "events.subscribe", leat_error_text(error));
    }
}

/** A peer of ours that the daemon ended says why. */
static void on_notified(void *data, struct leat_span method, const leat_json *params)
{
    struct leat_load_call *call = data;
    struct leat_span peer, state, reason;
    if (!leat_span_equal(method, leat_span_str("peer.state")) ||
        !leat_json_string(leat_json_get(params, "peer"), &peer) ||
        !leat_json_string(leat_json_get(params, "state"), &state) ||
        !leat_json_string(leat_json_get(params, "reason"), &reason) ||
        !leat_span_equal(state, leat_span_str("ended"))) {
        return;
    }
    for (size_t i = 0; i < call->count; i++) {
        if (leat_span_equal(peer, leat_span_str(call->members[i].id))) {
            char text[96];
            (void)snprintf(text, sizeof text, "leatd ended the peer: %.*s", (int)reason.len,
                           (const char *)reason.data);
            give_up(call, &call->members[i], text);
            go_on(call, leat_now_us());
            return;
        }
    }
}

static void on_gone(void *data, const char *why)
{
    struct leat_load_call *call = data;
    fail(call, "control", why);
    enter(call, LEAT_LOAD_OVER, 0);
}

/* ---- life ---- */

static int make_members(struct leat_load_call *call)
{
    const struct leat_load_options *o = call->options;
    size_t count = (size_t)o->publishers + o->subscribers;
    call->members = calloc(count, sizeof *call->members);
    if (call->members == NULL || leat_heap_reserve(&call->deadlines, count) != 0) {
        return LEAT_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        struct leat_load_member *m = &call->members[i];
        bool is_publisher = i < o->publishers;
        int error =
            is_publisher
                ? leat_load_member_init_publisher(m, call->group, (unsigned)i, o->has_audio,
                                                  call->rng)
                : leat_load_member_init_subscriber(m, call->group, (unsigned)i - o->publishers,
                                                   call->members, o->publishers, call->rng);
        call->count = i + 1;
        if (error != 0) {
            return error;
        }
        if (is_publisher) {
            leat_load_sender_pace_video(&m->senders[0], o->rate_kbps, o->size);
        }
        if (is_publisher && o->has_audio) {
            leat_load_sender_pace_audio(&m->senders[1]);
        }
    }
    return 0;
}

static int make_identity(struct leat_load_call *call)
{
    uint8_t fingerprint[LEAT_FINGERPRINT_LEN];
    int error = leat_dtls_identity_new(&call->identity, call->rng, leat_unix_us() / 1000000);
    if (error == 0) {
        error = leat_dtls_identity_set_backend(call->identity, call->options->backend);
    }
    if (error == 0) {
        leat_dtls_identity_fingerprint(call->identity, fingerprint);
        (void)leat_dtls_fingerprint_format(fingerprint, call->fingerprint);
    }
    return error;
}

int leat_load_call_init(struct leat_load_call *call, const struct leat_load_options *options,
                        char *why, size_t why_cap)
{
    memset(call, 0, sizeof *call);
    call->options = options;
    call->rng = leat_rng_thread();
    (void)snprintf(call->group, sizeof call->group, "leatload-%ld", (long)getpid());
    call->own_count = leat_interface_addrs(call->own, LEAT_LOAD_OWN_ADDRS_MAX);
    leat_heap_init(&call->deadlines);
    leat_hist_init(&call->result.join_us);
    leat_hist_init(&call->result.delay_us);
    leat_hist_init(&call->result.ice_us);
    leat_hist_init(&call->result.dtls_us);
    leat_hist_init(&call->result.first_media_us);
    call->loop = leat_loop_new();
    call->timer = call->loop != NULL ? leat_timer_new(call->loop, on_timer, call) : NULL;
    int error = call->timer == NULL ? LEAT_E_NOMEM : make_identity(call);
    error =
        error == 0 ? leat_load_sockets_init(&call->sockets, call->loop, on_datagram, call) : error;
    error = error == 0 ? make_members(call) : error;
    if (error != 0) {
        (void)snprintf(why, why_cap, "%s", leat_error_text(error));
        return error;
    }
    call->control.notified = on_notified;
    call->control.gone = on_gone;
    call->control.data = call;
    return leat_load_control_open(&call->control, call->loop, options->socket, why, why_cap);
}

void leat_load_call_run(struct leat_load_call *call)
{
    enter(call, LEAT_LOAD_OPENING, leat_now_us() + REPLY_US);
    subscribe(call);
    leat_loop_on_turn(call->loop, on_turn, call);
    leat_timer_set(call->timer, leat_now_us());
    leat_loop_run(call->loop);
    leat_load_traffic_result(call);
}

void leat_load_call_interrupt(struct leat_load_call *call)
{
    uint64_t now_us = leat_now_us();
    if (call->result.is_interrupted) {
        leat_loop_stop(call->loop);
        return;
    }
    call->result.is_interrupted = true;
    if (call->phase == LEAT_LOAD_SENDING) {
        call->phase_until_us = now_us;
        leat_timer_set(call->timer, now_us);
    } else if (call->phase < LEAT_LOAD_SENDING) {
        begin_closing(call, now_us);
        go_on(call, now_us);
    }
}

void leat_load_call_deinit(struct leat_load_call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        leat_load_member_deinit(&call->members[i]);
    }
    free(call->members);
    leat_heap_deinit(&call->deadlines);
    leat_load_control_close(&call->control);
    leat_timer_close(call->timer);
    leat_load_sockets_deinit(&call->sockets);
    leat_loop_free(call->loop);
    leat_load_control_deinit(&call->control);
    leat_dtls_identity_free(call->identity);
}
