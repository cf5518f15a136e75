/* SPDX-License-Identifier: MIT */
/*
 * leat_srtp_start replaces libsrtp2's cipher and auth types for the whole process, but only
 * sessions that are made later notice: each cipher of a session points at the type that made it.
 * So packaged libsrtp2 and ours stand side by side in one process by going back and forth between
 * two starts, both public: srtp_shutdown and srtp_init load the library's own types,
 * leat_srtp_stop and leat_srtp_start put ours in their place. Sessions of either kind outlive the
 * changes. Every stream is made here, with its first packet, so what is timed later never makes one
 * under the wrong types; set-up rows change the types outside their timing.
 *
 * That stock really is stock is checked where the library lets one ask: Debian's build exports a
 * function that gives the type in use, and ours say "leat" in their description.
 */
#include "srtp_sessions.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <srtp2/cipher.h>

#define FIRST_LEN 64

uint32_t bench_ssrc(size_t i)
{
    return 0x10000000u + (uint32_t)i * 2654435761u; /* odd factor: all different */
}

void bench_keys(struct leat_srtp_keys *keys, enum leat_srtp_profile profile, size_t i)
{
    struct leat_rng rng;
    uint8_t seed[32] = {0x5b};
    leat_put_u32(seed + 1, (uint32_t)i);
    leat_rng_init_seeded(&rng, seed);
    memset(keys, 0, sizeof(*keys));
    keys->profile = profile;
    leat_rng_fill(&rng, &keys->send, sizeof(keys->send));
    keys->receive = keys->send;
    leat_rng_deinit(&rng);
}

/* True as well where the library does not let one ask. */
static bool types_are(bool is_stock)
{
    typedef const srtp_cipher_type_t *(*get_type)(srtp_cipher_type_id_t id);
    get_type get;
    *(void **)&get = dlsym(RTLD_DEFAULT, "srtp_crypto_kernel_get_cipher_type");
    if (get == NULL) {
        return true;
    }
    const srtp_cipher_type_t *icm = get(SRTP_AES_ICM_128), *gcm = get(SRTP_AES_GCM_128);
    return icm != NULL && gcm != NULL && (strncmp(icm->description, "leat", 4) != 0) == is_stock &&
           (strncmp(gcm->description, "leat", 4) != 0) == is_stock;
}

bool bench_use_types(bool is_stock)
{
    static enum { NOTHING, OURS, STOCK } now = NOTHING;
    if (now == (is_stock ? STOCK : OURS)) {
        return true;
    }
    if (now == OURS) {
        leat_srtp_stop();
    } else if (now == STOCK) {
        srtp_shutdown();
    }
    now = is_stock ? STOCK : OURS;
    return (is_stock ? srtp_init() == srtp_err_status_ok : leat_srtp_start() == 0) &&
           types_are(is_stock);
}

bool bench_pin(const struct candidate *c)
{
    static const struct candidate *pinned;
    if (c == pinned || c->is_stock) {
        return true;
    }
    const struct leat_crypto_options options = {.provider = c->is_auto ? NULL : c->provider,
                                                .level = c->level};
    pinned = leat_crypto_start_with(&options) == 0 ? c : NULL;
    return pinned != NULL;
}

bool bench_stock_new(srtp_t *out, const struct leat_srtp_keys *keys, bool can_receive)
{
    uint8_t key[LEAT_SRTP_KEY_MAX + LEAT_SRTP_SALT_MAX];
    size_t key_len = leat_srtp_profile_key_len(keys->profile);
    memcpy(key, keys->send.key, key_len);
    memcpy(key + key_len, keys->send.salt, leat_srtp_profile_salt_len(keys->profile));
    srtp_policy_t policy;
    memset(&policy, 0, sizeof(policy));
    srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, (srtp_profile_t)keys->profile);
    srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, (srtp_profile_t)keys->profile);
    policy.ssrc.type = can_receive ? ssrc_any_inbound : ssrc_any_outbound;
    policy.key = key;
    policy.window_size = LEAT_SRTP_REPLAY_WINDOW;
    return srtp_create(out, &policy) == srtp_err_status_ok;
}

