/* SPDX-License-Identifier: MIT */
/*
 * The picture of the world: which peers there are, on which worker, what their senders carry.
 *
 *     create -> listed -> (worker: ended) -> listed, ended -> close or ended_keep -> gone
 *                  \-> close -> leaving, id free -> (worker: ended) -> gone
 *
 * The picture changes when a command is posted (so that the next call sees it) and follows the
 * worker's events. A mailbox keeps order, so while commands for a sender are out, events about it
 * speak of the time before them: they change what is known of the worker (`link`), not what
 * controllers see (`wanted`).
 */
#include "private.h"

#include <stdlib.h>

uint64_t leat__control_since_start(const struct leat_control *c, uint64_t at_us)
{
    return at_us > c->start_us ? at_us - c->start_us : 0;
}

struct leat__control_peer *leat__control_find(const struct leat_control *c, const char *id)
{
    return leat_map_get(&c->by_id, leat_span_str(id));
}

static struct leat_span handle_key(const leat_handle *handle)
{
    return leat_span(handle, sizeof(*handle));
}

struct leat__control_peer *leat__control_find_handle(const struct leat_control *c,
                                                     leat_handle handle)
{
    return leat_map_get(&c->by_handle, handle_key(&handle));
}

int leat__control_world_add(struct leat_control *c, struct leat__control_peer *p)
{
    p->handle = c->last_handle + 1;
    int rc = leat_map_add(&c->by_handle, handle_key(&p->handle), p);
    if (rc != 0) {
        return rc;
    }
    rc = leat_map_add(&c->by_id, leat_span_str(p->id), p);
    if (rc != 0) {
        leat_map_remove(&c->by_handle, handle_key(&p->handle));
        return rc;
    }
    c->last_handle = p->handle;
    leat_list_add_tail(&c->peers, &p->node);
    c->live_count++;
    c->worker_peers[p->worker]++;
    return 0;
}

void leat__control_peer_free(struct leat__control_peer *p)
{
    if (!p) {
        return;
    }
    leat_sdp_session_deinit(&p->sdp);
    leat_dtls_identity_free(p->identity);
    leat_wipe(&p->local, sizeof(p->local));
    leat_wipe(&p->fresh, sizeof(p->fresh));
    free(p->data);
    free(p->sections);
    free(p->answer);
    free(p->used_ssrcs);
    free(p->final_stats);
    free(p);
}

/** It is not live any more: counted once. */
static void count_out(struct leat_control *c, struct leat__control_peer *p)
{
    c->live_count--;
    c->worker_peers[p->worker]--;
}

void leat__control_world_remove(struct leat_control *c, struct leat__control_peer *p)
{
    if (p->state != LEAT_PEER_ENDED) {
        count_out(c, p);
    }
    if (!leat_list_is_empty(&p->ended_node)) {
        leat_list_remove(&p->ended_node);
        c->ended_count--;
    }
    if (!p->is_leaving) {
        leat_map_remove(&c->by_id, leat_span_str(p->id));
    }
    leat_map_remove(&c->by_handle, handle_key(&p->handle));
    leat_list_remove(&p->node);
    leat__control_peer_free(p);
}

void leat__control_world_leave(struct leat_control *c, struct leat__control_peer *p)
{
    leat_map_remove(&c->by_id, leat_span_str(p->id));
    leat_list_remove(&p->node);
    leat_list_add_tail(&c->leaving, &p->node);
    p->is_leaving = true;
}

void leat__control_world_settle(struct leat_control *c, const char *id, uint64_t now_us)
{
    for (struct leat_list *n = c->leaving.next; n != &c->leaving; n = n->next) {
        struct leat__control_peer *p = LEAT_CONTAINER(n, struct leat__control_peer, node);
        if (!p->is_told && strcmp(p->id, id) == 0) {
            p->is_told = true;
            p->state = LEAT_PEER_ENDED;
            p->end = LEAT_PEER_END_CLOSED;
            count_out(c, p);
            leat__control_emit_peer(c, p, now_us);
        }
    }
}

unsigned leat__control_choose_worker(const struct leat_control *c, const char *group)
{
    unsigned best = 0;
    for (struct leat_list *n = c->peers.next; group[0] != '\0' && n != &c->peers; n = n->next) {
        struct leat__control_peer *p = LEAT_CONTAINER(n, struct leat__control_peer, node);
        if (p->state != LEAT_PEER_ENDED && strcmp(p->group, group) == 0) {
            return p->worker;
        }
    }
    for (unsigned i = 1; i < c->info.workers; i++) {
        if (c->worker_peers[i] < c->worker_peers[best]) {
            best = i;
        }
    }
    return best;
}

