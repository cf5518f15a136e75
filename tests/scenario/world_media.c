/* SPDX-License-Identifier: MIT */
/*
 * Media of the scripted world: what publishers send and how receivers judge what they get.
 *
 * A payload says who sent it, counts, and carries the instant of its capture. A receiver therefore
 * knows three things about each packet without asking the network: that it is whole, that its
 * sequence number moved by the same amount as the source's (so a gap is a loss and nothing else),
 * and where a sender report puts its capture on the wall clock.
 *
 *     0        VP8 payload descriptor and frame tag        8   publisher
 *     12       the source's sequence number               16   capture, us
 *     24..     a pattern of the publisher
 */
#include "world_private.h"

#define PAYLOAD_LEN 200
#define PATTERN_AT 24

/* ---- a publisher ---- */

static void send_packet(struct world_client *c, bool is_video)
{
    struct world *w = c->world;
    uint8_t payload[PAYLOAD_LEN] = {0}, packet[512];
    bool is_key = is_video && c->wants_keyframe && !c->ignores_keyframe_requests;
    if (is_video) { /* S bit, no extension; the lowest bit of the frame tag is 0 in a keyframe */
        payload[0] = 0x10;
        payload[1] = is_key ? 0x00 : 0x01;
        c->wants_keyframe = c->wants_keyframe && !is_key;
    }
    leat_put_u32(payload + 8, c->index);
    leat_put_u32(payload + 12, is_video ? c->video_seq : c->audio_seq);
    leat_put_u64(payload + 16, w->now_us);
    memset(payload + PATTERN_AT, (int)(0xa0 + c->index), sizeof payload - PATTERN_AT);
    const uint8_t level = (uint8_t)(0x80 | (c->index & 0x7f));
    struct leat_rtp_ext_out exts[2] = {{WORLD_MID_ID, leat_span_str(is_video ? "1" : "0")},
                                       {WORLD_LEVEL_ID, leat_span(&level, 1)}};
    size_t len = leat_rtp_compose(
        packet, sizeof packet, true, is_video ? WORLD_VIDEO_PT : WORLD_AUDIO_PT,
        is_video ? c->video_seq++ : c->audio_seq++, is_video ? c->video_ts : c->audio_ts,
        is_video ? c->video_ssrc : c->audio_ssrc, NULL, 0, exts, is_video ? 1 : 2,
        leat_span(payload, sizeof payload));
    (void)world_send_rtp(c, leat_span(packet, len));
}

static void send_reports(struct world_client *c)
{
    uint8_t octets[256];
    struct leat_writer writer;
    uint64_t unix_us = WORLD_UNIX_OFFSET_US + c->world->now_us + (uint64_t)c->clock_error_us;
    for (int i = 0; i < 2; i++) {
        struct leat_rtcp_sender_info info = {.ntp = leat_ntp_from_unix_us(unix_us),
                                             .rtp_timestamp = i == 0 ? c->audio_ts : c->video_ts};
        leat_writer_init(&writer, octets, sizeof octets);
        leat_rtcp_write_sr(&writer, i == 0 ? c->audio_ssrc : c->video_ssrc, &info, NULL, 0);
        leat_rtcp_write_sdes_cname(&writer, i == 0 ? c->audio_ssrc : c->video_ssrc, "publisher");
        (void)world_send_rtcp(c, leat_span(octets, leat_writer_len(&writer)));
    }
}

void world_publish(struct world_client *c)
{
    struct world *w = c->world;
    c->next_media_us = w->now_us + WORLD_MEDIA_US;
    c->audio_ts += 48 * (WORLD_MEDIA_US / 1000);
    c->video_ts += 90 * (WORLD_MEDIA_US / 1000);
    if (c->client.state != LEAT_CLIENT_CONNECTED || !c->is_sending) {
        return;
    }
    if (w->now_us >= c->next_sr_us) {
        send_reports(c);
        c->next_sr_us = w->now_us + 1000000;
    }
    send_packet(c, false);
    send_packet(c, true);
}

/* ---- a receiver ---- */

