/* SPDX-License-Identifier: MIT */
/**
 * @file  SDP offers and answers for WebRTC transports (RFC 8866, 8829, 8839, 8842, 8843, 3264), as
 *        an ICE-lite answerer.
 * @module sdp
 *
 * Three steps, each pure: text -> description (leat_sdp_parse); description + what was agreed
 * before -> agreement (leat_sdp_agree, changes nothing on failure); agreement + our credentials ->
 * text (leat_sdp_compose). The parameter form of the control protocol makes a description without
 * text and skips the last step.
 */
#ifndef LEAT_SDP_H
#define LEAT_SDP_H

#include <leat/addr.h>
#include <leat/media.h>

#define LEAT_SDP_TEXT_MAX 131072
#define LEAT_SDP_WHY_MAX 200
#define LEAT_SDP_FORMATS_MAX 64 /**< payload types of one section that are read */
#define LEAT_SDP_CANDIDATES_MAX 32
#define LEAT_SDP_UFRAG_MAX 256
#define LEAT_SDP_FINGERPRINT_LEN 32

enum leat_sdp_setup { LEAT_SETUP_NONE, LEAT_SETUP_ACTPASS, LEAT_SETUP_ACTIVE, LEAT_SETUP_PASSIVE };

/** One extmap line. */
struct leat_sdp_ext {
    enum leat_ext_name name;       /**< LEAT_EXT_NONE: a URI that we do not serve */
    uint16_t id;                   /**< 1..255; others are left out by the parser */
    enum leat_direction direction; /**< SENDRECV when not given */
};

/** A section as the remote describes it. */
struct leat_sdp_section {
    char mid[LEAT_MID_MAX + 1]; /**< "" when it has none */
    char media[16];             /**< "audio", "video", "application", ... as it stands */
    char protocol[32];          /**< "UDP/TLS/RTP/SAVPF" */
    char first_format[32];      /**< first format of the m= line: what a rejected section repeats */
    enum leat_kind kind;
    enum leat_direction direction; /**< the remote's view */
    bool is_rejected;              /**< port 0 and not bundle-only */
    bool is_bundle_only;           /**< port 0 and bundle-only: has no transport of its own */
    bool is_bundled;               /**< its mid stands in the BUNDLE group */
    uint16_t bundle_rank; /**< place in that group; the lowest accepted one is the tagged */
    bool has_rtcp_mux, has_rtcp_rsize;
    /** Codecs that we know, in offered order (rtx, red, ulpfec, CN, telephone-event are none). */
    size_t codec_count;
    struct leat_codec codecs[LEAT_SDP_FORMATS_MAX];
    /** A bit for each payload type that is offered for something else than the codecs above. */
    uint8_t other_pts[16];
    size_t ext_count;
    struct leat_sdp_ext exts[LEAT_EXTS_MAX];
    struct leat_sdp_ext
        rid_ext; /**< RID extension of a section that offers simulcast; id 0: none */
    /** Primary SSRCs: RTX and FEC partners of FID and FEC groups are left out. */
    size_t encoding_count;
    struct leat_encoding encodings[LEAT_ENCODINGS_MAX];
    char stream[LEAT_MSID_MAX + 1]; /**< "" when it has none */
    /* transport attributes: the section's, else the session's */
    char ufrag[LEAT_SDP_UFRAG_MAX + 1], pwd[LEAT_SDP_UFRAG_MAX + 1];
    bool has_fingerprint; /**< a sha-256 one */
    uint8_t fingerprint[LEAT_SDP_FINGERPRINT_LEN];
    enum leat_sdp_setup setup;
};

struct leat_sdp_desc {
    bool has_bundle;
    bool is_ice_lite; /**< the remote is lite as well: refused (two lite agents never check) */
    size_t section_count;
    struct leat_sdp_section *sections; /**< heap (malloc), owned */
};

/**
 * Read an offer. Lenient where browsers differ (LF or CRLF, unknown attributes, attributes at
 * session or media level), strict where a wrong reading would connect wrongly.
 *
 * @param out  overwritten; on success deinit it, after a failure it is empty
 * @param why  names the line after a failure
 * @return 0, LEAT_E_INVALID, LEAT_E_RANGE over a limit, LEAT_E_NOMEM
 */
int leat_sdp_parse(struct leat_sdp_desc *out, struct leat_span text,
                   char why[static LEAT_SDP_WHY_MAX]);
void leat_sdp_desc_deinit(struct leat_sdp_desc *d);

/** What the controller and the configuration allow. */
struct leat_sdp_policy {
    /**
     * Ordered allow-list. An entry matches by name, by clock and channels (0 = any) and by each
     * parameter of its fmtp ("" = any): those that decide in leat_codec_matches are compared as
     * there (defaults, H264 level ignored), others as text. `pt` and the feedback flags are not
     * looked at. count 0: everything we know, in the offer's order.
     */
    struct leat_codec codecs[LEAT_CODECS_MAX];
    size_t codec_count;
    enum leat_sdp_setup setup; /**< answer to actpass: PASSIVE, ACTIVE, or NONE = auto (passive) */
};

