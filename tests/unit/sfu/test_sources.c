/* SPDX-License-Identifier: MIT */
/* Which section a packet belongs to: by the declared SSRC, else by MID, else by the payload type
 * that only one section has (RFC 8843 9.2). */
#include "lab.h"

#include "harness.h"

static uint64_t unknown(const struct lab *lab)
{
    return leat_sfu_counters_of(lab->sfu)->rtp_unknown_ssrc;
}

static int set_tracks(struct lab *lab, leat_handle handle, const struct leat_media_desc *d,
                      size_t count)
{
    struct leat_command *c = lab_command(LEAT_COMMAND_MEDIA, handle);
    lab_give(&c->tracks, &c->track_count, d, count);
    return lab_do(lab, c);
}

static struct leat_media_desc declared(enum leat_kind kind, const char *mid, uint32_t ssrc)
{
    struct leat_media_desc d = lab_section(kind, mid);
    d.encoding_count = 1;
    d.encodings[0].ssrc = ssrc;
    return d;
}

static void source__declared__needs_no_mid(void)
{
    struct lab *lab = lab_new(4);
    struct leat_media_desc tracks[] = {declared(LEAT_KIND_VIDEO, "a", 100),
                                       declared(LEAT_KIND_VIDEO, "b", UINT32_MAX)};
    size_t p = lab_publish(lab, tracks, 2);
    lab_send(lab, p, UINT32_MAX, 1, LAB_VIDEO_PT, NULL);
    lab_send(lab, p, 100, 1, LAB_VIDEO_PT, NULL);
    lab_send(lab, p, 100, 2, LAB_VIDEO_PT, NULL);
    LEAT_CHECK_INT(lab_taken(lab, 1, "a", 100), 2);
    LEAT_CHECK_INT(lab_taken(lab, 1, "b", UINT32_MAX), 1);
    LEAT_CHECK_INT(unknown(lab), 0);
    lab_free(lab);
}

static void source__undeclared__learnt_by_mid_and_then_known_without(void)
{
    struct lab *lab = lab_new(4);
    struct leat_media_desc tracks[] = {lab_section(LEAT_KIND_VIDEO, "a"),
                                       lab_section(LEAT_KIND_VIDEO, "b")};
    size_t p = lab_publish(lab, tracks, 2);
    static const uint32_t ssrcs[] = {0, 0xffffffff, 0x12345678};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(ssrcs); i++) {
        lab_send(lab, p, ssrcs[i], 1, LAB_VIDEO_PT, NULL);
        LEAT_CHECK_INT(unknown(lab), i + 1); /* two sections have the payload type */
        lab_send(lab, p, ssrcs[i], 2, LAB_VIDEO_PT, i % 2 == 0 ? "b" : "a");
        lab_send(lab, p, ssrcs[i], 3, LAB_VIDEO_PT, NULL);
        LEAT_CHECK_INT(lab_taken(lab, 1, i % 2 == 0 ? "b" : "a", ssrcs[i]), 2);
        LEAT_CHECK_INT(lab_taken(lab, 1, i % 2 == 0 ? "a" : "b", ssrcs[i]), 0);
    }
    lab_free(lab);
}

static void source__payload_type_of_one_section__learnt_by_it(void)
{
    struct lab *lab = lab_new(4);
    struct leat_media_desc tracks[] = {lab_section(LEAT_KIND_AUDIO, "a"),
                                       lab_section(LEAT_KIND_VIDEO, "b")};
    size_t p = lab_publish(lab, tracks, 2);
    lab_send(lab, p, 7, 1, LAB_AUDIO_PT, NULL);
    lab_send(lab, p, 8, 1, LAB_VIDEO_PT, NULL);
    lab_send(lab, p, 9, 1, 100, NULL);
    LEAT_CHECK_INT(lab_taken(lab, 1, "a", 7), 1);
    LEAT_CHECK_INT(lab_taken(lab, 1, "b", 8), 1);
    LEAT_CHECK_INT(unknown(lab), 1);
    lab_free(lab);
}

static void source__mid_of_no_section__is_nobodys(void)
{
    struct lab *lab = lab_new(4);
    struct leat_media_desc tracks[] = {lab_section(LEAT_KIND_VIDEO, "b")};
    size_t p = lab_publish(lab, tracks, 1);
    lab_send(lab, p, 8, 1, LAB_VIDEO_PT, "c");
    LEAT_CHECK_INT(unknown(lab), 1);
    LEAT_CHECK_INT(lab_taken(lab, 1, "b", 8), 0);
    lab_send(lab, p, 8, 2, LAB_VIDEO_PT, "b");
    LEAT_CHECK_INT(lab_taken(lab, 1, "b", 8), 1);
    lab_free(lab);
}

