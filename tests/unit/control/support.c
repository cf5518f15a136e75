/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <leat/log.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** A failure here is no row of a test: it ends the program. */
#define MUST(condition)                                                                            \
    ((condition) ? (void)0 : (fprintf(stderr, "support.c:%d: " #condition "\n", __LINE__), abort()))

static void post(void *data, unsigned worker, struct leat_command *command)
{
    struct world *w = data;
    w->posted[command->type]++;
    w->last[command->type] = *command;
    if (command->track_count != 0) {
        w->last_track = command->tracks[0];
    }
    if (command->sender_count != 0) {
        w->last_sender = command->senders[0];
    }
    if (w->is_out_of_memory) {
        command->result = LEAT_E_NOMEM;
        leat_control_complete(w->c, command, w->now_us);
        return;
    }
    leat_list_add_tail(&w->commands[worker], &command->node);
}

static int write_octets(void *data, void *conn, const char *octets, size_t len)
{
    (void)data;
    struct reader *r = conn;
    size_t limit = r->limit != 0 ? r->limit : LEAT_CONTROL_QUEUE_MAX;
    if (r->len - r->at + len > limit) {
        return LEAT_E_RANGE;
    }
    if (r->cap - r->len < len) {
        r->cap = 2 * (r->cap + len);
        r->text = realloc(r->text, r->cap);
    }
    memcpy(r->text + r->len, octets, len);
    r->len += len;
    return 0;
}

static void close_conn(void *data, void *conn)
{
    (void)data;
    ((struct reader *)conn)->wants_close = true;
}

static void shut_down(void *data)
{
    ((struct world *)data)->shutdowns++;
}

static size_t queued(void *data, void *conn)
{
    (void)data;
    const struct reader *r = conn;
    return r->len - r->at;
}

void world_prepare(struct world *w)
{
    static const uint8_t loopback[4] = {127, 0, 0, 1};
    uint8_t seed[32] = {7};
    struct leat_dtls_identity *identity = NULL;
    memset(w, 0, sizeof(*w));
    MUST(leat_crypto_start() == 0);
    leat_rng_init_seeded(&w->rng, seed);
    MUST(leat_dtls_identity_new(&identity, &w->rng, 1700000000) == 0);
    w->info = (struct leat_control_info){.version = "0.1.0",
                                         .boot = "0123456789abcdef",
                                         .pid = 42,
                                         .workers = 2,
                                         .generation = 5,
                                         .identity = identity,
                                         .profiles = {LEAT_SRTP_AES128_CM_SHA1_80},
                                         .profile_count = 1,
                                         .peers_max = 1000,
                                         .ssrcs_per_peer = 64,
                                         .ended_keep_us = 60000000,
                                         .receive_buffer = 8388608,
                                         .firewall = "allow UDP ports 3478-3479 to 127.0.0.1",
                                         .uv_version = "1.44.2",
                                         .dtls_backend = "openssl",
                                         .dtls_version = "OpenSSL 3.0.17",
                                         .mbedtls_version = "Mbed TLS 2.28.3",
                                         .key_exchange = "openssl",
                                         .srtp_version = "2.5.0"};
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        leat_list_init(&w->commands[i]);
        w->info.announce_counts[i] = 1;
        w->info.announce[i][0] = leat_addr_v4(loopback, (uint16_t)(3478 + i));
        w->info.listen[i].worker = i;
        w->info.listen[i].addr = w->info.announce[i][0];
    }
    w->info.listen_count = w->info.workers;
    w->now_us = 5000000000;
}

void world_start(struct world *w)
{
    leat_log_setup(LEAT_LOG_WARN, STDERR_FILENO); /* the lives of thousands of peers are no news */
    const struct leat_control_port port = {w, post, write_octets, close_conn, shut_down, queued};
    MUST(leat_control_new(&w->c, &w->info, &port, &w->rng, w->now_us) == 0);
}

void world_stop(struct world *w)
{
    leat_control_free(w->c);
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        while (!leat_list_is_empty(&w->commands[i])) {
            struct leat_command *command =
                LEAT_CONTAINER(w->commands[i].next, struct leat_command, node);
            leat_list_remove(&command->node);
            leat_command_free(command);
        }
    }
    for (unsigned i = 0; i < CONNS_MAX; i++) {
        free(w->readers[i].text);
    }
    leat_dtls_identity_free((struct leat_dtls_identity *)(uintptr_t)w->info.identity);
    leat_rng_deinit(&w->rng);
}

unsigned world_connect(struct world *w)
{
    for (unsigned i = 0; i < CONNS_MAX; i++) {
        struct reader *r = &w->readers[i];
        if (!r->conn) {
            free(r->text);
            memset(r, 0, sizeof(*r));
            r->index = i;
            r->conn = leat_control_conn_opened(w->c, r);
            return i;
        }
    }
    abort();
}

void world_disconnect(struct world *w, unsigned reader)
{
    if (w->readers[reader].conn) {
        leat_control_conn_closed(w->c, w->readers[reader].conn);
        w->readers[reader].conn = NULL;
    }
}

void world_send(struct world *w, unsigned reader, const char *octets, size_t len)
{
    if (w->readers[reader].conn) {
        leat_control_conn_octets(w->c, w->readers[reader].conn, leat_span(octets, len), w->now_us);
    }
}

void world_line(struct world *w, unsigned reader, const char *line)
{
    size_t len = strlen(line);
    char *copy = malloc(len + 1); /* exactly as long as it is, for the sanitizer */
    memcpy(copy, line, len);
    copy[len] = '\n';
    world_send(w, reader, copy, len + 1);
    free(copy);
}

/* ---- the fake worker ---- */

static leat_handle *find_alive(struct world *w, unsigned worker, leat_handle handle)
{
    for (size_t i = 0; i <= w->alive_top[worker] && i < PEERS_MAX; i++) {
        if (w->alive[worker][i] == handle) {
            w->alive_top[worker] += i == w->alive_top[worker] && handle == 0 ? 1 : 0;
            return &w->alive[worker][i];
        }
    }
    return NULL;
}

void world_event(struct world *w, struct leat_sfu_event *event)
{
    leat_control_event(w->c, 0, event, w->now_us);
    MUST(event->final_stats == NULL);
}

void world_end_peer(struct world *w, leat_handle handle, enum leat_peer_end end)
{
    struct leat_sfu_event event = {.type = LEAT_EVENT_PEER_STATE,
                                   .peer = handle,
                                   .peer_state = LEAT_PEER_ENDED,
                                   .end = end,
                                   .reason = "",
                                   .final_stats = calloc(1, sizeof(struct leat_stat)),
                                   .final_stat_count = 1};
    event.final_stats[0].type = LEAT_STAT_TRANSPORT;
    event.final_stats[0].peer = handle;
    event.final_stats[0].state = LEAT_PEER_ENDED;
    event.final_stats[0].transport.octets_in = 4711;
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        leat_handle *alive = find_alive(w, i, handle);
        if (alive) {
            *alive = 0;
        }
    }
    world_event(w, &event);
}

