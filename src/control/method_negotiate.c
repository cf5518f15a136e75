/* SPDX-License-Identifier: MIT */
/*
 * peer.negotiate and peer.restart_ice. The next agreement is built beside the running one; when all
 * of it stands, both change places and the worker is told. Should the worker fail, they change
 * back, unless a later negotiation has come on top.
 *
 * An ICE restart of the parameter form can begin here: peer.restart_ice issues our credentials, the
 * controller carries them to the remote, and the remote's new ones come back with peer.negotiate,
 * which puts both in force. With SDP only the browser's side can begin: it is the one that offers.
 */
#include "private.h"

#include <stdio.h>
#include <stdlib.h>

struct negotiation {
    struct leat_sdp_session session; /* before the posting the new one, after it the old one */
    struct leat__control_section *sections;
    char *answer;
    struct leat_ice_local local;
    uint64_t media_seq;
    bool is_ice_restart, is_media_change;
};

static struct negotiation *negotiation_of(struct leat__control_request *r)
{
    return (struct negotiation *)(void *)r->payload;
}

static void release(struct leat__control_request *r)
{
    struct negotiation *n = negotiation_of(r);
    leat_sdp_session_deinit(&n->session);
    free(n->sections);
    free(n->answer);
    leat_wipe(n, sizeof(*n));
}

static void change_places(struct leat__control_peer *p, struct negotiation *n)
{
    struct leat_sdp_session session = p->sdp;
    struct leat__control_section *sections = p->sections;
    char *answer = p->answer;
    struct leat_ice_local local = p->local;
    p->sdp = n->session;
    p->sections = n->sections;
    p->answer = n->answer;
    p->local = n->local;
    n->session = session;
    n->sections = sections;
    n->answer = answer;
    n->local = local;
}

/** The worker refused: back to what was, with the routes as they are now. */
static void undo(struct leat__control_peer *p, struct negotiation *n)
{
    struct leat__control_section *sections =
        leat__control_carry_sections(&n->session, &p->sdp, p->sections);
    if (sections) {
        free(n->sections);
        n->sections = sections;
    }
    change_places(p, n);
}

static void finish(struct leat__control_call *call, struct leat__control_request *r)
{
    struct negotiation *n = negotiation_of(r);
    struct leat__control_peer *p = leat__control_find_handle(call->c, r->handle);
    if (r->error != 0 || !p) {
        if (p && p->media_seq == n->media_seq) {
            undo(p, n);
        }
        leat__control_fault_error(&call->fault, r->error != 0 ? r->error : LEAT_E_MISSING,
                                  "negotiating");
        return;
    }
    struct leat_json_writer *w = &call->c->out;
    leat_json_open(w, '{');
    leat__control_put_negotiated(w, call->c, p);
    leat_json_put_bool(w, "created", false);
    leat_json_write_key(w, "changed");
    leat_json_open(w, '[');
    if (n->is_ice_restart) {
        leat_json_write_text(w, "ice_restart");
    }
    if (n->is_media_change) {
        leat_json_write_text(w, "sections");
    }
    leat_json_close(w, ']');
    leat_json_close(w, '}');
}

/* ---- what is asked for ---- */

/** offer or remote, and as the peer was made. */
static void check_forms(struct leat__control_call *call, const struct leat__control_peer *peer)
{
    const struct leat__control_params *p = &call->params;
    bool has_offer = leat__control_params_has(p, "offer");
    bool has_remote = leat__control_params_has(p, "remote");
    bool has_answer = leat__control_params_has(p, "answer");
    bool rollback = false;
    (void)leat__control_params_bool(p, "rollback", &rollback);
    if (has_offer + has_remote + has_answer + (rollback ? 1 : 0) > 1) {
        leat__control_fault_set(&call->fault, LEAT__RPC_PARAMS, "conflicting_parameters", "",
                                "give exactly one of offer, remote, answer and rollback");
    } else if (rollback) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "rollback_without_offer",
                                "rollback", "no offer of leatd is open");
    } else if (has_answer) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "not_supported", "answer",
                                "offers by leatd are not served yet, so none is open");
    } else if (!has_offer && !has_remote) {
        leat__control_fault_set(&call->fault, LEAT__RPC_PARAMS, "missing_parameter", "offer",
                                "give exactly one of offer, remote, answer and rollback");
    } else if (peer->is_form != has_remote) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "not_supported",
                                has_remote ? "remote" : "offer",
                                "peer \"%s\" was made with %s and goes on with it", peer->id,
                                peer->is_form ? "remote" : "an offer");
    }
}

static struct leat__control_peer *read_live_peer(struct leat__control_call *call)
{
    struct leat__control_peer *p = leat__control_read_peer(call->c, &call->params, "id");
    if (p && p->state == LEAT_PEER_ENDED) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "ended", "id",
                                "peer \"%s\" has ended: %s", p->id, leat_peer_end_text(p->end));
        return NULL;
    }
    return p;
}

