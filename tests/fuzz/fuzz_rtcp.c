/* SPDX-License-Identifier: MIT */
/*
 * Any octets as a compound of RTCP packets, every reader on every packet; report blocks go through
 * the writer and come back. The octets also serve as a sequence of arrivals for the reception
 * statistics.
 */
#include <leat/rtcp.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void write_again(const struct leat_rtcp *p, const struct leat_rtcp_block *blocks,
                        size_t count)
{
    uint8_t out[1024];
    struct leat_writer w;
    struct leat_reader r;
    struct leat_rtcp again;
    struct leat_rtcp_block read[LEAT_RTCP_BLOCKS_MAX];
    leat_writer_init(&w, out, sizeof(out));
    leat_rtcp_write_rr(&w, p->ssrc, blocks, count);
    require(!w.failed);
    leat_reader_init(&r, out, leat_writer_len(&w));
    require(leat_rtcp_next(&r, &again));
    require(leat_rtcp_read_blocks(&again, read) == count);
    for (size_t i = 0; i < count; i++) {
        require(read[i].ssrc == blocks[i].ssrc && read[i].lost == blocks[i].lost);
        require(read[i].lost >= -0x800000 && read[i].lost <= 0x7fffff);
    }
}

static void read_packet(const struct leat_rtcp *p)
{
    struct leat_rtcp_sender_info info;
    struct leat_rtcp_block blocks[LEAT_RTCP_BLOCKS_MAX];
    uint32_t ssrc;
    uint8_t nr;
    size_t cursor = 0, entries = 0;
    (void)leat_rtcp_read_sender_info(p, &info);
    size_t count = leat_rtcp_read_blocks(p, blocks);
    require(count <= p->count_or_fmt);
    write_again(p, blocks, count);
    (void)leat_rtcp_read_pli(p, &ssrc);
    while (leat_rtcp_read_fir(p, &cursor, &ssrc, &nr)) {
        require(++entries <= p->body.len / 8);
    }
    cursor = entries = 0;
    while (leat_rtcp_read_bye(p, &cursor, &ssrc)) {
        require(++entries <= 31);
    }
}

/** Ten octets an arrival: sequence number, timestamp, microseconds since the last one. */
static void receive(const uint8_t *data, size_t size)
{
    struct leat_rtp_receiver r;
    struct leat_rtcp_block block;
    struct leat_reader in;
    uint64_t now_us = 0;
    leat_rtp_receiver_init(&r, 90000);
    leat_reader_init(&in, data, size);
    while (leat_reader_left(&in) >= 10) {
        uint16_t seq = leat_read_u16(&in);
        uint32_t timestamp = leat_read_u32(&in);
        uint32_t elapsed_us = leat_read_u32(&in);
        now_us += elapsed_us;
        leat_rtp_receiver_add(&r, seq, timestamp, 1, now_us);
        if (elapsed_us % 4 == 0) {
            leat_rtp_receiver_report(&r, 1, now_us, &block);
            require(block.highest_seq == (uint32_t)r.highest && r.base <= r.highest);
        }
        if (elapsed_us % 8 == 1) {
            leat_rtp_receiver_sr(&r, (uint64_t)timestamp << 16, now_us);
        }
    }
    require(leat_rtp_receiver_jitter_s(&r) >= 0.0 && leat_rtp_receiver_jitter_s(&r) <= 5.0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct leat_reader r;
    struct leat_rtcp p;
    leat_reader_init(&r, data, size);
    size_t packets = 0;
    while (leat_rtcp_next(&r, &p)) {
        require(++packets <= size / 4);
        read_packet(&p);
    }
    receive(data, size);
    return 0;
}
