/* SPDX-License-Identifier: MIT */
/*
 * JSON-RPC 2.0: one request a line, `params` always by name, no batches. Errors of the envelope and
 * of parameters have the standard codes, everything else is -32000; each carries a stable word in
 * data.reason. A request without an id is carried out and not answered.
 */
#include "private.h"

#include <stdio.h>

const struct leat__control_method leat__control_methods[] = {
    {"peer.create", leat__control_peer_create,
     "id group data offer remote sections codecs streams setup max_incoming_bps"},
    {"peer.negotiate", leat__control_peer_negotiate,
     "id offer remote answer rollback codecs streams"},
    {"peer.restart_ice", leat__control_peer_restart_ice, "id"},
    {"peer.close", leat__control_peer_close, "id"},
    {"peer.get", leat__control_peer_get, "id"},
    {"peer.list", leat__control_peer_list, "group state after"},
    {"group.close", leat__control_group_close, "group"},
    {"route.set", leat__control_route_set, "routes"},
    {"route.list", leat__control_route_list, "group peer"},
    {"route.explain", leat__control_route_explain, "to"},
    {"track.request_keyframe", leat__control_track_request_keyframe, "peer mid"},
    {"stats.get", leat__control_stats_get, "group peers"},
    {"events.subscribe", leat__control_events_subscribe, "filter since"},
    {"events.unsubscribe", leat__control_events_unsubscribe, ""},
    {"daemon.info", leat__control_daemon_info, ""},
    {"daemon.stats", leat__control_daemon_stats, ""},
    {"daemon.drain", leat__control_daemon_drain, "deadline_s cancel"},
    {"daemon.shutdown", leat__control_daemon_shutdown, ""},
    {"rpc.discover", leat__control_rpc_discover, ""},
};
const size_t leat__control_method_count = LEAT_ARRAY_LEN(leat__control_methods);