/** What the payload says; false when it is not what a publisher sends. */
static bool is_right_payload(const struct world_client *c, const struct leat_rtp *p,
                             struct leat_span packet, bool is_video)
{
    struct leat_span payload = leat_span(packet.data + p->payload_offset, p->payload_len), mid;
    if (payload.len != PAYLOAD_LEN || p->pt != (is_video ? WORLD_VIDEO_PT : WORLD_AUDIO_PT) ||
        !leat_rtp_find_ext(p, packet, WORLD_MID_ID, &mid) ||
        !leat_span_equal(mid, leat_span_str(is_video ? "1" : "0"))) {
        return false;
    }
    uint32_t source = leat_get_u32(payload.data + 8);
    bool is_right = source < c->world->client_count;
    for (size_t i = PATTERN_AT; is_right && i < payload.len; i++) {
        is_right = payload.data[i] == (uint8_t)(0xa0 + source);
    }
    if (is_right && !is_video) {
        struct leat_span level;
        is_right = leat_rtp_find_ext(p, packet, WORLD_LEVEL_ID, &level) && level.len == 1 &&
                   level.data[0] == (0x80 | (source & 0x7f));
    }
    return is_right;
}

static void follow_source(struct world_stream *s, const uint8_t *payload, uint16_t seq,
                          bool is_video)
{
    uint32_t source = leat_get_u32(payload + 8);
    uint16_t offset = (uint16_t)(seq - leat_get_u32(payload + 12));
    bool is_key = is_video && (payload[1] & 1) == 0;
    s->keyframes += is_key ? 1 : 0;
    if (!s->is_started || source != s->source) {
        s->began_without_keyframe = s->began_without_keyframe || (is_video && !is_key);
        s->switches += s->is_started ? 1 : 0;
        s->source = source;
        s->number_offset = offset;
    } else if (offset != s->number_offset) { /* what was in between is gone for good */
        s->began_without_keyframe = s->began_without_keyframe || (is_video && !is_key);
        s->renumbered++;
        s->number_offset = offset;
    }
}

static bool was_seen(const struct world_stream *s, uint16_t seq)
{
    return (s->seen[seq / 8] >> (seq % 8) & 1) != 0;
}

static void set_seen(struct world_stream *s, uint16_t seq, bool value)
{
    uint8_t bit = (uint8_t)(1u << (seq % 8));
    s->seen[seq / 8] = (uint8_t)(value ? s->seen[seq / 8] | bit : s->seen[seq / 8] & ~bit);
}

static void count_number(struct world_stream *s, const struct leat_rtp *p)
{
    int step = s->is_started ? leat_seq16_diff(p->seq, s->highest_seq) : 1;
    if (step <= 0) {
        s->duplicates += was_seen(s, p->seq) ? 1 : 0;
        s->late += was_seen(s, p->seq) ? 0 : 1;
        set_seen(s, p->seq, true);
        return;
    }
    for (int i = 1; i < step; i++) {
        set_seen(s, (uint16_t)(s->highest_seq + i), false);
    }
    set_seen(s, p->seq, true);
    s->gaps += (uint64_t)(step - 1);
    s->backward_ts += s->is_started && leat_seq32_diff(p->timestamp, s->last_ts) < 0 ? 1 : 0;
    s->highest_seq = p->seq;
}

void world__receive_rtp(struct world_client *c, struct leat_span packet)
{
    struct leat_rtp p;
    if (!leat_rtp_parse(&p, packet)) {
        c->video.wrong++;
        return;
    }
    bool is_video = p.ssrc == c->our_video_ssrc;
    struct world_stream *s = is_video ? &c->video : &c->audio;
    if ((!is_video && p.ssrc != c->our_audio_ssrc) || !is_right_payload(c, &p, packet, is_video)) {
        s->wrong++;
        return;
    }
    const uint8_t *payload = packet.data + p.payload_offset;
    uint64_t now_us = c->world->now_us;
    bool is_newest = !s->is_started || leat_seq16_newer(p.seq, s->highest_seq);
    if (s->is_started && now_us - s->last_us > s->longest_pause_us) {
        s->longest_pause_us = now_us - s->last_us;
    }
    count_number(s, &p);
    follow_source(s, payload, p.seq, is_video);
    if (is_newest) {
        s->last_ts = p.timestamp;
        s->last_capture_us = leat_get_u64(payload + 16);
    }
    s->is_started = true;
    s->packets++;
    s->last_us = now_us;
}