static void source__declared_twice__is_the_first_sections(void)
{
    struct lab *lab = lab_new(4);
    struct leat_media_desc tracks[] = {declared(LEAT_KIND_VIDEO, "a", 5),
                                       declared(LEAT_KIND_VIDEO, "b", 5)};
    size_t p = lab_publish(lab, tracks, 2);
    lab_send(lab, p, 5, 1, LAB_VIDEO_PT, NULL);
    LEAT_CHECK_INT(lab_taken(lab, 1, "a", 5), 1);
    LEAT_CHECK_INT(lab_taken(lab, 1, "b", 5), 0);
    lab_free(lab);
}

static void source__declared_later__keeps_what_came_before(void)
{
    struct lab *lab = lab_new(4);
    struct leat_media_desc tracks[] = {lab_section(LEAT_KIND_VIDEO, "a")};
    size_t p = lab_publish(lab, tracks, 1);
    lab_send(lab, p, 5, 1, LAB_VIDEO_PT, "a");
    tracks[0] = declared(LEAT_KIND_VIDEO, "a", 5);
    LEAT_CHECK_INT(set_tracks(lab, 1, tracks, 1), 0);
    lab_send(lab, p, 5, 2, LAB_VIDEO_PT, NULL);
    LEAT_CHECK_INT(lab_taken(lab, 1, "a", 5), 2);
    lab_free(lab);
}

static void source__section_goes__its_ssrc_is_free_for_another(void)
{
    struct lab *lab = lab_new(4);
    struct leat_media_desc tracks[] = {declared(LEAT_KIND_VIDEO, "a", 5),
                                       lab_section(LEAT_KIND_VIDEO, "b")};
    size_t p = lab_publish(lab, tracks, 2);
    lab_send(lab, p, 5, 1, LAB_VIDEO_PT, NULL);
    LEAT_CHECK_INT(set_tracks(lab, 1, &tracks[1], 1), 0);
    lab_send(lab, p, 5, 2, LAB_VIDEO_PT, "b");
    LEAT_CHECK_INT(lab_taken(lab, 1, "a", 5), 0);
    LEAT_CHECK_INT(lab_taken(lab, 1, "b", 5), 1);
    LEAT_CHECK_INT(set_tracks(lab, 1, NULL, 0), 0);
    lab_send(lab, p, 5, 3, LAB_VIDEO_PT, "b");
    LEAT_CHECK_INT(unknown(lab), 1);
    lab_free(lab);
}

static void source__same_ssrc_of_two_publishers__stays_with_each(void)
{
    struct lab *lab = lab_new(4);
    struct leat_media_desc tracks[] = {declared(LEAT_KIND_VIDEO, "a", 0x11223344)};
    size_t first = lab_publish(lab, tracks, 1), second = lab_publish(lab, tracks, 1);
    lab_send(lab, first, 0x11223344, 1, LAB_VIDEO_PT, NULL);
    lab_send(lab, second, 0x11223344, 1, LAB_VIDEO_PT, NULL);
    lab_send(lab, second, 0x11223344, 2, LAB_VIDEO_PT, NULL);
    LEAT_CHECK_INT(lab_taken(lab, 1, "a", 0x11223344), 1);
    LEAT_CHECK_INT(lab_taken(lab, 2, "a", 0x11223344), 2);
    lab_free(lab);
}

static void source__payload_type_of_another_section__is_discarded(void)
{
    struct lab *lab = lab_new(4);
    struct leat_media_desc tracks[] = {declared(LEAT_KIND_VIDEO, "a", 5)};
    size_t p = lab_publish(lab, tracks, 1);
    lab_send(lab, p, 5, 1, 100, NULL);
    lab_send(lab, p, 5, 2, LAB_VIDEO_PT, NULL);
    LEAT_CHECK_INT(lab_taken(lab, 1, "a", 5), 1);
    LEAT_CHECK_INT(unknown(lab), 0);
    lab_free(lab);
}

LEAT_TESTS(LEAT_TEST(source__declared__needs_no_mid),
           LEAT_TEST(source__undeclared__learnt_by_mid_and_then_known_without),
           LEAT_TEST(source__payload_type_of_one_section__learnt_by_it),
           LEAT_TEST(source__mid_of_no_section__is_nobodys),
           LEAT_TEST(source__declared_twice__is_the_first_sections),
           LEAT_TEST(source__declared_later__keeps_what_came_before),
           LEAT_TEST(source__section_goes__its_ssrc_is_free_for_another),
           LEAT_TEST(source__same_ssrc_of_two_publishers__stays_with_each),
           LEAT_TEST(source__payload_type_of_another_section__is_discarded))
