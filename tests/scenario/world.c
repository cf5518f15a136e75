/* SPDX-License-Identifier: MIT */
/*
 * The scripted world. Every datagram in flight is an entry of a list ordered by arrival; a step
 * takes the next arrival, timer or media instant, whichever is first, and sets the clock to it. A
 * publisher's payload names its publisher and counts, so that a subscriber knows what it must see.
 */
#include "world.h"

#include <leat/pool.h>

#include <stdio.h>
#include <stdlib.h>

#define MEDIA_US 20000u
#define UNIX_OFFSET_US 1700000000000000u
#define AUDIO_PT 111
#define VIDEO_PT 96
#define MID_ID 4
#define LEVEL_ID 1
#define PAYLOAD_LEN 200

struct flight {
    struct leat_list node;
    uint64_t at_us;
    struct world_client *from, *to; /* to NULL: the shard */
    struct leat_tuple tuple;        /* as the receiver sees it: local first */
    size_t len;
    uint8_t data[LEAT_PACKET_MAX];
};

/** A sink that puts datagrams into flight. */
struct world_sink {
    struct leat_sink sink;
    struct world *world;
    struct world_client *owner; /* NULL: the shard */
    uint8_t room[LEAT_PACKET_MAX + LEAT_SRTP_TRAILER_MAX];
};

struct running_job {
    struct leat_list node;
    struct leat_sfu_job *job;
    uint64_t at_us;
};

struct world {
    uint64_t now_us;
    struct leat_rng rng;
    struct leat_sfu *sfu;
    struct leat_dtls_identity *server_identity, *client_identity;
    struct world_sink shard_sink, client_sinks[WORLD_CLIENTS_MAX];
    struct world_client clients[WORLD_CLIENTS_MAX];
    unsigned client_count;
    leat_handle next_handle;
    struct leat_list flights, jobs;
    uint64_t stray, job_delay_us;
};

/* ---- flights ---- */

static struct leat_tuple swapped(const struct leat_tuple *t)
{
    return (struct leat_tuple){t->remote, t->local};
}

static struct world_client *client_at(struct world *w, const struct leat_addr *addr)
{
    for (unsigned i = 0; i < w->client_count; i++) {
        if (leat_addr_equal(&w->clients[i].client.params.tuple.local, addr)) {
            return &w->clients[i];
        }
    }
    return NULL;
}

static void launch(struct world *w, struct world_client *from, struct world_client *to,
                   const struct leat_tuple *tuple, const uint8_t *data, size_t len, uint64_t at_us)
{
    struct flight *f = calloc(1, sizeof *f);
    if (f == NULL || len > sizeof f->data) {
        abort();
    }
    f->at_us = at_us;
    f->from = from;
    f->to = to;
    f->tuple = *tuple;
    f->len = len;
    memcpy(f->data, data, len);
    struct leat_list *after = w->flights.prev;
    while (after != &w->flights && LEAT_CONTAINER(after, struct flight, node)->at_us > at_us) {
        after = after->prev;
    }
    f->node.prev = after;
    f->node.next = after->next;
    after->next->prev = &f->node;
    after->next = &f->node;
}

static bool happens(struct world *w, unsigned per_mille)
{
    return per_mille > 0 && leat_rng_below(&w->rng, 1000) < per_mille;
}

static void through_link(struct world *w, struct world_client *c, struct world_link *link,
                         struct world_client *to, const struct leat_tuple *tuple,
                         const uint8_t *data, size_t len)
{
    if (link->is_cut || (link->filter != NULL && !link->filter(c, data, len)) ||
        happens(w, link->loss)) {
        return;
    }
    unsigned copies = happens(w, link->duplicate) ? 2 : 1;
    for (unsigned i = 0; i < copies; i++) {
        uint64_t at_us = w->now_us + link->delay_us;
        if (link->jitter_us > 0) {
            at_us += leat_rng_below(&w->rng, (uint32_t)link->jitter_us);
        }
        if (happens(w, link->reorder)) {
            at_us += 10 * link->jitter_us + 1000;
        }
        launch(w, c, to, tuple, data, len, at_us);
    }
}

