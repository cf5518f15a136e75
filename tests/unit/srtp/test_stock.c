/* SPDX-License-Identifier: MIT */
/* Our types against libsrtp2's own, in another process, both ways, all profiles. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "srtp_test.h"

static struct {
    FILE *to, *from;
    pid_t pid;
} stock;

static void stock_start(void)
{
    int down[2], up[2];
    if (stock.pid != 0) {
        return;
    }
    signal(SIGPIPE, SIG_IGN);
    if (pipe(down) != 0 || pipe(up) != 0 || (stock.pid = fork()) < 0) {
        abort();
    }
    if (stock.pid == 0) {
        dup2(down[0], 0);
        dup2(up[1], 1);
        close(down[1]);
        close(up[0]);
        execl(STOCK_HELPER, STOCK_HELPER, (char *)NULL);
        _exit(127);
    }
    close(down[0]);
    close(up[1]);
    stock.to = fdopen(down[1], "w");
    stock.from = fdopen(up[0], "r");
}

static void stock_stop(void)
{
    int status = -1;
    stock_start();
    fclose(stock.to);
    fclose(stock.from);
    waitpid(stock.pid, &status, 0);
    stock.pid = 0;
    LEAT_CHECK_INT(status, 0);
}

static void stock_ask(const char *command, int *status, struct octets *packet)
{
    static char hex[2 * ROOM + 1];
    leat_hex_encode(packet->data, packet->len, hex);
    fprintf(stock.to, "%s %s\n", command, hex);
    fflush(stock.to);
    if (fscanf(stock.from, "%d %4800s", status, hex) != 2) {
        fprintf(stderr, "no answer from %s\n", STOCK_HELPER);
        exit(1); /* nothing after this would say more */
    }
    *packet = from_hex(hex);
}

static void stock_new(enum leat_srtp_profile profile)
{
    struct leat_srtp_keys keys = counting_keys(profile);
    struct octets material = {{0}, 0};
    size_t key_len = leat_srtp_profile_key_len(profile);
    material.len = key_len + leat_srtp_profile_salt_len(profile);
    memcpy(material.data, keys.send.key, key_len);
    memcpy(material.data + key_len, keys.send.salt, material.len - key_len);
    char command[16];
    int status;
    snprintf(command, sizeof(command), "new %d", (int)profile);
    stock_start();
    stock_ask(command, &status, &material);
    LEAT_CHECK_INT(status, 0);
}

/* Payloads of every size up to `count`; over the wrap once. */
static void cross__rtp__interoperates(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        stock_new(all_profiles[p]);
        struct leat_srtp *s = session(all_profiles[p]);
        for (size_t i = 0; i < 300; i++) {
            struct octets plain = rtp(0xcafe0000 + (uint32_t)(i % 2), (uint16_t)(65400 + i), i);
            struct octets got, theirs = plain, ours = sealed(s, plain);
            int status;
            stock_ask("protect", &status, &theirs);
            LEAT_CHECK_INT(status, 0);
            LEAT_CHECK_MEM(ours.data, ours.len, theirs.data, theirs.len);

            LEAT_CHECK_INT(opened(s, theirs, &got), LEAT_SRTP_OK);
            LEAT_CHECK_MEM(got.data, got.len, plain.data, plain.len);
            stock_ask("unprotect", &status, &ours);
            LEAT_CHECK_INT(status, 0);
            LEAT_CHECK_MEM(ours.data, ours.len, plain.data, plain.len);
        }
        leat_srtp_free(s);
    }
}

