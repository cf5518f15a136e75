/* SPDX-License-Identifier: MIT */
/*
 * events.subscribe and unsubscribe. A reader that was cut off goes on from its cursor when the
 * events after it are still kept; else it is told of the gap and gets the picture as of now. A
 * picture that fits into one line stands in the reply; a larger one goes before it, in lines of its
 * own. A second subscribe of a connection replaces its filter.
 */
#include "private.h"

#include <stdlib.h>

static void read_filter(struct leat__control_call *call, struct leat__control_filter *out)
{
    struct leat__control_params filter;
    const leat_json *types;
    if (!leat__control_params_object(&call->params, "filter", false, &filter)) {
        return;
    }
    leat__control_params_known(&filter, "group peer types");
    (void)leat__control_params_id(&filter, "group", false, out->group);
    (void)leat__control_params_id(&filter, "peer", false, out->peer);
    if (!leat__control_params_array(&filter, "types", false, LEAT__CONTROL_WORDS_MAX, &types)) {
        return;
    }
    for (const leat_json *e = leat_json_first(types); e; e = leat_json_next(e)) {
        struct leat_span text;
        const char *type = NULL;
        if (leat_json_string(e, &text)) {
            type = leat__control_event_type(text);
        }
        if (!type) {
            leat__control_fault_set(&call->fault, LEAT__RPC_PARAMS, "out_of_range", "filter.types",
                                    "filter.types may have: %s", leat__control_event_types);
            return;
        }
        out->types[out->type_count++] = type;
    }
}

/** `since`. @return true when the stream can go on from there. */
static bool read_since(struct leat__control_call *call, int64_t *seq)
{
    const struct leat_control *c = call->c;
    struct leat__control_params since;
    struct leat_span boot;
    if (!leat__control_params_object(&call->params, "since", false, &since)) {
        return false;
    }
    leat__control_params_known(&since, "boot seq");
    if (!leat__control_params_text(&since, "boot", true, &boot) ||
        !leat__control_params_int(&since, "seq", true, 0, INT64_MAX, seq)) {
        return false;
    }
    return leat_span_equal(boot, leat_span_str(c->info.boot)) && (uint64_t)*seq <= c->seq &&
           (uint64_t)*seq + 1 >= c->oldest_seq;
}

/* ---- the picture ---- */

enum part { PART_PEERS, PART_ROUTES, PART_KINDS };
static const char *const part_keys[PART_KINDS] = {"peers", "routes"};

static void write_entries(struct leat_json_writer *w, const struct leat_control *c, enum part kind,
                          const struct leat__control_peer *p, const struct leat__control_filter *f)
{
    struct leat__control_subject subject = {p->id, p->group, p->id, p->group};
    struct leat__control_filter any_type = *f;
    any_type.type_count = 0;
    if (kind == PART_ROUTES) {
        leat__control_write_routes(w, c, p, &any_type);
    } else if (leat__control_filter_passes(&any_type, "peer.state", &subject)) {
        leat__control_write_peer(w, c, p);
    }
}

static void write_snapshot(struct leat_json_writer *w, const struct leat_control *c,
                           const struct leat__control_filter *f)
{
    leat_json_open(w, '{');
    for (int kind = 0; kind < PART_KINDS; kind++) {
        leat_json_write_key(w, part_keys[kind]);
        leat_json_open(w, '[');
        for (struct leat_list *n = c->peers.next; n != &c->peers; n = n->next) {
            write_entries(w, c, (enum part)kind, LEAT_CONTAINER(n, struct leat__control_peer, node),
                          f);
        }
        leat_json_close(w, ']');
    }
    leat_json_close(w, '}');
}

/** Whether the picture is longer than one line may be. */
static bool is_large(struct leat_control *c, const struct leat__control_filter *f)
{
    struct leat_json_writer *w = &c->line;
    size_t total = 0;
    for (struct leat_list *n = c->peers.next; n != &c->peers; n = n->next) {
        for (int kind = 0; kind < PART_KINDS && total <= LEAT__CONTROL_PART_MAX; kind++) {
            leat_json_writer_reset(w);
            write_entries(w, c, (enum part)kind, LEAT_CONTAINER(n, struct leat__control_peer, node),
                          f);
            total += w->len + 1;
        }
    }
    return total > LEAT__CONTROL_PART_MAX - 256; /* room for what stands around it */
}

struct parts {
    struct leat_control *c;
    struct leat_control_conn *conn;
    struct leat_json_writer line, entry;
    size_t count;
    bool is_open, has_failed;
};

