/* SPDX-License-Identifier: MIT */
/*
 * The way out: queues are emptied receiver by receiver, at most LEAT_SFU_CHUNK packets a call, so
 * that one keyframe to a thousand viewers does not keep the worker from its socket. Only here a
 * packet gets its numbers, its payload type and its extensions, and is protected. A receiver that
 * still has packets when the chunk is full stays first in line; one that is done leaves the line,
 * and the next burst starts with another receiver.
 */
#include "private.h"

void leat__sfu_withdraw(struct leat_sfu_sender *sender)
{
    struct leat_sfu_slot *slot = sender->slot;
    for (size_t i = 0; i < slot->queue_len; i++) {
        struct leat_sfu_queued *q = &slot->queue[(slot->queue_head + i) % LEAT_SFU_QUEUE];
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

static void send_one(struct leat_sfu *s, const struct leat_sfu_queued *q, uint64_t now_us,
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
        return;
    }
    if (leat_rewriter_map(&sender->rewriter, m->rtp.seq, m->rtp.timestamp, packet->arrived_us, &seq,
                          &timestamp) != LEAT_REWRITE_OK) {
        s->counters.rtp_late++;
        return;
    }
    uint8_t plain[LEAT_PACKET_MAX];
    size_t len = leat_route_compose(plain, sizeof plain, &m->rtp, octets, &m->exts, &sender->desc,
                                    sender->pts.to[m->rtp.pt], seq, timestamp);
    if (len == 0 ||
        leat_peer_send_rtp(sender->slot->peer, leat_span(plain, len), out) != LEAT_SRTP_OK) {
        sender->dropped++;
        return;
    }
    sender->packets++;
    sender->octets += m->rtp.payload_len;
    sender->last_sent_us = now_us;
    s->counters.rtp_out++;
}

bool leat_sfu_release(struct leat_sfu *s, uint64_t now_us, struct leat_sink *out)
{
    size_t left = LEAT_SFU_CHUNK;
    while (left > 0 && !leat_list_is_empty(&s->releasing)) {
        struct leat_sfu_slot *slot =
            LEAT_CONTAINER(s->releasing.next, struct leat_sfu_slot, release_node);
        while (left > 0 && slot->queue_len > 0) {
            struct leat_sfu_queued q = slot->queue[slot->queue_head];
            slot->queue_head = (slot->queue_head + 1) % LEAT_SFU_QUEUE;
            slot->queue_len--;
            if (q.packet != NULL) {
                send_one(s, &q, now_us, out);
                leat_packet_unref(q.packet);
                left--;
            }
        }
        if (slot->queue_len == 0) {
            leat_list_remove(&slot->release_node);
        }
    }
    return !leat_list_is_empty(&s->releasing);
}
