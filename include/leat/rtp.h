/* SPDX-License-Identifier: MIT */
/**
 * @file  RTP packets (RFC 3550, 8285), what payloads say about keyframes, and the first-octet
 * demultiplexer (RFC 7983).
 * @module rtp
 */
#ifndef LEAT_RTP_H
#define LEAT_RTP_H

#include <leat/bytes.h>
#include <leat/error.h>
#include <leat/media.h>
#include <leat/seq.h>

#define LEAT_RTP_HEADER_MIN 12
#define LEAT_RTP_EXT_ELEMENTS_MAX 16

/** Class of a datagram on a shared port. */
enum leat_demux {
    LEAT_DEMUX_STUN,
    LEAT_DEMUX_DTLS,
    LEAT_DEMUX_RTP,
    LEAT_DEMUX_RTCP,
    LEAT_DEMUX_UNKNOWN
};

/** RFC 7983 7 by the first octet, then RFC 5761 4 (second octet 192..223 is RTCP). Shorter than 2
 * octets: UNKNOWN. */
enum leat_demux leat_demux(struct leat_span datagram);

struct leat_rtp_ext {
    uint8_t id;
    uint8_t len;
    uint16_t offset; /**< of the element's data from the start of the packet */
};

/** A parsed packet: offsets, so that it stays true when the octets are copied. */
struct leat_rtp {
    bool marker, is_two_byte; /**< is_two_byte: the extension block's form */
    uint8_t pt;
    uint16_t seq;
    uint32_t timestamp, ssrc;
    uint8_t csrc_count;
    uint8_t ext_count;
    uint16_t ext_block_offset; /**< of the 4-octet extension header; 0 when there is no extension */
    uint16_t ext_block_len;    /**< with that header */
    uint16_t payload_offset;
    uint16_t payload_len; /**< without padding; 0 is a padding-only packet */
    uint16_t padding_len; /**< with its length octet */
    struct leat_rtp_ext exts[LEAT_RTP_EXT_ELEMENTS_MAX];
};

/** @return false when the packet breaks RFC 3550 5.1 or 8285 (never reads past a block: id 0 is
 * padding, id 15 of the one-byte form ends the block and keeps what was found; elements past
 * LEAT_RTP_EXT_ELEMENTS_MAX are left out). An unknown extension profile is legal and yields no
 * elements. */
bool leat_rtp_parse(struct leat_rtp *p, struct leat_span packet);

/** The element with that id. @return false when absent. */
bool leat_rtp_find_ext(const struct leat_rtp *p, struct leat_span packet, uint8_t id,
                       struct leat_span *data);

/** One extension element to write. */
struct leat_rtp_ext_out {
    uint8_t id;
    struct leat_span data;
};

/**
 * Compose a packet: header, extension block (one-byte form when every id is 1..14 and every
 * length 1..16, else two-byte; none when ext_count is 0), payload without padding.
 * @return octets, or 0 when it does not fit in cap or an element is impossible
 */
size_t leat_rtp_compose(uint8_t *out, size_t cap, bool marker, uint8_t pt, uint16_t seq,
                        uint32_t timestamp, uint32_t ssrc, const uint32_t *csrcs, size_t csrc_count,
                        const struct leat_rtp_ext_out *exts, size_t ext_count,
                        struct leat_span payload);

/* ---- payloads ---- */

/** What a video payload says about where one may start. */
struct leat_payload_info {
    /**
     * First packet of a keyframe: VP8 RFC 7741, VP9 RFC 9628 (lowest spatial layer), H264 SPS or
     * the first slice of an IDR picture in any packetization, AV1 RTP N bit or sequence header
     * first. A H264 keyframe may have several such packets (SPS, then IDR); they share a timestamp.
     */
    bool is_keyframe_start;
    /** A frame may start here (H264: also at a delimiter, SEI or parameter set in front of it). */
    bool is_frame_start;
};

/** Audio and unknown codecs: every packet is a start. An empty, short or broken payload: nothing is
 * true. */
struct leat_payload_info leat_payload_inspect(enum leat_codec_name codec, struct leat_span payload);

/** RFC 6464 element: level 0..127 (-dBov) and the voice flag. @return false when the element is not
 * 1 octet. */
bool leat_audio_level_parse(struct leat_span element, uint8_t *level, bool *voice);

#endif
