/* SPDX-License-Identifier: MIT */
/* The end of a run: for people, and as one JSON object with the same numbers. */
#include "report.h"

#include <inttypes.h>

#include <leat/error.h>
#include <leat/json.h>

uint64_t leat_load_result_wrong(const struct leat_load_result *r)
{
    uint64_t wrong = r->undecryptable + r->unknown_ssrc;
    for (size_t i = LEAT_LOAD_WRONG_PT; i < LEAT_LOAD_FATES; i++) {
        wrong += r->fates[i];
    }
    return wrong;
}

bool leat_load_result_is_good(const struct leat_load_result *r)
{
    return r->failure[0] == '\0' && !r->is_interrupted && r->not_connected == 0 &&
           r->ended_early == 0 && r->sent > 0 && r->lost == 0 && leat_load_result_wrong(r) == 0 &&
           r->fates[LEAT_LOAD_REORDERED] == 0 && r->fates[LEAT_LOAD_DUPLICATE] == 0;
}

static double seconds(const struct leat_load_result *r)
{
    return (double)r->media_us / 1e6;
}

static double kbps(uint64_t octets, uint64_t us)
{
    return us > 0 ? (double)octets * 8000.0 / (double)us : 0;
}

static double ms(uint64_t us)
{
    return (double)us / 1000.0;
}

static void print_wrong(FILE *out, const struct leat_load_result *r)
{
    uint64_t wrong = leat_load_result_wrong(r);
    (void)fprintf(out, "  wrong       %" PRIu64, wrong);
    const char *separator = " (";
    for (size_t i = LEAT_LOAD_WRONG_PT; i < LEAT_LOAD_FATES; i++) {
        if (r->fates[i] != 0) {
            (void)fprintf(out, "%s%s %" PRIu64, separator,
                          leat_load_fate_text((enum leat_load_fate)i), r->fates[i]);
            separator = ", ";
        }
    }
    if (r->undecryptable != 0) {
        (void)fprintf(out, "%sundecryptable %" PRIu64, separator, r->undecryptable);
        separator = ", ";
    }
    if (r->unknown_ssrc != 0) {
        (void)fprintf(out, "%sunknown SSRC %" PRIu64, separator, r->unknown_ssrc);
    }
    (void)fprintf(out, "%s\n", wrong != 0 ? ")" : "");
}

/** What points at the generator, not at the daemon. */
static void print_own_faults(FILE *out, const struct leat_load_result *r)
{
    if (r->kernel_receive_drops != 0 || r->kernel_send_drops != 0) {
        (void)fprintf(out,
                      "  this side   %" PRIu64
                      " datagrams dropped in front of the clients, %" PRIu64
                      " not sent: leatload was too slow\n",
                      r->kernel_receive_drops, r->kernel_send_drops);
    }
    if (r->behind_us != 0) {
        (void)fprintf(out, "  this side   sending fell behind by %.0f ms in all\n",
                      ms(r->behind_us));
    }
    if (r->stray != 0) {
        (void)fprintf(out, "  stray       %" PRIu64 " datagrams\n", r->stray);
    }
}

void leat_load_report_text(FILE *out, const struct leat_load_options *o,
                           const struct leat_load_result *r)
{
    (void)fprintf(out, "%u publishers, %u subscribers, %.1f s of media\n", o->publishers,
                  o->subscribers, seconds(r));
    (void)fprintf(out, "  connected   %zu of %u", r->connected, o->publishers + o->subscribers);
    (void)fprintf(out, r->ended_early != 0 ? ", %zu lost before the end\n" : "\n", r->ended_early);
    (void)fprintf(out, "  join        p50 %.1f ms, p99 %.1f ms, max %.1f ms\n",
                  ms(leat_hist_quantile(&r->join_us, 500)),
                  ms(leat_hist_quantile(&r->join_us, 990)), ms(r->join_us.max));
    (void)fprintf(
        out, "              p50 of its parts: ICE %.1f ms, DTLS %.1f ms, first media %.1f ms\n",
        ms(leat_hist_quantile(&r->ice_us, 500)), ms(leat_hist_quantile(&r->dtls_us, 500)),
        ms(leat_hist_quantile(&r->first_media_us, 500)));
    (void)fprintf(out, "  sent        %" PRIu64 " packets, %.0f kbit/s\n", r->sent,
                  kbps(r->octets_sent, r->media_us));
    (void)fprintf(out, "  received    %" PRIu64 " of %" PRIu64 " packets, %.0f kbit/s\n",
                  r->received, r->expected, kbps(r->octets_received, r->media_us));
    (void)fprintf(out, "  lost        %" PRIu64 "\n", r->lost);
    print_wrong(out, r);
    (void)fprintf(out, "  reordered   %" PRIu64 "\n", r->fates[LEAT_LOAD_REORDERED]);
    (void)fprintf(out, "  duplicates  %" PRIu64 "\n", r->fates[LEAT_LOAD_DUPLICATE]);
    (void)fprintf(out, "  delay       p50 %.2f ms, p99 %.2f ms, max %.2f ms\n",
                  ms(leat_hist_quantile(&r->delay_us, 500)),
                  ms(leat_hist_quantile(&r->delay_us, 990)), ms(r->delay_us.max));
    (void)fprintf(out, "  keyframes   %" PRIu64 " asked for, %" PRIu64 " sent\n",
                  r->keyframe_requests, r->keyframes);
    (void)fprintf(out, "  generator   %.0f %% of a CPU\n", r->cpu_share * 100);
    print_own_faults(out, r);
    if (r->failure[0] != '\0') {
        (void)fprintf(out, "  failed      %s\n", r->failure);
    }
    (void)fprintf(out, "%s\n",
                  leat_load_result_is_good(r) ? "good"
                  : r->is_interrupted         ? "interrupted"
                                              : "NOT good");
}

