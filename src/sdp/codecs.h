/* SPDX-License-Identifier: MIT */
/* Which of the offered codecs an answer takes, and in which order. */
#ifndef LEAT_SRC_SDP_CODECS_H
#define LEAT_SRC_SDP_CODECS_H

#include <leat/sdp.h>

/** Offered codecs that the policy allows, in its order, then the offer's, into `out`. */
void leat__sdp_codecs_choose(const struct leat_sdp_section *offered,
                             const struct leat_sdp_policy *policy, struct leat_media_desc *out);

/** Whether a payload type of an earlier agreement now stands for something else, and which. */
bool leat__sdp_codecs_changed(const struct leat_media_desc *before,
                              const struct leat_sdp_section *offered, uint8_t *pt);

#endif
