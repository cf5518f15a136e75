/* SPDX-License-Identifier: MIT */
/*
 * Routes: a sender and what it carries now. Setting one resolves its source to a track of this
 * shard and enters the sender in the track's list; both ends are unlinked together. A re-point
 * keeps the sender's numbers going (the rewriter continues), drops what the old source left in the
 * queue, and asks for a keyframe.
 */
#include <stdlib.h>

#include "private.h"

static enum leat_route_state state_of(const struct leat_sfu_sender *sender)
{
    const struct leat_sfu_track *t = sender->track;
    if (!sender->has_route) {
        return LEAT_ROUTE_NONE;
    }
    if (sender->is_paused) {
        return LEAT_ROUTE_PAUSED;
    }
    if (!sender->desc.is_active || (t != NULL && !t->desc.is_active)) {
        return LEAT_ROUTE_SUSPENDED;
    }
    if (t == NULL || t->state != LEAT_TRACK_LIVE ||
        leat_peer_state_of(sender->slot->peer) != LEAT_PEER_CONNECTED) {
        return LEAT_ROUTE_WAITING;
    }
    if (sender->needs_keyframe) {
        return LEAT_ROUTE_KEYFRAME;
    }
    return sender->is_flowing ? LEAT_ROUTE_FLOWING : LEAT_ROUTE_WAITING;
}

static void tell(struct leat_sfu *s, const struct leat_sfu_sender *sender, const char *reason)
{
    if (sender->slot->is_ended) {
        return; /* the end of the peer says it all */
    }
    struct leat_sfu_event *e = leat__sfu_event_add(s, LEAT_EVENT_ROUTE_STATE, sender->slot->handle);
    if (e == NULL) {
        return;
    }
    memcpy(e->mid, sender->desc.mid, sizeof e->mid);
    e->route_state = sender->state;
    e->reason = reason;
    if (sender->has_route) {
        e->from = sender->from;
        memcpy(e->from_mid, sender->from_mid, sizeof e->from_mid);
    }
}

void leat__sfu_route_state(struct leat_sfu *s, struct leat_sfu_sender *sender, const char *reason)
{
    enum leat_route_state state = state_of(sender);
    if (state != sender->state) {
        sender->state = state;
        tell(s, sender, reason);
    }
}

void leat__sfu_route_states_of(struct leat_sfu *s, struct leat_sfu_track *t)
{
    for (size_t i = 0; i < t->receiver_count; i++) {
        leat__sfu_route_state(s, t->receivers[i], "");
    }
}

void leat__sfu_route_remap(struct leat_sfu_sender *sender)
{
    if (sender->track != NULL) {
        (void)leat_pt_map_build(&sender->pts, &sender->track->desc, &sender->desc);
    } else {
        memset(sender->pts.to, 0xff, sizeof sender->pts.to);
    }
}

static int link_track(struct leat_sfu_track *t, struct leat_sfu_sender *sender)
{
    if (t->receiver_count == t->receiver_cap) {
        size_t cap = t->receiver_cap > 0 ? 2 * t->receiver_cap : 4;
        struct leat_sfu_sender **grown =
            realloc(t->receivers, cap * sizeof(struct leat_sfu_sender *));
        if (grown == NULL) {
            return LEAT_E_NOMEM;
        }
        t->receivers = grown;
        t->receiver_cap = cap;
    }
    t->receivers[t->receiver_count++] = sender;
    sender->track = t;
    return 0;
}

static void unlink_sender(struct leat_sfu_sender *sender)
{
    struct leat_sfu_track *t = sender->track;
    if (t == NULL) {
        return;
    }
    for (size_t i = 0; i < t->receiver_count; i++) {
        if (t->receivers[i] == sender) {
            t->receivers[i] = t->receivers[--t->receiver_count];
            break;
        }
    }
    t->receiver_first = 0;
    sender->track = NULL;
    if (t->receiver_count == 0) {
        leat_keyframe_forget(&t->keyframes);
    }
}

/** Point the sender at nothing: what waits of the old source must not take numbers of the next one.
 */