static int routes_result(struct world *w, unsigned worker, const struct leat_command *command)
{
    for (size_t i = 0; i < command->route_count; i++) {
        const struct leat_route_desc *r = &command->routes[i];
        if (!find_alive(w, worker, r->to) || (r->from && !find_alive(w, worker, r->from))) {
            return LEAT_E_MISSING;
        }
    }
    return 0;
}

static int stats_result(struct world *w, unsigned worker, struct leat_command *command)
{
    command->stats = calloc(command->handle_count + 1, sizeof(*command->stats));
    for (size_t i = 0; i < command->handle_count; i++) {
        if (find_alive(w, worker, command->handles[i])) {
            struct leat_stat *s = &command->stats[command->stat_count++];
            s->type = (enum leat_stat_type)(i % 4);
            s->peer = command->handles[i];
            s->mid[0] = '1';
            s->kind = LEAT_KIND_VIDEO;
            s->ssrc = 4294967295;
            s->packets = UINT64_MAX;
            s->packets_lost = -3;
            s->jitter_s = s->round_trip_s = s->fraction_lost = -1.0;
        }
    }
    return 0;
}

static void execute(struct world *w, unsigned worker, struct leat_command *command)
{
    leat_handle *alive = find_alive(w, worker, command->handle);
    int missing = alive ? 0 : LEAT_E_MISSING;
    switch (command->type) {
    case LEAT_COMMAND_OPEN:
        MUST(alive == NULL);
        *find_alive(w, worker, 0) = command->handle;
        command->result = 0;
        break;
    case LEAT_COMMAND_MEDIA:
    case LEAT_COMMAND_RESTART_ICE:
    case LEAT_COMMAND_CLOSE:
        command->result = missing;
        break;
    case LEAT_COMMAND_KEYFRAME:
        command->result = missing;
        command->was_sent = w->was_sent;
        break;
    case LEAT_COMMAND_EXPLAIN:
        command->result = missing;
        command->explain = w->explain;
        break;
    case LEAT_COMMAND_ROUTES:
        command->result = routes_result(w, worker, command);
        break;
    case LEAT_COMMAND_STATS:
        command->result = stats_result(w, worker, command);
        break;
    case LEAT_COMMAND_COUNTERS:
        command->counters.rtp_in = 18446744073709551615u;
        command->counters.peers = worker + 1;
        command->result = 0;
        break;
    }
}

