/* SPDX-License-Identifier: MIT */
/*
 * The rules of the lite, controlled agent (RFC 8445 with RFC 8489 and RFC 7675), one component,
 * UDP. tests/unit/stun/test_ice_answers.c (A, B) and test_ice_lite.c test each row
 * under its number.
 *
 * Authentication. leat_ice_check decides, changes nothing, and what it refuses is never answered.
 * RFC 8489 9.1.3 has 400 and 401 for such requests; a server with a public address answers
 * strangers with silence instead, so it can be neither scanned for ufrags nor used to reflect
 * traffic.
 *  A1  The method is not Binding: BAD_METHOD
 *  A2  A Binding indication, success or error response: INDICATION
 *  A3  No USERNAME; no colon or an empty half; LOCAL is not exactly the local ufrag of a
 *      generation that is valid now: BAD_USERNAME
 *  A4  REMOTE is not exactly the remote ufrag of that same generation: BAD_USERNAME
 *  A5  MESSAGE-INTEGRITY is missing, or wrong under that generation's password: BAD_INTEGRITY
 *  A6  FINGERPRINT is optional (8489 14.7); a wrong one is dropped by the parser
 *  A7  The transaction id is among the last 32 recorded, from another tuple: REPLAYED. A
 *      captured request must not move media
 *  A8  Everything else: OK
 *
 * Answers to authentic requests, each to the tuple that the request came from, with
 * MESSAGE-INTEGRITY and FINGERPRINT and without SOFTWARE.
 *  B1  Unknown comprehension-required attributes: 420 that lists them (8489 6.3.1); nothing
 *      changes
 *  B2  ICE-CONTROLLED: 487 (8445 7.3.1.1; a lite agent never switches); nothing changes. The
 *      tie-breaker is not looked at, 0 is a value like others
 *  B3  Unknown comprehension-optional attributes are ignored
 *  B4  Else success with XOR-MAPPED-ADDRESS; the transaction id is recorded
 *  B5  A recorded transaction id from the same tuple (our answer was lost, or the network
 *      doubled the request): answered again; nothing changes and nothing is recorded
 *
 * Tuples. T is the tuple of a request that got success, S the selected one.
 *  T1  T becomes valid, or its time and priority are renewed. Without PRIORITY it keeps its own
 *  T2  Eight are kept; a ninth takes the place of the oldest-checked that is not selected
 *  T3  While nothing is nominated, T becomes selected: the most recently checked one is
 *
 * Nomination. A request with USE-CANDIDATE on T
 *  N1  selects T when nothing is nominated;
 *  N2  selects T when its priority is higher than that of S (8445 8.1.1: the highest nominated);
 *  N3  selects T when priority, remote IP and local address equal those of S: a NAT gave a new
 *      port;
 *  N4  selects T when S got no USE-CANDIDATE since T's own previous one: the client insists;
 *  N5  selects T when S had no success for 1 s: the client has left S;
 *  N6  otherwise leaves S selected.
 *  N7  A request without USE-CANDIDATE selects T when T was nominated after S and S had no
 *      success for 10 s, two consent intervals: so a client that nominates once, and met N6, is
 *      followed. Any other request without USE-CANDIDATE leaves a nominated S selected.
 *
 * Restart (8445 9).
 *  R1  Tuples and S stay; requests of both generations are authentic
 *  R2  The first USE-CANDIDATE under the new generation always selects its tuple, ends the
 *      restart and drops the generation before
 *  R3  The generation before is dropped 30 s after the restart at the latest; the restart goes on
 *  R4  A restart during a restart replaces the generation that was never nominated; the one
 *      before it, which still carries media, stays answered, for 30 s anew
 *
 * Consent (7675 5.1, seen from the side that grants it) and time, in ice_tuples.c.
 *  C1  30 s without a success, or none at all since the start: the peer ends
 *  C2  A tuple silent for 30 s is removed, one a call
 *  C3  When that was S: the most recently nominated, then the most recently checked other is
 *      selected, and counts as nominated only if it ever was
 *  C4  first_reply_us is the time of the first success that was sent
 *
 * Left out: everything a full agent does (checks of its own, role switching), ICE-TCP, and TURN.
 */
#include "ice_tuples.h"

#define METHOD_BINDING 1
#define SELECTED_LEFT_US 1000000u
#define SELECTED_ABANDONED_US 10000000u

static void fill_generation(struct leat_ice_generation *g, const struct leat_ice_local *local,
                            struct leat_span remote_ufrag)
{
    memset(g, 0, sizeof(*g));
    g->local = *local;
    if (!leat_text_copy(g->remote_ufrag, sizeof(g->remote_ufrag), remote_ufrag)) {
        g->remote_ufrag[0] = '\0'; /* matches no request */
    }
    leat_hmac_sha1_init(&g->key, local->pwd, strlen(local->pwd));
    g->is_used = true;
}

