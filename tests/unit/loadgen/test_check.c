/* SPDX-License-Identifier: MIT */
/* A daemon that does what it must not, packet by packet: the check has to notice each. */
#include "check.h"
#include "harness.h"

#define SEQ_OFFSET 1000
#define TIMESTAMP_OFFSET 77777u
#define PACKETS_MAX 8

struct bench {
    struct leat_load_sender sender;
    struct leat_load_stream stream;
    struct leat_load_stamp stamp;
};

static void begin(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->sender = (struct leat_load_sender){.kind = LEAT_KIND_VIDEO,
                                          .publisher = 3,
                                          .pt = 96,
                                          .mid_ext = 3,
                                          .mid = "0",
                                          .ssrc = 1,
                                          .first_seq = 65533};
    leat_load_sender_pace_video(&b->sender, 1000, 200);
    b->stream.from = &b->sender;
    b->stream.ssrc = 2;
    b->stream.pt = 100;
    b->stream.mid_ext = 9;
    memcpy(b->stream.mid, "v3", 3);
    leat_load_stream_init(&b->stream);
}

/** What a change makes of a forwarded packet. */
struct change {
    uint8_t pt, mid_ext;
    const char *mid;
    int seq_step;
    uint32_t timestamp_step;
    int octet;  /**< of the payload, to be damaged; -1 none */
    size_t cut; /**< octets off its end */
};

static const struct change none = {.pt = 100, .mid_ext = 9, .mid = "v3", .octet = -1};

/** One of the publisher's packets as the daemon hands it on. @return octets. */
static size_t forward(const uint8_t *original, size_t len, const struct change *c, uint8_t *out)
{
    struct leat_rtp p;
    uint8_t payload[400];
    LEAT_CHECK(leat_rtp_parse(&p, leat_span(original, len)));
    memcpy(payload, original + p.payload_offset, p.payload_len);
    if (c->octet >= 0) {
        payload[c->octet] ^= 1;
    }
    struct leat_rtp_ext_out mid = {c->mid_ext, leat_span_str(c->mid)};
    return leat_rtp_compose(out, 500, p.marker, c->pt, (uint16_t)(p.seq + SEQ_OFFSET + c->seq_step),
                            p.timestamp + TIMESTAMP_OFFSET + c->timestamp_step, 2, NULL, 0, &mid, 1,
                            leat_span(payload, p.payload_len - c->cut));
}

static enum leat_load_fate take(struct bench *b, const uint8_t *original, size_t len,
                                const struct change *c)
{
    uint8_t packet[500];
    struct leat_rtp p;
    size_t out_len = forward(original, len, c, packet);
    LEAT_CHECK(leat_rtp_parse(&p, leat_span(packet, out_len)));
    return leat_load_stream_take(&b->stream, &p, leat_span(packet, out_len), 0, &b->stamp);
}

static size_t make(struct bench *b, uint8_t *out)
{
    return leat_load_sender_make(&b->sender, 5, out, 500);
}

static void stream__all_in_order__is_right(void)
{
    struct bench b;
    uint8_t packet[500];
    begin(&b);
    for (uint32_t i = 0; i < 70000; i++) { /* over the end of the sequence numbers */
        size_t len = make(&b, packet);
        if (take(&b, packet, len, &none) != LEAT_LOAD_RIGHT) {
            LEAT_CHECK_ROW(i, false);
            return;
        }
    }
    LEAT_CHECK_INT(b.stamp.counter, 69999);
    LEAT_CHECK_INT(leat_load_stream_lost(&b.stream), 0);
    LEAT_CHECK_INT(b.stream.unique, 70000);
}

static void stream__each_wrong_thing__has_its_fate(void)
{
    static const struct {
        struct change change;
        enum leat_load_fate fate;
    } rows[] = {
        {{100, 9, "v3", 0, 0, -1, 0}, LEAT_LOAD_RIGHT},
        {{96, 9, "v3", 0, 0, -1, 0}, LEAT_LOAD_WRONG_PT},
        {{100, 9, "v4", 0, 0, -1, 0}, LEAT_LOAD_WRONG_MID},
        {{100, 3, "v3", 0, 0, -1, 0}, LEAT_LOAD_WRONG_MID},
        {{100, 9, "v3", 0, 0, 50, 0}, LEAT_LOAD_WRONG_CRC},
        {{100, 9, "v3", 0, 0, -1, 1}, LEAT_LOAD_WRONG_CRC},
        {{100, 9, "v3", 0, 0, -1, 170}, LEAT_LOAD_WRONG_CRC},
        {{100, 9, "v3", 1, 0, -1, 0}, LEAT_LOAD_WRONG_SEQ},
        {{100, 9, "v3", -1, 0, -1, 0}, LEAT_LOAD_WRONG_SEQ},
        {{100, 9, "v3", 0, 1, -1, 0}, LEAT_LOAD_WRONG_TIMESTAMP},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct bench b;
        uint8_t packet[500];
        begin(&b);
        size_t len = make(&b, packet);
        LEAT_CHECK_ROW(i, take(&b, packet, len, &none) == LEAT_LOAD_RIGHT);
        len = make(&b, packet);
        LEAT_CHECK_ROW(i, take(&b, packet, len, &rows[i].change) == rows[i].fate);
        LEAT_CHECK_ROW(i, b.stream.fates[rows[i].fate] == (i == 0 ? 2u : 1u));
        LEAT_CHECK_ROW(i, leat_load_stream_lost(&b.stream) == (i == 0 ? 0u : 1u));
    }
}

