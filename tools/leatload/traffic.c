/* SPDX-License-Identifier: MIT */
/*
 * Media and RTCP while the call runs. Publishers send by their pace and a sender report a second;
 * subscribers check every packet and send receiver reports; a PLI or FIR makes a publisher's next
 * frame a keyframe.
 */
#include "call.h"

#define BURST_MAX 64 /* packets of one sender a turn: then the sockets are read */
#define REPORT_US 1000000u
#define PLAIN_MAX 1500

struct leat_load_member *leat_load_publisher(const struct leat_load_call *call, size_t index)
{
    return &call->members[index];
}

struct leat_load_member *leat_load_subscriber(const struct leat_load_call *call, size_t index)
{
    return &call->members[call->options->publishers + index];
}

/* ---- in ---- */

static struct leat_load_stream *stream_of(struct leat_load_member *m, uint32_t ssrc)
{
    for (size_t i = 0; !m->is_publisher && i < m->count; i++) {
        if (m->ssrcs[i] == ssrc) {
            return &m->streams[i];
        }
    }
    return NULL;
}

static void take_rtp(struct leat_load_call *call, struct leat_load_member *m,
                     struct leat_span packet, uint64_t now_us)
{
    struct leat_rtp p;
    struct leat_load_stamp stamp;
    if (!leat_rtp_parse(&p, packet)) {
        m->malformed++;
        return;
    }
    struct leat_load_stream *s = stream_of(m, p.ssrc);
    if (s == NULL) {
        m->unknown_ssrc++;
        return;
    }
    if (!m->has_media) {
        uint64_t ready_us = m->client.connected_us > call->media_start_us ? m->client.connected_us
                                                                          : call->media_start_us;
        m->has_media = true;
        leat_hist_add(&call->result.first_media_us, now_us - ready_us);
    }
    call->result.octets_received += packet.len;
    enum leat_load_fate fate = leat_load_stream_take(s, &p, packet, now_us, &stamp);
    if (fate == LEAT_LOAD_RIGHT || fate == LEAT_LOAD_REORDERED) {
        call->result.received++;
        leat_hist_add(&call->result.delay_us, now_us > stamp.sent_us ? now_us - stamp.sent_us : 0);
    }
}

static void want_keyframe(struct leat_load_member *m, uint32_t ssrc)
{
    for (size_t i = 0; m->is_publisher && i < m->count; i++) {
        if (m->senders[i].ssrc == ssrc) {
            m->senders[i].wants_keyframe = true;
            m->keyframe_requests++;
        }
    }
}

static void take_feedback(struct leat_load_member *m, const struct leat_rtcp *p)
{
    uint32_t ssrc;
    uint8_t seq_nr;
    size_t cursor = 0;
    if (p->count_or_fmt == LEAT_PSFB_PLI && leat_rtcp_read_pli(p, &ssrc)) {
        want_keyframe(m, ssrc);
    } else if (p->count_or_fmt == LEAT_PSFB_FIR) {
        while (leat_rtcp_read_fir(p, &cursor, &ssrc, &seq_nr)) {
            want_keyframe(m, ssrc);
        }
    }
}

static void take_rtcp(struct leat_load_member *m, struct leat_span datagram, uint64_t now_us)
{
    struct leat_reader r;
    struct leat_rtcp p;
    leat_reader_init(&r, datagram.data, datagram.len);
    while (leat_rtcp_next(&r, &p)) {
        struct leat_rtcp_sender_info info;
        if (p.type == LEAT_RTCP_PSFB) {
            take_feedback(m, &p);
        } else if (p.type == LEAT_RTCP_SR && leat_rtcp_read_sender_info(&p, &info)) {
            struct leat_load_stream *s = stream_of(m, p.ssrc);
            if (s != NULL) {
                leat_rtp_receiver_sr(&s->rx, info.ntp, now_us);
            }
        }
    }
    m->malformed += r.failed ? 1 : 0;
}

void leat_load_traffic_take(struct leat_load_call *call, struct leat_load_member *m, uint8_t *data,
                            size_t len, bool is_rtcp, uint64_t now_us)
{
    if (is_rtcp) {
        take_rtcp(m, leat_span(data, len), now_us);
    } else {
        take_rtp(call, m, leat_span(data, len), now_us);
    }
}

/* ---- out ---- */

static void send_sender_reports(const struct leat_load_call *call, struct leat_load_member *m,
                                uint64_t now_us)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct leat_load_sender *s = &m->senders[i];
        uint8_t octets[128];
        struct leat_writer w;
        struct leat_rtcp_sender_info info = {
            .ntp = leat_ntp_from_unix_us(leat_unix_us()),
            .rtp_timestamp = leat_load_sender_timestamp(s, now_us),
            .packets = s->counter,
            .octets = (uint32_t)(s->counter * (s->size - LEAT_RTP_HEADER_MIN)),
        };
        leat_writer_init(&w, octets, sizeof octets);
        leat_rtcp_write_sr(&w, s->ssrc, &info, NULL, 0);
        leat_rtcp_write_sdes_cname(&w, s->ssrc, call->group);
        if (!w.failed) {
            (void)leat_client_send_rtcp(&m->client, leat_span(octets, leat_writer_len(&w)), m->out);
        }
    }
}