/* ---- reports ---- */

static int64_t unix_us_of_ntp(uint64_t ntp)
{
    return (int64_t)(((ntp >> 32) - 2208988800u) * 1000000u +
                     (((ntp & 0xffffffffu) * 1000000u) >> 32));
}

/** How far a sender report puts the newest packet from its capture. */
static void judge_sender_report(struct world_client *c, struct world_stream *s, uint32_t clock_hz,
                                const struct leat_rtcp_sender_info *info)
{
    if (!s->is_started) {
        return;
    }
    int64_t ticks = leat_seq32_diff(s->last_ts, info->rtp_timestamp);
    int64_t played_us = unix_us_of_ntp(info->ntp) + ticks * 1000000 / (int64_t)clock_hz;
    s->lag_us = played_us - (int64_t)(WORLD_UNIX_OFFSET_US + s->last_capture_us);
    s->lag_ntp = info->ntp;
    s->lag_source = s->source;
    if (c->audio.lag_ntp != c->video.lag_ntp || c->audio.lag_source != c->video.lag_source) {
        return;
    }
    int64_t error_us = c->audio.lag_us - c->video.lag_us;
    error_us = error_us < 0 ? -error_us : error_us;
    c->sync_checks++;
    c->sync_error_us = error_us > c->sync_error_us ? error_us : c->sync_error_us;
}

static void take_blocks(struct world_client *c, const struct leat_rtcp *p)
{
    struct leat_rtcp_block blocks[LEAT_RTCP_BLOCKS_MAX];
    size_t count = leat_rtcp_read_blocks(p, blocks);
    for (size_t i = 0; i < count; i++) {
        if (blocks[i].ssrc == c->audio_ssrc || blocks[i].ssrc == c->video_ssrc) {
            *(blocks[i].ssrc == c->video_ssrc ? &c->block_video : &c->block_audio) = blocks[i];
            c->blocks++;
        }
    }
}

static void take_feedback(struct world_client *c, const struct leat_rtcp *p)
{
    uint32_t ssrc;
    size_t cursor = 0;
    uint8_t seq_nr;
    bool is_request = leat_rtcp_read_pli(p, &ssrc) && ssrc == c->video_ssrc;
    while (leat_rtcp_read_fir(p, &cursor, &ssrc, &seq_nr)) {
        is_request = is_request || ssrc == c->video_ssrc;
    }
    if (is_request) {
        c->keyframe_requests++;
        c->wants_keyframe = true;
    }
}

void world__receive_rtcp(struct world_client *c, struct leat_span compound)
{
    struct leat_reader r;
    struct leat_rtcp p;
    struct leat_rtcp_sender_info info;
    if (c->on_rtcp != NULL) {
        c->on_rtcp(c, compound);
    }
    leat_reader_init(&r, compound.data, compound.len);
    while (leat_rtcp_next(&r, &p)) {
        if (leat_rtcp_read_sender_info(&p, &info)) {
            c->sender_reports++;
            bool is_video = p.ssrc == c->our_video_ssrc;
            *(is_video ? &c->sr_rtp_video : &c->sr_rtp_audio) = info.rtp_timestamp;
            judge_sender_report(c, is_video ? &c->video : &c->audio, is_video ? 90000 : 48000,
                                &info);
        }
        c->receiver_reports += p.type == LEAT_RTCP_RR ? 1 : 0;
        c->byes += p.type == LEAT_RTCP_BYE ? 1 : 0;
        take_blocks(c, &p);
        take_feedback(c, &p);
    }
    c->broken_rtcp += r.failed ? 1 : 0;
}
