/* SPDX-License-Identifier: MIT */
/*
 * Anything as DTLS datagrams. The first octet chooses where the session stands when they arrive: a
 * server that waits, a server that has answered a hello, a client that has sent one, a connected
 * server. The rest are datagrams, each behind two octets of length. They arrive so with each
 * backend of the build.
 */
#include <stdlib.h>

#include <leat/dtls.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct side {
    struct leat_dtls *d;
    bool is_connected;
};

static struct leat_rng rng;
static struct leat_dtls_identity *identities[2], *identity; /* by backend; that of the turn */

static void choose_identity(enum leat_dtls_backend backend)
{
    static const uint8_t seed[32] = {7};
    leat_rng_init_seeded(&rng, seed);
    if (!identities[backend] &&
        (leat_dtls_identity_new(&identities[backend], &rng, 1700000000) != 0 ||
         leat_dtls_identity_set_backend(identities[backend], backend) != 0)) {
        abort();
    }
    identity = identities[backend];
    leat_rng_init_seeded(&rng, seed); /* each input sees the same numbers */
    leat_rng_init_seeded(leat_rng_thread(), seed);
}

static void open_side(struct side *s, enum leat_dtls_role role)
{
    struct leat_dtls_params p = {.identity = identity,
                                 .role = role,
                                 .profiles = {LEAT_SRTP_AES128_CM_SHA1_80},
                                 .profile_count = 1};
    leat_dtls_identity_fingerprint(identity, p.remote_fingerprint);
    if (leat_dtls_new(&s->d, &p, 0) != 0) {
        abort();
    }
    leat_dtls_start(s->d, 0, 0);
}

/* What is due; datagrams go to `to`, or nowhere. */
static void work(struct side *s, struct side *to, uint64_t now_us)
{
    struct leat_dtls_event event;
    struct leat_span out;
    if (leat_dtls_wants_job(s->d)) {
        leat_dtls_job_begin(s->d, now_us);
        leat_dtls_job_run(s->d, &rng);
        leat_dtls_job_end(s->d, now_us);
    }
    while (leat_dtls_next_event(s->d, &event)) {
        s->is_connected |= event.type == LEAT_DTLS_EVENT_CONNECTED;
    }
    while (leat_dtls_next_datagram(s->d, &out)) {
        if (out.len > LEAT_DTLS_MTU) {
            abort();
        }
        if (to) {
            (void)leat_dtls_receive(to->d, out, now_us);
        }
    }
}

static void feed(struct side *s, const uint8_t *data, size_t size)
{
    struct leat_reader r;
    leat_reader_init(&r, data, size);
    for (uint64_t now_us = 10000; leat_reader_left(&r) > 2 && now_us < 400000; now_us += 10000) {
        size_t len = leat_read_u16(&r);
        len = len < leat_reader_left(&r) ? len : leat_reader_left(&r);
        uint8_t *exact = malloc(len ? len : 1); /* so that a read past the end is seen */
        if (!exact) {
            abort();
        }
        memcpy(exact, leat_read_span(&r, len).data, len);
        (void)leat_dtls_receive(s->d, leat_span(exact, len), now_us);
        free(exact);
        leat_dtls_tick(s->d, now_us);
        work(s, NULL, now_us);
    }
}

static void run(const uint8_t *data, size_t size)
{
    struct side server, client;
    memset(&server, 0, sizeof(server));
    memset(&client, 0, sizeof(client));
    open_side(&server, LEAT_DTLS_SERVER);
    if (data[0] % 4 != 0) {
        open_side(&client, LEAT_DTLS_CLIENT);
    }
    struct side *target = data[0] % 4 == 2 ? &client : &server;
    unsigned rounds = data[0] % 4 == 3 ? 3 : data[0] % 4 != 0 ? 1 : 0;
    for (unsigned i = 0; i < rounds; i++) {
        work(&client, &server, 1000 + i);
        work(&server, &client, 1000 + i);
    }
    bool was_connected = server.is_connected;
    feed(target, data + 1, size - 1);
    if (target->is_connected && !was_connected) {
        abort(); /* nobody forges a certificate that fits the fingerprint */
    }
    leat_dtls_free(server.d);
    leat_dtls_free(client.d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int backend = LEAT_DTLS_MBEDTLS; size >= 4 && backend <= LEAT_DTLS_OPENSSL; backend++) {
        if (leat_dtls_library_version((enum leat_dtls_backend)backend) != NULL) {
            choose_identity((enum leat_dtls_backend)backend);
            run(data, size);
        }
    }
    return 0;
}