static bool is_same_desc(const struct leat_sdp_agreed *a, const struct leat_sdp_agreed *b)
{
    return strcmp(a->mid, b->mid) == 0 && a->kind == b->kind && a->is_rejected == b->is_rejected &&
           a->direction == b->direction && a->has_track == b->has_track &&
           a->has_sender == b->has_sender && a->ssrc == b->ssrc &&
           strcmp(a->stream, b->stream) == 0 &&
           memcmp(&a->common, &b->common, sizeof(a->common)) == 0;
}

static bool is_same_media(const struct leat_sdp_session *a, const struct leat_sdp_session *b)
{
    bool is_same = a->section_count == b->section_count;
    for (size_t i = 0; is_same && i < a->section_count; i++) {
        is_same = is_same_desc(&a->sections[i], &b->sections[i]);
    }
    return is_same;
}

/** The new agreement and all that follows from it, into n. */
static void prepare(struct leat__control_call *call, struct leat__control_peer *p,
                    struct negotiation *n)
{
    struct leat_control *c = call->c;
    struct leat__control_proposal proposal;
    memset(&proposal, 0, sizeof(proposal));
    leat__control_proposal_read(c, &call->params, &proposal);
    if (call->fault.code == LEAT__RPC_NONE &&
        leat__control_agree(&proposal, &p->sdp, &n->session, &call->fault) == 0) {
        leat__control_read_streams(&call->params, &n->session);
    }
    leat_sdp_desc_deinit(&proposal.desc);
    if (call->fault.code != LEAT__RPC_NONE) {
        return;
    }
    n->is_ice_restart = n->session.is_ice_restart || p->has_fresh;
    n->local = p->local;
    if (p->has_fresh) {
        n->local = p->fresh;
    } else if (n->is_ice_restart) {
        leat_ice_local_make(&n->local, c->rng, p->worker, c->info.generation);
    }
    int rc = leat__control_choose_ssrcs(c, p, &n->session);
    n->is_media_change = !is_same_media(&p->sdp, &n->session);
    n->sections = leat__control_carry_sections(&n->session, &p->sdp, p->sections);
    rc = rc == 0 && !n->sections ? LEAT_E_NOMEM : rc;
    if (rc == 0 && !p->is_form) {
        rc = leat__control_compose(c, p, &n->local, &n->session, &n->answer);
    }
    if (rc != 0) {
        leat__control_fault_error(&call->fault, rc, "negotiating");
    }
}

void leat__control_peer_negotiate(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    struct leat__control_peer *p = read_live_peer(call);
    if (!p) {
        return;
    }
    check_forms(call, p);
    if (call->fault.code != LEAT__RPC_NONE) {
        return;
    }
    struct leat_command *media = NULL, *restart = NULL;
    struct leat__control_request *r =
        leat__control_request_new(call, sizeof(struct negotiation), finish);
    if (!r) {
        return;
    }
    struct negotiation *n = negotiation_of(r);
    r->release = release;
    r->handle = p->handle;
    prepare(call, p, n);
    if (call->fault.code == LEAT__RPC_NONE) {
        media = leat__control_command(call, LEAT_COMMAND_MEDIA, p->handle);
    }
    if (media && n->is_ice_restart) {
        restart = leat__control_command(call, LEAT_COMMAND_RESTART_ICE, p->handle);
    }
    if (!media || (n->is_ice_restart && !restart)) {
        goto fail;
    }
    if (leat__control_fill_media(media, &n->session) != 0) {
        leat__control_fault_error(&call->fault, LEAT_E_NOMEM, "negotiating");
        goto fail;
    }
    if (restart) {
        restart->ice_local = n->local;
        (void)leat_text_copy(restart->remote_ufrag, sizeof(restart->remote_ufrag),
                             leat_span_str(n->session.remote_ufrag));
    }
    change_places(p, n);
    p->has_digest = false;
    p->has_fresh = false;
    n->media_seq = ++p->media_seq;
    if (restart) {
        leat__control_request_post(c, r, p->worker, restart);
    }
    leat__control_request_post(c, r, p->worker, media);
    leat__control_request_commit(call, r);
    return;
fail:
    leat_command_free(media);
    leat_command_free(restart);
    leat__control_request_free(r);
}

void leat__control_peer_restart_ice(struct leat__control_call *call)
{
    struct leat__control_peer *p = read_live_peer(call);
    struct leat_json_writer *w = &call->c->out;
    if (!p) {
        return;
    }
    if (!p->is_form) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "not_supported", "id",
                                "peer \"%s\" speaks SDP: its own side starts the restart with a "
                                "new offer (in a browser, restartIce()), see peer.negotiate",
                                p->id);
        return;
    }
    if (!p->has_fresh) {
        leat_ice_local_make(&p->fresh, call->c->rng, p->worker, call->c->info.generation);
        p->has_fresh = true;
    }
    leat_json_open(w, '{');
    leat_json_write_key(w, "local");
    leat_json_open(w, '{');
    leat_json_write_key(w, "ice");
    leat_json_open(w, '{');
    leat_json_put_text(w, "ufrag", p->fresh.ufrag);
    leat_json_put_text(w, "pwd", p->fresh.pwd);
    leat_json_close(w, '}');
    leat_json_close(w, '}');
    leat_json_close(w, '}');
}
