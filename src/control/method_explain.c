/* SPDX-License-Identifier: MIT */
/*
 * route.explain: walks source -> track -> route -> sender -> receiver over the facts that the
 * worker found and names the first hop that fails, in one word and one sentence.
 */
#include "private.h"

#include <stdio.h>

#define QUIET_US 2000000u     /**< a source that sent nothing for so long is silent */
#define DROPS_PER_MILLE 10u   /**< of the packets for one receiver */
#define LOSSY 0.1             /**< of the receiver's last report */
#define MANY_KEYFRAME_ASKS 3u /**< in the last ten seconds */

enum hop { HOP_SOURCE, HOP_TRACK, HOP_ROUTE, HOP_SENDER, HOP_RECEIVER, HOP_COUNT };

static const char *const hop_names[HOP_COUNT] = {"source", "track", "route", "sender", "receiver"};

struct verdict {
    const char *word, *sentence;
    enum hop hop; /**< HOP_COUNT: none fails */
};

struct question {
    char from_id[LEAT_ID_MAX + 1], from_mid[LEAT_MID_MAX + 1];
    char to_id[LEAT_ID_MAX + 1], to_mid[LEAT_MID_MAX + 1];
    struct leat_explain facts;
};

static struct question *question_of(struct leat__control_request *r)
{
    return (struct question *)(void *)r->payload;
}

static struct verdict judge_source(const struct leat_explain *x, uint64_t now_us)
{
    bool is_silent = x->source_packets == 0 ||
                     (now_us > x->source_last_us && now_us - x->source_last_us > QUIET_US);
    if (!x->has_source) {
        return (struct verdict){"no_packets", "The source peer or its section is gone.",
                                HOP_SOURCE};
    }
    if (x->from_state == LEAT_PEER_NEW) {
        return (struct verdict){"no_consent",
                                "The source has not passed an ICE check yet: nothing of it has "
                                "reached leatd, or its checks do not carry our credentials.",
                                HOP_SOURCE};
    }
    if (x->from_state == LEAT_PEER_CONNECTING) {
        return (struct verdict){"no_keys", "The source's DTLS handshake is not over.", HOP_SOURCE};
    }
    if (!x->track_active) {
        return (struct verdict){"section_inactive",
                                "The source's section is inactive: it does not send now.",
                                HOP_TRACK};
    }
    if (is_silent && x->source_auth_fail > 0 && x->source_packets == 0) {
        return (struct verdict){"undecryptable",
                                "Packets arrive from the source but none can be decrypted.",
                                HOP_TRACK};
    }
    if (is_silent) {
        return (struct verdict){"no_packets", "No packets arrive on the source's track.",
                                HOP_TRACK};
    }
    return (struct verdict){"ok", "", HOP_COUNT};
}

static struct verdict judge_route(const struct leat_explain *x)
{
    if (x->is_paused) {
        return (struct verdict){"paused", "The route is paused.", HOP_ROUTE};
    }
    if (!x->sender_active) {
        return (struct verdict){"section_inactive",
                                "The receiver's section is inactive: it does not take media now.",
                                HOP_SENDER};
    }
    if (x->to_state == LEAT_PEER_NEW) {
        return (struct verdict){"no_consent",
                                "The receiver has not passed an ICE check yet: nothing of it has "
                                "reached leatd, or its checks do not carry our credentials.",
                                HOP_RECEIVER};
    }
    if (x->to_state == LEAT_PEER_CONNECTING) {
        return (struct verdict){"no_keys", "The receiver's DTLS handshake is not over.",
                                HOP_RECEIVER};
    }
    if (x->unmapped_payload > x->forwarded) {
        return (struct verdict){"codec_mismatch",
                                "The source sends a codec that the receiver did not negotiate.",
                                HOP_ROUTE};
    }
    if (x->waits_for_keyframe) {
        return (struct verdict){
            "no_keyframe", "The route waits for a keyframe; it has been asked for.", HOP_ROUTE};
    }
    return (struct verdict){"ok", "", HOP_COUNT};
}

static struct verdict judge_receiver(const struct leat_explain *x)
{
    if (x->dropped * 1000 > (x->forwarded + x->dropped) * DROPS_PER_MILLE) {
        return (struct verdict){"queue_drops",
                                "leatd drops packets for this receiver before they are sent.",
                                HOP_SENDER};
    }
    if (x->fraction_lost > LOSSY) {
        return (struct verdict){"receiver_lossy",
                                "The receiver reports that it loses many of the packets.",
                                HOP_RECEIVER};
    }
    if (x->receiver_pli_recent >= MANY_KEYFRAME_ASKS) {
        return (struct verdict){"receiver_asks_keyframes",
                                "The receiver keeps asking for keyframes: it cannot decode what "
                                "it gets.",
                                HOP_RECEIVER};
    }
    return (struct verdict){"ok", "Media flows.", HOP_COUNT};
}

static struct verdict judge(const struct leat_explain *x, uint64_t now_us)
{
    if (!x->has_route) {
        return (struct verdict){"no_route", "Nothing is routed to this sender.", HOP_ROUTE};
    }
    struct verdict v = judge_source(x, now_us);
    if (v.hop == HOP_COUNT) {
        v = judge_route(x);
    }
    return v.hop == HOP_COUNT ? judge_receiver(x) : v;
}

