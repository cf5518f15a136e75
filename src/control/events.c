/* SPDX-License-Identifier: MIT */
/*
 * Events: numbered over the whole daemon, kept as finished lines for readers that resume, and sent
 * to every subscriber whose filter they pass. An event that could not be stored would be a silent
 * hole, so then nothing older is kept and all subscribers are cut off: they come back for a
 * snapshot.
 */
#include "private.h"

#include <leat/log.h>

#include <stdlib.h>

static const char *const types[] = {"peer.state", "track.state", "route.state", "daemon.state"};
const char leat__control_event_types[] = "peer.state track.state route.state daemon.state";

struct leat__control_event {
    uint64_t seq;
    const char *type;
    char peer[LEAT_ID_MAX + 1], group[LEAT_ID_MAX + 1];
    char other_peer[LEAT_ID_MAX + 1], other_group[LEAT_ID_MAX + 1];
    size_t len;
    char line[];
};

const char *leat__control_event_type(struct leat_span text)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(types); i++) {
        if (leat_span_equal(text, leat_span_str(types[i]))) {
            return types[i];
        }
    }
    return NULL;
}

struct leat_json_writer *leat__control_event_begin(struct leat_control *c, const char *type,
                                                   uint64_t now_us)
{
    struct leat_json_writer *w = &c->line;
    leat_json_writer_reset(w);
    c->seq++;
    leat_json_open(w, '{');
    leat_json_put_text(w, "jsonrpc", "2.0");
    leat_json_put_text(w, "method", type);
    leat_json_write_key(w, "params");
    leat_json_open(w, '{');
    leat_json_put_u64(w, "seq", c->seq);
    leat_json_put_u64(w, "time_us", leat__control_since_start(c, now_us));
    return w;
}

/** "" asks for nothing. */
static bool is_one_of(const char *wanted, const char *a, const char *b)
{
    return wanted[0] == '\0' || strcmp(wanted, a) == 0 || strcmp(wanted, b) == 0;
}

bool leat__control_filter_passes(const struct leat__control_filter *f, const char *type,
                                 const struct leat__control_subject *subject)
{
    bool is_wanted = f->type_count == 0;
    for (size_t i = 0; i < f->type_count; i++) {
        is_wanted = is_wanted || strcmp(f->types[i], type) == 0;
    }
    if (strcmp(type, "daemon.state") == 0) {
        return is_wanted; /* concerns every group and peer */
    }
    return is_wanted && is_one_of(f->peer, subject->peer, subject->other_peer) &&
           is_one_of(f->group, subject->group, subject->other_group);
}

static struct leat__control_event **slot_of(struct leat_control *c, uint64_t seq)
{
    return &c->events[seq & (LEAT__CONTROL_EVENTS - 1)];
}

/** @return false without memory. */
static bool keep(struct leat_control *c, const char *type,
                 const struct leat__control_subject *subject)
{
    if (c->line.failed) {
        return false;
    }
    struct leat__control_event *e = malloc(sizeof(*e) + c->line.len);
    if (!e) {
        return false;
    }
    e->seq = c->seq;
    e->type = type;
    (void)leat_text_copy(e->peer, sizeof(e->peer), leat_span_str(subject->peer));
    (void)leat_text_copy(e->group, sizeof(e->group), leat_span_str(subject->group));
    (void)leat_text_copy(e->other_peer, sizeof(e->other_peer), leat_span_str(subject->other_peer));
    (void)leat_text_copy(e->other_group, sizeof(e->other_group),
                         leat_span_str(subject->other_group));
    e->len = c->line.len;
    memcpy(e->line, c->line.text, c->line.len);
    struct leat__control_event **slot = slot_of(c, c->seq);
    if (*slot) {
        c->oldest_seq = (*slot)->seq + 1;
        free(*slot);
    }
    *slot = e;
    return true;
}

void leat__control_events_clear(struct leat_control *c)
{
    for (size_t i = 0; i < LEAT__CONTROL_EVENTS; i++) {
        free(c->events[i]);
        c->events[i] = NULL;
    }
    c->oldest_seq = c->seq + 1;
}

void leat__control_event_end(struct leat_control *c, const char *type,
                             const struct leat__control_subject *subject)
{
    struct leat_json_writer *w = &c->line;
    leat_json_close(w, '}');
    leat_json_close(w, '}');
    leat_json_write_raw(w, leat_span_str("\n"));
    bool is_kept = keep(c, type, subject);
    if (!is_kept) {
        leat__control_events_clear(c);
    }
    for (struct leat_list *n = c->connections.next; n != &c->connections; n = n->next) {
        struct leat_control_conn *conn = LEAT_CONTAINER(n, struct leat_control_conn, node);
        if (!conn->is_subscribed) {
            continue;
        }
        if (!is_kept) {
            leat__control_cut_off(c, conn);
        } else if (leat__control_filter_passes(&conn->filter, type, subject)) {
            leat__control_write(c, conn, w->text, w->len);
        }
    }
}

void leat__control_events_resend(struct leat_control *c, struct leat_control_conn *conn,
                                 uint64_t seq)
{
    while (++seq <= c->seq) {
        const struct leat__control_event *e = *slot_of(c, seq);
        if (e && e->seq == seq &&
            leat__control_filter_passes(&conn->filter, e->type,
                                        &(struct leat__control_subject){
                                            e->peer, e->group, e->other_peer, e->other_group})) {
            leat__control_write(c, conn, e->line, e->len);
        }
    }
}

/* A state comes once in a peer's life, so a remote cannot have more lines than controllers have
 * made peers: no limiter, and no life with a hole in it. */
static void say_peer(const struct leat__control_peer *p)
{
    switch (p->state) {
    case LEAT_PEER_NEW:
        leat_log(LEAT_LOG_INFO, "peer_created", "peer=%s group=%s worker=%u", p->id, p->group,
                 p->worker);
        break;
    case LEAT_PEER_CONNECTING:
        leat_log(LEAT_LOG_DEBUG, "peer_connecting", "peer=%s group=%s", p->id, p->group);
        break;
    case LEAT_PEER_CONNECTED:
        leat_log(LEAT_LOG_INFO, "peer_connected", "peer=%s group=%s", p->id, p->group);
        break;
    case LEAT_PEER_ENDED:
        leat_log(LEAT_LOG_INFO, "peer_ended", "peer=%s group=%s reason=%s", p->id, p->group,
                 leat_peer_end_text(p->end));
        break;
    }
}

void leat__control_emit_peer(struct leat_control *c, const struct leat__control_peer *p,
                             uint64_t now_us)
{
    say_peer(p);
    struct leat_json_writer *w = leat__control_event_begin(c, "peer.state", now_us);
    leat_json_put_text(w, "peer", p->id);
    leat_json_put_text(w, "group", p->group);
    leat_json_write_key(w, "data");
    leat_json_write_raw(w, leat_span_str(p->data ? p->data : "null"));
    leat_json_put_text(w, "state", leat_peer_state_text(p->state));
    leat_json_put_text(w, "reason", leat_peer_end_text(p->end));
    leat__control_event_end(c, "peer.state",
                            &(struct leat__control_subject){p->id, p->group, "", ""});
}

void leat__control_emit_daemon(struct leat_control *c, uint64_t now_us)
{
    struct leat_json_writer *w = leat__control_event_begin(c, "daemon.state", now_us);
    leat_json_put_text(w, "state", c->is_draining ? "draining" : "running");
    leat__control_event_end(c, "daemon.state", &(struct leat__control_subject){"", "", "", ""});
}