static uint8_t *sink_reserve(struct leat_sink *sink, size_t len)
{
    struct world_sink *s = LEAT_CONTAINER(sink, struct world_sink, sink);
    return len <= sizeof s->room ? s->room : NULL;
}

static void sink_commit(struct leat_sink *sink, size_t len, const struct leat_tuple *tuple)
{
    struct world_sink *s = LEAT_CONTAINER(sink, struct world_sink, sink);
    struct leat_tuple seen = swapped(tuple);
    if (s->owner != NULL) {
        through_link(s->world, s->owner, &s->owner->up, NULL, &seen, s->room, len);
        return;
    }
    struct world_client *to = client_at(s->world, &tuple->remote);
    if (to == NULL) {
        s->world->stray++;
        return;
    }
    through_link(s->world, to, &to->down, to, &seen, s->room, len);
}

/* ---- set-up ---- */

static void init_sink(struct world_sink *s, struct world *w, struct world_client *owner)
{
    s->sink.reserve = sink_reserve;
    s->sink.commit = sink_commit;
    s->world = w;
    s->owner = owner;
}

struct world *world_new(uint64_t seed)
{
    uint8_t octets[32] = {0};
    struct world *w = calloc(1, sizeof *w);
    if (w == NULL || leat_crypto_start() != 0) {
        abort();
    }
    static bool has_srtp;
    if (!has_srtp && leat_srtp_start() != 0) {
        abort();
    }
    has_srtp = true;
    leat_put_u64(octets, seed);
    leat_rng_init_seeded(&w->rng, octets);
    w->now_us = WORLD_START_US;
    leat_list_init(&w->flights);
    leat_list_init(&w->jobs);
    init_sink(&w->shard_sink, w, NULL);
    struct leat_sfu_params params = {.worker = 0,
                                     .generation = 77,
                                     .peers_max = WORLD_CLIENTS_MAX,
                                     .packets = 1024,
                                     .jobs_max = 2,
                                     .rng = &w->rng};
    uint64_t unix_s = (UNIX_OFFSET_US + w->now_us) / 1000000;
    if (leat_sfu_new(&w->sfu, &params) != 0 ||
        leat_dtls_identity_new(&w->server_identity, &w->rng, unix_s) != 0 ||
        leat_dtls_identity_new(&w->client_identity, &w->rng, unix_s) != 0) {
        abort();
    }
    leat_sfu_tick(w->sfu, w->now_us, UNIX_OFFSET_US + w->now_us, &w->shard_sink.sink);
    return w;
}

void world_free(struct world *w)
{
    while (!leat_list_is_empty(&w->jobs)) {
        struct running_job *r = LEAT_CONTAINER(w->jobs.next, struct running_job, node);
        leat_list_remove(&r->node);
        leat_sfu_job_run(r->job, &w->rng);
        leat_sfu_job_done(w->sfu, r->job, w->now_us, &w->shard_sink.sink);
        free(r);
    }
    leat_sfu_free(w->sfu);
    for (unsigned i = 0; i < w->client_count; i++) {
        leat_client_deinit(&w->clients[i].client);
    }
    while (!leat_list_is_empty(&w->flights)) {
        struct flight *f = LEAT_CONTAINER(w->flights.next, struct flight, node);
        leat_list_remove(&f->node);
        free(f);
    }
    leat_dtls_identity_free(w->server_identity);
    leat_dtls_identity_free(w->client_identity);
    free(w);
}

void world_describe(struct leat_media_desc *d, enum leat_kind kind, const char *mid, uint32_t ssrc,
                    bool is_track)
{
    memset(d, 0, sizeof *d);
    (void)leat_text_copy(d->mid, sizeof d->mid, leat_span_str(mid));
    d->kind = kind;
    d->is_active = true;
    d->is_rsize = true;
    d->codec_count = 1;
    d->codecs[0] = kind == LEAT_KIND_AUDIO ? (struct leat_codec){.name = LEAT_CODEC_OPUS,
                                                                 .pt = AUDIO_PT,
                                                                 .channels = 2,
                                                                 .clock_hz = 48000}
                                           : (struct leat_codec){.name = LEAT_CODEC_VP8,
                                                                 .pt = VIDEO_PT,
                                                                 .channels = 1,
                                                                 .clock_hz = 90000,
                                                                 .has_pli = true,
                                                                 .has_fir = true};
    d->exts.ids[LEAT_EXT_MID] = MID_ID;
    d->exts.ids[LEAT_EXT_AUDIO_LEVEL] = kind == LEAT_KIND_AUDIO ? LEVEL_ID : 0;
    if (is_track) {
        d->encoding_count = 1;
        d->encodings[0].ssrc = ssrc;
    } else {
        d->ssrc = ssrc;
    }
}

