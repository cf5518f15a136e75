/* SPDX-License-Identifier: MIT */
/* Who gets a job of a handshake, and who is told nothing until they ask again. */
#include "lab.h"

#include "harness.h"

static const struct leat_sfu_counters *counters(const struct lab *lab)
{
    return leat_sfu_counters_of(lab->sfu);
}

/* Two joins while no job is done, and room for one to wait. */
static struct lab *two_joins(void)
{
    struct lab *lab = lab_new(4);
    struct leat_media_desc track = lab_section(LEAT_KIND_AUDIO, "a");
    lab->holds_jobs = true;
    (void)lab_publish(lab, &track, 1);
    (void)lab_publish(lab, &track, 1);
    return lab;
}

static void jobs__line_full__the_hello_is_shed_and_taken_when_repeated(void)
{
    struct lab *lab = two_joins();
    LEAT_CHECK_INT(counters(lab)->jobs_shed, 1);
    LEAT_CHECK_INT(counters(lab)->jobs_queued_max, 1);
    lab->holds_jobs = false;
    lab_settle(lab);
    LEAT_CHECK_INT(lab->clients[0].state, LEAT_CLIENT_CONNECTED);
    LEAT_CHECK_INT(lab->clients[1].state, LEAT_CLIENT_CONNECTING);
    lab->now_us += 1100000; /* the client's first timeout (RFC 6347 4.2.4.1) */
    lab_settle(lab);
    LEAT_CHECK_INT(lab->clients[1].state, LEAT_CLIENT_CONNECTED);
    LEAT_CHECK_INT(counters(lab)->jobs_shed, 1);
    lab_free(lab);
}

/* The first one's job is done; its next one waits beside the second one's hello, which had room
 * then. */
static void jobs__line_full__a_handshake_that_was_begun_still_gets_in(void)
{
    struct lab *lab = two_joins();
    struct leat_sfu_job *job = leat_sfu_next_job(lab->sfu, lab->now_us);
    LEAT_CHECK(job != NULL);
    leat_sfu_job_run(job, &lab->rng);
    lab->now_us += 1100000;
    lab_settle(lab); /* the second hello again: it takes the place in line */
    leat_sfu_job_done(lab->sfu, job, lab->now_us, &lab->from_sfu.sink);
    uint64_t shed = counters(lab)->jobs_shed;
    lab_settle(lab);
    LEAT_CHECK_INT(counters(lab)->jobs_queued_max, 2);
    LEAT_CHECK_INT(counters(lab)->jobs_shed, shed);
    lab->holds_jobs = false;
    lab_settle(lab);
    LEAT_CHECK_INT(lab->clients[0].state, LEAT_CLIENT_CONNECTED);
    LEAT_CHECK_INT(lab->clients[1].state, LEAT_CLIENT_CONNECTED);
    lab_free(lab);
}

LEAT_TESTS(LEAT_TEST(jobs__line_full__the_hello_is_shed_and_taken_when_repeated),
           LEAT_TEST(jobs__line_full__a_handshake_that_was_begun_still_gets_in))
