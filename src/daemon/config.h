/* SPDX-License-Identifier: MIT */
/**
 * @file  The configuration: one JSON document with comments. Every error names file, key and what
 * was expected.
 * @module daemon
 */
#ifndef LEAT_DAEMON_CONFIG_H
#define LEAT_DAEMON_CONFIG_H

#include <leat/addr.h>
#include <leat/control.h>
#include <leat/log.h>
#include <leat/dtls.h>
#include <leat/profile.h>
#include <leat/sdp.h>

#define LEAT_CONFIG_LISTEN_MAX LEAT_CONTROL_LISTEN_MAX
#define LEAT_CONFIG_PATH_MAX 512
#define LEAT_CONFIG_WHY_MAX 512

struct leat_config_listen {
    struct leat_addr addr; /**< of worker 0; worker i has port + i */
    size_t announce_count;
    struct leat_addr announce[LEAT_SDP_CANDIDATES_MAX];
};

struct leat_config {
    const char *file; /**< it came from, for errors that show later; NULL: from none */
    char socket[LEAT_CONFIG_PATH_MAX];
    bool is_listen_auto; /**< wildcards on `port`, every usable address announced */
    uint16_t port;
    size_t listen_count;
    struct leat_config_listen listen[LEAT_CONFIG_LISTEN_MAX];
    unsigned workers; /**< 0 = auto */
    enum leat_log_level log_level;
    char certificate[LEAT_CONFIG_PATH_MAX], key[LEAT_CONFIG_PATH_MAX]; /**< "" = made at start */
    char crypto_provider[16], crypto_level[8];                         /**< "" = auto */
    struct leat_sdp_policy policy;                                     /**< dtls.setup and codecs */
    unsigned handshakes;        /**< jobs of one worker that run at once */
    bool is_key_exchange_plain; /**< the TLS library's own, libcrypto or not */
    enum leat_dtls_backend backend;
    enum leat_srtp_profile profiles[LEAT_SRTP_PROFILES_MAX];
    size_t profile_count;
    size_t peers_max, ssrcs_per_peer; /**< of the whole daemon; of one peer */
    size_t receive_buffer;            /**< octets asked of the kernel for each socket */
    bool is_gso_off;
    unsigned ended_keep_s, drain_s;
};

void leat_config_init(struct leat_config *c);
/** Media threads: as configured, or for "auto" one less than the CPUs, at least one. */
unsigned leat_config_workers(const struct leat_config *c);
/** @return 0, or LEAT_E_INVALID / LEAT_E_IO with "FILE: KEY: what was expected" in `why`. */
int leat_config_load(struct leat_config *c, const char *file, char why[static LEAT_CONFIG_WHY_MAX]);
/** Text of a configuration that came from `file`. */
int leat_config_parse(struct leat_config *c, const char *file, struct leat_span text,
                      char why[static LEAT_CONFIG_WHY_MAX]);
/** The whole of a file in heap memory. @return 0 or LEAT_E_IO with the reason. */
int leat_file_read(const char *file, size_t max, uint8_t **out, size_t *len, char *why,
                   size_t why_cap);

#endif
