/* SPDX-License-Identifier: MIT */
/* The formats of one section while it is read: rtpmap, fmtp and rtcp-fb lines by payload type. */
#ifndef LEAT_SRC_SDP_FORMAT_H
#define LEAT_SRC_SDP_FORMAT_H

#include "text.h"

#define LEAT__SDP_PT_COUNT 128

struct leat__sdp_format {
    struct leat_span rtpmap; /**< "VP8/90000", borrowed from the text; empty when none */
    struct leat_span fmtp;   /**< the first fmtp line's parameters */
    enum leat_codec_name name;
    uint32_t clock_hz;
    uint8_t channels;
    bool has_pli, has_fir;
};

struct leat__sdp_formats {
    size_t pt_count; /**< of the m= line, each once, in its order */
    uint8_t pts[LEAT_SDP_FORMATS_MAX];
    struct leat__sdp_format by_pt[LEAT__SDP_PT_COUNT];
    bool all_have_pli, all_have_fir; /**< "rtcp-fb:*" */
};

/* Values of attribute lines. @return NULL, or what is wrong with it. */
const char *leat__sdp_formats_add_pt(struct leat__sdp_formats *f, struct leat_span pt);
const char *leat__sdp_formats_add_rtpmap(struct leat__sdp_formats *f, struct leat_span value);
const char *leat__sdp_formats_add_fmtp(struct leat__sdp_formats *f, struct leat_span value);
const char *leat__sdp_formats_add_feedback(struct leat__sdp_formats *f, struct leat_span value);

/** Fill the section's codecs and other_pts, once all of its lines are read. */
void leat__sdp_formats_resolve(const struct leat__sdp_formats *f, struct leat_sdp_section *s);

#endif