static void part_end(struct parts *s)
{
    if (!s->is_open) {
        return;
    }
    leat_json_close(&s->line, ']');
    leat_json_close(&s->line, '}');
    leat_json_close(&s->line, '}');
    leat_json_write_raw(&s->line, leat_span_str("\n"));
    s->has_failed = s->has_failed || s->line.failed;
    if (!s->has_failed) {
        leat__control_write_bulk(s->c, s->conn, s->line.text, s->line.len);
    }
    s->is_open = false;
}

static void part_add(struct parts *s, enum part kind)
{
    if (s->is_open && s->line.len + s->entry.len + 16 > LEAT__CONTROL_PART_MAX) {
        part_end(s);
    }
    if (!s->is_open) {
        leat_json_writer_reset(&s->line);
        leat_json_open(&s->line, '{');
        leat_json_put_text(&s->line, "jsonrpc", "2.0");
        leat_json_put_text(&s->line, "method", "snapshot");
        leat_json_write_key(&s->line, "params");
        leat_json_open(&s->line, '{');
        leat_json_put_u64(&s->line, "part", ++s->count);
        leat_json_write_key(&s->line, part_keys[kind]);
        leat_json_open(&s->line, '[');
        s->is_open = true;
    }
    leat_json_write_raw(&s->line, leat_span(s->entry.text, s->entry.len));
    s->has_failed = s->has_failed || s->entry.failed;
}

/** Every entry of the picture, as many in a line as fit. @return lines, or -1 without memory. */
static ptrdiff_t send_parts(struct leat__control_call *call)
{
    struct parts s = {.c = call->c, .conn = call->conn};
    leat_json_writer_init(&s.line);
    leat_json_writer_init(&s.entry);
    for (int kind = 0; kind < PART_KINDS; kind++) {
        for (struct leat_list *n = s.c->peers.next; n != &s.c->peers; n = n->next) {
            leat_json_writer_reset(&s.entry);
            write_entries(&s.entry, s.c, (enum part)kind,
                          LEAT_CONTAINER(n, struct leat__control_peer, node), &call->conn->filter);
            if (s.entry.len != 0 || s.entry.failed) {
                part_add(&s, (enum part)kind);
            }
        }
        part_end(&s);
    }
    leat_json_writer_deinit(&s.line);
    leat_json_writer_deinit(&s.entry);
    return s.has_failed ? -1 : (ptrdiff_t)s.count;
}

static void put_snapshot(struct leat__control_call *call)
{
    struct leat_json_writer *w = &call->c->out;
    if (!is_large(call->c, &call->conn->filter)) {
        leat_json_write_key(w, "snapshot");
        write_snapshot(w, call->c, &call->conn->filter);
        return;
    }
    ptrdiff_t parts = send_parts(call);
    if (parts < 0) {
        leat__control_fault_error(&call->fault, LEAT_E_NOMEM, "writing the snapshot");
        return;
    }
    leat_json_write_key(w, "snapshot");
    leat_json_write_null(w);
    leat_json_put_i64(w, "parts", parts);
}

void leat__control_events_subscribe(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    struct leat_json_writer *w = &c->out;
    struct leat__control_filter filter = {.type_count = 0};
    int64_t seq = 0;
    read_filter(call, &filter);
    bool is_resumed = read_since(call, &seq);
    if (call->conn->backlog_len != 0) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "limit", "",
                                "the snapshot before has not been read yet");
    }
    if (call->fault.code != LEAT__RPC_NONE) {
        return;
    }
    call->conn->filter = filter;
    leat_json_open(w, '{');
    leat_json_put_text(w, "boot", c->info.boot);
    leat_json_put_u64(w, "seq", is_resumed ? (uint64_t)seq : c->seq);
    leat_json_put_bool(w, "resumed", is_resumed);
    if (is_resumed) {
        leat_json_write_key(w, "snapshot");
        leat_json_write_null(w);
    } else {
        if (leat__control_params_has(&call->params, "since")) {
            leat_json_put_bool(w, "gap", true);
        }
        put_snapshot(call);
    }
    leat_json_close(w, '}');
    if (call->fault.code != LEAT__RPC_NONE) {
        return;
    }
    call->conn->is_subscribed = true;
    if (is_resumed) {
        leat__control_reply_end(call);
        call->is_deferred = true; /* the reply has gone: the missed events follow it */
        leat__control_events_resend(c, call->conn, (uint64_t)seq);
    }
}

void leat__control_events_unsubscribe(struct leat__control_call *call)
{
    call->conn->is_subscribed = false;
    leat_json_open(&call->c->out, '{');
    leat_json_close(&call->c->out, '}');
}