#define NAME_MAX_LEN 40

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/** Levenshtein's distance of two names of at most NAME_MAX_LEN characters. */
static size_t edit_distance(struct leat_span a, struct leat_span b)
{
    size_t row[NAME_MAX_LEN + 1];
    for (size_t j = 0; j <= b.len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t above = row[j];
            size_t change = diagonal + (a.data[i - 1] != b.data[j - 1] ? 1 : 0);
            row[j] = least(change, least(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[b.len];
}

/** The method that was probably meant, or NULL. */
static const char *nearest_method(struct leat_span name)
{
    const char *nearest = NULL;
    size_t best = name.len / 3 + 1;
    if (name.len > NAME_MAX_LEN) {
        return NULL;
    }
    for (size_t i = 0; i < leat__control_method_count; i++) {
        struct leat_span other = leat_span_str(leat__control_methods[i].name);
        size_t distance = edit_distance(name, other);
        if (distance < best) {
            best = distance;
            nearest = leat__control_methods[i].name;
        }
    }
    return nearest;
}

static const struct leat__control_method *find_method(struct leat__control_call *call,
                                                      struct leat_span name)
{
    for (size_t i = 0; i < leat__control_method_count; i++) {
        if (leat_span_equal(name, leat_span_str(leat__control_methods[i].name))) {
            return &leat__control_methods[i];
        }
    }
    call->fault.did_you_mean = nearest_method(name);
    leat__control_fault_set(&call->fault, LEAT__RPC_METHOD, NULL, "", "there is no method \"%.*s\"",
                            (int)least(name.len, 64), (const char *)name.data);
    return NULL;
}

/* ---- replies ---- */

void leat__control_reply_begin(struct leat_control *c, struct leat_span id)
{
    struct leat_json_writer *w = &c->out;
    leat_json_writer_reset(w);
    leat_json_open(w, '{');
    leat_json_put_text(w, "jsonrpc", "2.0");
    leat_json_write_key(w, "id");
    leat_json_write_raw(w, id);
    leat_json_write_key(w, "result");
}

static void put_codec_list(struct leat_json_writer *w, const char *key,
                           const struct leat_media_desc *media)
{
    char text[LEAT_FMTP_MAX + 64];
    leat_json_write_key(w, key);
    leat_json_open(w, '[');
    for (size_t i = 0; i < media->codec_count; i++) {
        leat_json_write_text(w, leat_codec_format(&media->codecs[i], text, sizeof(text)));
    }
    leat_json_close(w, ']');
}

static void put_fault_data(struct leat_json_writer *w, const struct leat__control_fault *f)
{
    if (!f->reason && !f->did_you_mean) {
        return;
    }
    leat_json_write_key(w, "data");
    leat_json_open(w, '{');
    if (f->reason) {
        leat_json_put_text(w, "reason", f->reason);
    }
    if (f->field[0] != '\0') {
        leat_json_put_text(w, "field", f->field);
    }
    if (f->did_you_mean) {
        leat_json_put_text(w, "did_you_mean", f->did_you_mean);
    }
    if (f->have && f->want) {
        put_codec_list(w, "have", f->have);
        put_codec_list(w, "want", f->want);
    }
    leat_json_close(w, '}');
}

static void write_fault(struct leat_control *c, struct leat_span id,
                        const struct leat__control_fault *f)
{
    struct leat_json_writer *w = &c->out;
    c->faults++;
    leat_json_writer_reset(w);
    leat_json_open(w, '{');
    leat_json_put_text(w, "jsonrpc", "2.0");
    leat_json_write_key(w, "id");
    leat_json_write_raw(w, id.len != 0 ? id : leat_span_str("null"));
    leat_json_write_key(w, "error");
    leat_json_open(w, '{');
    leat_json_put_i64(w, "code", f->code);
    leat_json_put_text(w, "message", f->message);
    put_fault_data(w, f);
    leat_json_close(w, '}');
}

static void send_out(struct leat_control *c, struct leat_control_conn *conn)
{
    leat_json_close(&c->out, '}');
    leat_json_write_raw(&c->out, leat_span_str("\n"));
    if (c->out.failed) {
        leat__control_cut_off(c, conn); /* no memory for so much as the error */
        return;
    }
    leat__control_write(c, conn, c->out.text, c->out.len);
}

void leat__control_reply_end(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    struct leat__control_fault *f = &call->fault;
    if (!call->conn || call->id.len == 0) {
        c->faults += f->code != LEAT__RPC_NONE ? 1 : 0;
        return;
    }
    if (f->code == LEAT__RPC_NONE && c->out.failed) {
        leat__control_fault_error(f, LEAT_E_NOMEM, "writing the result");
    }
    if (f->code == LEAT__RPC_NONE && c->out.len > LEAT_CONTROL_QUEUE_MAX / 2) {
        leat__control_fault_set(f, LEAT__RPC_FAILED, "too_large", "",
                                "the result would be longer than %d octets: ask for a group or "
                                "for single peers",
                                LEAT_CONTROL_QUEUE_MAX / 2);
    }
    if (f->code != LEAT__RPC_NONE) {
        write_fault(c, call->id, f);
    }
    send_out(c, call->conn);
}

/** An error that has no id. */
static void refuse(struct leat_control *c, struct leat_control_conn *conn,
                   const struct leat__control_fault *f)
{
    write_fault(c, leat_span_str("null"), f);
    send_out(c, conn);
}

/* ---- requests ---- */

/** The id as text into c->id; a number that no double holds as it stands in the line. @return false
 * when it has a type that an id cannot have. */
static bool take_id(struct leat__control_call *call, const leat_json *request,
                    struct leat_span line)
{
    struct leat_json_writer *w = &call->c->id;
    const leat_json *id = leat_json_get(request, "id");
    enum leat_json_type type = leat_json_type_of(id);
    struct leat_span digits;
    int64_t exact;
    leat_json_writer_reset(w);
    if (!id) {
        return true;
    }
    if (type != LEAT_JSON_STRING && type != LEAT_JSON_NUMBER && type != LEAT_JSON_NULL) {
        return false;
    }
    if (type == LEAT_JSON_NUMBER && !leat_json_int(id, &exact)) {
        if (!leat_json_member_text(line, "id", &digits)) {
            return false;
        }
        leat_json_write_raw(w, digits);
    } else {
        leat_json_write_value(w, id);
    }
    call->id = leat_span(w->text, w->len);
    return !w->failed;
}

/** Reads everything but the params' members. @return the method, or NULL with a fault. */
static const struct leat__control_method *read_envelope(struct leat__control_call *call,
                                                        const leat_json *request)
{
    struct leat__control_fault *f = &call->fault;
    struct leat_span version, name;
    for (const leat_json *m = leat_json_first(request); m; m = leat_json_next(m)) {
        if (!leat__control_is_word("jsonrpc id method params", leat_span_str(leat_json_key(m)),
                                   NULL)) {
            leat__control_fault_set(f, LEAT__RPC_INVALID, NULL, "",
                                    "\"%.64s\" is no member of a request", leat_json_key(m));
        }
    }
    if (!leat_json_string(leat_json_get(request, "jsonrpc"), &version) ||
        !leat_span_equal(version, leat_span_str("2.0"))) {
        leat__control_fault_set(f, LEAT__RPC_INVALID, NULL, "", "jsonrpc must be \"2.0\"");
    }
    if (!leat_json_string(leat_json_get(request, "method"), &name)) {
        leat__control_fault_set(f, LEAT__RPC_INVALID, NULL, "", "method must be a string");
    }
    const leat_json *params = leat_json_get(request, "params");
    if (params && leat_json_type_of(params) != LEAT_JSON_OBJECT) {
        leat__control_fault_set(f, LEAT__RPC_INVALID, NULL, "", "params must be an object");
    }
    if (f->code != LEAT__RPC_NONE) {
        return NULL;
    }
    call->params.object = params;
    call->params.fault = f;
    return find_method(call, name);
}

static void serve_request(struct leat__control_call *call, const leat_json *request,
                          struct leat_span line)
{
    if (!take_id(call, request, line)) {
        call->id = leat_span_str("null");
        leat__control_fault_set(&call->fault, LEAT__RPC_INVALID, NULL, "",
                                "id must be a string, a number or null");
        leat__control_reply_end(call);
        return;
    }
    const struct leat__control_method *method = read_envelope(call, request);
    if (call->id.len == 0 && call->fault.code == LEAT__RPC_INVALID) {
        call->id = leat_span_str("null"); /* no notification: no request at all */
    }
    if (method) {
        leat__control_params_known(&call->params, method->params);
    }
    if (call->fault.code == LEAT__RPC_NONE) {
        leat__control_reply_begin(call->c, call->id);
        method->run(call);
    }
    if (!call->is_deferred) {
        leat__control_reply_end(call);
    }
}

void leat__control_serve(struct leat_control *c, struct leat_control_conn *conn,
                         struct leat_span line, uint64_t now_us)
{
    char why[LEAT_JSON_WHY_MAX];
    struct leat__control_fault fault = {.code = LEAT__RPC_NONE};
    leat_json *request = leat_json_parse(line, why);
    c->calls++;
    if (!request) {
        leat__control_fault_set(&fault, LEAT__RPC_PARSE, NULL, "", "%s", why);
        refuse(c, conn, &fault);
        return;
    }
    if (leat_json_type_of(request) != LEAT_JSON_OBJECT) {
        leat__control_fault_set(&fault, LEAT__RPC_INVALID, NULL, "",
                                leat_json_type_of(request) == LEAT_JSON_ARRAY
                                    ? "batches are not served: send one request a line"
                                    : "a request must be an object");
        refuse(c, conn, &fault);
    } else {
        struct leat__control_call call = {.c = c, .conn = conn, .now_us = now_us};
        serve_request(&call, request, line);
    }
    leat_json_free(request);
}

void leat__control_refuse_line(struct leat_control *c, struct leat_control_conn *conn)
{
    struct leat__control_fault fault = {.code = LEAT__RPC_NONE};
    leat__control_fault_set(&fault, LEAT__RPC_PARSE, "too_large", "",
                            "a line may have at most %d octets", LEAT_JSON_LINE_MAX);
    refuse(c, conn, &fault);
}

void leat__control_rpc_discover(struct leat__control_call *call)
{
    leat_json_write_raw(&call->c->out, leat_span(leat__control_openrpc, leat__control_openrpc_len));
}
