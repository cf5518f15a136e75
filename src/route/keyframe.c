/* SPDX-License-Identifier: MIT */
/*
 * One limiter a source over every cause of a keyframe request (RFC 4585 6.3.1, RFC 5104 4.3.1): at
 * most one in LEAT_KEYFRAME_INTERVAL_US, and none is ever lost: what was held back goes out when
 * the interval is over, what brought no keyframe is asked again until one is seen.
 */
#include <leat/route.h>

static bool send_now(struct leat_keyframe_limiter *l, uint64_t now_us)
{
    l->is_unsent = false;
    l->sent_us = now_us;
    l->sent++;
    return true;
}

bool leat_keyframe_want(struct leat_keyframe_limiter *l, uint64_t now_us)
{
    l->requested++;
    l->is_pending = true;
    l->retries = 0;
    if (l->sent_us != 0 && now_us - l->sent_us < LEAT_KEYFRAME_INTERVAL_US) {
        l->is_unsent = true;
        return false;
    }
    return send_now(l, now_us);
}

void leat_keyframe_forget(struct leat_keyframe_limiter *l)
{
    l->is_pending = false;
    l->is_unsent = false;
    l->retries = 0;
}

void leat_keyframe_seen(struct leat_keyframe_limiter *l)
{
    /* It serves everybody who asked before it began, those held back by the interval included. */
    leat_keyframe_forget(l);
}

uint64_t leat_keyframe_deadline(const struct leat_keyframe_limiter *l)
{
    if (!l->is_pending || (!l->is_unsent && l->retries >= LEAT_KEYFRAME_GIVE_UP)) {
        return LEAT_NEVER;
    }
    return l->sent_us + (l->is_unsent ? LEAT_KEYFRAME_INTERVAL_US : LEAT_KEYFRAME_RETRY_US);
}

bool leat_keyframe_tick(struct leat_keyframe_limiter *l, uint64_t now_us)
{
    if (leat_keyframe_deadline(l) > now_us) {
        return false;
    }
    if (!l->is_unsent) {
        l->retries++;
    }
    return send_now(l, now_us);
}
