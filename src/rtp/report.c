/* SPDX-License-Identifier: MIT */
/*
 * Reception statistics of one incoming SSRC: RFC 3550 A.1 (extended sequence numbers), A.3 (loss)
 * and A.8 (jitter).
 *
 * What differs from the appendix, because every packet here is authentic or from a configured
 * address: there is no probation, and every packet counts as received. A sequence number that is
 * neither near above nor a little below the highest moves nothing until its successor follows it
 * (A.1's bad_seq); then the stream goes on from there with the loss it had, as after a restart of
 * the source. Jitter looks at the first packet of each timestamp and at packets in order only: the
 * packets of one video frame share a timestamp and leave over some time. A jump of the timestamp
 * over five seconds is a new timeline, not jitter.
 */
#include <leat/rtcp.h>

#define DROPOUT_MAX 3000  /* a gap of so many may be loss */
#define MISORDER_MAX 1024 /* as far back as the SRTP replay window lets a packet come */
#define NO_BAD_SEQ UINT32_MAX
#define JUMP_S 5

void leat_rtp_receiver_init(struct leat_rtp_receiver *r, uint32_t clock_hz)
{
    memset(r, 0, sizeof(*r));
    r->clock_hz = clock_hz;
    r->bad_seq = NO_BAD_SEQ;
}

/** Only differences count, so the result may wrap. */
static uint32_t to_rtp_units(uint64_t us, uint32_t clock_hz)
{
    uint64_t whole = us / 1000000 * clock_hz;
    return (uint32_t)(whole + us % 1000000 * clock_hz / 1000000);
}

static void add_jitter(struct leat_rtp_receiver *r, uint32_t timestamp, uint64_t now_us)
{
    uint32_t transit = to_rtp_units(now_us, r->clock_hz) - timestamp;
    uint32_t difference = transit - r->last_transit;
    r->last_transit = transit;
    if (difference > INT32_MAX) {
        difference = 0 - difference;
    }
    if (difference < (uint64_t)r->clock_hz * JUMP_S) {
        r->jitter_x16 += difference - ((r->jitter_x16 + 8) >> 4);
    }
}

static uint64_t expected(const struct leat_rtp_receiver *r)
{
    return r->is_started ? r->highest - r->base + 1 : 0;
}

/** Go on from `seq`, always upwards. The gap is no loss: the base moves so that the count expected
 * grows only by this packet and its predecessor, which is received already. */
static void resume_at(struct leat_rtp_receiver *r, uint16_t seq)
{
    uint64_t count = expected(r) + 2;
    r->highest += (uint16_t)(seq - (uint16_t)r->highest);
    r->base = r->highest + 1 - count;
}

/** @return true when the packet is the newest so far. */
static bool place(struct leat_rtp_receiver *r, uint16_t seq)
{
    uint16_t ahead = (uint16_t)(seq - (uint16_t)r->highest);
    if (ahead == 0) {
        return false;
    }
    if (ahead < DROPOUT_MAX) {
        r->highest += ahead;
        r->bad_seq = NO_BAD_SEQ;
        return true;
    }
    if (ahead >= 0x10000 - MISORDER_MAX) {
        return false;
    }
    if (seq != r->bad_seq) {
        r->bad_seq = (uint16_t)(seq + 1);
        return false;
    }
    resume_at(r, seq);
    r->bad_seq = NO_BAD_SEQ;
    return true;
}

void leat_rtp_receiver_add(struct leat_rtp_receiver *r, uint16_t seq, uint32_t timestamp,
                           size_t octets, uint64_t now_us)
{
    r->packets++;
    r->octets += octets;
    if (!r->is_started) {
        r->is_started = true;
        r->highest = r->base = seq;
        r->last_timestamp = timestamp;
        r->last_transit = to_rtp_units(now_us, r->clock_hz) - timestamp;
        return;
    }
    if (place(r, seq) && timestamp != r->last_timestamp) {
        r->last_timestamp = timestamp;
        add_jitter(r, timestamp, now_us);
    }
}

void leat_rtp_receiver_sr(struct leat_rtp_receiver *r, uint64_t ntp, uint64_t now_us)
{
    r->last_sr_ntp_mid = (uint32_t)(ntp >> 16);
    r->last_sr_us = now_us;
}

int64_t leat_rtp_receiver_lost(const struct leat_rtp_receiver *r)
{
    return (int64_t)expected(r) - (int64_t)r->packets;
}

double leat_rtp_receiver_jitter_s(const struct leat_rtp_receiver *r)
{
    return r->clock_hz != 0 ? (double)r->jitter_x16 / 16.0 / (double)r->clock_hz : 0.0;
}

/** Delay since the last SR in 1/65536 s; 0 without one, the largest value when it is over 18 hours.
 */
static uint32_t delay_since_sr(const struct leat_rtp_receiver *r, uint64_t now_us)
{
    if (r->last_sr_ntp_mid == 0 || now_us < r->last_sr_us) {
        return 0;
    }
    uint64_t us = now_us - r->last_sr_us;
    if (us >= (uint64_t)UINT16_MAX * 1000000) {
        return UINT32_MAX;
    }
    return (uint32_t)((us << 16) / 1000000);
}

/** To what 24 bits can say. */
static int32_t clamp_lost(int64_t lost)
{
    const int32_t lost_max = 0x7fffff;
    if (lost > lost_max) {
        return lost_max;
    }
    return lost < -lost_max - 1 ? -lost_max - 1 : (int32_t)lost;
}

void leat_rtp_receiver_report(struct leat_rtp_receiver *r, uint32_t ssrc, uint64_t now_us,
                              struct leat_rtcp_block *out)
{
    uint64_t expected_now = expected(r);
    uint64_t expected_interval = expected_now - r->prior_expected;
    int64_t lost_interval = (int64_t)expected_interval - (int64_t)(r->packets - r->prior_received);
    r->prior_expected = expected_now;
    r->prior_received = r->packets;

    uint64_t fraction = 0; /* what is expected rises with a packet only, so this stays below 256 */
    if (expected_interval != 0 && lost_interval > 0) {
        fraction = ((uint64_t)lost_interval << 8) / expected_interval;
    }
    *out = (struct leat_rtcp_block){
        .ssrc = ssrc,
        .fraction_lost = (uint8_t)fraction,
        .lost = clamp_lost(leat_rtp_receiver_lost(r)),
        .highest_seq = (uint32_t)r->highest,
        .jitter = r->jitter_x16 >> 4,
        .last_sr = r->last_sr_ntp_mid,
        .delay_since_sr = delay_since_sr(r, now_us),
    };
}
