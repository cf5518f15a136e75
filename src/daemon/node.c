/* SPDX-License-Identifier: MIT */
/*
 * One control thread (this one) and `workers` media threads. Controllers speak to `control` through
 * a Unix socket; its commands go into the mailboxes of the workers, their answers and events come
 * back into one mailbox here, in order.
 *
 * The end: SIGTERM or SIGINT drains for drain_s (new peers are refused, the rest goes on), then
 * every worker closes its peers, says its last word, and is joined; a second signal skips the
 * drain.
 *
 * SIGHUP reads certificate and key again, or makes a new one where none is configured. Peers that
 * come from then on get it, the others keep theirs until they have gone; a certificate that cannot
 * be taken changes nothing.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <leat/control.h>
#include <leat/crypto.h>
#include <leat/io.h>
#include <leat/srtp.h>

#include "node.h"
#include "version.h"
#include "worker.h"

#define RECEIVE_BUFFER_GOOD 2097152
#define PEM_MAX 65536
#define SIGNALS 3
#define LOOK_US 60000000u /* between looks at what nobody tells */

/** A controller's connection, for the end of the daemon. */
struct attached {
    struct leat_list node;
    struct leat_conn *conn;
    struct leat_control_conn *control;
};

struct node {
    const struct leat_config *config;
    struct leat_loop *loop;
    struct leat_mailbox *answers;
    struct leat_timer *timer;
    struct leat_signal *signals[SIGNALS];
    struct leat_unix_server *server;
    struct leat_list attached;
    struct leat_control *control;
    struct leat_control_info *info;
    struct leat_dtls_identity *identity;
    struct leat_worker *workers[LEAT_CONTROL_WORKERS_MAX];
    unsigned worker_count, stopped_count;
    bool is_draining, is_stopping;
    uint64_t refused_said_us, refused_said; /**< when, and how many were told */
    uint64_t look_us;                       /**< when to look again */
    char firewall[160];
};

/* ---- identity ---- */

static int load_identity(const struct leat_config *c, struct leat_dtls_identity **out, char *why,
                         size_t why_cap)
{
    uint8_t *cert = NULL, *key = NULL;
    size_t cert_len = 0, key_len = 0;
    int error = leat_file_read(c->certificate, PEM_MAX, &cert, &cert_len, why, why_cap);
    if (error == 0) {
        error = leat_file_read(c->key, PEM_MAX, &key, &key_len, why, why_cap);
    }
    if (error == 0) {
        char reason[200];
        error = leat_dtls_identity_load(out, leat_span(cert, cert_len), leat_span(key, key_len),
                                        leat_rng_thread(), leat_unix_us() / 1000000, reason,
                                        sizeof reason);
        if (error != 0) {
            (void)snprintf(why, why_cap, "certificate %s, key %s: %s", c->certificate, c->key,
                           reason);
        }
    }
    if (key != NULL) {
        leat_wipe(key, key_len);
    }
    free(cert);
    free(key);
    return error;
}

static int make_identity(const struct leat_config *c, struct leat_dtls_identity **out, char *why,
                         size_t why_cap)
{
    int error;
    if (c->certificate[0] != '\0') {
        error = load_identity(c, out, why, why_cap);
    } else {
        error = leat_dtls_identity_new(out, leat_rng_thread(), leat_unix_us() / 1000000);
        if (error != 0) {
            (void)snprintf(why, why_cap, "cannot make a certificate: %s", leat_error_text(error));
        }
    }
    if (error == 0) {
        error = leat_dtls_identity_set_backend(*out, c->backend);
        if (error != 0) {
            (void)snprintf(why, why_cap, "%s does not take the certificate: %s",
                           leat_dtls_library_version(c->backend), leat_error_text(error));
            leat_dtls_identity_free(*out);
            *out = NULL;
        }
    }
    return error;
}

/* Why the configured provider cannot be taken: it does not run here at all, or not with the level.
 */
