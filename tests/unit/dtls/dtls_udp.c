/* SPDX-License-Identifier: MIT */
/*
 * One session over a real UDP socket on 127.0.0.1, for test_openssl.py:
 *   dtls_udp server FINGERPRINT          prints "port N", waits for a client
 *   dtls_udp client FINGERPRINT PORT     connects to a server
 * Prints "fingerprint ..", "connected PROFILE CIPHER", "material HEX" (the exporter's block as SRTP
 * got it), "ended N". A line on stdin closes the session. Application data is sent back twice.
 * LEAT_BACKEND=openssl chooses that backend, LEAT_PROFILE the only SRTP profile.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <leat/dtls.h>

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void print_connected(const struct leat_dtls *d, const struct leat_srtp_keys *k)
{
    bool is_client = leat_dtls_role_of(d) == LEAT_DTLS_CLIENT;
    const struct leat_srtp_master *client = is_client ? &k->send : &k->receive;
    const struct leat_srtp_master *server = is_client ? &k->receive : &k->send;
    uint8_t block[LEAT_SRTP_MATERIAL_MAX];
    char hex[2 * sizeof(block) + 1];
    struct leat_writer w;
    leat_writer_init(&w, block, sizeof(block));
    leat_write_bytes(&w, client->key, leat_srtp_profile_key_len(k->profile));
    leat_write_bytes(&w, server->key, leat_srtp_profile_key_len(k->profile));
    leat_write_bytes(&w, client->salt, leat_srtp_profile_salt_len(k->profile));
    leat_write_bytes(&w, server->salt, leat_srtp_profile_salt_len(k->profile));
    leat_hex_encode(block, leat_writer_len(&w), hex);
    printf("connected %s %s\nmaterial %s\n", leat_srtp_profile_text(k->profile),
           leat_dtls_cipher(d), hex);
}

/* Events first, then datagrams. @return false when it has ended. */
static bool work(struct leat_dtls *d, int fd, const struct sockaddr_in *to)
{
    struct leat_dtls_event event;
    struct leat_span out;
    bool goes_on = true;
    while (leat_dtls_wants_job(d)) {
        leat_dtls_job_begin(d, now_us());
        leat_dtls_job_run(d, leat_rng_thread());
        leat_dtls_job_end(d, now_us());
    }
    while (leat_dtls_next_event(d, &event)) {
        if (event.type == LEAT_DTLS_EVENT_CONNECTED) {
            print_connected(d, &event.keys);
        } else {
            printf("ended %d\n", event.end);
            goes_on = false;
        }
        fflush(stdout);
    }
    while (leat_dtls_next_data(d, &out)) {
        for (int i = 0; i < 2; i++) { /* by a context of the moment, then by the one that is kept */
            if (leat_dtls_send(d, out) != 0) {
                printf("not sent\n");
            }
        }
    }
    while (leat_dtls_next_datagram(d, &out)) {
        (void)sendto(fd, out.data, out.len, 0, (const struct sockaddr *)to, sizeof(*to));
    }
    return goes_on;
}

static void run(struct leat_dtls *d, int fd, struct sockaddr_in *remote)
{
    struct pollfd polls[2] = {{fd, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    leat_dtls_start(d, now_us(), now_us());
    while (work(d, fd, remote)) {
        uint64_t deadline = leat_dtls_deadline(d), now = now_us();
        int wait_ms = deadline == LEAT_NEVER ? 20000
                      : deadline > now       ? (int)((deadline - now) / 1000 + 1)
                                             : 0;
        if (poll(polls, 2, wait_ms) == 0 && deadline == LEAT_NEVER) {
            return;
        }
        if (polls[0].revents & POLLIN) {
            uint8_t in[2048];
            socklen_t size = sizeof(*remote);
            ssize_t len = recvfrom(fd, in, sizeof(in), 0, (struct sockaddr *)remote, &size);
            if (len > 0) {
                (void)leat_dtls_receive(d, leat_span(in, (size_t)len), now_us());
            }
        }
        if (polls[1].revents) {
            leat_dtls_close(d, now_us());
            polls[1].fd = -1;
        }
        leat_dtls_tick(d, now_us());
    }
}

int main(int argc, char **argv)
{
    struct leat_dtls_identity *identity;
    struct leat_dtls *d;
    struct leat_dtls_params p = {
        .profiles = {LEAT_SRTP_AES128_CM_SHA1_80}, .profile_count = 1, .takes_data = true};
    uint8_t own[LEAT_FINGERPRINT_LEN];
    char text[LEAT_FINGERPRINT_TEXT_MAX];
    struct sockaddr_in local = {.sin_family = AF_INET}, remote = {.sin_family = AF_INET};
    socklen_t size = sizeof(local);
    local.sin_addr.s_addr = remote.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool is_client = argc == 4 && strcmp(argv[1], "client") == 0;
    if ((!is_client && (argc != 3 || strcmp(argv[1], "server") != 0)) ||
        !leat_dtls_fingerprint_parse(leat_span_str(argv[2]), p.remote_fingerprint)) {
        fprintf(stderr, "usage: dtls_udp server|client FINGERPRINT [PORT]\n");
        return 2;
    }
    p.role = is_client ? LEAT_DTLS_CLIENT : LEAT_DTLS_SERVER;
    remote.sin_port = htons((uint16_t)(is_client ? atoi(argv[3]) : 0));
    (void)leat_dtls_key_exchange_start(true, leat_rng_thread()); /* as the daemon does */
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (leat_crypto_start() != 0 || fd < 0 ||
        bind(fd, (struct sockaddr *)&local, sizeof(local)) != 0 ||
        getsockname(fd, (struct sockaddr *)&local, &size) != 0 ||
        leat_dtls_identity_new(&identity, leat_rng_thread(), (uint64_t)time(NULL)) != 0) {
        perror("dtls_udp");
        return 1;
    }
    const char *backend = getenv("LEAT_BACKEND"), *profile = getenv("LEAT_PROFILE");
    if (backend && strcmp(backend, "openssl") == 0 &&
        leat_dtls_identity_set_backend(identity, LEAT_DTLS_OPENSSL) != 0) {
        fprintf(stderr, "dtls_udp: no OpenSSL in this build\n");
        return 1;
    }
    if (profile) {
        p.profiles[0] = leat_srtp_profile_from_text(leat_span_str(profile));
    }
    p.identity = identity;
    leat_dtls_identity_fingerprint(identity, own);
    printf("port %d\nfingerprint %s\n", ntohs(local.sin_port),
           leat_dtls_fingerprint_format(own, text));
    fflush(stdout);
    if (leat_dtls_new(&d, &p, now_us()) == 0) {
        run(d, fd, &remote);
        leat_dtls_free(d);
    }
    leat_dtls_identity_free(identity);
    close(fd);
    return 0;
}