static struct leat_media_desc *describe_both(uint32_t audio_ssrc, uint32_t video_ssrc,
                                             bool is_track)
{
    struct leat_media_desc *d = calloc(2, sizeof *d);
    if (d == NULL) {
        abort();
    }
    world_describe(&d[0], LEAT_KIND_AUDIO, "0", audio_ssrc, is_track);
    world_describe(&d[1], LEAT_KIND_VIDEO, "1", video_ssrc, is_track);
    return d;
}

static void fill_open(struct world *w, struct world_client *c, struct leat_command *open)
{
    struct leat_peer_params *p = &open->params;
    p->ice_local = c->server;
    (void)leat_text_copy(p->remote_ufrag, sizeof p->remote_ufrag,
                         leat_span_str(c->client.params.local.ufrag));
    p->dtls.identity = w->server_identity;
    p->dtls.role = LEAT_DTLS_SERVER;
    leat_dtls_identity_fingerprint(w->client_identity, p->dtls.remote_fingerprint);
    p->dtls.profiles[0] = LEAT_SRTP_AES128_CM_SHA1_80;
    p->dtls.profile_count = 1;
    open->rtcp_ssrc = 0x5ca1ab1e;
    (void)snprintf(open->cname, sizeof open->cname, "cname-%u", c->index);
    if (c->role == WORLD_PUBLISHER) {
        open->tracks = describe_both(c->audio_ssrc, c->video_ssrc, true);
        open->track_count = 2;
    } else {
        open->senders = describe_both(c->our_audio_ssrc, c->our_video_ssrc, false);
        open->sender_count = 2;
    }
}

static void fill_client(struct world *w, struct world_client *c, struct leat_client_params *p)
{
    static const uint8_t server_ip[4] = {192, 0, 2, 1};
    const uint8_t ip[4] = {198, 51, 100, (uint8_t)(c->index + 1)};
    p->tuple.local = leat_addr_v4(ip, (uint16_t)(40000 + c->index));
    p->tuple.remote = leat_addr_v4(server_ip, 3478);
    leat_ice_local_make(&p->local, &w->rng, 1, 12345);
    (void)leat_text_copy(p->remote_ufrag, sizeof p->remote_ufrag, leat_span_str(c->server.ufrag));
    (void)leat_text_copy(p->remote_pwd, sizeof p->remote_pwd, leat_span_str(c->server.pwd));
    p->dtls.identity = w->client_identity;
    p->dtls.role = LEAT_DTLS_CLIENT;
    leat_dtls_identity_fingerprint(w->server_identity, p->dtls.remote_fingerprint);
    p->dtls.profiles[0] = LEAT_SRTP_AES128_CM_SHA1_80;
    p->dtls.profile_count = 1;
}

struct world_client *world_add_with(struct world *w, enum world_role role,
                                    void (*change)(struct leat_command *open,
                                                   struct leat_client_params *client))
{
    if (w->client_count == WORLD_CLIENTS_MAX) {
        abort();
    }
    struct world_client *c = &w->clients[w->client_count];
    c->world = w;
    c->index = w->client_count++;
    c->role = role;
    c->handle = ++w->next_handle;
    c->up.delay_us = c->down.delay_us = 1000;
    c->audio_ssrc = 0x11110000 + c->index;
    c->video_ssrc = 0x22220000 + c->index;
    c->our_audio_ssrc = 0x33330000 + c->index;
    c->our_video_ssrc = 0x44440000 + c->index;
    c->audio_seq = (uint16_t)leat_rng_u32(&w->rng);
    c->video_seq = (uint16_t)leat_rng_u32(&w->rng);
    c->audio_ts = leat_rng_u32(&w->rng);
    c->video_ts = leat_rng_u32(&w->rng);
    c->is_sending = role == WORLD_PUBLISHER;
    c->next_media_us = c->next_sr_us = w->now_us;
    c->route_reason = "";
    leat_ice_local_make(&c->server, &w->rng, 0, 77);
    init_sink(&w->client_sinks[c->index], w, c);
    struct leat_client_params params = {0};
    fill_client(w, c, &params);
    c->client.params = params;
    struct leat_command *open = leat_command_new(LEAT_COMMAND_OPEN, c->handle);
    if (open == NULL) {
        abort();
    }
    fill_open(w, c, open);
    if (change != NULL) {
        change(open, &params);
    }
    c->is_open = world_execute(w, open, false) == 0;
    if (leat_client_init(&c->client, &params, &w->rng, w->now_us) != 0) {
        abort();
    }
    return c;
}