static void explain_pin(const struct leat_config *c, char *why, size_t why_cap)
{
    char names[128] = "";
    const char *name;
    bool is_here = false;
    for (size_t i = 0; (name = leat_crypto_provider_name(i)) != NULL; i++) {
        size_t len = strlen(names);
        (void)snprintf(names + len, sizeof names - len, "%s \"%s\"", i > 0 ? "," : "", name);
        is_here = is_here || strcmp(name, c->crypto_provider) == 0;
    }
    (void)snprintf(why, why_cap, "%s: crypto.provider: \"%s\" %s%s%s; what runs here:%s",
                   c->file != NULL ? c->file : "configuration", c->crypto_provider,
                   is_here ? "does not run with crypto.level \""
                           : "is not in this build, its library is missing, or this CPU is not "
                             "made for it",
                   is_here ? c->crypto_level : "", is_here ? "\"" : "", names);
}

int leat_node_start_crypto(const struct leat_config *c, char *why, size_t why_cap)
{
    struct leat_crypto_options options = {
        .provider = c->crypto_provider[0] != '\0' ? c->crypto_provider : NULL,
        .level = c->crypto_level[0] != '\0' ? c->crypto_level : NULL,
    };
    int error = leat_crypto_start_with(&options);
    if (error == LEAT_E_INVALID) {
        explain_pin(c, why, why_cap);
    } else if (error != 0) {
        (void)snprintf(why, why_cap, "no crypto provider passes its known answers");
    }
    return error;
}

int leat_node_check_identity(const struct leat_config *config, char *why, size_t why_cap)
{
    struct leat_dtls_identity *identity = NULL;
    int error = leat_node_start_crypto(config, why, why_cap);
    if (error != 0) {
        return error;
    }
    error = make_identity(config, &identity, why, why_cap);
    leat_dtls_identity_free(identity);
    return error;
}

/* ---- control's port ---- */

static void port_post(void *data, unsigned worker, struct leat_command *command)
{
    struct node *n = data;
    struct leat_order *order = calloc(1, sizeof *order);
    if (order == NULL) {
        command->result = LEAT_E_NOMEM;
        leat_control_complete(n->control, command, leat_now_us());
        return;
    }
    leat_list_init(&order->node);
    order->type = LEAT_ORDER_COMMAND;
    order->command = command;
    leat_worker_post(n->workers[worker], order);
}

static int port_write(void *data, void *conn, const char *octets, size_t len)
{
    (void)data;
    return leat_conn_write(conn, octets, len, LEAT_CONTROL_QUEUE_MAX);
}

static size_t port_queued(void *data, void *conn)
{
    (void)data;
    return leat_conn_queued(conn);
}

static void port_close(void *data, void *conn)
{
    (void)data;
    leat_conn_close(conn, true);
}

static void stop(struct node *n)
{
    if (n->is_stopping) {
        return;
    }
    n->is_stopping = true;
    leat_log(LEAT_LOG_INFO, "stopping", "peers=%zu",
             n->control != NULL ? leat_control_live_peers(n->control) : 0);
    for (unsigned i = 0; i < n->worker_count; i++) {
        struct leat_order *order = calloc(1, sizeof *order);
        if (order == NULL) {
            abort(); /* the only way to say stop is gone; the supervisor starts us anew */
        }
        leat_list_init(&order->node);
        order->type = LEAT_ORDER_STOP;
        leat_worker_post(n->workers[i], order);
    }
}

static void port_shutdown(void *data)
{
    stop(data);
}

static void rearm(struct node *n)
{
    uint64_t deadline_us = leat_control_deadline(n->control);
    leat_timer_set(n->timer, deadline_us < n->look_us ? deadline_us : n->look_us);
}

/* ---- callbacks of the loop ---- */

static void on_answer(void *data, struct leat_list *message)
{
    struct node *n = data;
    struct leat_order *order = LEAT_CONTAINER(message, struct leat_order, node);
    uint64_t now_us = leat_now_us();
    switch (order->type) {
    case LEAT_ORDER_COMMAND:
        leat_control_complete(n->control, order->command, now_us);
        break;
    case LEAT_ORDER_EVENT:
        leat_control_event(n->control, order->worker, &order->event, now_us);
        break;
    case LEAT_ORDER_STOPPED:
        n->stopped_count++;
        if (n->stopped_count == n->worker_count) {
            leat_loop_stop(n->loop);
        }
        break;
    case LEAT_ORDER_STOP:
        break; /* goes the other way only */
    }
    free(order);
    rearm(n);
}

