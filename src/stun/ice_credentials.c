/* SPDX-License-Identifier: MIT */
/*
 * ICE credentials (RFC 8445 5.3, RFC 8839 5.4).
 *
 *     ufrag   W G G G r r r r r r r r    W worker, G process generation (big-endian), r 48 random
 * bits pwd     24 characters, 144 random bits
 *
 * The RFC asks for 24 random bits in a ufrag and 128 in a password. Worker and generation are not
 * secret: they steer a datagram to its thread, and let a process that was restarted be silent to
 * checks which were meant for the one before it.
 */
#include <leat/ice.h>

#define GENERATION_MASK 0x3ffffu

static const char ice_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The six bits of an ice-char, or -1. */
static int ice_char_value(uint8_t c)
{
    const char *at = c != 0 ? strchr(ice_chars, c) : NULL;
    return at != NULL ? (int)(at - ice_chars) : -1;
}

static bool is_ice_text(struct leat_span s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (ice_char_value(s.data[i]) < 0) {
            return false;
        }
    }
    return true;
}

void leat_ice_local_make(struct leat_ice_local *l, struct leat_rng *rng, unsigned worker,
                         uint32_t generation)
{
    memset(l, 0, sizeof(*l));
    l->ufrag[0] = ice_chars[worker & 63];
    l->ufrag[1] = ice_chars[(generation >> 12) & 63];
    l->ufrag[2] = ice_chars[(generation >> 6) & 63];
    l->ufrag[3] = ice_chars[generation & 63];
    leat_rng_ice_chars(rng, l->ufrag + 4, LEAT_ICE_LOCAL_UFRAG_LEN - 4);
    leat_rng_ice_chars(rng, l->pwd, LEAT_ICE_LOCAL_PWD_LEN);
}

int leat_ice_local_worker(struct leat_span ufrag, uint32_t generation)
{
    if (ufrag.len != LEAT_ICE_LOCAL_UFRAG_LEN || !is_ice_text(ufrag)) {
        return -1;
    }
    uint32_t named = 0;
    for (size_t i = 1; i < 4; i++) {
        named = (named << 6) | (uint32_t)ice_char_value(ufrag.data[i]);
    }
    return named == (generation & GENERATION_MASK) ? ice_char_value(ufrag.data[0]) : -1;
}

bool leat_ice_remote_is_valid(struct leat_span ufrag, struct leat_span pwd)
{
    return ufrag.len >= 4 && ufrag.len <= LEAT_ICE_UFRAG_MAX && pwd.len >= 22 &&
           pwd.len <= LEAT_ICE_PWD_MAX && is_ice_text(ufrag) && is_ice_text(pwd);
}
