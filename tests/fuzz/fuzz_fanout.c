/* SPDX-License-Identifier: MIT */
/*
 * Arbitrary packets for one session, protected by us and by libsrtp2 with its own ciphers: what we
 * send must be what it sends, octet for octet, and what we refuse must be refused for a reason.
 * Octet 0 chooses the profile (2 bits) and how many packets there are to a batch. Then packets
 * follow, each behind three octets:
 *
 *     0      bits 0-1: alone, in a batch, RTCP, RTP again with another payload
 *            bits 2-3: room exact, plenty, one octet less, as many as bits 4-7 say
 *            bit 4: header in its place; bit 5: payload in its place; bit 6: header ends where bits
 *            0-7 of the lengths say and not where the packet says
 *     1, 2   length of the packet; what is left when there is less
 */
#include <stdlib.h>

#include <srtp2/srtp.h>

#include <leat/srtp.h>

#define INPUT_MAX 8192
#define JOBS_MAX 80
#define STREAMS_MAX 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct packet {
    struct leat_span plain;
    size_t header_len;
    uint8_t *header, *payload, *out; /* blocks of just the length that we may touch */
};

/* The highest sequence number of each SSRC that went out. */
struct sent {
    uint32_t ssrc;
    uint16_t seq;
};

struct run {
    struct leat_srtp *ours;
    srtp_t stock;
    struct leat_srtp_job jobs[JOBS_MAX];
    struct packet packets[JOBS_MAX];
    size_t job_count, batch_max, stream_count;
    struct sent streams[STREAMS_MAX];
};

static void must(bool is_true)
{
    if (!is_true) {
        abort();
    }
}

static uint8_t *block(const uint8_t *data, size_t len)
{
    uint8_t *p = malloc(len != 0 ? len : 1);
    must(p != NULL);
    if (data != NULL && len != 0) {
        memcpy(p, data, len);
    }
    return p;
}

/* RFC 3550 5.1, 5.3.1, written down once more: 0 when the packet does not hold its header. */
static size_t true_header_len(struct leat_span p)
{
    struct leat_reader r;
    leat_reader_init(&r, p.data, p.len);
    uint8_t first = leat_read_u8(&r);
    leat_read_skip(&r, 11);
    leat_read_skip(&r, 4 * (size_t)(first & 15));
    if ((first & 0x10) != 0) {
        leat_read_skip(&r, 2);
        size_t words = leat_read_u16(&r);
        leat_read_skip(&r, 4 * words);
    }
    return r.failed || first >> 6 != 2 ? 0 : p.len - leat_reader_left(&r);
}

/* ---- what libsrtp2 makes of it ---- */

static struct sent *stream_of(struct run *r, uint32_t ssrc)
{
    for (size_t i = 0; i < r->stream_count; i++) {
        if (r->streams[i].ssrc == ssrc) {
            return &r->streams[i];
        }
    }
    return NULL;
}

static void check_sent(struct run *r, struct leat_span plain, const uint8_t *out, size_t out_len,
                       bool is_rtcp)
{
    uint8_t *expected = malloc(plain.len + SRTP_MAX_TRAILER_LEN + 4);
    int len = (int)plain.len;
    must(expected != NULL);
    memcpy(expected, plain.data, plain.len);
    must((is_rtcp ? srtp_protect_rtcp : srtp_protect)(r->stock, expected, &len) ==
         srtp_err_status_ok);
    must(out_len == (size_t)len && memcmp(out, expected, out_len) == 0);
    free(expected);
}

/* An index is refused only where it was used or is too old: its number is not above the highest. */
static void check_refused(struct run *r, struct leat_span plain)
{
    const struct sent *s = stream_of(r, leat_get_u32(plain.data + 8));
    must(s != NULL && (int16_t)(uint16_t)(leat_get_u16(plain.data + 2) - s->seq) <= 0);
}

static void note_sent(struct run *r, struct leat_span plain)
{
    uint32_t ssrc = leat_get_u32(plain.data + 8);
    uint16_t seq = leat_get_u16(plain.data + 2);
    struct sent *s = stream_of(r, ssrc);
    if (s == NULL) {
        must(r->stream_count < STREAMS_MAX);
        s = &r->streams[r->stream_count++];
        *s = (struct sent){ssrc, seq};
    } else if ((int16_t)(uint16_t)(seq - s->seq) > 0) {
        s->seq = seq;
    }
}

static void check_verdict(struct run *r, enum leat_srtp_verdict v, struct leat_span plain,
                          size_t header_len, size_t cap, const uint8_t *out, size_t out_len)
{
    bool is_good = header_len != 0 && header_len == true_header_len(plain);
    bool has_room = cap >= plain.len + LEAT_SRTP_TRAILER_MAX;
    switch (v) {
    case LEAT_SRTP_OK:
        must(is_good && has_room);
        check_sent(r, plain, out, out_len, false);
        note_sent(r, plain);
        break;
    case LEAT_SRTP_MALFORMED:
        must(!is_good);
        break;
    case LEAT_SRTP_NO_ROOM:
        must(is_good && !has_room);
        break;
    case LEAT_SRTP_INDEX_USED:
        must(is_good && has_room);
        check_refused(r, plain);
        break;
    default:
        abort();
    }
}

/* ---- batches ---- */

static void flush(struct run *r)
{
    leat_srtp_protect_batch(r->jobs, r->job_count);
    for (size_t i = 0; i < r->job_count; i++) {
        struct leat_srtp_job *j = &r->jobs[i];
        struct packet *p = &r->packets[i];
        check_verdict(r, j->verdict, p->plain, p->header_len, j->cap, j->out, j->out_len);
        free(p->header);
        free(p->payload);
        free(p->out);
    }
    r->job_count = 0;
}