/** One section after an agreement; order and mids are the offer's. */
struct leat_sdp_agreed {
    char mid[LEAT_MID_MAX + 1];
    char media[16], protocol[32], first_format[32];
    enum leat_kind kind;
    bool is_rejected;              /**< port 0 in the answer */
    enum leat_direction direction; /**< ours */
    /**
     * Both ways: codecs in the answer's order with the offer's payload types, exts (same ids both
     * ways), rsize. Of the remote: encodings, stream. is_active is false for an inactive section;
     * which of its two directions is suspended follows from `direction`. ssrc stays 0.
     */
    struct leat_media_desc common;
    enum leat_direction ext_directions[LEAT_EXT_COUNT]; /**< ours, of the negotiated exts */
    /**
     * Ours, in a section that offered simulcast; id 0: none. Simulcast is not taken, but Chromium
     * cannot make another offer when its RID extension was refused.
     */
    struct leat_sdp_ext rid_ext;
    bool has_track;  /**< carried or carries the remote's media (stays true while suspended) */
    bool has_sender; /**< carried or carries ours (stays true while suspended) */
    /** Of the sender; 0 = to be chosen by the caller before compose. Kept for the section's life.
     */
    uint32_t ssrc;
    /** Msid stream of the sender, "leat-N" until the caller sets another before compose. */
    char stream[LEAT_MSID_MAX + 1];
    /** no_common_codec, not_bundled, unsupported, rejected_by_offer, no_rtcp_mux, no_mid, or "" */
    char why_rejected[48];
    bool is_reused; /**< new in this agreement: a rejected section was taken for new media */
};

/** The state of one peer's negotiation. Zero is "nothing agreed". Plain data but for `sections`. */
struct leat_sdp_session {
    bool is_agreed;
    uint64_t
        origin_id;    /**< o= session id, below 2^63, set by the caller before the first compose */
    uint64_t version; /**< o= version of the last answer; rises with each */
    enum leat_sdp_setup setup; /**< ours: ACTIVE or PASSIVE, fixed for the association's life */
    char remote_ufrag[LEAT_SDP_UFRAG_MAX + 1], remote_pwd[LEAT_SDP_UFRAG_MAX + 1];
    uint8_t fingerprint[LEAT_SDP_FINGERPRINT_LEN];
    bool has_bundle;     /**< the answer has a BUNDLE group */
    size_t tagged_index; /**< section whose transport attributes count (RFC 8843 7.3.1) */
    size_t section_count;
    struct leat_sdp_agreed *sections; /**< heap (malloc), owned */
    /* outcome of the last agree */
    bool is_ice_restart; /**< ufrag or pwd changed against an earlier agreement */
};

/**
 * Answer `offer` on top of `before`.
 *
 * @param after   overwritten: on success deinit it, after a failure it is empty. Has the same m=
 *                lines as the offer
 * @param before  what was agreed so far; not changed
 * @param reason  on LEAT_E_INVALID a stable word: no_ice, no_fingerprint, no_setup,
 *                ice_lite_remote, no_media (every section is rejected), new_association
 *                (fingerprint changed), sections_removed, mid_changed, kind_changed, duplicate_mid,
 *                payload_type_changed, extension_id_changed; else "". (For a failed leat_sdp_parse
 *                the word is bad_sdp.)
 * @return 0, LEAT_E_INVALID, LEAT_E_RANGE over LEAT_SECTIONS_MAX, LEAT_E_NOMEM
 */
int leat_sdp_agree(struct leat_sdp_session *after, const struct leat_sdp_session *before,
                   const struct leat_sdp_desc *offer, const struct leat_sdp_policy *policy,
                   const char **reason, char why[static LEAT_SDP_WHY_MAX]);
void leat_sdp_session_deinit(struct leat_sdp_session *s);

/** Ours. */
struct leat_sdp_local {
    const char *ufrag, *pwd;
    const char *fingerprint; /**< "AA:BB:..." of SHA-256 */
    const char *cname;
    size_t candidate_count;
    struct leat_addr candidates[LEAT_SDP_CANDIDATES_MAX]; /**< host, UDP, best first */
};

/**
 * The answer's text into out, terminated, and the version raised.
 * @return its length; LEAT_E_RANGE when it does not fit, LEAT_E_INVALID when a stream holds other
 *         than printable characters: nothing is raised then
 */
int leat_sdp_compose(struct leat_sdp_session *s, const struct leat_sdp_local *local, char *out,
                     size_t cap);

/**
 * Candidate priority of the host candidate at an index, at most 65535 (RFC 8445 5.1.2.1; IPv6
 * before IPv4 is the caller's order).
 */
uint32_t leat_sdp_candidate_priority(size_t index);

#endif
