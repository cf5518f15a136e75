/* SPDX-License-Identifier: MIT */
/* Statistics as flat records with the W3C names (webrtc-stats); what the W3C has no name for is
 * ours, in the same spelling. Times are microseconds since the daemon's start. */
#include "private.h"

#include <stdio.h>

struct record {
    struct leat_json_writer *w;
    const struct leat_control *c;
    const struct leat__control_peer *p;
    const struct leat_stat *s;
    uint64_t now_us;
};

static void put_number(struct leat_json_writer *w, const char *key, double value)
{
    if (value >= 0) { /* negative: not known */
        leat_json_put_double(w, key, value);
    }
}

/** type, id, peer, group and time; `way` is the middle of the id, NULL for the transport. */
static void put_head(const struct record *r, const char *type, const char *way)
{
    char id[LEAT_ID_MAX + LEAT_MID_MAX + 48];
    if (way) {
        (void)snprintf(id, sizeof(id), "%.64s/%.16s/%s/%lu", r->p->id, r->s->mid, way,
                       (unsigned long)r->s->ssrc);
    } else {
        (void)snprintf(id, sizeof(id), "%.64s/transport", r->p->id);
    }
    leat_json_put_text(r->w, "type", type);
    leat_json_put_text(r->w, "id", id);
    leat_json_put_u64(r->w, "timestamp_us", leat__control_since_start(r->c, r->now_us));
    leat_json_put_text(r->w, "peer", r->p->id);
    leat_json_put_text(r->w, "group", r->p->group);
    if (way) {
        leat_json_put_text(r->w, "mid", r->s->mid);
        leat_json_put_text(r->w, "kind", leat_kind_text(r->s->kind));
        leat_json_put_u64(r->w, "ssrc", r->s->ssrc);
    }
}

static const char *ice_state(const struct leat_stat *s)
{
    switch (s->state) {
    case LEAT_PEER_NEW:
        return "new";
    case LEAT_PEER_CONNECTING:
    case LEAT_PEER_CONNECTED:
        return "connected";
    case LEAT_PEER_ENDED:
        break;
    }
    return "closed";
}

static const char *dtls_state(const struct leat_stat *s)
{
    switch (s->state) {
    case LEAT_PEER_NEW:
        return "new";
    case LEAT_PEER_CONNECTING:
        return "connecting";
    case LEAT_PEER_CONNECTED:
        return "connected";
    case LEAT_PEER_ENDED:
        break;
    }
    return "closed";
}

static void put_counters(struct leat_json_writer *w, const struct leat_peer_counters *t)
{
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {
        {"selectedCandidatePairChanges", t->selected_changes},
        {"bytesSent", t->octets_out},
        {"bytesReceived", t->octets_in},
        {"packetsSent", t->datagrams_out},
        {"packetsReceived", t->datagrams_in},
        {"stunReplayed", t->stun_replayed},
        {"stunRejected", t->stun_rejected},
        {"dtlsMalformed", t->dtls_malformed},
        {"dtlsDropped", t->dtls_dropped},
        {"dtlsForged", t->dtls_forged},
        {"dtlsReplayed", t->dtls_replayed},
        {"dtlsDataDropped", t->dtls_data_dropped},
        {"dtlsFlightsRepeated", t->dtls_flights_repeated},
        {"srtpReplay", t->srtp_replay},
        {"srtpAuthFail", t->srtp_auth_fail},
        {"srtpMalformed", t->srtp_malformed},
        {"srtpSsrcLimit", t->srtp_ssrc_limit},
        {"srtpEarly", t->srtp_early},
        {"sendIndexUsed", t->send_index_used},
        {"sendFailed", t->send_failed},
        {"sendNoTuple", t->send_no_tuple},
        {"sendSinkFull", t->send_sink_full},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json_put_u64(w, rows[i].key, rows[i].value);
    }
}

/** Seconds from the first check to an instant of the join; absent before it. */
static void put_since_check(const struct record *r, const char *key, uint64_t at_us)
{
    const struct leat_peer_times *t = &r->s->times;
    put_number(r->w, key, at_us != 0 ? (double)(at_us - t->check_us) / 1e6 : -1);
}