static void put_quantiles(struct leat_json_writer *w, const char *key, const struct leat_hist *h)
{
    leat_json_write_key(w, key);
    leat_json_open(w, '{');
    leat_json_put_u64(w, "p50", leat_hist_quantile(h, 500));
    leat_json_put_u64(w, "p99", leat_hist_quantile(h, 990));
    leat_json_put_u64(w, "max", h->max);
    leat_json_close(w, '}');
}

static void put_options(struct leat_json_writer *w, const struct leat_load_options *o)
{
    leat_json_put_u64(w, "publishers", o->publishers);
    leat_json_put_u64(w, "subscribers", o->subscribers);
    leat_json_put_u64(w, "seconds", o->seconds);
    leat_json_put_u64(w, "rate_kbps", o->rate_kbps);
    leat_json_put_u64(w, "size", o->size);
    leat_json_put_bool(w, "audio", o->has_audio);
}

static void put_wrong(struct leat_json_writer *w, const struct leat_load_result *r)
{
    leat_json_put_u64(w, "wrong", leat_load_result_wrong(r));
    leat_json_write_key(w, "wrong_by");
    leat_json_open(w, '{');
    for (size_t i = LEAT_LOAD_WRONG_PT; i < LEAT_LOAD_FATES; i++) {
        leat_json_put_u64(w, leat_load_fate_text((enum leat_load_fate)i), r->fates[i]);
    }
    leat_json_put_u64(w, "undecryptable", r->undecryptable);
    leat_json_put_u64(w, "unknown_ssrc", r->unknown_ssrc);
    leat_json_close(w, '}');
    leat_json_put_u64(w, "reordered", r->fates[LEAT_LOAD_REORDERED]);
    leat_json_put_u64(w, "duplicates", r->fates[LEAT_LOAD_DUPLICATE]);
}

int leat_load_report_json(FILE *out, const struct leat_load_options *o,
                          const struct leat_load_result *r)
{
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    leat_json_open(&w, '{');
    leat_json_put_bool(&w, "good", leat_load_result_is_good(r));
    put_options(&w, o);
    leat_json_put_u64(&w, "connected", r->connected);
    leat_json_put_u64(&w, "not_connected", r->not_connected);
    leat_json_put_u64(&w, "ended_early", r->ended_early);
    leat_json_put_u64(&w, "sent", r->sent);
    leat_json_put_u64(&w, "expected", r->expected);
    leat_json_put_u64(&w, "received", r->received);
    leat_json_put_u64(&w, "lost", r->lost);
    put_wrong(&w, r);
    leat_json_put_u64(&w, "stray", r->stray);
    leat_json_put_u64(&w, "kernel_receive_drops", r->kernel_receive_drops);
    leat_json_put_u64(&w, "kernel_send_drops", r->kernel_send_drops);
    leat_json_put_u64(&w, "behind_us", r->behind_us);
    leat_json_put_u64(&w, "keyframe_requests", r->keyframe_requests);
    leat_json_put_u64(&w, "keyframes", r->keyframes);
    put_quantiles(&w, "join_us", &r->join_us);
    put_quantiles(&w, "ice_us", &r->ice_us);
    put_quantiles(&w, "dtls_us", &r->dtls_us);
    put_quantiles(&w, "first_media_us", &r->first_media_us);
    put_quantiles(&w, "delay_us", &r->delay_us);
    leat_json_put_double(&w, "media_s", seconds(r));
    leat_json_put_double(&w, "sent_kbps", kbps(r->octets_sent, r->media_us));
    leat_json_put_double(&w, "received_kbps", kbps(r->octets_received, r->media_us));
    leat_json_put_double(&w, "generator_cpu", r->cpu_share);
    leat_json_put_bool(&w, "interrupted", r->is_interrupted);
    leat_json_put_text(&w, "failure", r->failure);
    leat_json_close(&w, '}');
    bool is_written = !w.failed && fprintf(out, "%s\n", w.text) > 0;
    leat_json_writer_deinit(&w);
    return is_written ? 0 : LEAT_E_NOMEM;
}