/* A first packet through every half that will be used. */
static bool send_first(struct sessions *s, size_t i)
{
    uint8_t plain[FIRST_LEN] = {0x80, 96}, out[FIRST_LEN + LEAT_SRTP_TRAILER_MAX];
    leat_put_u16(plain + 2, s->seq[i]++);
    leat_put_u32(plain + 8, bench_ssrc(i));
    size_t len = sizeof(plain);
    if (s->ours == NULL) {
        memcpy(out, plain, sizeof(plain));
        int octets = (int)sizeof(plain);
        return srtp_protect(s->stock[i], out, &octets) == srtp_err_status_ok;
    }
    if (leat_srtp_protect(s->ours[i], leat_span(plain, sizeof(plain)), out, sizeof(out), &len) !=
        LEAT_SRTP_OK) {
        return false;
    }
    if (!s->can_receive) {
        return true;
    }
    int octets = (int)len;
    return s->stock != NULL ? srtp_unprotect(s->stock[i], out, &octets) == srtp_err_status_ok
                            : leat_srtp_unprotect(s->ours[i], out, &len, NULL) == LEAT_SRTP_OK;
}

static void shuffle(uint32_t *order, size_t count)
{
    struct leat_rng rng;
    const uint8_t seed[32] = {0x51};
    leat_rng_init_seeded(&rng, seed);
    for (size_t i = 0; i < count; i++) {
        size_t j = leat_rng_below(&rng, (uint32_t)i + 1);
        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
    leat_rng_deinit(&rng);
}

/* Streams are made by the first packet, under the types that are in use then: all stock sessions
 * come last. */
static bool fill(struct sessions *s)
{
    bool has_ours = s->ours != NULL;
    struct leat_srtp_keys keys;
    for (size_t i = 0; has_ours && i < s->count; i++) {
        bench_keys(&keys, s->profile, i);
        if (!bench_use_types(false) || leat_srtp_new(&s->ours[i], &keys, 4) != 0) {
            return false;
        }
    }
    for (size_t i = 0; s->stock != NULL && i < s->count; i++) {
        bench_keys(&keys, s->profile, i);
        if (!bench_use_types(true) || !bench_stock_new(&s->stock[i], &keys, s->can_receive)) {
            return false;
        }
    }
    for (size_t i = 0; i < s->count; i++) {
        s->seq[i] = (uint16_t)(i % 1000);
        if (!bench_use_types(!has_ours) || !send_first(s, i)) {
            return false;
        }
    }
    return true;
}

bool bench_sessions_take(struct sessions *s, const struct candidate *c,
                         enum leat_srtp_profile profile, size_t count, bool can_receive)
{
    if (s->candidate == c && s->profile == profile && s->count == count &&
        s->can_receive == can_receive) {
        return bench_pin(c);
    }
    bench_sessions_free(s);
    if (!bench_pin(c)) {
        return false;
    }
    *s = (struct sessions){
        .candidate = c, .profile = profile, .count = count, .can_receive = can_receive};
    s->seq = calloc(count, sizeof(*s->seq));
    s->order = calloc(count, sizeof(*s->order));
    s->stock = c->is_stock ? calloc(count, sizeof(*s->stock)) : NULL;
    s->ours = !c->is_stock || can_receive ? calloc(count, sizeof(struct leat_srtp *)) : NULL;
    if (s->seq == NULL || s->order == NULL || (c->is_stock && s->stock == NULL) ||
        ((!c->is_stock || can_receive) && s->ours == NULL) || !fill(s)) {
        bench_sessions_free(s);
        return false;
    }
    shuffle(s->order, count);
    return true;
}

void bench_sessions_free(struct sessions *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->ours != NULL) {
            leat_srtp_free(s->ours[i]);
        }
        if (s->stock != NULL && s->stock[i] != NULL) {
            srtp_dealloc(s->stock[i]);
        }
    }
    free(s->ours);
    free(s->stock);
    free(s->seq);
    free(s->order);
    *s = (struct sessions){0};
}
