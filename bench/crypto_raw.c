/* SPDX-License-Identifier: MIT */
/* Rows of intel-ipsec-mb called by itself, at each of its levels. */
#include <stdlib.h>

#include "crypto_rows.h"
#include "raw_ipsecmb.h"

struct spec {
    struct crypto_case c;
    const char *level;
    struct raw_ipsecmb *raw;
};

static bool set_up(void *context, const char **why)
{
    struct spec *s = context;

    s->raw = raw_ipsecmb_new(s->level, RAW_MESSAGES_MAX, why);
    return s->raw != NULL;
}

static void take_down(void *context)
{
    struct spec *s = context;

    raw_ipsecmb_free(s->raw);
    s->raw = NULL;
}

static uint64_t run(void *context, uint64_t times, uint64_t *done)
{
    struct spec *s = context;
    const struct crypto_case *c = &s->c;
    size_t batch = c->batch > 0 ? c->batch : 1;
    bool is_done = true;

    for (*done = 0; *done < times; *done += batch) {
        if (c->op == CRYPTO_HMAC_SHA1) {
            is_done &= raw_ipsecmb_hmac_sha1(s->raw, batch, c->octets);
        } else if (c->op == CRYPTO_CTR) {
            is_done &= raw_ipsecmb_ctr(s->raw, c->key_len, batch, c->octets);
        } else {
            is_done &= raw_ipsecmb_gcm(s->raw, c->key_len, batch, c->octets);
        }
    }
    bench_must(is_done, "intel-ipsec-mb");
    return 0;
}

void crypto_add_raw(struct bench *b, const struct crypto_case *c)
{
    const char *level;

    if (c->op != CRYPTO_HMAC_SHA1 && c->op != CRYPTO_CTR && c->op != CRYPTO_GCM_SEAL) {
        return;
    }
    for (size_t i = 0; (level = raw_ipsecmb_level(i)) != NULL; i++) {
        struct spec *s = bench_context(b, sizeof(*s));
        struct bench_row row = {.key = crypto_key(c),
                                .set_up = set_up,
                                .take_down = take_down,
                                .run = run,
                                .context = s};

        *s = (struct spec){.c = *c, .level = level};
        row.key.provider = "ipsecmb-raw";
        row.key.level = level;
        bench_add(b, &row);
    }
}
