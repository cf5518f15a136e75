/* SPDX-License-Identifier: MIT */
/* daemon.info, daemon.stats, daemon.drain and daemon.shutdown. */
#include "private.h"

static void put_places(struct leat_json_writer *w, const struct leat_control_info *info)
{
    leat_json_write_key(w, "listen");
    leat_json_open(w, '[');
    for (size_t i = 0; i < info->listen_count; i++) {
        char text[LEAT_ADDR_TEXT_MAX];
        leat_json_open(w, '{');
        leat_json_put_u64(w, "worker", info->listen[i].worker);
        leat_json_put_text(w, "address", leat_addr_format_ip(&info->listen[i].addr, text));
        leat_json_put_u64(w, "port", info->listen[i].addr.port);
        leat_json_close(w, '}');
    }
    leat_json_close(w, ']');
    leat_json_write_key(w, "announce");
    leat_json_open(w, '[');
    for (unsigned worker = 0; worker < info->workers; worker++) {
        for (size_t i = 0; i < info->announce_counts[worker]; i++) {
            leat__control_put_addr(w, NULL, &info->announce[worker][i]);
        }
    }
    leat_json_close(w, ']');
}

static void put_known_text(struct leat_json_writer *w, const char *key, const char *text)
{
    if (text) {
        leat_json_put_text(w, key, text);
    }
}

static void put_libraries(struct leat_json_writer *w, const struct leat_control_info *info)
{
    struct leat_crypto_row row;
    leat_json_write_key(w, "dtls");
    leat_json_open(w, '{');
    leat_json_put_text(w, "backend", info->dtls_backend);
    put_known_text(w, "library", info->dtls_version);
    put_known_text(w, "key_exchange", info->key_exchange);
    leat_json_close(w, '}');
    leat_json_write_key(w, "libraries");
    leat_json_open(w, '{');
    put_known_text(w, "uv", info->uv_version);
    put_known_text(w, "mbedtls", info->mbedtls_version);
    put_known_text(w, "srtp2", info->srtp_version);
    put_known_text(w, "cjson", leat_json_library_version());
    for (size_t i = 1; leat_crypto_provider_name(i) != NULL; i++) { /* 0 is mbedTLS */
        put_known_text(w, leat_crypto_provider_name(i), leat_crypto_provider_version(i));
    }
    leat_json_close(w, '}');
    leat_json_write_key(w, "crypto");
    leat_json_open(w, '[');
    for (size_t i = 0; leat_crypto_describe(i, &row); i++) {
        leat_json_open(w, '{');
        leat_json_put_text(w, "primitive", row.primitive);
        leat_json_put_text(w, "provider", row.provider);
        if (row.level != NULL) {
            leat_json_put_text(w, "level", row.level);
        }
        leat_json_put_double(w, "ns_100", row.ns_100);
        leat_json_put_double(w, "ns_1200", row.ns_1200);
        leat_json_close(w, '}');
    }
    leat_json_close(w, ']');
}

static const char *state_text(const struct leat_control *c)
{
    return c->is_draining ? "draining" : "running";
}

void leat__control_daemon_info(struct leat__control_call *call)
{
    const struct leat_control *c = call->c;
    const struct leat_control_info *info = &c->info;
    struct leat_json_writer *w = &call->c->out;
    leat_json_open(w, '{');
    leat_json_put_text(w, "name", "leatd");
    put_known_text(w, "version", info->version);
    leat_json_put_text(w, "api", LEAT__CONTROL_API);
    leat_json_put_text(w, "boot", info->boot);
    leat_json_put_i64(w, "pid", info->pid);
    leat_json_put_u64(w, "uptime_s", (call->now_us - c->start_us) / 1000000);
    leat_json_put_text(w, "state", state_text(c));
    leat_json_put_u64(w, "workers", info->workers);
    put_places(w, info);
    leat__control_put_fingerprint(w, info->identity);
    put_libraries(w, info);
    leat_json_put_u64(w, "receive_buffer", info->receive_buffer);
    put_known_text(w, "firewall", info->firewall);
    leat_json_close(w, '}');
}

/* ---- daemon.stats ---- */

