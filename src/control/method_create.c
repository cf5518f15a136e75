/* SPDX-License-Identifier: MIT */
/*
 * peer.create. Everything is read, agreed and allocated first; then the peer stands in the world
 * and its OPEN is posted. A repeat with the same parameters answers what the first one answered,
 * after the same OPEN.
 */
#include "private.h"

#include <stdlib.h>

/** Exactly one of the ways to describe the remote. */
static void check_forms(struct leat__control_call *call)
{
    const struct leat__control_params *p = &call->params;
    bool has_offer = leat__control_params_has(p, "offer");
    bool has_remote = leat__control_params_has(p, "remote");
    bool has_sections = leat__control_params_has(p, "sections");
    if (has_offer + has_remote + has_sections > 1) {
        leat__control_fault_set(&call->fault, LEAT__RPC_PARAMS, "conflicting_parameters",
                                has_offer ? (has_remote ? "remote" : "sections") : "sections",
                                "give exactly one of offer, remote and sections");
    } else if (has_sections) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "not_supported", "sections",
                                "offers by leatd are not served yet: give offer or remote");
    } else if (!has_offer && !has_remote) {
        leat__control_fault_set(&call->fault, LEAT__RPC_PARAMS, "missing_parameter", "offer",
                                "give exactly one of offer, remote and sections");
    }
    if (leat__control_params_has(p, "max_incoming_bps")) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "not_supported", "max_incoming_bps",
                                "a limit of the incoming bitrate is not served yet");
    }
}

/** Opaque data as text, NULL for none. */
static char *read_data(struct leat__control_call *call)
{
    struct leat_json_writer w;
    char *text = NULL;
    const leat_json *data = leat_json_get(call->params.object, "data");
    if (!data || leat_json_type_of(data) == LEAT_JSON_NULL) {
        return NULL;
    }
    leat_json_writer_init(&w);
    leat_json_write_value(&w, data);
    if (!w.failed && w.len > LEAT__CONTROL_DATA_MAX) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "too_large", "data",
                                "data may have at most %d octets as text, not %zu",
                                LEAT__CONTROL_DATA_MAX, w.len);
    } else if (w.failed || (text = malloc(w.len + 1)) == NULL) {
        leat__control_fault_error(&call->fault, LEAT_E_NOMEM, "keeping data");
    } else {
        memcpy(text, w.text, w.len + 1);
    }
    leat_json_writer_deinit(&w);
    return text;
}

/** What makes a repeat the same: the parameters' values, whatever their order. */
static bool digest_of(const struct leat__control_call *call, uint8_t out[static 32])
{
    static const char *const keys[] = {"group",  "data",    "offer", "remote",
                                       "codecs", "streams", "setup"};
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    leat_json_open(&w, '[');
    for (size_t i = 0; i < LEAT_ARRAY_LEN(keys); i++) {
        leat_json_write_text(&w, keys[i]);
        leat_json_write_value(&w, leat_json_get(call->params.object, keys[i]));
    }
    leat_json_close(&w, ']');
    bool is_good = !w.failed;
    if (is_good) {
        leat_sha256(w.text, w.len, out);
    }
    leat_json_writer_deinit(&w);
    return is_good;
}

/* ---- the result ---- */

static void put_local(struct leat_json_writer *w, const struct leat_control *c,
                      const struct leat__control_peer *p)
{
    leat_json_write_key(w, "local");
    leat_json_open(w, '{');
    leat_json_write_key(w, "ice");
    leat_json_open(w, '{');
    leat_json_put_text(w, "ufrag", p->local.ufrag);
    leat_json_put_text(w, "pwd", p->local.pwd);
    leat_json_put_bool(w, "lite", true);
    leat_json_close(w, '}');
    leat__control_put_fingerprint(w, p->identity);
    leat_json_put_text(w, "setup", p->sdp.setup == LEAT_SETUP_ACTIVE ? "active" : "passive");
    leat__control_put_candidates(w, c, p->worker);
    leat_json_close(w, '}');
}