void leat_ice_init(struct leat_ice *ice, const struct leat_ice_local *local,
                   struct leat_span remote_ufrag, uint64_t now_us)
{
    memset(ice, 0, sizeof(*ice));
    fill_generation(&ice->now, local, remote_ufrag);
    ice->selected = -1;
    ice->started_us = now_us;
}

void leat_ice_deinit(struct leat_ice *ice)
{
    leat__ice_drop_generation(&ice->now);
    leat__ice_drop_generation(&ice->before);
    leat_wipe(ice, sizeof(*ice));
    ice->selected = -1;
}

void leat_ice_restart(struct leat_ice *ice, const struct leat_ice_local *local,
                      struct leat_span remote_ufrag, uint64_t now_us)
{
    bool before_is_valid = ice->before.is_used && now_us < ice->before_until_us;
    if (ice->is_restarting && before_is_valid) {
        leat__ice_drop_generation(&ice->now);
    } else {
        leat__ice_drop_generation(&ice->before);
        ice->before = ice->now;
    }
    fill_generation(&ice->now, local, remote_ufrag);
    ice->before_until_us = now_us + LEAT_ICE_CONSENT_US;
    ice->is_restarting = true;
}

static bool generation_matches(const struct leat_ice_generation *g, struct leat_span local,
                               struct leat_span remote)
{
    return g->is_used && leat_span_equal(local, leat_span_str(g->local.ufrag)) &&
           leat_span_equal(remote, leat_span_str(g->remote_ufrag));
}

/** The generation that a request's USERNAME names; NULL when none that is valid now. */
static const struct leat_ice_generation *
find_generation(const struct leat_ice *ice, const struct leat_stun_msg *m, uint64_t now_us)
{
    struct leat_span local, remote;
    if (!leat_stun_split_username(m->username, &local, &remote)) {
        return NULL;
    }
    if (generation_matches(&ice->now, local, remote)) {
        return &ice->now;
    }
    if (now_us < ice->before_until_us && generation_matches(&ice->before, local, remote)) {
        return &ice->before;
    }
    return NULL;
}

/** The record of a transaction id, or NULL. Unused records have no address family. */
static const struct leat_ice_tid *find_tid(const struct leat_ice *ice, const uint8_t *tid)
{
    for (size_t i = 0; i < LEAT_ICE_TIDS_MAX; i++) {
        if (ice->tids[i].tuple.remote.family != LEAT_FAMILY_NONE &&
            memcmp(ice->tids[i].tid, tid, LEAT_STUN_TID_LEN) == 0) {
            return &ice->tids[i];
        }
    }
    return NULL;
}

enum leat_ice_verdict leat_ice_check(const struct leat_ice *ice, const struct leat_stun_msg *m,
                                     const struct leat_tuple *tuple, uint64_t now_us)
{
    if (m->method != METHOD_BINDING) {
        return LEAT_ICE_BAD_METHOD;
    }
    if (m->class_ != LEAT_STUN_REQUEST) {
        return LEAT_ICE_INDICATION;
    }
    const struct leat_ice_generation *g = find_generation(ice, m, now_us);
    if (g == NULL) {
        return LEAT_ICE_BAD_USERNAME;
    }
    if (!leat_stun_check_integrity(m, &g->key)) {
        return LEAT_ICE_BAD_INTEGRITY;
    }
    const struct leat_ice_tid *known = find_tid(ice, m->tid);
    if (known != NULL && !leat_tuple_equal(&known->tuple, tuple)) {
        return LEAT_ICE_REPLAYED;
    }
    return LEAT_ICE_OK;
}

static void record_tid(struct leat_ice *ice, const uint8_t *tid, const struct leat_tuple *tuple)
{
    struct leat_ice_tid *t = &ice->tids[ice->tid_at];
    memcpy(t->tid, tid, LEAT_STUN_TID_LEN);
    t->tuple = *tuple;
    ice->tid_at = (ice->tid_at + 1) % LEAT_ICE_TIDS_MAX;
}

/** Same addresses but for the remote's port. */
static bool is_rebound(const struct leat_tuple *a, const struct leat_tuple *b)
{
    struct leat_addr moved = a->remote;
    moved.port = b->remote.port;
    return leat_addr_equal(&a->local, &b->local) && leat_addr_equal(&moved, &b->remote);
}

/** N2 to N7, for a tuple t that is not selected. Its nominated_us is still that of the request
 * before. */
