/* SPDX-License-Identifier: MIT */
/* leatload: the process around a call. Exit status 0 when everything arrived and was right, 1 when
 * not, 2 for a wrong call or when leatd cannot be reached. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <leat/dtls.h>
#include <leat/srtp.h>

#include "call.h"

#define USAGE_ERROR 2

static void on_signal(void *data, int signum)
{
    (void)signum;
    leat_load_call_interrupt(data);
}

static int run(struct leat_load_call *call, const struct leat_load_options *o)
{
    struct leat_signal *interrupt = leat_signal_new(call->loop, SIGINT, on_signal, call);
    struct leat_signal *terminate = leat_signal_new(call->loop, SIGTERM, on_signal, call);
    call->has_progress = isatty(STDERR_FILENO) == 1;
    leat_load_call_run(call);
    leat_signal_close(interrupt);
    leat_signal_close(terminate);
    if (!o->is_json) {
        leat_load_report_text(stdout, o, &call->result);
    } else if (leat_load_report_json(stdout, o, &call->result) != 0) {
        return 1;
    }
    return leat_load_result_is_good(&call->result) ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct leat_load_call call;
    struct leat_load_options options;
    char why[200];
    if (leat_load_options_read(&options, argc, argv, getenv("LEAT_SOCKET"), why, sizeof why) != 0) {
        (void)fprintf(stderr, "leatload: %s\n%s", why, leat_load_usage);
        return USAGE_ERROR;
    }
    if (options.is_help) {
        (void)fputs(leat_load_usage, stdout);
        return 0;
    }
    if (leat_crypto_start() != 0 || leat_srtp_start() != 0) {
        (void)fprintf(stderr, "leatload: the crypto libraries do not pass their known answers\n");
        return 1;
    }
    (void)leat_dtls_key_exchange_start(true, leat_rng_thread()); /* where it is to be had */
    int status = USAGE_ERROR;
    if (leat_load_call_init(&call, &options, why, sizeof why) == 0) {
        status = run(&call, &options);
    } else {
        (void)fprintf(stderr, "leatload: %s\n", why);
    }
    leat_load_call_deinit(&call);
    leat_srtp_stop();
    return status;
}
