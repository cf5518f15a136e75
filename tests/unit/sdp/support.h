/* SPDX-License-Identifier: MIT */
/* Offers from files or text, negotiated on one after the other, and looked at as text. */
#ifndef LEAT_TESTS_SDP_SUPPORT_H
#define LEAT_TESTS_SDP_SUPPORT_H

#include <leat/sdp.h>

#include <stdarg.h>
#include <stdlib.h>

#include "harness.h"

#define TEXT_MAX 200000

/** Every recorded or written offer that can be answered. */
static const char *const answerable[] = {
    "aiortc-recv",
    "aiortc-send",
    "chromium156-default",
    "chromium156-recvonly",
    "chromium156-sendrecv",
    "chromium156-dtls-in-stun",
    "chromium156-nopqc",
    "chromium156-simulcast",
    "firefox153-default",
    "firefox153-max12",
    "firefox153-nopq",
    "firefox153-simulcast",
    "gstreamer-bundle",
    "gstreamer-unbundled",
    "libdatachannel-send",
    "libwebrtc-recv",
    "libwebrtc-send",
    "obs30-whip",
    "pion-recv",
    "pion-send",
    "safari17-default",
    "werift-send",
};

/** A file's text, terminated; to be freed. */
static inline char *load(const char *name, size_t *len)
{
    char path[512];
    char *text = calloc(1, TEXT_MAX);
    (void)snprintf(path, sizeof(path), VECTORS "/%s.sdp", name);
    FILE *f = fopen(path, "rb");
    if (f == NULL || text == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    *len = fread(text, 1, TEXT_MAX - 1, f);
    fclose(f);
    return text;
}

/** A copy of `text` with each `from` replaced; to be freed. */
static inline char *replaced(const char *text, const char *from, const char *to)
{
    char *out = calloc(1, TEXT_MAX);
    size_t len = 0;
    while (*text != '\0' && len + strlen(to) + 1 < TEXT_MAX) {
        if (strncmp(text, from, strlen(from)) == 0) {
            memcpy(out + len, to, strlen(to));
            len += strlen(to);
            text += strlen(from);
        } else {
            out[len++] = *text++;
        }
    }
    return out;
}

/** One peer's negotiation with the answerer. */
struct talk {
    struct leat_sdp_session session;
    struct leat_sdp_policy policy;
    const char *reason;
    char why[LEAT_SDP_WHY_MAX];
    char answer[TEXT_MAX];
    uint32_t next_ssrc;
};

static inline struct talk *talk_new(void)
{
    struct talk *t = calloc(1, sizeof(*t));
    t->session.origin_id = 77;
    t->next_ssrc = 1000;
    return t;
}

static inline void talk_free(struct talk *t)
{
    leat_sdp_session_deinit(&t->session);
    free(t);
}

static inline struct leat_sdp_local local_two(void)
{
    static const uint8_t v6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 9}, v4[4] = {192, 0, 2, 9};
    struct leat_sdp_local local = {.ufrag = "w0abcdef",
                                   .pwd = "0123456789abcdefghijkl",
                                   .fingerprint = "01:02",
                                   .cname = "cn",
                                   .candidate_count = 2};
    local.candidates[0] = leat_addr_v6(v6, 7000, 0);
    local.candidates[1] = leat_addr_v4(v4, 7001);
    return local;
}

/** Answer an offer; the state moves on only when that works, as in the daemon. */
static inline int talk_offer(struct talk *t, const char *offer)
{
    struct leat_sdp_desc desc;
    struct leat_sdp_session after;
    t->reason = "bad_sdp";
    t->answer[0] = '\0';
    int status = leat_sdp_parse(&desc, leat_span_str(offer), t->why);
    if (status != 0) {
        return status;
    }
    status = leat_sdp_agree(&after, &t->session, &desc, &t->policy, &t->reason, t->why);
    leat_sdp_desc_deinit(&desc);
    if (status != 0) {
        return status;
    }
    leat_sdp_session_deinit(&t->session);
    t->session = after;
    for (size_t i = 0; i < after.section_count; i++) {
        if (after.sections[i].has_sender && after.sections[i].ssrc == 0) {
            after.sections[i].ssrc = t->next_ssrc++;
        }
    }
    struct leat_sdp_local local = local_two();
    status = leat_sdp_compose(&t->session, &local, t->answer, sizeof(t->answer));
    LEAT_CHECK_INT(status, (int)strlen(t->answer));
    return 0;
}

