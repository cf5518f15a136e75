/* SPDX-License-Identifier: MIT */
/*
 * The first octets of payloads as Chromium 156 (plaintext dumps of its own calls) and
 * GStreamer 1.22 payloaders sent them; the rows marked "by hand" fill in what these encoders do not
 * produce.
 */
#include "harness.h"
#include "hex.h"

#include <leat/rtp.h>

struct row {
    const char *payload;
    bool is_keyframe_start, is_frame_start;
};

static void check_rows(enum leat_codec_name codec, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct octets o;
        struct leat_payload_info info = leat_payload_inspect(codec, hex(&o, rows[i].payload));
        LEAT_CHECK_ROW(i, info.is_keyframe_start == rows[i].is_keyframe_start);
        LEAT_CHECK_ROW(i, info.is_frame_start == rows[i].is_frame_start);
    }
}

static void vp8__real_and_odd_payloads__start_where_partition_0_does(void)
{
    static const struct row rows[] = {
        /* Chromium: a keyframe's first and second packet, two delta frames */
        {"9080946b909d009d012a80026801396900261c2216162266", true, true},
        {"8080946b7bf6feb4420419c82be029fe5eb5f9de58cbf230", false, false},
        {"9080946c114c00e4e0afe09f6fa747a7d88517f24960390d", false, true},
        {"8080946c418dcf6b3de6b13a1f8d3256977b58851e9f948a", false, false},
        {"9080946dd14000e4e0afbcd78fa747a7d88517f2496036ff", false, true},
        /* GStreamer: two keyframes, continuation, delta frames */
        {"9080f9059059019d012a4001f00000c70888", true, true},
        {"9080f90fd028019d012a4001f00003c70888", true, true},
        {"8080f9050cf164676b2725a16ba487f95a1c", false, false},
        {"9080f906d11b000f11fc001e63fbdb98a635", false, true},
        {"9080f90eb1014a", false, true},
        /* by hand: no X; 7-bit picture id; I, L, T and K; K alone; partition 1; S off */
        {"10 9059019d012a", true, true},
        {"10 1159019d012a", false, true},
        {"9080 05 9059019d012a", true, true},
        {"90f0 8123 45 20 9059019d012a", true, true},
        {"90f0 8123 45 20 9159019d012a", false, true},
        {"9010 01 9059019d012a", true, true},
        {"11 9059019d012a", false, false},
        {"00 9059019d012a", false, false},
        /* by hand: nothing behind the descriptor, or not even all of it */
        {"10", false, false},
        {"90", false, false},
        {"9080", false, false},
        {"908094", false, false},
        {"9080946b", false, false},
        {"90f081234520", false, false},
    };
    check_rows(LEAT_CODEC_VP8, rows, LEAT_ARRAY_LEN(rows));
}

static void vp9__real_and_odd_payloads__start_at_the_lowest_layer(void)
{
    static const struct row rows[] = {
        /* Chromium, flexible mode: keyframe with a scalability structure, its middle and end, delta
         */
        {"9b825b1002800168824983420027f016743438241c194a00", true, true},
        {"91825bf9fd7380d18d4683bbb057037c109a3e52f8d558f7", false, false},
        {"95825b48b78fece7719cd7f8b48f18d5a180c6f53aa09f0f", false, false},
        {"d9825c0286004092b88458e3673010160301f74520304f62", false, true},
        {"d5825c0269ab691639dbae20b10802e9f4aacab3603f31dd", false, false},
        /* GStreamer, non-flexible */
        {"8ae45d18014000f0010401b124c1a148009f8077b001c120", true, true},
        {"8ae46718014000f0010401b124c1a148009f8077b001c120", true, true},
        {"80e45dc2e66ea2c226b6b10fbefc4f30ea62b5e6fdfe8c25", false, false},
        {"c8e45eb30020497800948000ca7e9dd9bf21a142ee2f9fd8", false, true},
        {"cce468b30020490e002ff000138061eddeb3f5fd0fb1e3ff", false, true},
        /* by hand, three spatial layers: the base layer starts, the upper ones do not */
        {"a8 05 10 77 82", true, true},
        {"a8 05 13 77 82", false, false},
        {"a8 05 12 77 82", false, false},
        {"a8 05 11 77 82", false, true},
        {"e8 05 10 77 82", false, true},
        /* by hand, flexible with layers: no TL0PICIDX; three reference distances */
        {"b8 05 10 82", true, true},
        {"f8 05 10 03 05 06 82", false, true},
        {"f8 05 10 03 05 06", false, false},
        {"f8 05 10 03 05 07 82", false, true},
        /* by hand: no picture id at all */
        {"08 82", true, true},
        /* by hand: cut off in the picture id, layer, structure; the structure is everything */
        {"", false, false},
        {"88", false, false},
        {"8882", false, false},
        {"a80510", false, false},
        {"a8051077", false, false},
        {"8ae45d18014000", false, false},
        {"8ae45d18014000f0010401", false, false},
        {"9b825b10028001", false, false},
        {"9b825b1002800168", false, false},
        {"9b825b100280016882", true, true},
    };
    check_rows(LEAT_CODEC_VP9, rows, LEAT_ARRAY_LEN(rows));
}

