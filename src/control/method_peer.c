/* SPDX-License-Identifier: MIT */
/* peer.close, peer.get, peer.list and group.close. A closed peer's id is free at once; its end
 * comes as an event when the worker has carried it out. */
#include "private.h"

#include <stdlib.h>

#define PAGE_OCTETS 131072 /* a page is a line that any reader of lines takes */

struct closing {
    bool was_there;
    size_t count;
};

static struct closing *closing_of(struct leat__control_request *r)
{
    return (struct closing *)(void *)r->payload;
}

/** A CLOSE that finds nothing came too late: the peer had ended by itself, which is as good. */
static bool has_closed(struct leat__control_call *call, const struct leat__control_request *r)
{
    if (r->error == 0 || r->error == LEAT_E_MISSING) {
        return true;
    }
    leat__control_fault_error(&call->fault, r->error, "closing");
    return false;
}

static void finish_close(struct leat__control_call *call, struct leat__control_request *r)
{
    struct leat_json_writer *w = &call->c->out;
    if (!has_closed(call, r)) {
        return;
    }
    leat_json_open(w, '{');
    leat_json_put_text(w, "id", (const char *)(r->payload + sizeof(struct closing)));
    leat_json_put_bool(w, "closed", closing_of(r)->was_there);
    leat_json_close(w, '}');
}

static void finish_group_close(struct leat__control_call *call, struct leat__control_request *r)
{
    struct leat_json_writer *w = &call->c->out;
    if (!has_closed(call, r)) {
        return;
    }
    leat_json_open(w, '{');
    leat_json_put_u64(w, "closed", closing_of(r)->count);
    leat_json_close(w, '}');
}

/** Post the CLOSE of a live peer, or just forget an ended one. @return false without memory. */
static bool close_one(struct leat__control_call *call, struct leat__control_request *r,
                      struct leat__control_peer *p)
{
    struct leat_control *c = call->c;
    if (p->state == LEAT_PEER_ENDED) {
        leat__control_world_remove(c, p);
        return true;
    }
    struct leat_command *command = leat__control_command(call, LEAT_COMMAND_CLOSE, p->handle);
    if (!command) {
        r->error = LEAT_E_NOMEM;
        return false;
    }
    command->end = LEAT_PEER_END_CLOSED;
    leat__control_request_post(c, r, p->worker, command);
    if (r->error != 0) { /* it could not be handed over: the peer lives on */
        return false;
    }
    leat__control_world_leave(c, p);
    return true;
}

void leat__control_peer_close(struct leat__control_call *call)
{
    char id[LEAT_ID_MAX + 1];
    if (!leat__control_params_id(&call->params, "id", true, id)) {
        return;
    }
    struct leat__control_request *r =
        leat__control_request_new(call, sizeof(struct closing) + sizeof(id), finish_close);
    if (!r) {
        return;
    }
    memcpy(r->payload + sizeof(struct closing), id, sizeof(id));
    struct leat__control_peer *p = leat__control_find(call->c, id);
    closing_of(r)->was_there = p != NULL;
    if (p) {
        (void)close_one(call, r, p);
    }
    leat__control_request_commit(call, r);
}

void leat__control_group_close(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    char group[LEAT_ID_MAX + 1];
    if (!leat__control_params_id(&call->params, "group", true, group)) {
        return;
    }
    struct leat__control_request *r =
        leat__control_request_new(call, sizeof(struct closing), finish_group_close);
    if (!r) {
        return;
    }
    for (struct leat_list *n = c->peers.next, *next; n != &c->peers; n = next) {
        struct leat__control_peer *p = LEAT_CONTAINER(n, struct leat__control_peer, node);
        next = n->next;
        if (strcmp(p->group, group) == 0) {
            if (!close_one(call, r, p)) {
                break;
            }
            closing_of(r)->count++;
        }
    }
    leat__control_request_commit(call, r);
}

void leat__control_peer_get(struct leat__control_call *call)
{
    const struct leat__control_peer *p = leat__control_read_peer(call->c, &call->params, "id");
    if (p) {
        leat__control_write_peer(&call->c->out, call->c, p);
    }
}

/** Peers are listed in the order of their creation, a page of 128 KiB or a little more a call:
 * `next` names the last one of a page that is not the last. */
void leat__control_peer_list(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    struct leat_json_writer *w = &c->out;
    const char *last = NULL;
    bool has_more = false;
    struct leat_list *n = c->peers.next;
    char group[LEAT_ID_MAX + 1] = "", after[LEAT_ID_MAX + 1];
    (void)leat__control_params_id(&call->params, "group", false, group);
    if (leat__control_params_id(&call->params, "after", false, after)) {
        struct leat__control_peer *p = leat__control_read_peer(c, &call->params, "after");
        n = p ? p->node.next : n;
    }
    int state =
        leat__control_params_word(&call->params, "state", false, "new connecting connected ended");
    if (call->fault.code != LEAT__RPC_NONE) {
        return;
    }
    leat_json_open(w, '{');
    leat_json_write_key(w, "peers");
    leat_json_open(w, '[');
    for (; n != &c->peers && !has_more; n = n->next) {
        const struct leat__control_peer *p = LEAT_CONTAINER(n, struct leat__control_peer, node);
        if ((group[0] != '\0' && strcmp(p->group, group) != 0) ||
            (state >= 0 && state != (int)p->state)) {
            continue;
        }
        has_more = w->len > PAGE_OCTETS;
        if (!has_more) {
            leat__control_write_peer(w, c, p);
            last = p->id;
        }
    }
    leat_json_close(w, ']');
    if (has_more) {
        leat_json_put_text(w, "next", last);
    }
    leat_json_close(w, '}');
}