static inline int talk_file(struct talk *t, const char *name)
{
    size_t len;
    char *text = load(name, &len);
    int status = talk_offer(t, text);
    free(text);
    return status;
}

/** Lines of `text` between the index-th m= line and the next; index -1: before the first. */
static inline void section_of(const char *text, int index, char out[static TEXT_MAX])
{
    int at = -1;
    size_t len = 0;
    while (*text != '\0') {
        size_t line = strcspn(text, "\n");
        line += text[line] == '\n' ? 1 : 0;
        at += strncmp(text, "m=", 2) == 0 ? 1 : 0;
        if (at == index) {
            memcpy(out + len, text, line);
            len += line;
        }
        text += line;
    }
    out[len] = '\0';
}

/** Lines that begin with `prefix`. */
static inline size_t count_lines(const char *text, const char *prefix)
{
    size_t count = 0;
    while (*text != '\0') {
        size_t line = strcspn(text, "\n");
        count += strncmp(text, prefix, strlen(prefix)) == 0 ? 1 : 0;
        text += line + (text[line] == '\n' ? 1 : 0);
    }
    return count;
}

static inline bool has_line(const char *text, const char *line)
{
    for (const char *at = text; (at = strstr(at, line)) != NULL; at++) {
        char end = at[strlen(line)];
        if ((at == text || at[-1] == '\n') && (end == '\r' || end == '\n')) {
            return true;
        }
    }
    return false;
}

/** The whole m= line of each section and its direction, "m=audio 7000 ... 111 recvonly\n...". */
static inline void digest(const char *answer, char out[static 4096])
{
    static const char *const directions[] = {"sendrecv", "sendonly", "recvonly", "inactive"};
    static char section[TEXT_MAX];
    size_t len = 0;
    out[0] = '\0';
    for (int i = 0; section_of(answer, i, section), section[0] != '\0'; i++) {
        const char *direction = "";
        for (size_t k = 0; k < 4; k++) {
            char line[32];
            (void)snprintf(line, sizeof(line), "a=%s", directions[k]);
            direction = has_line(section, line) ? directions[k] : direction;
        }
        len += (size_t)snprintf(out + len, 4096 - len, "%.*s %s\n", (int)strcspn(section, "\r\n"),
                                section, direction);
    }
}

/** An offer put together from lines, each ended with CRLF. */
static inline char *offer_of(const char *first, ...)
{
    char *out = calloc(1, TEXT_MAX);
    size_t len = 0;
    va_list lines;
    va_start(lines, first);
    for (const char *line = first; line != NULL; line = va_arg(lines, const char *)) {
        len += (size_t)snprintf(out + len, TEXT_MAX - len, "%s\r\n", line);
    }
    va_end(lines);
    return out;
}

#define FINGERPRINT_A                                                                              \
    "a=fingerprint:sha-256 "                                                                       \
    "00:01:02:03:04:05:06:07:08:09:0A:0B:0C:0D:0E:0F:10:11:12:13:14:15:16:17:18:19:1a:1b:1c:1d:"   \
    "1e:1f"
#define HEAD(group)                                                                                \
    "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:" group, "a=ice-ufrag:uuuu",       \
        "a=ice-pwd:pppppppppppppppppppppp", "a=setup:actpass", FINGERPRINT_A
#define AUDIO(mid)                                                                                 \
    "m=audio 9 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 0.0.0.0", "a=mid:" mid, "a=rtcp-mux",             \
        "a=rtpmap:111 opus/48000/2"
#define VIDEO(mid)                                                                                 \
    "m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=mid:" mid, "a=rtcp-mux",              \
        "a=rtpmap:96 VP8/90000"

#endif
