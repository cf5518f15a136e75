/* SPDX-License-Identifier: MIT */
/* track.request_keyframe: through the source's limiter, like every other cause. */
#include "private.h"

static void collect(struct leat__control_request *r, struct leat_command *command)
{
    r->payload[0] = command->was_sent;
}

static void finish(struct leat__control_call *call, struct leat__control_request *r)
{
    struct leat_json_writer *w = &call->c->out;
    if (r->error != 0) {
        leat__control_fault_error(&call->fault, r->error, "asking for a keyframe");
        return;
    }
    leat_json_open(w, '{');
    leat_json_put_bool(w, "requested", r->payload[0] != 0);
    leat_json_close(w, '}');
}

void leat__control_track_request_keyframe(struct leat__control_call *call)
{
    ptrdiff_t at;
    const struct leat__control_peer *p = leat__control_read_end(call->c, &call->params, false, &at);
    if (!p) {
        return;
    }
    if (p->sdp.sections[at].kind != LEAT_KIND_VIDEO) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "kind_mismatch", "mid",
                                "section \"%s\" of peer \"%s\" is not video",
                                p->sdp.sections[at].mid, p->id);
        return;
    }
    struct leat__control_request *r = leat__control_request_new(call, 1, finish);
    struct leat_command *command =
        r ? leat__control_command(call, LEAT_COMMAND_KEYFRAME, p->handle) : NULL;
    if (!command) {
        leat__control_request_free(r);
        return;
    }
    memcpy(command->mid, p->sdp.sections[at].mid, sizeof(command->mid));
    r->collect = collect;
    leat__control_request_post(call->c, r, p->worker, command);
    leat__control_request_commit(call, r);
}