struct world_client *world_add(struct world *w, enum world_role role)
{
    return world_add_with(w, role, NULL);
}

/* ---- commands ---- */

int world_execute(struct world *w, struct leat_command *c, bool keep)
{
    leat_sfu_execute(w->sfu, c, w->now_us, &w->shard_sink.sink);
    int result = c->result;
    if (!keep) {
        leat_command_free(c);
    }
    return result;
}

int world_route_one(struct world *w, struct world_client *to, const char *to_mid,
                    struct world_client *from, const char *from_mid, bool is_paused)
{
    struct leat_command *c = leat_command_new(LEAT_COMMAND_ROUTES, to->handle);
    struct leat_route_desc *r = calloc(1, sizeof *r);
    if (c == NULL || r == NULL) {
        abort();
    }
    c->routes = r;
    c->route_count = 1;
    r->to = to->handle;
    r->from = from != NULL ? from->handle : 0;
    (void)leat_text_copy(r->to_mid, sizeof r->to_mid, leat_span_str(to_mid));
    (void)leat_text_copy(r->from_mid, sizeof r->from_mid, leat_span_str(from_mid));
    r->is_paused = is_paused;
    r->reason = "set";
    return world_execute(w, c, false);
}

int world_route(struct world *w, struct world_client *to, struct world_client *from)
{
    int audio = world_route_one(w, to, "0", from, "0", false);
    int video = world_route_one(w, to, "1", from, "1", false);
    return audio != 0 ? audio : video;
}

void world_close(struct world *w, struct world_client *c, enum leat_peer_end end)
{
    struct leat_command *command = leat_command_new(LEAT_COMMAND_CLOSE, c->handle);
    if (command == NULL) {
        abort();
    }
    command->end = end;
    (void)world_execute(w, command, false);
}

void world_restart_ice(struct world *w, struct world_client *c)
{
    struct leat_command *command = leat_command_new(LEAT_COMMAND_RESTART_ICE, c->handle);
    struct leat_ice_local client_local;
    if (command == NULL) {
        abort();
    }
    leat_ice_local_make(&c->server, &w->rng, 0, 77);
    leat_ice_local_make(&client_local, &w->rng, 1, 12345);
    command->ice_local = c->server;
    (void)leat_text_copy(command->remote_ufrag, sizeof command->remote_ufrag,
                         leat_span_str(client_local.ufrag));
    (void)world_execute(w, command, false);
    leat_client_restart_ice(&c->client, &client_local, c->server.ufrag, c->server.pwd, w->now_us);
}

/* ---- a publisher's media ---- */