void leat__control_put_negotiated(struct leat_json_writer *w, const struct leat_control *c,
                                  const struct leat__control_peer *p)
{
    leat_json_put_text(w, "id", p->id);
    leat_json_put_u64(w, "worker", p->worker);
    leat_json_put_text(w, "state", leat_peer_state_text(p->state));
    if (p->is_form) {
        put_local(w, c, p);
    } else {
        leat_json_put_text(w, "answer", p->answer);
    }
    leat__control_put_media(w, p);
    leat_json_write_key(w, "rejected");
    leat_json_open(w, '[');
    for (size_t i = 0; i < p->sdp.section_count; i++) {
        if (p->sdp.sections[i].is_rejected) {
            leat_json_open(w, '{');
            leat_json_put_text(w, "mid", p->sdp.sections[i].mid);
            leat_json_put_text(w, "reason", p->sdp.sections[i].why_rejected);
            leat_json_close(w, '}');
        }
    }
    leat_json_close(w, ']');
}

static void write_result(struct leat__control_call *call, const struct leat__control_peer *p,
                         bool is_created)
{
    struct leat_json_writer *w = &call->c->out;
    leat_json_open(w, '{');
    leat__control_put_negotiated(w, call->c, p);
    leat_json_put_bool(w, "created", is_created);
    leat_json_close(w, '}');
}

/* ---- after the worker ---- */

/** Result of a request whose peer may have gone. */
static void finish_create(struct leat__control_call *call, struct leat__control_request *r)
{
    const struct leat__control_peer *p = leat__control_find_handle(call->c, r->handle);
    if (r->error != 0) {
        leat__control_fault_error(&call->fault, r->error, "opening the peer");
    } else if (!p) {
        leat__control_fault_error(&call->fault, LEAT_E_MISSING, "opening the peer");
    } else {
        write_result(call, p, !r->is_waiting);
    }
}

static void after_open(struct leat_control *c, struct leat__control_request *r, uint64_t now_us)
{
    struct leat__control_peer *p = leat__control_find_handle(c, r->handle);
    if (!p) {
        return;
    }
    bool has_waiters = p->waiters != 0;
    p->is_opening = false;
    p->waiters = 0;
    if (r->error == 0 && !p->is_told) {
        leat__control_emit_peer(c, p, now_us);
    }
    if (has_waiters) {
        leat__control_requests_wake(c, r->handle, r->error, now_us);
    }
    if (r->error != 0) {
        leat__control_world_remove(c, p);
    }
}

/** The id is taken: the same call again, or another one. */
static void repeat(struct leat__control_call *call, struct leat__control_peer *p)
{
    uint8_t digest[32];
    if (!p->has_digest || !digest_of(call, digest) || !leat_equal_ct(digest, p->digest, 32)) {
        leat__control_fault_set(
            &call->fault, LEAT__RPC_FAILED, "exists", "id", "there is a peer \"%s\" already%s",
            p->id, p->state == LEAT_PEER_ENDED ? ": it has ended, close it first" : "");
        return;
    }
    if (!p->is_opening) {
        write_result(call, p, false);
        return;
    }
    struct leat__control_request *r = leat__control_request_new(call, 0, finish_create);
    if (r) {
        r->handle = p->handle;
        r->is_waiting = true;
        p->waiters++;
        leat__control_request_commit(call, r);
    }
}

/* ---- a new peer ---- */

/** Everything of a peer that comes from the parameters. NULL with a fault. */
static struct leat__control_peer *read_new_peer(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    const struct leat_sdp_session nothing = {.is_agreed = false};
    struct leat__control_proposal proposal;
    struct leat__control_peer *p = calloc(1, sizeof(*p));
    if (!p) {
        leat__control_fault_error(&call->fault, LEAT_E_NOMEM, "opening the peer");
        return NULL;
    }
    memset(&proposal, 0, sizeof(proposal));
    leat_list_init(&p->node);
    leat_list_init(&p->ended_node);
    (void)leat__control_params_id(&call->params, "id", true, p->id);
    (void)leat__control_params_id(&call->params, "group", false, p->group);
    p->data = read_data(call);
    leat__control_proposal_read(c, &call->params, &proposal);
    p->is_form = proposal.is_form;
    if (call->fault.code == LEAT__RPC_NONE &&
        leat__control_agree(&proposal, &nothing, &p->sdp, &call->fault) == 0) {
        leat__control_read_streams(&call->params, &p->sdp);
    }
    leat_sdp_desc_deinit(&proposal.desc);
    if (call->fault.code != LEAT__RPC_NONE) {
        leat__control_peer_free(p);
        return NULL;
    }
    return p;
}