static void h264__real_and_odd_payloads__start_at_sps_or_idr(void)
{
    static const struct row rows[] = {
        /* Chromium: STAP-A of SPS and PPS, then the IDR slice in FU-A, then a P slice */
        {"7800136742c01f8c8d405017fcb37010d010784423500004 68ce3c80", true, true},
        {"7c85b800040000053fc4787f0d4500627937ab22e2401c18", true, true},
        {"7c050ef8cac00ca928515f7f6deec00881f3e04ed148c21d", false, false},
        {"7c450fa53c04403f5c29961d33b9f98bcb1f1be1bf4207b4", false, false},
        {"7c81e0004000be4053f5984711da1f40af9b1449a182934f", false, true},
        {"7c0122d47bc0ce9ddffd40ee9f51a53ea34a7062115186ce", false, false},
        {"7c4121714b27363cd1f845468a7d468a7d468a7c2b933267", false, false},
        /* GStreamer with OpenH264 */
        {"78000e6742c00c8c8d40a0f900f08846a0000468ce3c80", true, true},
        {"7c85b80004000008e10c003c5216b293b3b2befc00178879", true, true},
        {"7c05ae975ffef4747d98aaa55dd532c15afd3335c6fff735", false, false},
        {"7c81e0004000be408f0ae000e592a97bfe5215dfc003851c", false, true},
        /* by hand, single units: SPS, IDR, its second slice, P, its second slice, PPS, SEI, AUD */
        {"6742c01f8c", true, true},
        {"65b80004", true, true},
        {"65408004", false, false},
        {"61e00040", false, true},
        {"61600040", false, false},
        {"68ce3c80", false, false},
        {"06051a", false, true},
        {"0910", false, true},
        /* by hand: STAP-A of SEI and IDR; of two P slices; STAP-B, MTAP16, MTAP24 with an SPS */
        {"78 0002 0605 0003 65b800", true, true},
        {"78 0003 61e000 0003 616000", false, true},
        {"79 0001 0002 6742", true, true},
        {"7a 0001 0002 05 0000 6742", true, true},
        {"7b 0001 0002 05 000000 6742", true, true},
        /* by hand: FU-B; FU-A of the second slice of an IDR picture */
        {"7d85 0001 b800", true, true},
        {"7c85 4080", false, false},
        /* by hand: broken */
        {"", false, false},
        {"65", false, false},
        {"7c", false, false},
        {"7c85", false, false},
        {"7d8500", false, false},
        {"78", false, false},
        {"7800", false, false},
        {"780000", false, false},
        {"78 0002 6742 00", false, false},
        {"78 0002 6742 0005 68ce", false, false},
        {"7a 0001 0002 05 6742", false, false},
    };
    check_rows(LEAT_CODEC_H264, rows, LEAT_ARRAY_LEN(rows));
}

static void av1__real_and_odd_payloads__start_at_a_new_sequence(void)
{
    static const struct row rows[] = {
        /* Chromium: keyframe (N, sequence header first), its rest, delta frames, their rest */
        {"680b080000000cc4ff6700680230104d0030c30c05b19400", true, true},
        {"d061bbd9d90e9c6a088279cb0cfc8e39ecb078ce8ff9e1f1", false, false},
        {"90c7329765bb2fba7f2995ecced42ce3ca43302dedb6e9f0", false, false},
        {"503030c040fdf8013143403bf01d980000000000075d75d0", false, true},
        {"50303000857dfa24ce0d00f0407660000000000011c71c62", false, true},
        /* by hand: sequence header without N; lengths on every element (W 0); extension header */
        {"10 080000000c", true, true},
        {"00 05 080000000c 02 3010", true, true},
        {"10 0c00 000000", true, true},
        {"10 0c08 000000", false, false},
        {"18 3420 30", true, true},
        {"18 3408 30", false, false},
        /* by hand: tile group, frame header, temporal delimiter; Z wins over N */
        {"10 20 00", false, false},
        {"10 18 00", false, true},
        {"10 10", false, true},
        {"98 080000", false, false},
        /* by hand: broken: nothing behind, element longer than the packet, endless length,
           forbidden bit */
        {"", false, false},
        {"18", false, false},
        {"28 05 08", false, false},
        {"08 ffffffffffffffffff", false, false},
        {"18 88", false, false},
        {"18 0c", false, false},
    };
    check_rows(LEAT_CODEC_AV1, rows, LEAT_ARRAY_LEN(rows));
}

static void audio_and_unknown__any_payload__is_a_start(void)
{
    static const struct row rows[] = {
        {"00", true, true}, {"fcfffe", true, true}, {"", false, false}};
    check_rows(LEAT_CODEC_OPUS, rows, LEAT_ARRAY_LEN(rows));
    check_rows(LEAT_CODEC_PCMU, rows, LEAT_ARRAY_LEN(rows));
    check_rows(LEAT_CODEC_UNKNOWN, rows, LEAT_ARRAY_LEN(rows));
}

LEAT_TESTS(LEAT_TEST(vp8__real_and_odd_payloads__start_where_partition_0_does),
           LEAT_TEST(vp9__real_and_odd_payloads__start_at_the_lowest_layer),
           LEAT_TEST(h264__real_and_odd_payloads__start_at_sps_or_idr),
           LEAT_TEST(av1__real_and_odd_payloads__start_at_a_new_sequence),
           LEAT_TEST(audio_and_unknown__any_payload__is_a_start))
