/* SPDX-License-Identifier: MIT */
/*
 * A media packet from the wire to its receivers' queues: open, parse once, find its track, store
 * one plaintext copy, and append a reference to it for every sender that a route feeds. Numbers are
 * not touched here: that happens at release, so that what never leaves leaves no hole.
 *
 * The track of an SSRC is what the negotiation declared, else what the MID extension of a packet
 * says, else the only track that knows the payload type (RFC 8843 9.2). A packet that fits none is
 * counted and dropped. A track forwards one SSRC at a time; another one takes over when the running
 * one has been silent for SOURCE_SILENT_US, as after a publisher's restart.
 */
#include <stdlib.h>

#include "private.h"

#define SOURCE_SILENT_US 500000u

void leat__sfu_track_state(struct leat_sfu *s, struct leat_sfu_track *t,
                           enum leat_track_state state)
{
    if (t->state == state) {
        return;
    }
    t->state = state;
    struct leat_sfu_event *e = leat__sfu_event_add(s, LEAT_EVENT_TRACK_STATE, t->slot->handle);
    if (e != NULL) {
        memcpy(e->mid, t->desc.mid, sizeof e->mid);
        e->track_state = state;
    }
    leat__sfu_route_states_of(s, t);
}

struct leat_sfu_source *leat__sfu_source_add(struct leat_sfu_track *t, uint32_t ssrc)
{
    size_t at = t->source_count;
    if (at < LEAT_ENCODINGS_MAX) {
        t->source_count++;
    } else {
        at = t->active == 0 ? 1 : 0; /* what is forwarded now stays, whatever else comes */
        for (size_t i = at + 1; i < LEAT_ENCODINGS_MAX; i++) {
            if (t->active != (int)i && t->sources[i].last_us < t->sources[at].last_us) {
                at = i;
            }
        }
    }
    struct leat_sfu_source *source = &t->sources[at];
    memset(source, 0, sizeof *source);
    source->ssrc = ssrc;
    leat_rtp_receiver_init(&source->rx,
                           t->desc.codec_count > 0 ? t->desc.codecs[0].clock_hz : 90000);
    return source;
}

const struct leat_codec *leat__sfu_codec(const struct leat_media_desc *d, uint8_t pt)
{
    for (size_t i = 0; i < d->codec_count; i++) {
        if (d->codecs[i].pt == pt) {
            return &d->codecs[i];
        }
    }
    return NULL;
}

/** The track that a packet of an SSRC not met before belongs to; NULL when nothing says so. */
static struct leat_sfu_track *learn_track(const struct leat_sfu_slot *slot,
                                          const struct leat_rtp *p, struct leat_span packet)
{
    struct leat_sfu_track *by_payload = NULL;
    size_t candidates = 0;
    bool has_mid = false;
    for (size_t i = 0; i < slot->track_count; i++) {
        struct leat_sfu_track *t = slot->tracks[i];
        struct leat_span mid;
        uint8_t id = t->desc.exts.ids[LEAT_EXT_MID];
        if (id != 0 && leat_rtp_find_ext(p, packet, id, &mid)) {
            if (leat_span_equal(mid, leat_span_str(t->desc.mid))) {
                return t;
            }
            has_mid = true; /* of a section that is not here: the packet is nobody's */
        }
        if (leat__sfu_codec(&t->desc, p->pt) != NULL) {
            by_payload = t;
            candidates++;
        }
    }
    return candidates == 1 && !has_mid ? by_payload : NULL;
}

static struct leat_sfu_source *find_source(struct leat_sfu_slot *slot, const struct leat_rtp *p,
                                           struct leat_span packet, struct leat_sfu_track **track)
{
    const struct leat_sfu_ssrc *e = leat__sfu_ssrc_entry(slot, p->ssrc);
    if (e == NULL || !e->is_used) {
        struct leat_sfu_track *t = learn_track(slot, p, packet);
        if (t == NULL || leat__sfu_source_add(t, p->ssrc) == NULL) {
            return NULL;
        }
        leat__sfu_ssrcs_rebuild(slot);
        e = leat__sfu_ssrc_entry(slot, p->ssrc);
        if (e == NULL || !e->is_used) {
            return NULL;
        }
    }
    *track = slot->tracks[e->track];
    return &(*track)->sources[e->source];
}

