/* SPDX-License-Identifier: MIT */
/* Events wait in a list until the owner pulls them; there is one a change of state, never one a
 * packet. */
#include <stdlib.h>

#include "private.h"

struct leat_sfu_event *leat__sfu_event_add(struct leat_sfu *s, enum leat_sfu_event_type type,
                                           leat_handle peer)
{
    struct leat_sfu_event_node *n = calloc(1, sizeof *n);
    if (n == NULL) {
        return NULL;
    }
    n->event.type = type;
    n->event.peer = peer;
    n->event.reason = "";
    leat_list_add_tail(&s->events, &n->node);
    return &n->event;
}

bool leat_sfu_next_event(struct leat_sfu *s, struct leat_sfu_event *event)
{
    if (leat_list_is_empty(&s->events)) {
        return false;
    }
    struct leat_sfu_event_node *n =
        LEAT_CONTAINER(s->events.next, struct leat_sfu_event_node, node);
    leat_list_remove(&n->node);
    *event = n->event;
    free(n);
    return true;
}

const char *leat_track_state_text(enum leat_track_state state)
{
    switch (state) {
    case LEAT_TRACK_DECLARED:
        return "declared";
    case LEAT_TRACK_LIVE:
        return "live";
    case LEAT_TRACK_STALLED:
        return "stalled";
    case LEAT_TRACK_ENDED:
        return "ended";
    }
    return "";
}

const char *leat_route_state_text(enum leat_route_state state)
{
    switch (state) {
    case LEAT_ROUTE_NONE:
        return "none";
    case LEAT_ROUTE_WAITING:
        return "waiting";
    case LEAT_ROUTE_KEYFRAME:
        return "keyframe";
    case LEAT_ROUTE_FLOWING:
        return "flowing";
    case LEAT_ROUTE_PAUSED:
        return "paused";
    case LEAT_ROUTE_SUSPENDED:
        return "suspended";
    }
    return "";
}
