/* SPDX-License-Identifier: MIT */
/*
 * Two offers of one peer, divided by a NUL: each is read, agreed on top of what was agreed before,
 * and answered. A first octet above 0x7f asks for a policy with parameters.
 */
#include <leat/sdp.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void offer(struct leat_sdp_session *session, const struct leat_sdp_policy *policy,
                  const uint8_t *text, size_t len)
{
    static char out[2 * LEAT_SDP_TEXT_MAX];
    struct leat_sdp_desc desc;
    struct leat_sdp_session after;
    char why[LEAT_SDP_WHY_MAX];
    const char *reason;
    if (leat_sdp_parse(&desc, leat_span(text, len), why) != 0) {
        return;
    }
    int status = leat_sdp_agree(&after, session, &desc, policy, &reason, why);
    leat_sdp_desc_deinit(&desc);
    if (status != 0) {
        return;
    }
    static const uint8_t ip[4] = {192, 0, 2, 1};
    struct leat_sdp_local local = {.ufrag = "u", .pwd = "p", .fingerprint = "00", .cname = "c"};
    local.candidates[local.candidate_count++] = leat_addr_v4(ip, 5000);
    if (leat_sdp_compose(&after, &local, out, sizeof(out)) == LEAT_E_INVALID) {
        abort(); /* the streams are our own here */
    }
    leat_sdp_session_deinit(session);
    *session = after;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct leat_sdp_session session = {0};
    struct leat_sdp_policy policy = {0};
    if (len != 0 && data[0] > 0x7f) {
        policy.codec_count = 2;
        policy.codecs[0] = (struct leat_codec){
            .name = LEAT_CODEC_H264, .fmtp = "packetization-mode=1;profile-level-id=42e01f"};
        policy.codecs[1].name = LEAT_CODEC_OPUS;
        data++;
        len--;
    }
    const uint8_t *divider = len != 0 ? memchr(data, 0, len) : NULL;
    size_t first = divider ? (size_t)(divider - data) : len;
    offer(&session, &policy, data, first);
    if (divider) {
        offer(&session, &policy, divider + 1, len - first - 1);
    }
    leat_sdp_session_deinit(&session);
    return 0;
}