/** Whether packets of this source are the ones that the track forwards now. */
static bool is_forwarded(struct leat_sfu_track *t, struct leat_sfu_source *source, uint64_t now_us)
{
    int index = (int)(source - t->sources);
    if (t->active == index) {
        return true;
    }
    if (t->active >= 0 && now_us - t->sources[t->active].last_us < SOURCE_SILENT_US) {
        return false;
    }
    t->active = index;
    return true;
}

/** A sender that changes its source waits for a keyframe of it, when it carries video. */
static void follow_source(struct leat_sfu_sender *sender, const struct leat_rtp *p)
{
    if (sender->has_source && sender->source_ssrc == p->ssrc) {
        return;
    }
    sender->has_source = true;
    sender->source_ssrc = p->ssrc;
    sender->needs_keyframe = sender->desc.kind == LEAT_KIND_VIDEO;
    const struct leat_codec *codec = leat__sfu_codec(&sender->desc, sender->pts.to[p->pt]);
    if (codec != NULL) {
        sender->rewriter.clock_hz = codec->clock_hz;
    }
}

/** A packet that does not go to this receiver: what follows takes its number, and video goes on at
 * a keyframe. */
static void hold_back(struct leat_sfu_sender *sender)
{
    sender->is_cut = true;
    sender->needs_keyframe = sender->desc.kind == LEAT_KIND_VIDEO;
}

/** Whether the sender takes packets now. */
static bool is_open(const struct leat_sfu_sender *sender)
{
    return !sender->is_paused && sender->desc.is_active &&
           leat_peer_state_of(sender->slot->peer) == LEAT_PEER_CONNECTED;
}

/** Twice the room, in order from its start. @return false when it is as large as it gets, or memory
 * is out. */
static bool grow_queue(struct leat_sfu_slot *slot)
{
    size_t cap = 2 * slot->queue_cap;
    struct leat_sfu_queued *larger = cap <= LEAT_SFU_QUEUE ? calloc(cap, sizeof *larger) : NULL;
    if (larger == NULL) {
        return false;
    }
    for (size_t i = 0; i < slot->queue_len; i++) {
        larger[i] = slot->queue[(slot->queue_head + i) & (slot->queue_cap - 1)];
    }
    free(slot->queue);
    slot->queue = larger;
    slot->queue_head = 0;
    slot->queue_cap = cap;
    return true;
}

static void push(struct leat_sfu *s, struct leat_sfu_sender *sender, struct leat_packet *packet)
{
    struct leat_sfu_slot *slot = sender->slot;
    if (slot->queue_len == slot->queue_cap && !grow_queue(slot)) {
        sender->dropped++;
        s->counters.queue_dropped++;
        hold_back(sender);
        leat__sfu_route_state(s, sender, "");
        return;
    }
    slot->queue[(slot->queue_head + slot->queue_len) & (slot->queue_cap - 1)] =
        (struct leat_sfu_queued){leat_packet_ref(packet), sender, sender->is_cut};
    slot->queue_len++;
    sender->is_cut = false;
    if (leat_list_is_empty(&slot->release_node)) {
        leat_list_add_tail(&s->releasing, &slot->release_node);
    }
}

/** Padding only, or a payload type that the receiver has no number for: it goes through the queue
 * so that its number is closed over in its turn. */
static void enqueue_skipped(struct leat_sfu *s, struct leat_sfu_sender *sender,
                            struct leat_packet *packet)
{
    const struct leat_rtp *p = &leat__sfu_media(packet)->rtp;
    if (p->payload_len > 0) {
        sender->unmapped++;
        s->counters.rtp_unmapped++;
    }
    if (sender->has_source && sender->source_ssrc == p->ssrc && !sender->is_cut) {
        push(s, sender, packet);
    }
}

static void enqueue(struct leat_sfu *s, struct leat_sfu_sender *sender, struct leat_packet *packet,
                    uint64_t now_us, struct leat_sink *out)
{
    const struct leat_sfu_media *m = leat__sfu_media(packet);
    if (!is_open(sender)) {
        s->counters.rtp_paused++;
        hold_back(sender);
        return;
    }
    if (m->rtp.payload_len == 0 || sender->pts.to[m->rtp.pt] == 0xff) {
        enqueue_skipped(s, sender, packet);
        return;
    }
    follow_source(sender, &m->rtp);
    if (sender->needs_keyframe && !m->is_keyframe_start) {
        s->counters.rtp_waiting_keyframe++;
        hold_back(sender);
        leat__sfu_route_state(s, sender, ""); /* its source may have changed in the middle */
        if (leat_keyframe_deadline(&sender->track->keyframes) == LEAT_NEVER) {
            (void)leat__sfu_want_keyframe(s, sender->track, now_us, out);
        }
        return;
    }
    bool was_waiting = sender->needs_keyframe || !sender->is_flowing;
    sender->needs_keyframe = false;
    sender->is_flowing = true;
    if (was_waiting) {
        leat__sfu_route_state(s, sender, "");
    }
    push(s, sender, packet);
}