static void put_transport(const struct record *r)
{
    const struct leat_stat *s = r->s;
    char local[LEAT_ADDR_TEXT_MAX], remote[LEAT_ADDR_TEXT_MAX];
    bool has_keys = s->profile != LEAT_SRTP_PROFILE_NONE;
    put_head(r, "transport", NULL);
    leat_json_put_text(r->w, "iceState", ice_state(s));
    leat_json_put_text(r->w, "dtlsState", dtls_state(s));
    leat_json_put_text(r->w, "dtlsRole", s->dtls_role == LEAT_DTLS_CLIENT ? "client" : "server");
    leat_json_put_text(r->w, "dtlsCipher", s->dtls_cipher);
    leat_json_put_text(r->w, "srtpCipher", leat_srtp_profile_text(s->profile));
    leat_json_put_text(r->w, "tlsVersion", has_keys ? "FEFD" : "");
    put_counters(r->w, &s->transport);
    put_since_check(r, "iceTime", s->times.selected_us);
    put_since_check(r, "dtlsTime", s->times.connected_us);
    put_since_check(r, "firstMediaTime", s->times.media_us);
    if (s->selected.remote.family != LEAT_FAMILY_NONE) {
        leat_json_put_text(r->w, "localAddress", leat_addr_format(&s->selected.local, local));
        leat_json_put_text(r->w, "remoteAddress", leat_addr_format(&s->selected.remote, remote));
    }
}

static void put_inbound(const struct record *r)
{
    const struct leat_stat *s = r->s;
    put_head(r, "inbound-rtp", "in");
    leat_json_put_u64(r->w, "packetsReceived", s->packets);
    leat_json_put_u64(r->w, "bytesReceived", s->octets);
    leat_json_put_i64(r->w, "packetsLost", s->packets_lost);
    put_number(r->w, "jitter", s->jitter_s);
    leat_json_put_u64(r->w, "packetsDiscarded", s->discarded);
    leat_json_put_u64(r->w, "keyFramesReceived", s->keyframes);
    leat_json_put_u64(r->w, "pliCount", s->pli);
    leat_json_put_u64(r->w, "firCount", s->fir);
    if (s->last_packet_us != 0) {
        leat_json_put_u64(r->w, "lastPacketReceivedTimestamp",
                          leat__control_since_start(r->c, s->last_packet_us));
    }
}

static void put_outbound(const struct record *r)
{
    const struct leat_stat *s = r->s;
    put_head(r, "outbound-rtp", "out");
    leat_json_put_u64(r->w, "packetsSent", s->packets);
    leat_json_put_u64(r->w, "bytesSent", s->octets);
    leat_json_put_u64(r->w, "packetsDropped", s->dropped);
    leat_json_put_u64(r->w, "pliCount", s->pli);
    leat_json_put_u64(r->w, "firCount", s->fir);
}

static void put_remote_inbound(const struct record *r)
{
    const struct leat_stat *s = r->s;
    put_head(r, "remote-inbound-rtp", "remote-in");
    leat_json_put_i64(r->w, "packetsLost", s->packets_lost);
    put_number(r->w, "fractionLost", s->fraction_lost);
    put_number(r->w, "jitter", s->jitter_s);
    put_number(r->w, "roundTripTime", s->round_trip_s);
}

void leat__control_write_stats(struct leat_json_writer *w, const struct leat_control *c,
                               const struct leat__control_peer *p, const struct leat_stat *stats,
                               size_t count, uint64_t now_us)
{
    for (size_t i = 0; i < count; i++) {
        struct record r = {w, c, p, &stats[i], now_us};
        leat_json_open(w, '{');
        switch (stats[i].type) {
        case LEAT_STAT_TRANSPORT:
            put_transport(&r);
            break;
        case LEAT_STAT_INBOUND:
            put_inbound(&r);
            break;
        case LEAT_STAT_OUTBOUND:
            put_outbound(&r);
            break;
        case LEAT_STAT_REMOTE_INBOUND:
            put_remote_inbound(&r);
            break;
        }
        leat_json_close(w, '}');
    }
}
