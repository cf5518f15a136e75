/* SPDX-License-Identifier: MIT */
/*
 * route.set and route.list. A set is validated as a whole, then every worker that owns one of the
 * senders gets one command. A peer's own track may be routed to it: an echo.
 *
 * What controllers see changes when the commands are posted. When they are back, what a worker has
 * taken becomes its link; what it refused falls back to the link.
 */
#include "private.h"

#include <stdlib.h>

#define ROUTES_MAX 4096

/** One route of a set, checked. */
struct change {
    leat_handle to;
    unsigned worker;
    char to_mid[LEAT_MID_MAX + 1];
    struct leat__control_link link;
};

struct set {
    size_t count;
    int errors[LEAT_CONTROL_WORKERS_MAX]; /**< by worker */
    struct change changes[];
};

static struct set *set_of(struct leat__control_request *r)
{
    return (struct set *)(void *)r->payload;
}

static bool have_common_codec(const struct leat_media_desc *a, const struct leat_media_desc *b)
{
    for (size_t i = 0; i < a->codec_count; i++) {
        for (size_t j = 0; j < b->codec_count; j++) {
            if (leat_codec_matches(&a->codecs[i], &b->codecs[j])) {
                return true;
            }
        }
    }
    return false;
}

/** Whether the track can go to the sender. */
static void check_pair(const struct leat__control_params *route,
                       const struct leat__control_peer *to, const struct leat_sdp_agreed *sender,
                       const struct leat__control_peer *from, const struct leat_sdp_agreed *track)
{
    char path[LEAT__CONTROL_FIELD_MAX];
    struct leat__control_fault *f = route->fault;
    leat__control_params_path(route, "from", path);
    if (to->worker != from->worker) {
        leat__control_fault_set(f, LEAT__RPC_FAILED, "cross_worker", path,
                                "peers \"%s\" and \"%s\" are on different workers: put peers "
                                "that exchange media into one group",
                                from->id, to->id);
    } else if (sender->kind != track->kind) {
        leat__control_fault_set(f, LEAT__RPC_FAILED, "kind_mismatch", path,
                                "the track is %s, the sender is %s", leat_kind_text(track->kind),
                                leat_kind_text(sender->kind));
    } else if (!have_common_codec(&track->common, &sender->common)) {
        leat__control_fault_set(f, LEAT__RPC_FAILED, "no_common_codec", path,
                                "track and sender have no codec in common");
        f->have = &track->common;
        f->want = &sender->common;
    }
}

static void refuse_unserved(const struct leat__control_params *p, const char *key)
{
    char path[LEAT__CONTROL_FIELD_MAX];
    if (leat__control_params_has(p, key)) {
        leat__control_params_path(p, key, path);
        leat__control_fault_set(p->fault, LEAT__RPC_FAILED, "not_supported", path,
                                "%s is not served yet", path);
    }
}

static void read_from(const struct leat_control *c, const struct leat__control_params *route,
                      const struct leat__control_peer *to, const struct leat_sdp_agreed *sender,
                      struct leat__control_link *link)
{
    struct leat__control_params end;
    ptrdiff_t at;
    const leat_json *from = leat_json_get(route->object, "from");
    if (from && leat_json_type_of(from) == LEAT_JSON_NULL) {
        return;
    }
    if (!leat__control_params_object(route, "from", true, &end)) {
        return;
    }
    leat__control_params_known(&end, "peer mid group select rank");
    refuse_unserved(&end, "group");
    refuse_unserved(&end, "select");
    refuse_unserved(&end, "rank");
    const struct leat__control_peer *p = leat__control_read_end(c, &end, false, &at);
    if (!p) {
        return;
    }
    check_pair(route, to, sender, p, &p->sdp.sections[at]);
    link->from = p->handle;
    memcpy(link->from_id, p->id, sizeof(link->from_id));
    memcpy(link->from_mid, p->sdp.sections[at].mid, sizeof(link->from_mid));
    (void)leat__control_params_bool(route, "paused", &link->is_paused);
}