/** One plaintext copy serves every receiver. */
static struct leat_packet *store(struct leat_sfu *s, const struct leat_sfu_track *t,
                                 const struct leat_rtp *p, struct leat_span packet, uint64_t now_us,
                                 bool is_keyframe_start)
{
    struct leat_packet *stored = leat_pool_get(&s->pool);
    if (stored == NULL) {
        return NULL;
    }
    struct leat_sfu_media *m = leat__sfu_media(stored);
    m->rtp = *p;
    m->exts = t->desc.exts;
    m->is_keyframe_start = is_keyframe_start;
    m->len = (uint16_t)packet.len;
    memcpy(leat__sfu_octets(stored), packet.data, packet.len);
    stored->len = (uint16_t)(LEAT_SFU_HEADROOM + packet.len);
    stored->arrived_us = now_us;
    return stored;
}

static void forward(struct leat_sfu *s, struct leat_sfu_track *t, const struct leat_rtp *p,
                    struct leat_span packet, bool is_keyframe_start, uint64_t now_us,
                    struct leat_sink *out)
{
    if (t->receiver_count == 0) {
        return;
    }
    struct leat_packet *stored = store(s, t, p, packet, now_us, is_keyframe_start);
    if (stored == NULL) {
        return; /* the pool counts it */
    }
    for (size_t i = 0; i < t->receiver_count; i++) {
        enqueue(s, t->receivers[(t->receiver_first + i) % t->receiver_count], stored, now_us, out);
    }
    leat_packet_unref(stored);
    t->receiver_first = (t->receiver_first + 1) % t->receiver_count;
}

static void account(struct leat_sfu_source *source, const struct leat_codec *codec,
                    const struct leat_rtp *p, size_t len, uint64_t now_us)
{
    source->last_us = now_us;
    source->pt = p->pt;
    source->payload_octets += p->payload_len;
    if (!source->rx.is_started) {
        source->rx.clock_hz = codec->clock_hz; /* a sender report may have come before */
    }
    leat_rtp_receiver_add(&source->rx, p->seq, p->timestamp, len, now_us);
    source->last_timestamp = p->timestamp;
}

void leat__sfu_receive_rtp(struct leat_sfu *s, struct leat_sfu_slot *slot, struct leat_datagram *d,
                           uint64_t now_us, struct leat_sink *out)
{
    size_t len = d->len;
    if (leat_peer_unprotect(slot->peer, d->data, &len, &d->tuple, now_us, false) != LEAT_SRTP_OK) {
        return;
    }
    struct leat_rtp p;
    struct leat_span packet = leat_span(d->data, len);
    s->counters.rtp_in++;
    if (len > LEAT_SFU_RTP_MAX || !leat_rtp_parse(&p, packet)) {
        s->counters.rtp_malformed++;
        return;
    }
    struct leat_sfu_track *t = NULL;
    struct leat_sfu_source *source = find_source(slot, &p, packet, &t);
    if (source == NULL) {
        s->counters.rtp_unknown_ssrc++;
        return;
    }
    const struct leat_codec *codec = leat__sfu_codec(&t->desc, p.pt);
    if (codec == NULL || !t->desc.is_active) {
        source->discarded++;
        bool is_missed = t->active == (int)(source - t->sources); /* by those who watch it */
        for (size_t i = 0; is_missed && i < t->receiver_count; i++) {
            hold_back(t->receivers[i]);
        }
        return;
    }
    bool is_used = is_forwarded(t, source, now_us);
    account(source, codec, &p, len, now_us);
    leat__sfu_track_state(s, t, LEAT_TRACK_LIVE);
    if (!is_used) {
        source->discarded++;
        return;
    }
    s->counters.rtp_padding_only += p.payload_len == 0 ? 1 : 0;
    struct leat_payload_info info =
        leat_payload_inspect(codec->name, leat_span(packet.data + p.payload_offset, p.payload_len));
    if (info.is_keyframe_start && t->desc.kind == LEAT_KIND_VIDEO) {
        source->keyframes++;
        leat_keyframe_seen(&t->keyframes);
    }
    forward(s, t, &p, packet, info.is_keyframe_start, now_us, out);
}