/** Everything of a peer that is ours to choose. */
static int choose(struct leat__control_call *call, struct leat__control_peer *p)
{
    struct leat_control *c = call->c;
    p->worker = leat__control_choose_worker(c, p->group);
    p->created_us = call->now_us;
    p->identity = leat_dtls_identity_hold(c->info.identity);
    p->has_digest = digest_of(call, p->digest);
    leat_ice_local_make(&p->local, c->rng, p->worker, c->info.generation);
    leat_rng_ice_chars(c->rng, p->cname, 16);
    p->sdp.origin_id = leat_rng_u64(c->rng) >> 2; /* RFC 8829 5.2.1 */
    p->sections = calloc(p->sdp.section_count + 1, sizeof(*p->sections));
    int rc =
        p->sections && p->has_digest ? leat__control_choose_ssrcs(c, p, &p->sdp) : LEAT_E_NOMEM;
    if (rc == 0 && !p->is_form) {
        rc = leat__control_compose(c, p, &p->local, &p->sdp, &p->answer);
    }
    return rc;
}

static int fill_open(const struct leat_control *c, const struct leat__control_peer *p,
                     struct leat_command *command)
{
    struct leat_peer_params *params = &command->params;
    params->ice_local = p->local;
    (void)leat_text_copy(params->remote_ufrag, sizeof(params->remote_ufrag),
                         leat_span_str(p->sdp.remote_ufrag));
    params->dtls.identity = p->identity;
    params->dtls.role = p->sdp.setup == LEAT_SETUP_ACTIVE ? LEAT_DTLS_CLIENT : LEAT_DTLS_SERVER;
    memcpy(params->dtls.remote_fingerprint, p->sdp.fingerprint, LEAT_FINGERPRINT_LEN);
    memcpy(params->dtls.profiles, c->info.profiles, sizeof(params->dtls.profiles));
    params->dtls.profile_count = c->info.profile_count;
    params->ssrc_limit = c->info.ssrcs_per_peer;
    memcpy(command->cname, p->cname, sizeof(command->cname));
    command->rtcp_ssrc = p->rtcp_ssrc;
    return leat__control_fill_media(command, &p->sdp);
}

static void open_peer(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    struct leat__control_peer *p = read_new_peer(call);
    if (!p) {
        return;
    }
    struct leat__control_request *r = leat__control_request_new(call, 0, finish_create);
    struct leat_command *command = r ? leat__control_command(call, LEAT_COMMAND_OPEN, 0) : NULL;
    if (!command) {
        goto fail;
    }
    int rc = choose(call, p);
    rc = rc == 0 ? fill_open(c, p, command) : rc;
    rc = rc == 0 ? leat__control_world_add(c, p) : rc;
    if (rc != 0) {
        leat__control_fault_error(&call->fault, rc, "opening the peer");
        goto fail;
    }
    leat__control_world_settle(c, p->id, call->now_us);
    p->is_opening = true;
    command->handle = p->handle;
    r->handle = p->handle;
    r->after = after_open;
    leat__control_request_post(c, r, p->worker, command);
    leat__control_request_commit(call, r);
    return;
fail:
    leat_command_free(command);
    leat__control_request_free(r);
    leat__control_peer_free(p);
}

void leat__control_peer_create(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    char id[LEAT_ID_MAX + 1];
    check_forms(call);
    if (!leat__control_params_id(&call->params, "id", true, id) ||
        call->fault.code != LEAT__RPC_NONE) {
        return;
    }
    struct leat__control_peer *p = leat__control_find(c, id);
    if (p) {
        repeat(call, p);
    } else if (c->is_draining) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "draining", "",
                                "leatd is draining and takes no new peers");
    } else if (c->live_count >= c->info.peers_max) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "limit", "",
                                "there are %zu peers, the configured limit", c->live_count);
    } else {
        open_peer(call);
    }
}