static void stream__another_publishers_packet__is_wrong(void)
{
    struct bench b;
    uint8_t packet[500];
    begin(&b);
    struct leat_load_sender other = b.sender;
    other.publisher = 4;
    size_t len = make(&b, packet);
    len = leat_load_sender_make(&other, 5, packet, sizeof packet);
    LEAT_CHECK_INT(take(&b, packet, len, &none), LEAT_LOAD_WRONG_SOURCE);
    other.publisher = 3;
    len = leat_load_sender_make(&other, 5, packet, sizeof packet);
    LEAT_CHECK_INT(take(&b, packet, len, &none), LEAT_LOAD_WRONG_SOURCE); /* not sent yet */
}

static void stream__lost_reordered_and_doubled__are_counted(void)
{
    struct bench b;
    uint8_t packets[PACKETS_MAX][500];
    size_t lens[PACKETS_MAX];
    begin(&b);
    for (size_t i = 0; i < PACKETS_MAX; i++) {
        lens[i] = make(&b, packets[i]);
    }
    static const struct {
        size_t packet;
        enum leat_load_fate fate;
    } rows[] = {
        {1, LEAT_LOAD_RIGHT},     {0, LEAT_LOAD_REORDERED}, {3, LEAT_LOAD_RIGHT},
        {3, LEAT_LOAD_DUPLICATE}, {2, LEAT_LOAD_REORDERED}, {2, LEAT_LOAD_DUPLICATE},
        {6, LEAT_LOAD_RIGHT},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        LEAT_CHECK_ROW(i, take(&b, packets[rows[i].packet], lens[rows[i].packet], &none) ==
                              rows[i].fate);
    }
    LEAT_CHECK_INT(leat_load_stream_lost(&b.stream), 3); /* 4, 5 and, at the end, 7 */
    LEAT_CHECK_INT(b.stream.fates[LEAT_LOAD_REORDERED], 2);
    LEAT_CHECK_INT(b.stream.fates[LEAT_LOAD_DUPLICATE], 2);
}

static void stream__first_ones_missing__are_lost(void)
{
    struct bench b;
    uint8_t packet[500];
    begin(&b);
    size_t len = make(&b, packet);
    len = make(&b, packet);
    LEAT_CHECK_INT(take(&b, packet, len, &none), LEAT_LOAD_RIGHT);
    LEAT_CHECK_INT(leat_load_stream_lost(&b.stream), 1);
}

static void stream__gap_larger_than_the_window__is_counted(void)
{
    struct bench b;
    uint8_t first[500], packet[500];
    begin(&b);
    size_t first_len = make(&b, first), len = 0;
    LEAT_CHECK_INT(take(&b, first, first_len, &none), LEAT_LOAD_RIGHT);
    for (uint32_t i = 0; i < 3 * LEAT_LOAD_WINDOW; i++) {
        len = make(&b, packet);
    }
    LEAT_CHECK_INT(take(&b, packet, len, &none), LEAT_LOAD_RIGHT);
    LEAT_CHECK_INT(take(&b, packet, len, &none), LEAT_LOAD_DUPLICATE);
    LEAT_CHECK_INT(take(&b, first, first_len, &none), LEAT_LOAD_DUPLICATE);
    LEAT_CHECK_INT(leat_load_stream_lost(&b.stream), 3 * LEAT_LOAD_WINDOW - 1);
}

/** What was seen before a large gap says nothing of the packets that fall on the same places. */
static void stream__late_after_a_large_gap__is_reordered(void)
{
    struct bench b;
    uint8_t packet[500], late[500];
    begin(&b);
    size_t len = make(&b, packet), late_len = 0;
    LEAT_CHECK_INT(take(&b, packet, len, &none), LEAT_LOAD_RIGHT);
    for (uint32_t i = 0; i < LEAT_LOAD_WINDOW; i++) {
        late_len = make(&b, late); /* the last is a window after the first */
    }
    len = make(&b, packet);
    LEAT_CHECK_INT(take(&b, packet, len, &none), LEAT_LOAD_RIGHT);
    LEAT_CHECK_INT(take(&b, late, late_len, &none), LEAT_LOAD_REORDERED);
}

LEAT_TESTS(LEAT_TEST(stream__all_in_order__is_right),
           LEAT_TEST(stream__each_wrong_thing__has_its_fate),
           LEAT_TEST(stream__another_publishers_packet__is_wrong),
           LEAT_TEST(stream__lost_reordered_and_doubled__are_counted),
           LEAT_TEST(stream__first_ones_missing__are_lost),
           LEAT_TEST(stream__gap_larger_than_the_window__is_counted),
           LEAT_TEST(stream__late_after_a_large_gap__is_reordered))