static void send_packet(struct world *w, struct world_client *c, bool is_video)
{
    uint8_t payload[PAYLOAD_LEN] = {0}, packet[512];
    bool is_key = is_video && c->wants_keyframe && !c->ignores_keyframe_requests;
    if (is_video) { /* VP8 payload descriptor: S bit, no extension; then the frame tag, whose lowest
                       bit is 0 in a keyframe */
        payload[0] = 0x10;
        payload[1] = is_key ? 0x00 : 0x01;
        c->wants_keyframe = c->wants_keyframe && !is_key;
    }
    leat_put_u32(payload + 8, c->index);
    leat_put_u32(payload + 12, is_video ? c->video_seq : c->audio_seq);
    memset(payload + 16, (int)(0xa0 + c->index), sizeof payload - 16);
    const uint8_t level = (uint8_t)(0x80 | (c->index & 0x7f));
    struct leat_rtp_ext_out exts[2] = {{MID_ID, leat_span_str(is_video ? "1" : "0")},
                                       {LEVEL_ID, leat_span(&level, 1)}};
    size_t len = leat_rtp_compose(packet, sizeof packet, true, is_video ? VIDEO_PT : AUDIO_PT,
                                  is_video ? c->video_seq++ : c->audio_seq++,
                                  is_video ? c->video_ts : c->audio_ts,
                                  is_video ? c->video_ssrc : c->audio_ssrc, NULL, 0, exts,
                                  is_video ? 1 : 2, leat_span(payload, sizeof payload));
    (void)leat_client_send_rtp(&c->client, leat_span(packet, len), &w->client_sinks[c->index].sink);
}

static void send_sr(struct world *w, struct world_client *c)
{
    uint8_t octets[256];
    struct leat_writer writer;
    uint64_t unix_us = UNIX_OFFSET_US + w->now_us + (uint64_t)c->clock_error_us;
    for (int i = 0; i < 2; i++) {
        struct leat_rtcp_sender_info info = {.ntp = leat_ntp_from_unix_us(unix_us),
                                             .rtp_timestamp = i == 0 ? c->audio_ts : c->video_ts};
        leat_writer_init(&writer, octets, sizeof octets);
        leat_rtcp_write_sr(&writer, i == 0 ? c->audio_ssrc : c->video_ssrc, &info, NULL, 0);
        leat_rtcp_write_sdes_cname(&writer, i == 0 ? c->audio_ssrc : c->video_ssrc, "publisher");
        (void)leat_client_send_rtcp(&c->client, leat_span(octets, leat_writer_len(&writer)),
                                    &w->client_sinks[c->index].sink);
    }
}

static void publish(struct world *w, struct world_client *c)
{
    c->next_media_us = w->now_us + MEDIA_US;
    c->audio_ts += 48 * (MEDIA_US / 1000);
    c->video_ts += 90 * (MEDIA_US / 1000);
    if (c->client.state != LEAT_CLIENT_CONNECTED || !c->is_sending) {
        return;
    }
    if (w->now_us >= c->next_sr_us) {
        send_sr(w, c);
        c->next_sr_us = w->now_us + 1000000;
    }
    send_packet(w, c, false);
    send_packet(w, c, true);
}

/* ---- what a client gets ---- */

static void check_payload(struct world_client *c, struct world_stream *s, const struct leat_rtp *p,
                          struct leat_span packet, bool is_video)
{
    struct leat_span payload = leat_span(packet.data + p->payload_offset, p->payload_len);
    struct leat_span mid;
    uint32_t source = payload.len == PAYLOAD_LEN ? leat_get_u32(payload.data + 8) : UINT32_MAX;
    bool is_right = source < c->world->client_count && p->pt == (is_video ? VIDEO_PT : AUDIO_PT) &&
                    leat_rtp_find_ext(p, packet, MID_ID, &mid) &&
                    leat_span_equal(mid, leat_span_str(is_video ? "1" : "0"));
    for (size_t i = 16; is_right && i < payload.len; i++) {
        is_right = payload.data[i] == (uint8_t)(0xa0 + source);
    }
    if (!is_right) {
        s->wrong++;
        return;
    }
    bool is_key = is_video && (payload.data[1] & 1) == 0;
    s->keyframes += is_key ? 1 : 0;
    if (!s->is_started || source != s->source) {
        s->began_without_keyframe = s->began_without_keyframe || (is_video && !is_key);
        s->switches += s->is_started ? 1 : 0;
        s->source = source;
    }
}