static void say_refused(struct node *n)
{
    uint64_t refused = leat_unix_server_refused(n->server), now_us = leat_now_us();
    bool is_time = n->refused_said == 0 || now_us - n->refused_said_us >= LOOK_US;
    if (refused != n->refused_said && is_time) {
        leat_log(LEAT_LOG_WARN, "control_refused",
                 "connections=%llu reason=\"out of file descriptors\"",
                 (unsigned long long)(refused - n->refused_said));
        n->refused_said = refused;
        n->refused_said_us = now_us;
    }
}

static void on_timer(void *data, uint64_t now_us)
{
    struct node *n = data;
    if (now_us >= n->look_us) {
        n->look_us = now_us + LOOK_US;
        say_refused(n);
    }
    leat_control_tick(n->control, now_us);
    rearm(n);
}

static void say_identity(const struct node *n)
{
    uint8_t fingerprint[LEAT_FINGERPRINT_LEN];
    char text[LEAT_FINGERPRINT_TEXT_MAX];
    leat_dtls_identity_fingerprint(n->identity, fingerprint);
    leat_log(LEAT_LOG_INFO, "certificate", "fingerprint=%s file=\"%s\"",
             leat_dtls_fingerprint_format(fingerprint, text), n->config->certificate);
}

static void rotate_identity(struct node *n)
{
    char why[LEAT_CONFIG_WHY_MAX];
    struct leat_dtls_identity *fresh = NULL;
    if (make_identity(n->config, &fresh, why, sizeof why) != 0) {
        leat_log(LEAT_LOG_ERROR, "certificate_refused",
                 "effect=\"the old one stays\" reason=\"%s\"", why);
        return;
    }
    leat_control_set_identity(n->control, fresh);
    leat_dtls_identity_free(n->identity);
    n->identity = fresh;
    say_identity(n);
}

static void on_signal(void *data, int signum)
{
    struct node *n = data;
    if (signum == SIGHUP) {
        rotate_identity(n);
        return;
    }
    if (n->is_draining || n->config->drain_s == 0) {
        stop(n);
        return;
    }
    uint64_t now_us = leat_now_us();
    n->is_draining = true;
    leat_log(LEAT_LOG_INFO, "draining", "seconds=%u peers=%zu", n->config->drain_s,
             leat_control_live_peers(n->control));
    leat_control_drain(n->control, now_us + (uint64_t)n->config->drain_s * 1000000, now_us);
    rearm(n);
}

static void conn_opened(void *data, struct leat_conn *c)
{
    struct node *n = data;
    struct attached *a = calloc(1, sizeof *a);
    struct leat_control_conn *control = a != NULL ? leat_control_conn_opened(n->control, c) : NULL;
    if (control == NULL) {
        free(a);
        leat_conn_close(c, false);
    } else {
        *a = (struct attached){.conn = c, .control = control};
        leat_list_add_tail(&n->attached, &a->node);
        leat_conn_set_data(c, a);
    }
    say_refused(n);
}

static void conn_octets(void *data, struct leat_conn *c, struct leat_span octets)
{
    struct node *n = data;
    struct attached *a = leat_conn_data(c);
    if (a != NULL) {
        leat_control_conn_octets(n->control, a->control, octets, leat_now_us());
        rearm(n);
    }
}

static void conn_ended(void *data, struct leat_conn *c)
{
    struct node *n = data;
    struct attached *a = leat_conn_data(c);
    if (a != NULL) {
        leat_control_conn_ended(n->control, a->control, leat_now_us());
        rearm(n);
    }
}

static void conn_closed(void *data, struct leat_conn *c)
{
    struct node *n = data;
    struct attached *a = leat_conn_data(c);
    if (a != NULL) {
        leat_control_conn_closed(n->control, a->control);
        leat_list_remove(&a->node);
        free(a);
    }
}

/* ---- start ---- */

static struct leat_addr with_port(struct leat_addr a, unsigned worker)
{
    a.port = (uint16_t)(a.port + worker);
    return a;
}