static void leave_source(struct leat_sfu_sender *sender)
{
    leat__sfu_withdraw(sender);
    unlink_sender(sender);
    leat_rewriter_new_source(&sender->rewriter);
    sender->is_cut = false;
    sender->has_source = false;
    sender->is_flowing = false;
    sender->needs_keyframe = false;
}

void leat__sfu_route_clear(struct leat_sfu *s, struct leat_sfu_sender *sender, const char *reason)
{
    leave_source(sender);
    sender->has_route = false;
    sender->from = 0;
    sender->from_mid[0] = '\0';
    leat__sfu_route_remap(sender);
    leat__sfu_route_state(s, sender, reason);
}

void leat__sfu_track_unlink(struct leat_sfu *s, struct leat_sfu_track *t, const char *reason)
{
    while (t->receiver_count > 0) {
        leat__sfu_route_clear(s, t->receivers[t->receiver_count - 1], reason);
    }
}

/** Both ends of a route as the command names them. @return 0, LEAT_E_MISSING for an end that is not
 * here. */
static int resolve(const struct leat_sfu *s, const struct leat_route_desc *r,
                   struct leat_sfu_sender **sender, struct leat_sfu_track **t)
{
    const struct leat_sfu_slot *to = leat__sfu_find(s, r->to);
    *sender = to != NULL ? leat__sfu_sender(to, r->to_mid) : NULL;
    *t = NULL;
    if (*sender == NULL) {
        return LEAT_E_MISSING;
    }
    if (r->from == 0) {
        return 0;
    }
    const struct leat_sfu_slot *from = leat__sfu_find(s, r->from);
    *t = from != NULL ? leat__sfu_track(from, r->from_mid) : NULL;
    return *t != NULL ? 0 : LEAT_E_MISSING;
}

static bool is_as_set(const struct leat_sfu_sender *sender, const struct leat_route_desc *r)
{
    return sender->has_route && sender->from == r->from &&
           strcmp(sender->from_mid, r->from_mid) == 0;
}

static int set_one(struct leat_sfu *s, const struct leat_route_desc *r, uint64_t now_us,
                   struct leat_sink *out)
{
    struct leat_sfu_sender *sender;
    struct leat_sfu_track *t;
    int error = resolve(s, r, &sender, &t);
    if (error != 0) {
        return error;
    }
    if (t == NULL) {
        sender->is_paused = false;
        leat__sfu_route_clear(s, sender, r->reason);
        return 0;
    }
    bool resumes = sender->is_paused && !r->is_paused;
    sender->is_paused = r->is_paused;
    if (sender->is_paused) {
        leat__sfu_withdraw(sender);
    }
    if (!is_as_set(sender, r)) {
        leave_source(sender);
        error = link_track(t, sender);
        if (error != 0) {
            leat__sfu_route_clear(s, sender, "internal");
            return error;
        }
        sender->has_route = true;
        sender->from = r->from;
        memcpy(sender->from_mid, r->from_mid, sizeof sender->from_mid);
        leat__sfu_route_remap(sender);
        sender->packets_before = sender->packets;
        sender->dropped_before = sender->dropped;
        sender->unmapped_before = sender->unmapped;
        sender->state =
            LEAT_ROUTE_NONE; /* so that a re-point is told even when it goes on flowing at once */
        resumes = true;
    }
    if (resumes && !sender->is_paused && t->desc.kind == LEAT_KIND_VIDEO) {
        sender->needs_keyframe = true;
        (void)leat__sfu_want_keyframe(s, t, now_us, out);
    }
    leat__sfu_route_state(s, sender, r->reason);
    return 0;
}

int leat__sfu_routes_set(struct leat_sfu *s, struct leat_command *c, uint64_t now_us,
                         struct leat_sink *out)
{
    struct leat_sfu_sender *sender;
    struct leat_sfu_track *t;
    for (size_t i = 0; i < c->route_count; i++) {
        int error = resolve(s, &c->routes[i], &sender, &t);
        if (error != 0) {
            return error;
        }
    }
    for (size_t i = 0; i < c->route_count; i++) {
        int error = set_one(s, &c->routes[i], now_us, out);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}