static void send_receiver_reports(const struct leat_load_call *call, struct leat_load_member *m,
                                  uint64_t now_us)
{
    for (size_t at = 0; at < m->count;) {
        struct leat_rtcp_block blocks[LEAT_RTCP_BLOCKS_MAX];
        uint8_t octets[1024];
        struct leat_writer w;
        size_t count = 0;
        for (; at < m->count && count < LEAT_RTCP_BLOCKS_MAX; at++) {
            struct leat_load_stream *s = &m->streams[at];
            if (s->is_started) {
                leat_rtp_receiver_report(&s->rx, s->ssrc, now_us, &blocks[count++]);
            }
        }
        leat_writer_init(&w, octets, sizeof octets);
        leat_rtcp_write_rr(&w, m->rtcp_ssrc, blocks, count);
        leat_rtcp_write_sdes_cname(&w, m->rtcp_ssrc, call->group);
        if (count != 0 && !w.failed) {
            (void)leat_client_send_rtcp(&m->client, leat_span(octets, leat_writer_len(&w)), m->out);
        }
    }
}

/** Each member once a second, spread evenly over it. */
static uint64_t send_reports(struct leat_load_call *call, uint64_t now_us)
{
    uint64_t interval_us = REPORT_US / call->count + 1;
    for (size_t i = 0; i < call->count; i++) {
        uint64_t due_us = call->media_start_us + (call->reports_sent + 1) * interval_us;
        if (due_us > now_us) {
            return due_us;
        }
        struct leat_load_member *m = &call->members[call->reports_sent++ % call->count];
        if (m->state == LEAT_LOAD_CONNECTED && m->is_publisher) {
            send_sender_reports(call, m, now_us);
        } else if (m->state == LEAT_LOAD_CONNECTED) {
            send_receiver_reports(call, m, now_us);
        }
    }
    return now_us;
}

/** @return when the next packet is due. */
static uint64_t send_stream(struct leat_load_call *call, struct leat_load_member *m,
                            struct leat_load_sender *s, uint64_t now_us)
{
    uint8_t plain[PLAIN_MAX];
    leat_load_sender_catch_up(s, now_us);
    for (int i = 0; i < BURST_MAX && leat_load_sender_due(s) <= now_us; i++) {
        size_t len = leat_load_sender_make(s, leat_now_us(), plain, sizeof plain);
        call->result.octets_sent += len;
        (void)leat_client_send_rtp(&m->client, leat_span(plain, len), m->out);
    }
    return leat_load_sender_due(s);
}

void leat_load_traffic_start(struct leat_load_call *call, uint64_t now_us)
{
    const struct leat_load_options *o = call->options;
    call->media_start_us = now_us;
    for (size_t i = 0; i < o->publishers; i++) {
        struct leat_load_member *m = leat_load_publisher(call, i);
        for (size_t k = 0; k < m->count; k++) { /* spread, not all in one instant */
            struct leat_load_sender *s = &m->senders[k];
            s->start_us = now_us + s->interval_ns / 1000 * i / o->publishers;
        }
    }
}

uint64_t leat_load_traffic_send(struct leat_load_call *call, uint64_t now_us)
{
    uint64_t next_us = send_reports(call, now_us);
    for (size_t i = 0; i < call->options->publishers; i++) {
        struct leat_load_member *m = leat_load_publisher(call, i);
        for (size_t k = 0; m->state == LEAT_LOAD_CONNECTED && k < m->count; k++) {
            uint64_t due_us = send_stream(call, m, &m->senders[k], now_us);
            next_us = due_us < next_us ? due_us : next_us;
        }
    }
    return next_us;
}

/* ---- result ---- */

static void count_publisher(struct leat_load_result *r, const struct leat_load_member *m)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct leat_load_sender *s = &m->senders[i];
        r->sent += s->counter;
        r->keyframes += s->kind == LEAT_KIND_VIDEO ? s->keyframes : 0;
        r->behind_us = s->behind_us > r->behind_us ? s->behind_us : r->behind_us;
    }
    r->keyframe_requests += m->keyframe_requests;
}

static void count_subscriber(struct leat_load_result *r, const struct leat_load_member *m)
{
    bool is_expected = m->state == LEAT_LOAD_CONNECTED || m->state == LEAT_LOAD_ENDED_EARLY;
    for (size_t i = 0; is_expected && i < m->count; i++) {
        const struct leat_load_stream *s = &m->streams[i];
        r->expected += s->from->counter;
        r->lost += leat_load_stream_lost(s);
        for (size_t fate = 0; fate < LEAT_LOAD_FATES; fate++) {
            r->fates[fate] += s->fates[fate];
        }
    }
}

void leat_load_traffic_result(struct leat_load_call *call)
{
    struct leat_load_result *r = &call->result;
    for (size_t i = 0; i < call->count; i++) {
        const struct leat_load_member *m = &call->members[i];
        r->connected += m->state == LEAT_LOAD_CONNECTED || m->state == LEAT_LOAD_ENDED_EARLY;
        r->ended_early += m->state == LEAT_LOAD_ENDED_EARLY;
        r->undecryptable += m->malformed + (m->has_client ? m->client.counters.bad_in : 0);
        r->unknown_ssrc += m->unknown_ssrc;
        if (m->is_publisher) {
            count_publisher(r, m);
        } else {
            count_subscriber(r, m);
        }
    }
    r->not_connected = call->count - r->connected;
    r->stray += call->sockets.stray;
    leat_load_sockets_drops(&call->sockets, &r->kernel_receive_drops, &r->kernel_send_drops);
}