static void add(struct run *r, struct leat_span plain, size_t header_len, size_t cap, uint8_t flags)
{
    struct packet *p = &r->packets[r->job_count];
    struct leat_srtp_job *j = &r->jobs[r->job_count++];
    size_t payload_len = plain.len - header_len;
    bool has_place = cap >= plain.len;
    *p = (struct packet){plain, header_len, block(plain.data, header_len),
                         block(plain.data + header_len, payload_len), block(NULL, cap)};
    *j = (struct leat_srtp_job){.session = r->ours,
                                .header = leat_span(p->header, header_len),
                                .payload = leat_span(p->payload, payload_len),
                                .out = p->out,
                                .cap = cap};
    if (has_place && (flags & 0x10) != 0) {
        memcpy(p->out, p->header, header_len);
        j->header.data = p->out;
    }
    if (has_place && (flags & 0x20) != 0) {
        memcpy(p->out + header_len, p->payload, payload_len);
        j->payload.data = p->out + header_len;
    }
    if (r->job_count >= r->batch_max) {
        flush(r);
    }
}

/* ---- single packets ---- */

static void send_one(struct run *r, struct leat_span plain, size_t cap)
{
    uint8_t *exact = block(plain.data, plain.len), *out = block(NULL, cap);
    size_t out_len = 0;
    enum leat_srtp_verdict v =
        leat_srtp_protect(r->ours, leat_span(exact, plain.len), out, cap, &out_len);
    check_verdict(r, v, plain, true_header_len(plain), cap, out, out_len);
    free(exact);
    free(out);
}

static void send_rtcp(struct run *r, struct leat_span plain, size_t cap)
{
    uint8_t *exact = block(plain.data, plain.len), *out = block(NULL, cap);
    size_t out_len = 0;
    enum leat_srtp_verdict v =
        leat_srtp_protect_rtcp(r->ours, leat_span(exact, plain.len), out, cap, &out_len);
    bool is_good = plain.len >= 8 && plain.data[0] >> 6 == 2;
    bool has_room = cap >= plain.len + LEAT_SRTP_TRAILER_MAX;
    must(v == (!is_good ? LEAT_SRTP_MALFORMED : !has_room ? LEAT_SRTP_NO_ROOM : LEAT_SRTP_OK));
    if (v == LEAT_SRTP_OK) {
        check_sent(r, plain, out, out_len, true);
    }
    free(exact);
    free(out);
}

/* ---- sessions ---- */

static void run_open(struct run *r, enum leat_srtp_profile profile)
{
    struct leat_srtp_keys keys = {.profile = profile};
    uint8_t key[LEAT_SRTP_KEY_MAX + LEAT_SRTP_SALT_MAX] = {0};
    srtp_policy_t policy;
    memset(&policy, 0, sizeof(policy));
    srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, (srtp_profile_t)profile);
    srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, (srtp_profile_t)profile);
    policy.ssrc.type = ssrc_any_outbound;
    policy.key = key;
    policy.window_size = LEAT_SRTP_REPLAY_WINDOW;
    must(srtp_create(&r->stock, &policy) == srtp_err_status_ok);
    must(leat_srtp_new(&r->ours, &keys, 1) == 0);
}

static void one_packet(struct run *r, uint8_t flags, uint16_t lengths, struct leat_span plain)
{
    size_t header_len = (flags & 0x40) != 0 ? (lengths & 0xff) : true_header_len(plain);
    size_t cap = plain.len + LEAT_SRTP_TRAILER_MAX;
    switch (flags >> 2 & 3) {
    case 0:
        break;
    case 1:
        cap += 300;
        break;
    case 2:
        cap--;
        break;
    default:
        cap = flags >> 4;
        break;
    }
    header_len = header_len < plain.len ? header_len : plain.len;
    switch (flags & 3) {
    case 0:
        flush(r);
        send_one(r, plain, cap);
        break;
    case 1:
        add(r, plain, header_len, cap, flags);
        break;
    case 2:
        send_rtcp(r, plain, cap);
        break;
    default:
        add(r, plain, header_len, cap, flags);
        add(r, leat_span(plain.data, header_len), header_len, cap, flags);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum leat_srtp_profile profiles[] = {
        LEAT_SRTP_AES128_CM_SHA1_80, LEAT_SRTP_AES128_CM_SHA1_32, LEAT_SRTP_AEAD_AES_128_GCM,
        LEAT_SRTP_AEAD_AES_256_GCM};
    static bool is_started;
    static struct run r;
    /* the library's own types stay: sending needs none of ours */
    must(is_started || (leat_crypto_start() == 0 && srtp_init() == srtp_err_status_ok));
    is_started = true;
    if (size == 0 || size > INPUT_MAX) {
        return 0;
    }
    memset(&r, 0, sizeof(r));
    run_open(&r, profiles[data[0] & 3]);
    r.batch_max = 1 + (data[0] >> 2) % (JOBS_MAX - 2);
    struct leat_reader in;
    leat_reader_init(&in, data + 1, size - 1);
    for (size_t n = 0; n < STREAMS_MAX / 2 && leat_reader_left(&in) >= 3; n++) {
        uint8_t flags = leat_read_u8(&in);
        uint16_t lengths = leat_read_u16(&in);
        size_t left = leat_reader_left(&in);
        size_t len = lengths < left ? lengths : left;
        one_packet(&r, flags, lengths, leat_span(data + size - left, len));
        leat_read_skip(&in, len);
    }
    flush(&r);
    leat_srtp_free(r.ours);
    srtp_dealloc(r.stock);
    return 0;
}