static void read_route(struct leat_control *c, const struct leat__control_params *route,
                       struct change *out)
{
    struct leat__control_params end;
    ptrdiff_t at;
    leat__control_params_known(route, "to from paused layer priority");
    refuse_unserved(route, "layer");
    refuse_unserved(route, "priority");
    if (!leat__control_params_object(route, "to", true, &end)) {
        return;
    }
    leat__control_params_known(&end, "peer mid");
    struct leat__control_peer *to = leat__control_read_end(c, &end, true, &at);
    if (!to) {
        return;
    }
    if (to->sections[at].mark == c->mark) {
        leat__control_fault_set(route->fault, LEAT__RPC_PARAMS, "duplicate_sender", end.path,
                                "%s names a sender that stands in this call already", end.path);
        return;
    }
    to->sections[at].mark = c->mark;
    out->to = to->handle;
    out->worker = to->worker;
    memcpy(out->to_mid, to->sdp.sections[at].mid, sizeof(out->to_mid));
    bool ignored;
    (void)leat__control_params_bool(route, "paused", &ignored);
    read_from(c, route, to, &to->sdp.sections[at], &out->link);
}

/* ---- carrying it out ---- */

/** The section that a change is about, if it is still there. */
static struct leat__control_section *section_of(const struct leat_control *c,
                                                const struct change *change,
                                                struct leat__control_peer **peer, size_t *index)
{
    struct leat__control_peer *p = leat__control_find_handle(c, change->to);
    ptrdiff_t at = p ? leat__control_section_find(p, change->to_mid) : -1;
    if (at < 0) {
        return NULL;
    }
    *peer = p;
    *index = (size_t)at;
    return &p->sections[at];
}

static bool is_same_source(const struct leat__control_link *a, const struct leat__control_link *b)
{
    return a->from == b->from && strcmp(a->from_mid, b->from_mid) == 0 &&
           a->is_paused == b->is_paused;
}

static void settle(const struct leat_control *c, const struct change *change, int error)
{
    struct leat__control_peer *p;
    size_t at;
    struct leat__control_section *s = section_of(c, change, &p, &at);
    if (!s || p->state == LEAT_PEER_ENDED) {
        return;
    }
    s->pending -= s->pending != 0 ? 1 : 0;
    if (error == 0) {
        if (!is_same_source(&s->link, &change->link)) {
            s->route_state = LEAT_ROUTE_NONE; /* until the worker says more */
            s->route_reason = NULL;
        }
        s->link = change->link;
    }
}

static void collect(struct leat__control_request *r, struct leat_command *command)
{
    struct set *set = set_of(r);
    for (size_t i = 0; i < set->count; i++) {
        if (set->changes[i].to == command->routes[0].to) {
            set->errors[set->changes[i].worker] = command->result;
            return;
        }
    }
}

static void finish(struct leat__control_call *call, struct leat__control_request *r)
{
    struct set *set = set_of(r);
    struct leat_json_writer *w = &call->c->out;
    for (size_t i = 0; i < set->count; i++) {
        settle(call->c, &set->changes[i], set->errors[set->changes[i].worker]);
    }
    if (r->error != 0) {
        leat__control_fault_error(&call->fault, r->error, "setting the routes");
        return;
    }
    leat_json_open(w, '{');
    leat_json_write_key(w, "routes");
    leat_json_open(w, '[');
    for (size_t i = 0; i < set->count; i++) {
        struct leat__control_peer *p;
        size_t at;
        if (section_of(call->c, &set->changes[i], &p, &at)) {
            leat__control_write_route(w, p, at);
        }
    }
    leat_json_close(w, ']');
    leat_json_close(w, '}');
}

static size_t count_of(const struct set *set, unsigned worker)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        count += set->changes[i].worker == worker ? 1 : 0;
    }
    return count;
}