static void put_hop_facts(struct leat_json_writer *w, enum hop hop, const struct question *q,
                          const struct leat_control *c)
{
    const struct leat_explain *x = &q->facts;
    switch (hop) {
    case HOP_SOURCE:
        leat_json_put_text(w, "peer", q->from_id);
        leat_json_put_text(w, "state", x->has_source ? leat_peer_state_text(x->from_state) : "");
        leat_json_put_u64(w, "undecryptable", x->source_auth_fail);
        break;
    case HOP_TRACK:
        leat_json_put_text(w, "peer", q->from_id);
        leat_json_put_text(w, "mid", q->from_mid);
        leat_json_put_bool(w, "active", x->track_active);
        leat_json_put_u64(w, "packets", x->source_packets);
        leat_json_put_u64(w, "last_packet_us", leat__control_since_start(c, x->source_last_us));
        leat_json_put_u64(w, "keyframe_requests", x->keyframe_requests);
        break;
    case HOP_ROUTE:
        leat_json_put_bool(w, "set", x->has_route);
        leat_json_put_bool(w, "paused", x->is_paused);
        leat_json_put_bool(w, "waits_for_keyframe", x->waits_for_keyframe);
        leat_json_put_u64(w, "unmapped_payload", x->unmapped_payload);
        break;
    case HOP_SENDER:
        leat_json_put_text(w, "peer", q->to_id);
        leat_json_put_text(w, "mid", q->to_mid);
        leat_json_put_bool(w, "active", x->sender_active);
        leat_json_put_u64(w, "forwarded", x->forwarded);
        leat_json_put_u64(w, "dropped", x->dropped);
        break;
    case HOP_RECEIVER:
    case HOP_COUNT:
        leat_json_put_text(w, "peer", q->to_id);
        leat_json_put_text(w, "state", leat_peer_state_text(x->to_state));
        leat_json_write_key(w, "fraction_lost");
        if (x->fraction_lost >= 0) {
            leat_json_write_double(w, x->fraction_lost);
        } else {
            leat_json_write_null(w);
        }
        leat_json_put_u64(w, "pli", x->receiver_pli);
        leat_json_put_u64(w, "fir", x->receiver_fir);
        leat_json_put_u64(w, "pli_last_10_s", x->receiver_pli_recent);
        break;
    }
}

/** Of the cipher that media goes through. */
static const char *provider(enum leat_srtp_profile profile)
{
    const char *primitive = profile == LEAT_SRTP_AEAD_AES_128_GCM   ? "aes-128-gcm-batch"
                            : profile == LEAT_SRTP_AEAD_AES_256_GCM ? "aes-256-gcm-batch"
                                                                    : "aes-128-ctr-batch";
    struct leat_crypto_row row;
    for (size_t i = 0; leat_crypto_describe(i, &row); i++) {
        if (strcmp(row.primitive, primitive) == 0) {
            return row.provider;
        }
    }
    return "";
}

static void finish(struct leat__control_call *call, struct leat__control_request *r)
{
    struct question *q = question_of(r);
    struct leat_json_writer *w = &call->c->out;
    if (r->error != 0) {
        leat__control_fault_error(&call->fault, r->error, "explaining the route");
        return;
    }
    struct verdict v = judge(&q->facts, call->now_us);
    leat_json_open(w, '{');
    leat_json_put_text(w, "verdict", v.word);
    leat_json_put_text(w, "sentence", v.sentence);
    leat_json_write_key(w, "hops");
    leat_json_open(w, '[');
    for (int hop = q->facts.has_route ? HOP_SOURCE : HOP_ROUTE; hop < HOP_COUNT; hop++) {
        leat_json_open(w, '{');
        leat_json_put_text(w, "hop", hop_names[hop]);
        leat_json_put_bool(w, "ok", hop != (int)v.hop);
        put_hop_facts(w, (enum hop)hop, q, call->c);
        leat_json_close(w, '}');
    }
    leat_json_close(w, ']');
    leat_json_write_key(w, "path");
    leat_json_open(w, '{');
    leat_json_put_text(w, "provider", provider(q->facts.profile));
    leat_json_put_text(w, "srtp_profile", leat_srtp_profile_text(q->facts.profile));
    leat_json_close(w, '}');
    leat_json_close(w, '}');
}

static void collect(struct leat__control_request *r, struct leat_command *command)
{
    question_of(r)->facts = command->explain;
}

void leat__control_route_explain(struct leat__control_call *call)
{
    struct leat__control_params to;
    ptrdiff_t at;
    if (!leat__control_params_object(&call->params, "to", true, &to)) {
        return;
    }
    leat__control_params_known(&to, "peer mid");
    const struct leat__control_peer *p = leat__control_read_end(call->c, &to, true, &at);
    if (!p || call->fault.code != LEAT__RPC_NONE) {
        return;
    }
    struct leat__control_request *r =
        leat__control_request_new(call, sizeof(struct question), finish);
    struct leat_command *command =
        r ? leat__control_command(call, LEAT_COMMAND_EXPLAIN, p->handle) : NULL;
    if (!command) {
        leat__control_request_free(r);
        return;
    }
    const struct leat__control_link *link = leat__control_link_of(&p->sections[at]);
    struct question *q = question_of(r);
    memcpy(q->to_id, p->id, sizeof(q->to_id));
    memcpy(q->to_mid, p->sdp.sections[at].mid, sizeof(q->to_mid));
    memcpy(q->from_id, link->from_id, sizeof(q->from_id));
    memcpy(q->from_mid, link->from_mid, sizeof(q->from_mid));
    memcpy(command->mid, q->to_mid, sizeof(command->mid));
    r->collect = collect;
    leat__control_request_post(call->c, r, p->worker, command);
    leat__control_request_commit(call, r);
}