bool world_step(struct world *w, unsigned worker)
{
    if (leat_list_is_empty(&w->commands[worker])) {
        return false;
    }
    struct leat_command *command =
        LEAT_CONTAINER(w->commands[worker].next, struct leat_command, node);
    enum leat_command_type type = command->type;
    leat_handle handle = command->handle;
    leat_list_remove(&command->node);
    if (w->fail[type] != 0) {
        command->result = w->fail[type];
        w->fail[type] = 0;
    } else {
        (w->execute ? w->execute : execute)(w, worker, command);
    }
    int result = command->result;
    leat_control_complete(w->c, command, w->now_us);
    if (w->events) {
        w->events(w, worker);
    } else if (type == LEAT_COMMAND_CLOSE && result == 0) {
        world_end_peer(w, handle, LEAT_PEER_END_CLOSED);
    }
    return true;
}

void world_run(struct world *w)
{
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        while (world_step(w, i)) {
        }
    }
    while (leat_control_deadline(w->c) <= w->now_us) {
        leat_control_tick(w->c, w->now_us);
    }
    for (unsigned i = 0; i < CONNS_MAX; i++) {
        if (w->readers[i].wants_close) {
            world_disconnect(w, i);
        }
    }
}

/* ---- replies ---- */

leat_json *world_next(struct world *w, unsigned reader)
{
    struct reader *r = &w->readers[reader];
    char why[LEAT_JSON_WHY_MAX];
    if (r->at == r->len) {
        return NULL;
    }
    const char *line = r->text + r->at;
    const char *lf = memchr(line, '\n', r->len - r->at);
    if (!lf) {
        return NULL; /* the rest of it is on its way */
    }
    leat_json *j = leat_json_parse(leat_span(line, (size_t)(lf - line)), why);
    if (!j) {
        fprintf(stderr, "%s\n%.*s\n", why, (int)(lf - line), line);
        abort();
    }
    r->at += (size_t)(lf - line) + 1;
    r->lines++;
    if (r->at == r->len) {
        r->at = r->len = 0;
    }
    return j;
}

leat_json *world_call(struct world *w, unsigned reader, const char *method, const char *params)
{
    static unsigned count;
    char id[32];
    size_t cap = strlen(params) + strlen(method) + 128;
    char *line = malloc(cap);
    (void)snprintf(id, sizeof(id), "call-%u", ++count);
    (void)snprintf(line, cap, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"%s\",\"params\":%s}",
                   id, method, params);
    world_line(w, reader, line);
    free(line);
    world_run(w);
    leat_json *j;
    while ((j = world_next(w, reader)) != NULL && strcmp(text_at(j, "id"), id) != 0) {
        leat_json_free(j);
    }
    if (!j) {
        fprintf(stderr, "no reply to %s %.200s\n", method, params);
        abort();
    }
    return j;
}

leat_json *world_notification(struct world *w, unsigned reader, const char *method)
{
    leat_json *j;
    while ((j = world_next(w, reader)) != NULL && strcmp(text_at(j, "method"), method) != 0) {
        leat_json_free(j);
    }
    return j;
}