static bool takes_over(const struct leat_ice *ice, const struct leat_ice_tuple *t,
                       bool use_candidate, uint64_t now_us)
{
    const struct leat_ice_tuple *s = &ice->tuples[ice->selected];
    if (!use_candidate) {
        return t->nominated_us > s->nominated_us && now_us >= s->checked_us + SELECTED_ABANDONED_US;
    }
    return t->priority > s->priority ||
           (t->priority == s->priority && is_rebound(&t->tuple, &s->tuple)) ||
           (t->nominated_us != 0 && s->nominated_us <= t->nominated_us) ||
           now_us >= s->checked_us + SELECTED_LEFT_US;
}

static void end_restart(struct leat_ice *ice)
{
    ice->is_restarting = false;
    leat__ice_drop_generation(&ice->before);
}

/** What a success means for the tuple table, the selected tuple and the restart. */
static void note_success(struct leat_ice *ice, const struct leat_stun_msg *m,
                         const struct leat_tuple *tuple, bool is_new_generation, uint64_t now_us,
                         struct leat_ice_change *change)
{
    int at = leat__ice_find_tuple(ice, tuple);
    if (at < 0) {
        at = leat__ice_add_tuple(ice, tuple, change);
    }
    struct leat_ice_tuple *t = &ice->tuples[at];
    if (m->has_priority) {
        t->priority = m->priority;
    }
    bool ends_restart = m->use_candidate && ice->is_restarting && is_new_generation;
    if (at != ice->selected &&
        (!ice->is_nominated || ends_restart || takes_over(ice, t, m->use_candidate, now_us))) {
        ice->selected = at;
        change->selected_changed = true;
    }
    t->checked_us = now_us;
    ice->checked_us = now_us;
    if (m->use_candidate) {
        t->nominated_us = now_us;
        ice->is_nominated = true;
    }
    if (ends_restart) {
        end_restart(ice);
    }
}

/** Finish and send what was built in `room`. @return false when the sink has no room. */
static bool send_reply(struct leat_sink *out, struct leat_writer *w,
                       const struct leat_hmac_sha1 *key, const struct leat_tuple *tuple)
{
    size_t len = leat_stun_end(w, key);
    if (len == 0) {
        return false;
    }
    out->commit(out, len, tuple);
    return true;
}

/** A writer over the sink's room; without room it has failed from the start. */
static void begin_reply(struct leat_sink *out, struct leat_writer *w, enum leat_stun_class class_,
                        const struct leat_stun_msg *m)
{
    uint8_t *room = out->reserve(out, LEAT_STUN_REPLY_MAX);
    leat_writer_init(w, room, room != NULL ? LEAT_STUN_REPLY_MAX : 0);
    leat_stun_begin(w, class_, METHOD_BINDING, m->tid);
}

static void send_error(struct leat_ice *ice, const struct leat_stun_msg *m,
                       const struct leat_hmac_sha1 *key, const struct leat_tuple *tuple,
                       struct leat_sink *out)
{
    struct leat_writer w;
    begin_reply(out, &w, LEAT_STUN_ERROR, m);
    if (m->unknown_count != 0) {
        leat_stun_add_error(&w, 420, "Unknown Attribute");
        leat_stun_add_unknown(&w, m->unknown, m->unknown_count);
    } else {
        leat_stun_add_error(&w, 487, "Role Conflict");
    }
    if (send_reply(out, &w, key, tuple)) {
        ice->errors++;
    }
}

static void send_success(struct leat_ice *ice, const struct leat_stun_msg *m,
                         const struct leat_hmac_sha1 *key, const struct leat_tuple *tuple,
                         uint64_t now_us, struct leat_sink *out)
{
    struct leat_writer w;
    begin_reply(out, &w, LEAT_STUN_SUCCESS, m);
    leat_stun_add_xor_mapped(&w, &tuple->remote, m->tid);
    if (!send_reply(out, &w, key, tuple)) {
        return;
    }
    ice->responses++;
    if (ice->first_reply_us == 0) {
        ice->first_reply_us = now_us;
    }
}

void leat_ice_accept(struct leat_ice *ice, const struct leat_stun_msg *m,
                     const struct leat_tuple *tuple, uint64_t now_us, struct leat_sink *out,
                     struct leat_ice_change *change)
{
    *change = (struct leat_ice_change){0};
    const struct leat_ice_generation *g = find_generation(ice, m, now_us);
    if (g == NULL) {
        return;
    }
    ice->requests++;
    if (m->unknown_count != 0 || m->has_controlled) {
        send_error(ice, m, &g->key, tuple, out);
        return;
    }
    if (find_tid(ice, m->tid) == NULL) {
        record_tid(ice, m->tid, tuple);
        note_success(ice, m, tuple, g == &ice->now, now_us, change);
    }
    send_success(ice, m, &g->key, tuple, now_us, out);
}