/** listen "auto": wildcard sockets of both families; every usable address and 127.0.0.1 is
 * announced. */
static size_t auto_listen(const struct leat_config *c, struct leat_config_listen listen[static 2])
{
    static const uint8_t any4[4] = {0}, loop4[4] = {127, 0, 0, 1};
    static const uint8_t any6[16] = {0};
    struct leat_addr found[LEAT_SDP_CANDIDATES_MAX];
    size_t count = leat_interface_addrs(found, LEAT_ARRAY_LEN(found));
    memset(listen, 0, 2 * sizeof listen[0]);
    listen[0].addr = leat_addr_v4(any4, c->port);
    listen[1].addr = leat_addr_v6(any6, c->port, 0);
    bool has_loopback = false;
    for (size_t i = 0; i < count; i++) {
        struct leat_config_listen *l = &listen[found[i].family == LEAT_FAMILY_V6 ? 1 : 0];
        found[i].port = c->port;
        has_loopback = has_loopback || leat_addr_is_loopback(&found[i]);
        l->announce[l->announce_count++] = found[i];
    }
    if (!has_loopback && listen[0].announce_count < LEAT_SDP_CANDIDATES_MAX) {
        listen[0].announce[listen[0].announce_count++] = leat_addr_v4(loop4, c->port);
    }
    return listen[1].announce_count > 0
               ? 2
               : 1; /* no IPv6 address: no IPv6 socket, which may not even exist */
}

static void announce(struct node *n, const struct leat_config_listen *l, unsigned worker)
{
    for (size_t i = 0; i < l->announce_count; i++) {
        size_t *count = &n->info->announce_counts[worker];
        if (*count < LEAT_SDP_CANDIDATES_MAX) {
            n->info->announce[worker][(*count)++] = with_port(l->announce[i], worker);
        }
    }
}

static int start_worker(struct node *n, unsigned index, const struct leat_config_listen *listen,
                        size_t count, char *why, size_t why_cap)
{
    struct leat_worker_params p = {
        .index = index,
        .generation = n->info->generation,
        .listen_count = count,
        .receive_buffer = n->config->receive_buffer,
        .is_gso_off = n->config->is_gso_off,
        .peers_max = n->config->peers_max,
        .handshakes = n->config->handshakes,
        .answers = n->answers,
    };
    for (size_t i = 0; i < count; i++) {
        p.listen[i] = with_port(listen[i].addr, index);
        announce(n, &listen[i], index);
        n->info->listen[n->info->listen_count].worker = index;
        n->info->listen[n->info->listen_count].addr = p.listen[i];
        n->info->listen_count++;
    }
    size_t granted = 0;
    int error = leat_worker_start(&n->workers[index], &p, &granted, why, why_cap);
    if (error == 0) {
        n->worker_count++;
        if (index == 0 || granted < n->info->receive_buffer) {
            n->info->receive_buffer = granted;
        }
    }
    return error;
}