static const leat_json *child(const leat_json *j, const char *name)
{
    if (leat_json_type_of(j) != LEAT_JSON_ARRAY) {
        return leat_json_get(j, name);
    }
    unsigned long index = strtoul(name, NULL, 10);
    j = leat_json_first(j);
    while (j && index-- > 0) {
        j = leat_json_next(j);
    }
    return j;
}

const leat_json *at(const leat_json *j, const char *path)
{
    char name[64];
    while (j && *path != '\0') {
        size_t len = strcspn(path, ".");
        (void)leat_text_copy(name, sizeof(name), leat_span(path, len));
        j = child(j, name);
        path += path[len] == '.' ? len + 1 : len;
    }
    return j;
}

const char *text_at(const leat_json *j, const char *path)
{
    struct leat_span text;
    return leat_json_string(at(j, path), &text) ? (const char *)text.data : "(none)";
}

int64_t int_at(const leat_json *j, const char *path)
{
    int64_t value;
    return leat_json_int(at(j, path), &value) ? value : -999;
}

bool is_true(const leat_json *j, const char *path)
{
    bool value = false;
    return leat_json_bool(at(j, path), &value) && value;
}

bool is_false(const leat_json *j, const char *path)
{
    bool value = true;
    return leat_json_bool(at(j, path), &value) && !value;
}

/* ---- parameters ---- */

char *read_offer(const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/sdp/%s.sdp", LEAT_VECTORS, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "cannot open %s\n", path);
        abort();
    }
    char *text = calloc(1, LEAT_SDP_TEXT_MAX + 1);
    size_t len = fread(text, 1, LEAT_SDP_TEXT_MAX, file);
    text[len] = '\0';
    (void)fclose(file);
    return text;
}

char *offer_params(const char *id, const char *group, const char *sdp, const char *more)
{
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    leat_json_open(&w, '{');
    leat_json_put_text(&w, "id", id);
    if (group) {
        leat_json_put_text(&w, "group", group);
    }
    leat_json_put_text(&w, "offer", sdp);
    if (more) {
        leat_json_write_raw(&w, leat_span_str(more));
    }
    leat_json_close(&w, '}');
    return w.text;
}

char *form_params(const char *id, const char *group, const char *direction)
{
    char *out = malloc(2048);
    (void)snprintf(
        out, 2048,
        "{\"id\":\"%s\",%s%s%s\"remote\":{\"ice\":{\"ufrag\":\"abcd\",\"pwd\":"
        "\"0123456789012345678901\"},\"fingerprint\":\"%s\",\"setup\":\"actpass\",\"sections\":["
        "{\"mid\":\"0\",\"kind\":\"audio\",\"direction\":\"%s\",\"codecs\":[{\"name\":\"opus\","
        "\"pt\":111}],\"extensions\":[{\"uri\":\"urn:ietf:params:rtp-hdrext:sdes:mid\",\"id\":4}]}"
        ",{\"mid\":\"1\",\"kind\":\"video\",\"direction\":\"%s\",\"codecs\":[{\"name\":\"VP8\","
        "\"pt\":96,\"pli\":true}],\"encodings\":[{\"ssrc\":1234}]}]}}",
        id, group ? "\"group\":\"" : "", group ? group : "", group ? "\"," : "", FINGERPRINT,
        direction, direction);
    return out;
}

char *replaced(const char *text, const char *what, const char *with)
{
    size_t count = 0;
    for (const char *p = text; (p = strstr(p, what)) != NULL; p += strlen(what)) {
        count++;
    }
    char *out = malloc(strlen(text) + count * strlen(with) + 1);
    char *to = out;
    for (const char *p; (p = strstr(text, what)) != NULL; text = p + strlen(what)) {
        memcpy(to, text, (size_t)(p - text));
        to += p - text;
        memcpy(to, with, strlen(with));
        to += strlen(with);
    }
    memcpy(to, text, strlen(text) + 1);
    return out;
}

void create_form(struct world *w, const char *id, const char *group, const char *direction)
{
    unsigned reader = world_connect(w);
    char *params = form_params(id, group, direction);
    leat_json *j = world_call(w, reader, "peer.create", params);
    MUST(is_true(j, "result.created"));
    leat_json_free(j);
    free(params);
    world_disconnect(w, reader);
}
