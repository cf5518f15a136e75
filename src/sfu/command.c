/* SPDX-License-Identifier: MIT */
/* Commands: made and freed by anyone, carried out here. A command that fails has changed nothing.
 */
#include <stdlib.h>

#include "private.h"

struct leat_command *leat_command_new(enum leat_command_type type, leat_handle handle)
{
    struct leat_command *c = calloc(1, sizeof *c);
    if (c != NULL) {
        leat_list_init(&c->node);
        c->type = type;
        c->handle = handle;
    }
    return c;
}

void leat_command_free(struct leat_command *c)
{
    if (c == NULL) {
        return;
    }
    free(c->tracks);
    free(c->senders);
    free(c->routes);
    free(c->handles);
    free(c->stats);
    leat_wipe(c, sizeof *c);
    free(c);
}

static int close_peer(struct leat_sfu *s, struct leat_command *c, uint64_t now_us,
                      struct leat_sink *out)
{
    struct leat_sfu_slot *slot = leat__sfu_find(s, c->handle);
    if (slot == NULL) {
        return LEAT_E_MISSING;
    }
    leat_peer_close(slot->peer, c->end, now_us, out);
    leat__sfu_after(s, slot, now_us);
    return 0;
}

static int request_keyframe(struct leat_sfu *s, struct leat_command *c, uint64_t now_us,
                            struct leat_sink *out)
{
    struct leat_sfu_slot *slot = leat__sfu_find(s, c->handle);
    struct leat_sfu_track *t = slot != NULL ? leat__sfu_track(slot, c->mid) : NULL;
    if (t == NULL) {
        return LEAT_E_MISSING;
    }
    c->was_sent = leat__sfu_want_keyframe(s, t, now_us, out);
    return 0;
}

void leat_sfu_execute(struct leat_sfu *s, struct leat_command *c, uint64_t now_us,
                      struct leat_sink *out)
{
    switch (c->type) {
    case LEAT_COMMAND_OPEN:
        c->result = leat__sfu_open(s, c, now_us);
        break;
    case LEAT_COMMAND_MEDIA:
        c->result = leat__sfu_media_set(s, c, now_us);
        break;
    case LEAT_COMMAND_RESTART_ICE:
        c->result = leat__sfu_restart_ice(s, c, now_us);
        break;
    case LEAT_COMMAND_CLOSE:
        c->result = close_peer(s, c, now_us, out);
        break;
    case LEAT_COMMAND_ROUTES:
        c->result = leat__sfu_routes_set(s, c, now_us, out);
        break;
    case LEAT_COMMAND_KEYFRAME:
        c->result = request_keyframe(s, c, now_us, out);
        break;
    case LEAT_COMMAND_STATS:
        c->result = leat__sfu_stats(s, c);
        break;
    case LEAT_COMMAND_EXPLAIN:
        c->result = leat__sfu_explain(s, c, now_us);
        break;
    case LEAT_COMMAND_COUNTERS:
        c->counters = s->counters;
        c->counters.peers = leat_sfu_peer_count(s);
        c->counters.pool_exhausted = s->pool.exhausted;
        c->result = 0;
        break;
    }
}