struct gathering {
    struct {
        bool is_here;
        struct leat_sfu_counters counters;
        struct leat_udp_counters sockets;
        struct leat_loop_load load;
    } workers[LEAT_CONTROL_WORKERS_MAX];
};

static struct gathering *gathering_of(struct leat__control_request *r)
{
    return (struct gathering *)(void *)r->payload;
}

/** The command's handle is unused by COUNTERS and names the worker. */
static void collect(struct leat__control_request *r, struct leat_command *command)
{
    gathering_of(r)->workers[command->handle].is_here = command->result == 0;
    gathering_of(r)->workers[command->handle].counters = command->counters;
    gathering_of(r)->workers[command->handle].sockets = command->sockets;
    gathering_of(r)->workers[command->handle].load = command->load;
}

static void put_counters(struct leat_json_writer *w, const struct leat_sfu_counters *n)
{
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {
        {"bursts", n->bursts},
        {"datagrams", n->datagrams},
        {"unknown_class", n->unknown_class},
        {"stun_malformed", n->stun_malformed},
        {"stun_unknown_ufrag", n->stun_unknown_ufrag},
        {"stun_foreign_tuple", n->stun_foreign_tuple},
        {"stun_refused", n->stun_refused},
        {"unknown_tuple", n->unknown_tuple},
        {"rtp_in", n->rtp_in},
        {"rtcp_in", n->rtcp_in},
        {"rtp_malformed", n->rtp_malformed},
        {"rtcp_malformed", n->rtcp_malformed},
        {"rtp_unknown_ssrc", n->rtp_unknown_ssrc},
        {"rtp_padding_only", n->rtp_padding_only},
        {"pool_exhausted", n->pool_exhausted},
        {"rtp_out", n->rtp_out},
        {"rtcp_out", n->rtcp_out},
        {"rtp_late", n->rtp_late},
        {"rtp_unmapped", n->rtp_unmapped},
        {"rtp_waiting_keyframe", n->rtp_waiting_keyframe},
        {"rtp_paused", n->rtp_paused},
        {"queue_dropped", n->queue_dropped},
        {"jobs", n->jobs},
        {"jobs_queued_max", n->jobs_queued_max},
        {"jobs_shed", n->jobs_shed},
        {"peers_total", n->peers_total},
        {"keyframe_requests", n->keyframe_requests},
    };
    leat_json_write_key(w, "counters");
    leat_json_open(w, '{');
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json_put_u64(w, rows[i].key, rows[i].value);
    }
    leat_json_close(w, '}');
}

static void put_sockets(struct leat_json_writer *w, const struct leat_udp_counters *n)
{
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {
        {"datagrams_in", n->datagrams_in},     {"octets_in", n->octets_in},
        {"datagrams_out", n->datagrams_out},   {"octets_out", n->octets_out},
        {"truncated", n->truncated},           {"kernel_drops", n->kernel_drops},
        {"receive_errors", n->receive_errors}, {"send_again", n->send_again},
        {"send_errors", n->send_errors},       {"send_no_socket", n->send_no_socket},
        {"batch_full", n->batch_full},         {"receive_calls", n->receive_calls},
        {"send_calls", n->send_calls},         {"gso_messages", n->gso_messages},
        {"gso_datagrams", n->gso_datagrams},   {"gso_refused", n->gso_refused},
    };
    leat_json_write_key(w, "sockets");
    leat_json_open(w, '{');
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json_put_u64(w, rows[i].key, rows[i].value);
    }
    leat_json_close(w, '}');
}

static void put_load(struct leat_json_writer *w, const struct leat_loop_load *l)
{
    leat_json_write_key(w, "loop");
    leat_json_open(w, '{');
    leat_json_put_u64(w, "turns", l->turns);
    leat_json_put_u64(w, "busy_us", l->busy_us);
    leat_json_put_u64(w, "longest_turn_us", l->longest_us);
    leat_json_put_u64(w, "longest_turn_recent_us", l->longest_recent_us);
    leat_json_close(w, '}');
}