static struct leat__control_peer *oldest_ended(const struct leat_control *c)
{
    return leat_list_is_empty(&c->ended)
               ? NULL
               : LEAT_CONTAINER(c->ended.next, struct leat__control_peer, ended_node);
}

void leat__control_world_expire(struct leat_control *c, uint64_t now_us)
{
    struct leat__control_peer *p;
    while ((p = oldest_ended(c)) != NULL &&
           (c->ended_count > c->info.peers_max || now_us - p->ended_us >= c->info.ended_keep_us)) {
        leat__control_world_remove(c, p);
    }
}

uint64_t leat__control_world_deadline(const struct leat_control *c)
{
    const struct leat__control_peer *p = oldest_ended(c);
    if (!p) {
        return LEAT_NEVER;
    }
    if (c->ended_count > c->info.peers_max) {
        return 0;
    }
    return c->info.ended_keep_us < LEAT_NEVER - p->ended_us ? p->ended_us + c->info.ended_keep_us
                                                            : LEAT_NEVER;
}

struct leat__control_peer *leat__control_read_peer(const struct leat_control *c,
                                                   const struct leat__control_params *p,
                                                   const char *key)
{
    char id[LEAT_ID_MAX + 1], path[LEAT__CONTROL_FIELD_MAX];
    if (!leat__control_params_id(p, key, true, id)) {
        return NULL;
    }
    struct leat__control_peer *peer = leat__control_find(c, id);
    if (!peer) {
        leat__control_params_path(p, key, path);
        leat__control_fault_set(p->fault, LEAT__RPC_FAILED, "no_such_peer", path,
                                "there is no peer \"%s\"", id);
    }
    return peer;
}