static void receive_rtp(struct world *w, struct world_client *c, struct leat_span packet)
{
    struct leat_rtp p;
    if (!leat_rtp_parse(&p, packet)) {
        c->video.wrong++;
        return;
    }
    bool is_video = p.ssrc == c->our_video_ssrc;
    struct world_stream *s = is_video ? &c->video : &c->audio;
    if (!is_video && p.ssrc != c->our_audio_ssrc) {
        s->wrong++;
        return;
    }
    check_payload(c, s, &p, packet, is_video);
    if (!s->is_started) {
        s->is_started = true;
        s->ssrc = p.ssrc;
    } else {
        int step = leat_seq16_diff(p.seq, s->highest_seq);
        s->duplicates += step == 0 ? 1 : 0;
        s->reordered += step < 0 ? 1 : 0;
        s->gaps += step > 1 ? (uint64_t)(step - 1) : 0;
        s->backward_ts += step > 0 && leat_seq32_diff(p.timestamp, s->last_ts) < 0 ? 1 : 0;
        uint64_t pause_us = w->now_us - s->last_us;
        s->longest_pause_us = pause_us > s->longest_pause_us ? pause_us : s->longest_pause_us;
    }
    if (s->packets == 0 || leat_seq16_newer(p.seq, s->highest_seq)) {
        s->highest_seq = p.seq;
        s->last_ts = p.timestamp;
    }
    s->packets++;
    s->last_us = w->now_us;
}

static void receive_rtcp(struct world_client *c, struct leat_span compound)
{
    struct leat_reader r;
    struct leat_rtcp p;
    uint32_t ssrc;
    size_t cursor = 0;
    uint8_t seq_nr;
    leat_reader_init(&r, compound.data, compound.len);
    while (leat_rtcp_next(&r, &p)) {
        struct leat_rtcp_sender_info info;
        if (p.type == LEAT_RTCP_SR && leat_rtcp_read_sender_info(&p, &info)) {
            c->sender_reports++;
            bool is_video = p.ssrc == c->our_video_ssrc;
            *(is_video ? &c->sr_rtp_video : &c->sr_rtp_audio) = info.rtp_timestamp;
            *(is_video ? &c->sr_ntp_video : &c->sr_ntp_audio) = info.ntp;
        } else if (p.type == LEAT_RTCP_RR) {
            c->receiver_reports++;
        } else if (p.type == LEAT_RTCP_BYE) {
            c->byes++;
        } else if (p.type == LEAT_RTCP_PSFB && p.count_or_fmt == LEAT_PSFB_PLI &&
                   leat_rtcp_read_pli(&p, &ssrc) && ssrc == c->video_ssrc) {
            c->keyframe_requests++;
            c->wants_keyframe = true;
        } else if (p.type == LEAT_RTCP_PSFB && p.count_or_fmt == LEAT_PSFB_FIR &&
                   leat_rtcp_read_fir(&p, &cursor, &ssrc, &seq_nr) && ssrc == c->video_ssrc) {
            c->keyframe_requests++;
            c->wants_keyframe = true;
        }
    }
}

static void arrive(struct world *w, struct flight *f)
{
    if (f->to == NULL) {
        struct leat_datagram d = {f->data, f->len, f->tuple};
        leat_sfu_receive(w->sfu, &d, 1, w->now_us, &w->shard_sink.sink);
        return;
    }
    struct world_client *c = f->to;
    size_t len = f->len;
    switch (leat_client_receive(&c->client, f->data, &len, w->now_us, &w->rng,
                                &w->client_sinks[c->index].sink)) {
    case LEAT_CLIENT_NOTHING:
        break;
    case LEAT_CLIENT_RTP:
        receive_rtp(w, c, leat_span(f->data, len));
        break;
    case LEAT_CLIENT_RTCP:
        receive_rtcp(c, leat_span(f->data, len));
        break;
    }
}

/* ---- events and jobs of the shard ---- */

static struct world_client *client_of(struct world *w, leat_handle handle)
{
    for (unsigned i = 0; i < w->client_count; i++) {
        if (w->clients[i].handle == handle) {
            return &w->clients[i];
        }
    }
    return NULL;
}

static void take_events(struct world *w)
{
    struct leat_sfu_event e;
    while (leat_sfu_next_event(w->sfu, &e)) {
        struct world_client *c = client_of(w, e.peer);
        free(e.final_stats);
        if (c == NULL) {
            continue;
        }
        if (e.type == LEAT_EVENT_PEER_STATE) {
            c->state = e.peer_state;
            c->end = e.end;
            c->ended_events += e.peer_state == LEAT_PEER_ENDED ? 1 : 0;
        } else if (e.type == LEAT_EVENT_ROUTE_STATE) {
            *(strcmp(e.mid, "1") == 0 ? &c->route_video : &c->route_audio) = e.route_state;
            c->route_reason = e.reason;
        }
    }
}

