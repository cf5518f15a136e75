/* SPDX-License-Identifier: MIT */
/**
 * @file  The media words that SDP, routes, the sfu and the control protocol share: codecs, header
 * extensions, sections. Plain data and the matching rules; no protocol octets.
 * @module base
 */
#ifndef LEAT_MEDIA_H
#define LEAT_MEDIA_H

#include <leat/bytes.h>
#include <leat/error.h>

#define LEAT_ID_MAX 64     /**< characters of an id; arrays hold one more */
#define LEAT_MID_MAX 16    /**< RFC 9143 recommends 3; longer ones than these are refused */
#define LEAT_CODECS_MAX 16 /**< codecs of one section after negotiation */
#define LEAT_EXTS_MAX 16
#define LEAT_ENCODINGS_MAX 4
#define LEAT_FMTP_MAX 160
#define LEAT_MSID_MAX 64
#define LEAT_SECTIONS_MAX 128 /**< media sections of one peer */

enum leat_kind { LEAT_KIND_AUDIO, LEAT_KIND_VIDEO, LEAT_KIND_APPLICATION, LEAT_KIND_OTHER };

/** Seen from the describer: SENDONLY of an answer means that leatd sends. */
enum leat_direction {
    LEAT_DIR_INACTIVE = 0,
    LEAT_DIR_SENDONLY = 1,
    LEAT_DIR_RECVONLY = 2,
    LEAT_DIR_SENDRECV = 3
};

enum leat_codec_name {
    LEAT_CODEC_UNKNOWN,
    LEAT_CODEC_OPUS,
    LEAT_CODEC_PCMU,
    LEAT_CODEC_PCMA,
    LEAT_CODEC_G722,
    LEAT_CODEC_VP8,
    LEAT_CODEC_VP9,
    LEAT_CODEC_H264,
    LEAT_CODEC_AV1
};

struct leat_codec {
    enum leat_codec_name name;
    uint8_t pt;       /**< 0..63 or 96..127 (RFC 5761 4) */
    uint8_t channels; /**< audio; 1 when the rtpmap says nothing */
    uint32_t clock_hz;
    char fmtp[LEAT_FMTP_MAX + 1]; /**< format parameters as they stand in a=fmtp, "" when none */
    bool has_pli, has_fir;        /**< rtcp-fb "nack pli" and "ccm fir" */
};

enum leat_ext_name {
    LEAT_EXT_NONE,
    LEAT_EXT_MID,         /**< urn:ietf:params:rtp-hdrext:sdes:mid */
    LEAT_EXT_AUDIO_LEVEL, /**< urn:ietf:params:rtp-hdrext:ssrc-audio-level (RFC 6464) */
    LEAT_EXT_COUNT
};

/** URI of a name; "" for LEAT_EXT_NONE. */
const char *leat_ext_uri(enum leat_ext_name name);
enum leat_ext_name leat_ext_from_uri(struct leat_span uri);

/** ids[name] is the section's id of that extension, 0 when not negotiated. Ids differ between
 * sections. */
struct leat_exts {
    uint8_t ids[LEAT_EXT_COUNT];
};

struct leat_encoding {
    uint32_t ssrc; /**< 0: not declared, learnt from MID */
};

/** What one direction of a media section is after a negotiation. */
struct leat_media_desc {
    char mid[LEAT_MID_MAX + 1];
    enum leat_kind kind;
    bool is_active; /**< false: the section is inactive in this direction now */
    bool is_rsize;  /**< reduced-size RTCP negotiated (RFC 5506) */
    size_t codec_count;
    struct leat_codec codecs[LEAT_CODECS_MAX]; /**< in the answer's order */
    struct leat_exts exts;
    size_t encoding_count;
    struct leat_encoding encodings[LEAT_ENCODINGS_MAX]; /**< of a track: what the offer declares */
    uint32_t ssrc;                                      /**< of a sender: ours */
    char stream[LEAT_MSID_MAX + 1];                     /**< msid stream id, "" when none */
};

const char *leat_kind_text(enum leat_kind kind);
const char *leat_codec_text(enum leat_codec_name name);           /**< "opus", "VP8", "H264", ... */
enum leat_codec_name leat_codec_from_text(struct leat_span name); /**< case-insensitive */
enum leat_kind leat_codec_kind(enum leat_codec_name name);

/**
 * The value of one format parameter ("profile-level-id") in "a=1;b=2" text, without blanks around
 * it; empty for a parameter without "=". Names ignore case; the first of a name counts. @return
 * false when absent.
 */
bool leat_fmtp_get(const char *fmtp, const char *name, struct leat_span *value);

/**
 * Whether media of one description can be decoded under the other: name, clock and channels equal;
 * H264 by profile and packetization-mode (level ignored, RFC 6184 8.1, absent packetization-mode is
 * 0, absent profile-level-id is 420010); VP9 by profile-id (absent 0); AV1 by profile and tier
 * (absent 0). Symmetric. A malformed one of these values and LEAT_CODEC_UNKNOWN match nothing.
 */
bool leat_codec_matches(const struct leat_codec *a, const struct leat_codec *b);

/** "H264/90000 packetization-mode=1;profile-level-id=42e01f", for errors and logs. @return out. */
const char *leat_codec_format(const struct leat_codec *c, char *out, size_t cap);

/** A peer, track or group id: 1-64 of A-Za-z0-9._:- (a mid is 1-16 RFC 8866 token characters). */
bool leat_id_is_valid(struct leat_span id);
bool leat_mid_is_valid(struct leat_span mid);

#endif