ptrdiff_t leat__control_section_find(const struct leat__control_peer *p, const char *mid)
{
    for (size_t i = 0; i < p->sdp.section_count; i++) {
        if (!p->sdp.sections[i].is_rejected && strcmp(p->sdp.sections[i].mid, mid) == 0) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

struct leat__control_peer *leat__control_read_end(const struct leat_control *c,
                                                  const struct leat__control_params *end,
                                                  bool is_sender, ptrdiff_t *section)
{
    char mid[LEAT_MID_MAX + 1], path[LEAT__CONTROL_FIELD_MAX];
    struct leat__control_peer *p = leat__control_read_peer(c, end, "peer");
    if (!p || !leat__control_params_mid(end, "mid", mid)) {
        return NULL;
    }
    if (p->state == LEAT_PEER_ENDED) {
        leat__control_params_path(end, "peer", path);
        leat__control_fault_set(end->fault, LEAT__RPC_FAILED, "ended", path,
                                "peer \"%s\" has ended: %s", p->id, leat_peer_end_text(p->end));
        return NULL;
    }
    ptrdiff_t at = leat__control_section_find(p, mid);
    leat__control_params_path(end, "mid", path);
    if (at < 0) {
        leat__control_fault_set(end->fault, LEAT__RPC_FAILED, "no_such_mid", path,
                                "peer \"%s\" has no section \"%s\"", p->id, mid);
        return NULL;
    }
    if (is_sender ? !leat__control_has_sender(&p->sdp.sections[at])
                  : !leat__control_has_track(&p->sdp.sections[at])) {
        leat__control_fault_set(end->fault, LEAT__RPC_FAILED,
                                is_sender ? "no_such_sender" : "no_such_track", path,
                                is_sender ? "section \"%s\" of peer \"%s\" takes no media"
                                          : "section \"%s\" of peer \"%s\" brings no media",
                                mid, p->id);
        return NULL;
    }
    *section = at;
    return p;
}

const struct leat__control_link *leat__control_link_of(const struct leat__control_section *s)
{
    return s->pending != 0 ? &s->wanted : &s->link;
}

/* ---- events of the workers ---- */

static void end_peer(struct leat_control *c, struct leat__control_peer *p,
                     struct leat_sfu_event *event, uint64_t now_us)
{
    if (!p->is_told) {
        count_out(c, p);
    }
    p->state = LEAT_PEER_ENDED;
    p->end = event->end;
    p->ended_us = now_us;
    p->final_stats = event->final_stats;
    p->final_count = event->final_stat_count;
    event->final_stats = NULL;
    for (size_t i = 0; i < p->sdp.section_count; i++) {
        memset(&p->sections[i].link, 0, sizeof(p->sections[i].link));
        memset(&p->sections[i].wanted, 0, sizeof(p->sections[i].wanted));
        p->sections[i].track_state = LEAT_TRACK_ENDED;
    }
    if (!p->is_told) {
        leat__control_emit_peer(c, p, now_us);
    }
    if (p->is_leaving) {
        leat__control_world_remove(c, p);
        return;
    }
    leat_list_add_tail(&c->ended, &p->ended_node);
    c->ended_count++;
}

static void follow_peer(struct leat_control *c, struct leat__control_peer *p,
                        struct leat_sfu_event *event, uint64_t now_us)
{
    if (event->peer_state == LEAT_PEER_ENDED) {
        end_peer(c, p, event, now_us);
        return;
    }
    if (p->is_told) {
        return;
    }
    bool is_change = p->state != event->peer_state;
    p->state = event->peer_state;
    if (event->remote.family != LEAT_FAMILY_NONE) {
        p->remote = event->remote;
    }
    if (is_change) {
        leat__control_emit_peer(c, p, now_us);
    }
}

static void follow_track(struct leat_control *c, struct leat__control_peer *p,
                         const struct leat_sfu_event *event, uint64_t now_us)
{
    ptrdiff_t at = leat__control_section_find(p, event->mid);
    if (at >= 0) {
        p->sections[at].track_state = event->track_state;
    }
    if (p->is_told) {
        return;
    }
    struct leat_json_writer *w = leat__control_event_begin(c, "track.state", now_us);
    leat_json_put_text(w, "peer", p->id);
    leat_json_put_text(w, "group", p->group);
    leat_json_put_text(w, "mid", event->mid);
    leat_json_put_text(w, "state", leat_track_state_text(event->track_state));
    leat__control_event_end(c, "track.state",
                            &(struct leat__control_subject){p->id, p->group, "", ""});
}

/** The id of a route's source: also that of a peer that is gone, as long as the route names it. */
static const char *source_id(const struct leat_control *c,
                             const struct leat__control_section *section, leat_handle from)
{
    const struct leat__control_peer *p = leat__control_find_handle(c, from);
    if (p) {
        return p->id;
    }
    return section && section->link.from == from ? section->link.from_id : "";
}

static void emit_route(struct leat_control *c, const struct leat__control_peer *p,
                       const struct leat_sfu_event *event, const char *from_id, uint64_t now_us)
{
    const struct leat__control_peer *source = leat__control_find_handle(c, event->from);
    struct leat_json_writer *w = leat__control_event_begin(c, "route.state", now_us);
    leat__control_put_end(w, "to", p->id, event->mid);
    leat__control_put_end(w, "from", event->from != 0 ? from_id : "", event->from_mid);
    leat_json_put_text(w, "group", p->group);
    leat_json_put_text(w, "state", leat_route_state_text(event->route_state));
    leat_json_put_text(w, "reason", event->reason ? event->reason : "");
    leat__control_event_end(
        c, "route.state",
        &(struct leat__control_subject){p->id, p->group, from_id, source ? source->group : ""});
}

static void follow_route(struct leat_control *c, struct leat__control_peer *p,
                         const struct leat_sfu_event *event, uint64_t now_us)
{
    ptrdiff_t at = leat__control_section_find(p, event->mid);
    struct leat__control_section *section = at >= 0 ? &p->sections[at] : NULL;
    char from_id[LEAT_ID_MAX + 1];
    (void)leat_text_copy(from_id, sizeof(from_id),
                         leat_span_str(source_id(c, section, event->from)));
    if (section && p->state != LEAT_PEER_ENDED) {
        struct leat__control_link *link = &section->link;
        if (event->route_state == LEAT_ROUTE_NONE || event->from == 0) {
            memset(link, 0, sizeof(*link));
        } else {
            link->from = event->from;
            memcpy(link->from_id, from_id, sizeof(link->from_id));
            memcpy(link->from_mid, event->from_mid, sizeof(link->from_mid));
        }
        section->route_state = event->route_state;
        section->route_reason = event->reason;
    }
    if (!p->is_told) {
        emit_route(c, p, event, from_id, now_us);
    }
}

void leat_control_event(struct leat_control *c, unsigned worker, struct leat_sfu_event *event,
                        uint64_t now_us)
{
    (void)worker; /* handles are unique over all workers */
    struct leat__control_peer *p = leat__control_find_handle(c, event->peer);
    if (p && !(p->state == LEAT_PEER_ENDED && !p->is_told)) {
        switch (event->type) {
        case LEAT_EVENT_PEER_STATE:
            follow_peer(c, p, event, now_us);
            break;
        case LEAT_EVENT_TRACK_STATE:
            follow_track(c, p, event, now_us);
            break;
        case LEAT_EVENT_ROUTE_STATE:
            follow_route(c, p, event, now_us);
            break;
        }
    }
    free(event->final_stats);
    event->final_stats = NULL;
}