static void take_jobs(struct world *w)
{
    struct leat_sfu_job *job;
    while ((job = leat_sfu_next_job(w->sfu, w->now_us)) != NULL) {
        struct running_job *r = calloc(1, sizeof *r);
        if (r == NULL) {
            abort();
        }
        r->job = job;
        r->at_us = w->now_us + w->job_delay_us;
        leat_list_add_tail(&w->jobs, &r->node);
    }
}

static void finish_jobs(struct world *w)
{
    while (!leat_list_is_empty(&w->jobs)) {
        struct running_job *r = LEAT_CONTAINER(w->jobs.next, struct running_job, node);
        if (r->at_us > w->now_us) {
            return;
        }
        leat_list_remove(&r->node);
        leat_sfu_job_run(r->job, &w->rng);
        leat_sfu_job_done(w->sfu, r->job, w->now_us, &w->shard_sink.sink);
        free(r);
        take_jobs(w);
    }
}

/* ---- time ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_instant(struct world *w)
{
    uint64_t next = leat_sfu_deadline(w->sfu);
    if (!leat_list_is_empty(&w->flights)) {
        next = earlier(next, LEAT_CONTAINER(w->flights.next, struct flight, node)->at_us);
    }
    if (!leat_list_is_empty(&w->jobs)) {
        next = earlier(next, LEAT_CONTAINER(w->jobs.next, struct running_job, node)->at_us);
    }
    for (unsigned i = 0; i < w->client_count; i++) {
        next = earlier(next, leat_client_deadline(&w->clients[i].client));
        if (w->clients[i].role == WORLD_PUBLISHER) {
            next = earlier(next, w->clients[i].next_media_us);
        }
    }
    return next;
}

static void settle(struct world *w)
{
    take_jobs(w);
    finish_jobs(w);
    while (leat_sfu_release(w->sfu, w->now_us, &w->shard_sink.sink)) {
    }
    take_events(w);
}

static void step(struct world *w)
{
    while (!leat_list_is_empty(&w->flights)) {
        struct flight *f = LEAT_CONTAINER(w->flights.next, struct flight, node);
        if (f->at_us > w->now_us) {
            break;
        }
        leat_list_remove(&f->node);
        arrive(w, f);
        free(f);
    }
    if (leat_sfu_deadline(w->sfu) <= w->now_us) {
        leat_sfu_tick(w->sfu, w->now_us, UNIX_OFFSET_US + w->now_us, &w->shard_sink.sink);
    }
    for (unsigned i = 0; i < w->client_count; i++) {
        struct world_client *c = &w->clients[i];
        if (leat_client_deadline(&c->client) <= w->now_us) {
            leat_client_tick(&c->client, w->now_us, &w->rng, &w->client_sinks[i].sink);
        }
        if (c->role == WORLD_PUBLISHER && c->next_media_us <= w->now_us) {
            publish(w, c);
        }
    }
    settle(w);
}

void world_run(struct world *w, uint64_t ms)
{
    uint64_t until_us = w->now_us + ms * 1000;
    settle(w);
    for (;;) {
        uint64_t next = next_instant(w);
        if (next > until_us) {
            break;
        }
        w->now_us =
            next > w->now_us
                ? next
                : w->now_us +
                      1; /* something that is due and does nothing must not stop the clock */
        step(w);
    }
    w->now_us = until_us;
}

uint64_t world_now(const struct world *w)
{
    return w->now_us;
}

struct leat_sfu *world_sfu(struct world *w)
{
    return w->sfu;
}

struct leat_rng *world_rng(struct world *w)
{
    return &w->rng;
}

void world_inject(struct world *w, const void *data, size_t len, const struct leat_tuple *tuple)
{
    launch(w, NULL, NULL, tuple, data, len, w->now_us);
}

uint64_t world_stray(const struct world *w)
{
    return w->stray;
}

void world_set_job_delay(struct world *w, uint64_t us)
{
    w->job_delay_us = us;
}
