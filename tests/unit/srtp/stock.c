/* SPDX-License-Identifier: MIT */
/*
 * libsrtp2 as packaged, driven by lines: the oracle of test_stock.c.
 *     new PROFILE KEY            start over: PROFILE is IANA's number, KEY is master key and salt
 * in hex protect PACKET | unprotect PACKET | protect_rtcp PACKET | unprotect_rtcp PACKET Each line
 * is answered by one: the library's status and the packet in hex.
 */
#include <stdio.h>
#include <stdlib.h>

#include <srtp2/srtp.h>

#include <leat/bytes.h>

#define PACKET_MAX 4096

static srtp_t session_of(srtp_ssrc_type_t direction, int profile, uint8_t *key)
{
    srtp_policy_t policy;
    srtp_t session;
    memset(&policy, 0, sizeof(policy));
    srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, (srtp_profile_t)profile);
    srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, (srtp_profile_t)profile);
    policy.ssrc.type = direction;
    policy.key = key;
    policy.window_size = 1024;
    if (srtp_create(&session, &policy) != srtp_err_status_ok) {
        abort();
    }
    return session;
}

static int run(const char *command, srtp_t out, srtp_t in, uint8_t *packet, int *len)
{
    if (strcmp(command, "protect") == 0) {
        return (int)srtp_protect(out, packet, len);
    }
    if (strcmp(command, "unprotect") == 0) {
        return (int)srtp_unprotect(in, packet, len);
    }
    if (strcmp(command, "protect_rtcp") == 0) {
        return (int)srtp_protect_rtcp(out, packet, len);
    }
    if (strcmp(command, "unprotect_rtcp") == 0) {
        return (int)srtp_unprotect_rtcp(in, packet, len);
    }
    abort();
}

int main(void)
{
    static char line[2 * PACKET_MAX + 64], command[32], hex[2 * PACKET_MAX + 1];
    static uint8_t octets[PACKET_MAX];
    srtp_t out = NULL, in = NULL;
    int profile;
    if (srtp_init() != srtp_err_status_ok) {
        return 1;
    }
    while (fgets(line, sizeof(line), stdin) != NULL) {
        if (sscanf(line, "new %d %8191s", &profile, hex) == 2) {
            leat_hex_decode(hex, strlen(hex), octets, sizeof(octets));
            if (out != NULL) {
                srtp_dealloc(out);
                srtp_dealloc(in);
            }
            out = session_of(ssrc_any_outbound, profile, octets);
            in = session_of(ssrc_any_inbound, profile, octets);
            puts("0 00");
        } else if (sscanf(line, "%31s %8191s", command, hex) == 2 && out != NULL) {
            ptrdiff_t n = leat_hex_decode(hex, strlen(hex), octets, sizeof(octets) - 160);
            int len = (int)n;
            int status = n < 0 ? -1 : run(command, out, in, octets, &len);
            leat_hex_encode(octets, status == 0 ? (size_t)len : 1, hex);
            printf("%d %s\n", status, hex);
        } else {
            return 1;
        }
        fflush(stdout);
    }
    if (out != NULL) {
        srtp_dealloc(out);
        srtp_dealloc(in);
    }
    srtp_shutdown();
    return 0;
}
