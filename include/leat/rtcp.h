/* SPDX-License-Identifier: MIT */
/**
 * @file  RTCP (RFC 3550 6, 4585, 5104, 5506): walk a compound, build reports and requests.
 * @module rtp
 */
#ifndef LEAT_RTCP_H
#define LEAT_RTCP_H

#include <leat/bytes.h>
#include <leat/error.h>
#include <leat/seq.h>

#define LEAT_RTCP_BLOCKS_MAX 31

enum leat_rtcp_type {
    LEAT_RTCP_SR = 200,
    LEAT_RTCP_RR = 201,
    LEAT_RTCP_SDES = 202,
    LEAT_RTCP_BYE = 203,
    LEAT_RTCP_APP = 204,
    LEAT_RTCP_RTPFB = 205,
    LEAT_RTCP_PSFB = 206,
    LEAT_RTCP_XR = 207
};

#define LEAT_PSFB_PLI 1
#define LEAT_PSFB_FIR 4

/** One packet of a compound. */
struct leat_rtcp {
    uint8_t count_or_fmt; /**< the 5-bit field */
    uint8_t type;         /**< enum leat_rtcp_type, or another number that the caller skips */
    uint32_t ssrc; /**< of the sender; 0 when the packet is too short to name one (an empty SDES or
                      BYE) */
    struct leat_span
        body; /**< after the common 4-octet header, padding of the last packet removed */
};

/** The next packet of the compound or reduced-size datagram behind `r`. @return false at the end or
 * at the first malformed packet (r->failed tells which). Unknown types are returned, not skipped.
 */
bool leat_rtcp_next(struct leat_reader *r, struct leat_rtcp *p);

struct leat_rtcp_block {
    uint32_t ssrc;
    uint8_t fraction_lost;            /**< /256 */
    int32_t lost;                     /**< cumulative, 24-bit two's complement on the wire */
    uint32_t highest_seq;             /**< extended */
    uint32_t jitter;                  /**< RTP units */
    uint32_t last_sr, delay_since_sr; /**< 1/65536 s */
};

struct leat_rtcp_sender_info {
    uint64_t ntp; /**< 32.32 */
    uint32_t rtp_timestamp, packets, octets;
};

bool leat_rtcp_read_sender_info(const struct leat_rtcp *p, struct leat_rtcp_sender_info *info);
/** Report blocks of an SR or RR. @return how many were read. */
size_t leat_rtcp_read_blocks(const struct leat_rtcp *p,
                             struct leat_rtcp_block blocks[static LEAT_RTCP_BLOCKS_MAX]);
/** A PLI's media SSRC. */
bool leat_rtcp_read_pli(const struct leat_rtcp *p, uint32_t *media_ssrc);
/** The next FCI entry of a FIR; *cursor starts at 0. @return false at the end. */
bool leat_rtcp_read_fir(const struct leat_rtcp *p, size_t *cursor, uint32_t *media_ssrc,
                        uint8_t *seq_nr);
/** The next SSRC of a BYE; *cursor starts at 0. */
bool leat_rtcp_read_bye(const struct leat_rtcp *p, size_t *cursor, uint32_t *ssrc);

void leat_rtcp_write_sr(struct leat_writer *w, uint32_t ssrc,
                        const struct leat_rtcp_sender_info *info,
                        const struct leat_rtcp_block *blocks, size_t count);
void leat_rtcp_write_rr(struct leat_writer *w, uint32_t ssrc, const struct leat_rtcp_block *blocks,
                        size_t count);
/** One chunk with a CNAME of at most 255 octets. */
void leat_rtcp_write_sdes_cname(struct leat_writer *w, uint32_t ssrc, const char *cname);
void leat_rtcp_write_bye(struct leat_writer *w, const uint32_t *ssrcs, size_t count);
void leat_rtcp_write_pli(struct leat_writer *w, uint32_t sender_ssrc, uint32_t media_ssrc);
void leat_rtcp_write_fir(struct leat_writer *w, uint32_t sender_ssrc, uint32_t media_ssrc,
                         uint8_t seq_nr);

/** 32.32 NTP time of a Unix time in microseconds. */
uint64_t leat_ntp_from_unix_us(uint64_t unix_us);

/* ---- reception statistics of one incoming SSRC (RFC 3550 A.1, A.3, A.8) ---- */

struct leat_rtp_receiver {
    bool is_started;
    uint32_t clock_hz;
    uint64_t highest, base;                  /**< extended sequence numbers */
    uint64_t packets, octets;                /**< received, duplicates included */
    uint64_t prior_expected, prior_received; /**< at the last report */
    uint32_t bad_seq; /**< successor of a number that fitted nowhere (RFC 3550 A.1) */
    uint32_t last_timestamp;
    uint32_t last_transit; /**< RTP units, modulo 2^32 as timestamps are */
    uint32_t jitter_x16;
    uint32_t last_sr_ntp_mid; /**< middle 32 bits of the last SR's NTP time; 0 = none */
    uint64_t last_sr_us;      /**< when it arrived */
};

void leat_rtp_receiver_init(struct leat_rtp_receiver *r, uint32_t clock_hz);
void leat_rtp_receiver_add(struct leat_rtp_receiver *r, uint16_t seq, uint32_t timestamp,
                           size_t octets, uint64_t now_us);
void leat_rtp_receiver_sr(struct leat_rtp_receiver *r, uint64_t ntp, uint64_t now_us);
/** Fill a report block and start the next interval. Cumulative lost is clamped to 24 bits and may
 * be negative. */
void leat_rtp_receiver_report(struct leat_rtp_receiver *r, uint32_t ssrc, uint64_t now_us,
                              struct leat_rtcp_block *out);
/** Expected minus received so far; negative with duplicates. */
int64_t leat_rtp_receiver_lost(const struct leat_rtp_receiver *r);
double leat_rtp_receiver_jitter_s(const struct leat_rtp_receiver *r);

#endif