static void put_control(struct leat_json_writer *w, const struct leat_control *c)
{
    size_t subscribers = 0;
    for (struct leat_list *n = c->connections.next; n != &c->connections; n = n->next) {
        subscribers += LEAT_CONTAINER(n, struct leat_control_conn, node)->is_subscribed ? 1 : 0;
    }
    leat_json_write_key(w, "control");
    leat_json_open(w, '{');
    leat_json_put_u64(w, "connections", c->connection_count);
    leat_json_put_u64(w, "subscribers", subscribers);
    leat_json_put_u64(w, "peers", c->live_count);
    leat_json_put_u64(w, "peers_ended", c->ended_count);
    leat_json_put_u64(w, "requests_in_flight", c->request_count);
    leat_json_put_u64(w, "requests", c->calls);
    leat_json_put_u64(w, "errors", c->faults);
    leat_json_put_u64(w, "events", c->seq);
    leat_json_put_u64(w, "readers_cut_off", c->cut_off);
    leat_json_close(w, '}');
}

static void finish(struct leat__control_call *call, struct leat__control_request *r)
{
    const struct leat_control *c = call->c;
    struct leat_json_writer *w = &call->c->out;
    if (r->error != 0) {
        leat__control_fault_error(&call->fault, r->error, "reading the counters");
        return;
    }
    leat_json_open(w, '{');
    leat_json_put_u64(w, "timestamp_us", leat__control_since_start(c, call->now_us));
    leat_json_write_key(w, "workers");
    leat_json_open(w, '[');
    for (unsigned i = 0; i < c->info.workers; i++) {
        leat_json_open(w, '{');
        leat_json_put_u64(w, "worker", i);
        leat_json_put_u64(w, "peers", gathering_of(r)->workers[i].counters.peers);
        put_counters(w, &gathering_of(r)->workers[i].counters);
        put_sockets(w, &gathering_of(r)->workers[i].sockets);
        put_load(w, &gathering_of(r)->workers[i].load);
        leat_json_close(w, '}');
    }
    leat_json_close(w, ']');
    put_control(w, c);
    leat_json_close(w, '}');
}

void leat__control_daemon_stats(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    struct leat_command *commands[LEAT_CONTROL_WORKERS_MAX] = {NULL};
    struct leat__control_request *r =
        leat__control_request_new(call, sizeof(struct gathering), finish);
    if (!r) {
        return;
    }
    r->collect = collect;
    for (unsigned i = 0; i < c->info.workers; i++) {
        commands[i] = leat__control_command(call, LEAT_COMMAND_COUNTERS, i);
    }
    if (call->fault.code != LEAT__RPC_NONE) {
        for (unsigned i = 0; i < c->info.workers; i++) {
            leat_command_free(commands[i]);
        }
        leat__control_request_free(r);
        return;
    }
    for (unsigned i = 0; i < c->info.workers; i++) {
        leat__control_request_post(c, r, i, commands[i]);
    }
    leat__control_request_commit(call, r);
}

/* ---- the end ---- */

void leat__control_daemon_drain(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    struct leat_json_writer *w = &c->out;
    int64_t deadline_s;
    bool is_cancel = false;
    uint64_t deadline_us = LEAT_NEVER;
    (void)leat__control_params_bool(&call->params, "cancel", &is_cancel);
    if (leat__control_params_int(&call->params, "deadline_s", false, 0, 31536000, &deadline_s)) {
        deadline_us = call->now_us + (uint64_t)deadline_s * 1000000;
        if (is_cancel) {
            leat__control_fault_set(&call->fault, LEAT__RPC_PARAMS, "conflicting_parameters",
                                    "cancel", "give deadline_s or cancel, not both");
        }
    }
    if (call->fault.code != LEAT__RPC_NONE) {
        return;
    }
    leat__control_set_draining(c, !is_cancel, deadline_us, call->now_us);
    leat_json_open(w, '{');
    leat_json_put_text(w, "state", state_text(c));
    leat_json_close(w, '}');
}

void leat__control_daemon_shutdown(struct leat__control_call *call)
{
    call->c->is_shutdown_wanted = true; /* carried out by the next tick, behind the reply */
    leat_json_open(&call->c->out, '{');
    leat_json_close(&call->c->out, '}');
}