static int start_workers(struct node *n, char *why, size_t why_cap)
{
    const struct leat_config *c = n->config;
    struct leat_config_listen automatic[2];
    const struct leat_config_listen *listen = c->is_listen_auto ? automatic : c->listen;
    size_t count = c->is_listen_auto ? auto_listen(c, automatic) : c->listen_count;
    for (unsigned i = 0; i < n->info->workers; i++) {
        int error = start_worker(n, i, listen, count, why, why_cap);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

static void describe_firewall(struct node *n)
{
    unsigned least = 65535, most = 0;
    for (size_t i = 0; i < n->info->listen_count; i++) {
        unsigned port = n->info->listen[i].addr.port;
        least = port < least ? port : least;
        most = port > most ? port : most;
    }
    if (least == most) {
        (void)snprintf(n->firewall, sizeof n->firewall, "allow UDP port %u in, from anywhere",
                       least);
    } else {
        (void)snprintf(n->firewall, sizeof n->firewall, "allow UDP ports %u-%u in, from anywhere",
                       least, most);
    }
    n->info->firewall = n->firewall;
}

static void fill_info(struct node *n)
{
    struct leat_control_info *info = n->info;
    const struct leat_config *c = n->config;
    uint8_t boot[8];
    leat_rng_fill(leat_rng_thread(), boot, sizeof boot);
    leat_hex_encode(boot, sizeof boot, info->boot);
    info->version = LEAT_VERSION;
    info->pid = (int)getpid();
    info->workers = leat_config_workers(c);
    info->generation = leat_rng_u32(leat_rng_thread()) & 0x3ffff;
    info->identity = n->identity;
    memcpy(info->profiles, c->profiles, sizeof info->profiles);
    info->profile_count = c->profile_count;
    info->policy = c->policy;
    info->peers_max = c->peers_max;
    info->ssrcs_per_peer = c->ssrcs_per_peer;
    info->ended_keep_us = (uint64_t)c->ended_keep_s * 1000000;
    info->uv_version = leat_io_library_version();
    info->dtls_backend = leat_dtls_backend_text(c->backend);
    info->dtls_version = leat_dtls_library_version(c->backend);
    info->mbedtls_version = leat_dtls_library_version(LEAT_DTLS_MBEDTLS);
    info->key_exchange = c->backend == LEAT_DTLS_OPENSSL ? "openssl" : leat_dtls_key_exchange();
    info->srtp_version = leat_srtp_library_version();
}

static int start_control(struct node *n, char *why, size_t why_cap)
{
    static const struct leat_conn_events events = {conn_opened, conn_octets, conn_ended,
                                                   conn_closed};
    struct leat_control_port port = {
        .data = n,
        .post = port_post,
        .write = port_write,
        .close = port_close,
        .shutdown = port_shutdown,
        .queued = port_queued,
    };
    int error = leat_control_new(&n->control, n->info, &port, leat_rng_thread(), leat_now_us());
    if (error != 0) {
        (void)snprintf(why, why_cap, "out of memory");
        return error;
    }
    return leat_unix_listen(&n->server, n->loop, n->config->socket, &events, n, why, why_cap);
}

static int start_libraries(const struct leat_config *c, char *why, size_t why_cap)
{
    int error = leat_node_start_crypto(c, why, why_cap);
    if (error != 0) {
        return error;
    }
    if (leat_srtp_start() != 0) {
        (void)snprintf(why, why_cap,
                       "libsrtp2 does not take our ciphers, or their known answers fail");
        return LEAT_E_CRYPTO;
    }
    error = leat_dtls_key_exchange_start(!c->is_key_exchange_plain, leat_rng_thread());
    if (error != 0) { /* slower, but as good */
        leat_log(LEAT_LOG_WARN, "key_exchange_slow",
                 "reason=\"%s\" effect=\"a join costs ten times the CPU\"",
                 error == LEAT_E_UNSUPPORTED ? "libcrypto is not in this build or not reached"
                                             : "libcrypto does not agree with the TLS library");
    }
    return 0;
}

static int start(struct node *n, char *why, size_t why_cap)
{
    static const int signums[SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
    int error = start_libraries(n->config, why, why_cap);
    if (error == 0) {
        error = make_identity(n->config, &n->identity, why, why_cap);
    }
    if (error != 0) {
        return error;
    }
    (void)snprintf(why, why_cap, "out of memory");
    n->info = calloc(1, sizeof *n->info);
    n->loop = leat_loop_new();
    if (n->info == NULL || n->loop == NULL) {
        return LEAT_E_NOMEM;
    }
    n->answers = leat_mailbox_new(n->loop, on_answer, n);
    n->timer = leat_timer_new(n->loop, on_timer, n);
    for (size_t i = 0; i < SIGNALS; i++) {
        n->signals[i] = leat_signal_new(n->loop, signums[i], on_signal, n);
        if (n->signals[i] == NULL) {
            return LEAT_E_NOMEM;
        }
    }
    if (n->answers == NULL || n->timer == NULL) {
        return LEAT_E_NOMEM;
    }
    fill_info(n);
    error = start_workers(n, why, why_cap);
    if (error == 0) {
        describe_firewall(n);
        error = start_control(n, why, why_cap);
    }
    return error;
}

/* Who does what in one line, with its level; the costs for those who look closer. */
static void say_crypto(void)
{
    char text[512] = "";
    size_t at = 0;
    struct leat_crypto_row row;
    for (size_t i = 0; leat_crypto_describe(i, &row); i++) {
        if (at < sizeof text) {
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s=%s%s%s", at > 0 ? " " : "",
                                   row.primitive, row.provider, row.level != NULL ? "/" : "",
                                   row.level != NULL ? row.level : "");
        }
        leat_log(LEAT_LOG_DEBUG, "crypto_cost", "primitive=%s provider=%s ns_100=%.0f ns_1200=%.0f",
                 row.primitive, row.provider, row.ns_100, row.ns_1200);
    }
    leat_log(LEAT_LOG_INFO, "crypto", "%s", text);
}

static void say_started(const struct node *n)
{
    char text[LEAT_ADDR_TEXT_MAX];
    leat_log(LEAT_LOG_INFO, "started", "version=%s pid=%d workers=%u socket=%s", LEAT_VERSION,
             n->info->pid, n->info->workers, n->config->socket);
    say_identity(n);
    say_crypto();
    leat_log(LEAT_LOG_INFO, "dtls", "backend=%s library=\"%s\" p256=%s", n->info->dtls_backend,
             n->info->dtls_version, n->info->key_exchange);
    for (size_t i = 0; i < n->info->listen_count; i++) {
        leat_log(LEAT_LOG_INFO, "listening", "worker=%u udp=%s", n->info->listen[i].worker,
                 leat_addr_format(&n->info->listen[i].addr, text));
    }
    for (size_t i = 0; i < n->info->announce_counts[0]; i++) {
        leat_log(LEAT_LOG_INFO, "announcing", "worker=0 candidate=%s",
                 leat_addr_format(&n->info->announce[0][i], text));
    }
    leat_log(LEAT_LOG_INFO, "firewall", "rule=\"%s\"", n->firewall);
    if (n->info->receive_buffer < RECEIVE_BUFFER_GOOD) {
        leat_log(LEAT_LOG_WARN, "receive_buffer_small",
                 "granted=%zu wanted=%zu effect=\"bursts are lost in the kernel\" fix=\"sysctl -w "
                 "net.core.rmem_max=%zu\"",
                 n->info->receive_buffer, n->config->receive_buffer, n->config->receive_buffer);
    } else {
        leat_log(LEAT_LOG_INFO, "receive_buffer", "granted=%zu", n->info->receive_buffer);
    }
}

/** The end has begun: a further signal must not cut it short, as the default action would. */
static void close_signals(struct node *n)
{
    static const int signums[SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (size_t i = 0; i < SIGNALS; i++) {
        leat_signal_close(n->signals[i]);
        (void)signal(signums[i], SIG_IGN);
    }
}

/** Whatever a start that failed half-way, or a run that is over, left. */
static void finish(struct node *n)
{
    for (unsigned i = 0; i < n->worker_count; i++) {
        leat_worker_free(n->workers[i]);
    }
    leat_unix_server_close(n->server);
    for (struct leat_list *l = n->attached.next; l != &n->attached; l = l->next) {
        leat_conn_close(LEAT_CONTAINER(l, struct attached, node)->conn, true);
    }
    leat_mailbox_close(n->answers);
    leat_timer_close(n->timer);
    close_signals(n);
    leat_loop_free(n->loop); /* the last connections close in here and tell control */
    leat_control_free(n->control);
    leat_dtls_identity_free(n->identity);
    leat_srtp_stop();
    free(n->info);
}

int leat_node_run(const struct leat_config *config)
{
    struct node n = {.config = config};
    char why[512];
    leat_list_init(&n.attached);
    (void)signal(SIGPIPE, SIG_IGN);
    leat_log_setup(config->log_level, STDERR_FILENO);
    if (start(&n, why, sizeof why) != 0) {
        (void)fprintf(stderr, "leatd: %s\n", why);
        stop(&n);
        if (n.worker_count > 0) {
            leat_loop_run(n.loop);
        }
        finish(&n);
        return 1;
    }
    n.look_us = leat_now_us();
    say_started(&n);
    rearm(&n);
    leat_loop_run(n.loop);
    leat_log(LEAT_LOG_INFO, "stopped", "pid=%d", n.info->pid);
    finish(&n);
    return 0;
}