/** The part of a set that one worker carries out. */
static struct leat_command *make_command(struct leat__control_call *call, const struct set *set,
                                         unsigned worker)
{
    struct leat_command *command = leat__control_command(call, LEAT_COMMAND_ROUTES, 0);
    if (!command) {
        return NULL;
    }
    command->routes = calloc(count_of(set, worker), sizeof(*command->routes));
    if (!command->routes) {
        leat_command_free(command);
        leat__control_fault_error(&call->fault, LEAT_E_NOMEM, "setting the routes");
        return NULL;
    }
    for (size_t i = 0; i < set->count; i++) {
        const struct change *change = &set->changes[i];
        if (change->worker == worker) {
            struct leat_route_desc *route = &command->routes[command->route_count++];
            route->to = change->to;
            route->from = change->link.from;
            memcpy(route->to_mid, change->to_mid, sizeof(route->to_mid));
            memcpy(route->from_mid, change->link.from_mid, sizeof(route->from_mid));
            route->is_paused = change->link.is_paused;
            route->reason = "set";
        }
    }
    return command;
}

static void post_set(struct leat__control_call *call, struct leat__control_request *r)
{
    struct leat_control *c = call->c;
    struct set *set = set_of(r);
    struct leat_command *commands[LEAT_CONTROL_WORKERS_MAX] = {NULL};
    for (unsigned i = 0; i < c->info.workers; i++) {
        if (count_of(set, i) != 0 && !(commands[i] = make_command(call, set, i))) {
            for (unsigned j = 0; j < i; j++) {
                leat_command_free(commands[j]);
            }
            leat__control_request_free(r);
            return;
        }
    }
    for (size_t i = 0; i < set->count; i++) {
        struct leat__control_peer *p;
        size_t at;
        struct leat__control_section *s = section_of(c, &set->changes[i], &p, &at);
        if (s) {
            s->wanted = set->changes[i].link;
            s->pending++;
        }
    }
    for (unsigned i = 0; i < c->info.workers; i++) {
        if (commands[i]) {
            leat__control_request_post(c, r, i, commands[i]);
        }
    }
    leat__control_request_commit(call, r);
}

void leat__control_route_set(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    const leat_json *list;
    if (!leat__control_params_array(&call->params, "routes", true, ROUTES_MAX, &list)) {
        return;
    }
    size_t count = leat_json_count(list);
    struct leat__control_request *r =
        leat__control_request_new(call, sizeof(struct set) + count * sizeof(struct change), finish);
    if (!r) {
        return;
    }
    r->collect = collect;
    struct set *set = set_of(r);
    c->mark++;
    for (const leat_json *e = leat_json_first(list); e; e = leat_json_next(e)) {
        struct leat__control_params route;
        if (leat__control_params_element(&call->params, "routes", set->count, e, &route)) {
            read_route(c, &route, &set->changes[set->count]);
        }
        set->count++;
    }
    if (call->fault.code != LEAT__RPC_NONE) {
        leat__control_request_free(r);
    } else {
        post_set(call, r);
    }
}

void leat__control_route_list(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    struct leat_json_writer *w = &c->out;
    struct leat__control_filter filter = {.type_count = 0};
    (void)leat__control_params_id(&call->params, "group", false, filter.group);
    (void)leat__control_params_id(&call->params, "peer", false, filter.peer);
    if (call->fault.code != LEAT__RPC_NONE) {
        return;
    }
    leat_json_open(w, '{');
    leat_json_write_key(w, "routes");
    leat_json_open(w, '[');
    for (struct leat_list *n = c->peers.next; n != &c->peers; n = n->next) {
        const struct leat__control_peer *p = LEAT_CONTAINER(n, struct leat__control_peer, node);
        leat__control_write_routes(w, c, p, &filter);
    }
    leat_json_close(w, ']');
    leat_json_close(w, '}');
}
