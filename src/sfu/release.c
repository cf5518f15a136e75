/* SPDX-License-Identifier: MIT */
/*
 * The way out: queues are emptied receiver by receiver, at most LEAT_SFU_CHUNK packets a call, so
 * that one keyframe to a thousand viewers does not keep the worker from its socket. Only here a
 * packet gets its numbers, its payload type and its extensions, and is protected. A receiver that
 * still has packets when the chunk is full stays first in line; one that is done leaves the line,
 * and the next burst starts with another receiver.
 *
 * Packets are protected in batches: each receiver's header is written into its place in the sink,
 * the payload is encrypted to behind it from the one plaintext that is stored.
 */
#include "private.h"

void leat__sfu_withdraw(struct leat_sfu_sender *sender)
{
    struct leat_sfu_slot *slot = sender->slot;
    for (size_t i = 0; i < slot->queue_len; i++) {
        struct leat_sfu_queued *q = &slot->queue[(slot->queue_head + i) & (slot->queue_cap - 1)];
        if (q->sender == sender) {
            leat_packet_unref(q->packet);
            q->packet = NULL;
            q->sender = NULL;
            sender->is_cut = true;
        }
    }
}

/**
 * A packet that this receiver gets nothing of: padding only, or of a payload type that it has no
 * number for. @return false when it must be sent all the same, empty, because its number cannot be
 * closed over.
 */
static bool skip(struct leat_sfu_sender *sender, const struct leat_rtp *p)
{
    bool is_unmapped = sender->pts.to[p->pt] == 0xff;
    if (!is_unmapped && p->payload_len > 0) {
        return false;
    }
    if (is_unmapped && p->payload_len > 0 && sender->desc.kind == LEAT_KIND_VIDEO) {
        sender->needs_keyframe = true;
    }
    return leat_rewriter_skip(&sender->rewriter, p->seq) || is_unmapped ||
           !sender->rewriter.has_source;
}

/** Packets on their way through the crypto layer, and whose they are. */
struct outgoing {
    struct leat_peer_batch batch;
    struct {
        struct leat_sfu_sender *sender;
        struct leat_packet *packet;
    } of[LEAT_SRTP_BATCH_MAX];
};

static void send_outgoing(struct leat_sfu *s, struct outgoing *o, uint64_t now_us,
                          struct leat_sink *out)
{
    leat_peer_batch_send(&o->batch, now_us, out);
    for (size_t i = 0; i < o->batch.count; i++) {
        struct leat_sfu_sender *sender = o->of[i].sender;
        if (o->batch.jobs[i].verdict == LEAT_SRTP_OK) {
            sender->packets++;
            sender->octets += o->batch.jobs[i].payload.len;
            sender->last_sent_us = now_us;
            s->counters.rtp_out++;
        } else {
            sender->dropped++;
        }
        leat_packet_unref(o->of[i].packet);
    }
    o->batch.count = 0;
}

/** Numbers, header and a place in the batch. @return false when the packet goes nowhere. */
static bool add(struct leat_sfu *s, struct outgoing *o, const struct leat_sfu_queued *q,
                struct leat_sink *out)
{
    struct leat_sfu_sender *sender = q->sender;
    struct leat_packet *packet = q->packet;
    const struct leat_sfu_media *m = leat__sfu_media(packet);
    struct leat_span octets = leat_span(leat__sfu_octets(packet), m->len);
    uint16_t seq;
    uint32_t timestamp;
    if (sender->rewriter_ssrc != m->rtp.ssrc || q->is_after_cut) {
        leat_rewriter_new_source(&sender->rewriter);
        sender->rewriter_ssrc = m->rtp.ssrc;
    }
    if (skip(sender, &m->rtp)) {
        return false;
    }
    if (leat_rewriter_map(&sender->rewriter, m->rtp.seq, m->rtp.timestamp, packet->arrived_us, &seq,
                          &timestamp) != LEAT_REWRITE_OK) {
        s->counters.rtp_late++;
        return false;
    }
    struct leat_span payload = leat_route_payload(&m->rtp, octets);
    size_t header_cap = LEAT_PACKET_MAX - LEAT_SRTP_TRAILER_MAX - payload.len;
    uint8_t *room =
        leat_peer_batch_room(&o->batch, sender->slot->peer, header_cap + payload.len, out);
    size_t header_len =
        room != NULL ? leat_route_header(room, header_cap, &m->rtp, octets, &m->exts, &sender->desc,
                                         sender->pts.to[m->rtp.pt], seq, timestamp)
                     : 0;
    if (header_len == 0) {
        sender->dropped++;
        return false;
    }
    o->of[o->batch.count].sender = sender;
    o->of[o->batch.count].packet = packet;
    leat_peer_batch_add(&o->batch, header_len, payload);
    return true;
}

/** The oldest packet of a receiver's queue. @return how many of the chunk it takes. */
static size_t take(struct leat_sfu *s, struct outgoing *o, struct leat_sfu_slot *slot,
                   uint64_t now_us, struct leat_sink *out)
{
    struct leat_sfu_queued q = slot->queue[slot->queue_head];
    slot->queue_head = (slot->queue_head + 1) & (slot->queue_cap - 1);
    slot->queue_len--;
    if (q.packet == NULL) {
        return 0;
    }
    if (!add(s, o, &q, out)) {
        leat_packet_unref(q.packet);
    } else if (o->batch.count == LEAT_SRTP_BATCH_MAX) {
        send_outgoing(s, o, now_us, out);
    }
    return 1;
}

bool leat_sfu_release(struct leat_sfu *s, uint64_t now_us, struct leat_sink *out)
{
    struct outgoing outgoing;
    size_t left = LEAT_SFU_CHUNK;
    outgoing.batch.count = 0;
    while (left > 0 && !leat_list_is_empty(&s->releasing)) {
        struct leat_sfu_slot *slot =
            LEAT_CONTAINER(s->releasing.next, struct leat_sfu_slot, release_node);
        while (left > 0 && slot->queue_len > 0) {
            left -= take(s, &outgoing, slot, now_us, out);
        }
        if (slot->queue_len == 0) {
            leat_list_remove(&slot->release_node);
        }
    }
    send_outgoing(s, &outgoing, now_us, out);
    return !leat_list_is_empty(&s->releasing);
}