static void cross__rtcp__interoperates(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        stock_new(all_profiles[p]);
        struct leat_srtp *s = session(all_profiles[p]);
        for (size_t i = 0; i < 60; i++) {
            struct octets plain = rr(0xcafe0000 + (uint32_t)(i % 2), i % 31);
            struct octets got, theirs = plain, ours = sealed_rtcp(s, plain);
            int status;
            stock_ask("protect_rtcp", &status, &theirs);
            LEAT_CHECK_INT(status, 0);
            LEAT_CHECK_MEM(ours.data, ours.len, theirs.data, theirs.len);

            LEAT_CHECK_INT(opened_rtcp(s, theirs, &got), LEAT_SRTP_OK);
            LEAT_CHECK_MEM(got.data, got.len, plain.data, plain.len);
            stock_ask("unprotect_rtcp", &status, &ours);
            LEAT_CHECK_INT(status, 0);
            LEAT_CHECK_MEM(ours.data, ours.len, plain.data, plain.len);
        }
        leat_srtp_free(s);
    }
}

/* CSRCs, extension block, largest datagram of our size class. */
static void cross__header_shapes__interoperate(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        stock_new(all_profiles[p]);
        struct leat_srtp *s = session(all_profiles[p]);
        for (uint16_t i = 0; i < 48; i++) {
            struct octets plain = rtp(7, i, i == 47 ? 1988 : (size_t)(80 + i)), got;
            plain.data[0] = (uint8_t)(plain.data[0] | (i & 15));
            size_t at = 12 + 4 * (size_t)(i & 15);
            if (i >= 16) {
                plain.data[0] |= 0x10;
                leat_put_u32(plain.data + at, 0xbede0000u + (i >= 32 ? 4 : 0));
            }
            struct octets ours = sealed(s, plain);
            LEAT_CHECK_INT(opened(s, ours, &got), LEAT_SRTP_OK);
            LEAT_CHECK_MEM(got.data, got.len, plain.data, plain.len);
            int status;
            stock_ask("unprotect", &status, &ours);
            LEAT_CHECK_INT(status, 0);
            LEAT_CHECK_MEM(ours.data, ours.len, plain.data, plain.len);
        }
        leat_srtp_free(s);
    }
}

/* Steps up to the largest one that still has one meaning: their roll-over counter follows ours. */
static void cross__big_steps__same_roll_over_counter(void)
{
    static const uint32_t steps[] = {1, 32767, 32767, 2, 32766, 32767, 1, 32767, 32767, 32767, 7};
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        stock_new(all_profiles[p]);
        struct leat_srtp *s = session(all_profiles[p]);
        uint16_t seq = 1000;
        for (size_t i = 0; i < LEAT_ARRAY_LEN(steps); i++) {
            seq = (uint16_t)(seq + steps[i]);
            struct octets plain = rtp(9, seq, 20), ours = sealed(s, plain);
            int status;
            stock_ask("unprotect", &status, &ours);
            LEAT_CHECK_ROW(i, status == 0);
            LEAT_CHECK_MEM(ours.data, ours.len, plain.data, plain.len);
        }
        leat_srtp_free(s);
    }
}

/* A receiver of ours that lost everything before the wrap hears a stock sender. */
static void cross__stock_sender_late_join__heard(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        stock_new(all_profiles[p]);
        struct leat_srtp *s = session(all_profiles[p]);
        for (uint16_t i = 0; i < 40; i++) {
            struct octets plain = rtp(9, (uint16_t)(65530 + i), 20), got, theirs = plain;
            int status;
            stock_ask("protect", &status, &theirs);
            LEAT_CHECK_INT(status, 0);
            if (i >= 6) {
                LEAT_CHECK_INT(opened(s, theirs, &got), LEAT_SRTP_OK);
                LEAT_CHECK_MEM(got.data, got.len, plain.data, plain.len);
            }
        }
        leat_srtp_free(s);
    }
}

static void stock__end_of_input__ends_clean(void)
{
    stock_stop();
}

LEAT_TESTS(LEAT_TEST(cross__rtp__interoperates), LEAT_TEST(cross__rtcp__interoperates),
           LEAT_TEST(cross__header_shapes__interoperate),
           LEAT_TEST(cross__big_steps__same_roll_over_counter),
           LEAT_TEST(cross__stock_sender_late_join__heard),
           LEAT_TEST(stock__end_of_input__ends_clean))
