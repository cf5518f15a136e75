/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#define LATE_US 250000 /* a busy machine, sanitizers */

/* ---- timers ---- */

struct shot {
    struct leat_timer *timer;
    struct leat_loop *loop;
    uint64_t deadline_us, fired_us;
    unsigned fired;
    unsigned *left;
};

static void on_shot(void *data, uint64_t now_us)
{
    struct shot *s = data;
    s->fired++;
    s->fired_us = now_us;
    if (s->left != NULL && --*s->left == 0) {
        leat_loop_stop(s->loop);
    }
}

static void timer__odd_deadlines__never_early_and_soon(void)
{
    struct leat_loop *loop = leat_loop_new();
    struct shot shots[40] = {0};
    unsigned left = LEAT_ARRAY_LEN(shots);
    uint64_t start_us = leat_now_us();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(shots); i++) {
        struct shot *s = &shots[i];
        *s = (struct shot){.loop = loop, .left = &left, .deadline_us = start_us + i * 1337 + i % 7};
        s->timer = leat_timer_new(loop, on_shot, s);
        leat_timer_set(s->timer, s->deadline_us);
    }
    run_for(loop, 5000);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(shots); i++) {
        LEAT_CHECK_ROW(i, shots[i].fired == 1);
        LEAT_CHECK_ROW(i, shots[i].fired_us >= shots[i].deadline_us);
        LEAT_CHECK_ROW(i, shots[i].fired_us < shots[i].deadline_us + LATE_US);
        leat_timer_close(shots[i].timer);
    }
    leat_loop_free(loop);
}

static void block_then_set(void *data, uint64_t now_us)
{
    struct shot *s = data;
    (void)now_us;
    sleep_ms(150); /* the loop's own clock stands still meanwhile */
    s->deadline_us = leat_now_us() + 100000;
    leat_timer_set(s->timer, s->deadline_us);
}

static void timer__set_after_a_long_callback__counts_from_now(void)
{
    struct leat_loop *loop = leat_loop_new();
    unsigned left = 1;
    struct shot s = {.loop = loop, .left = &left};
    s.timer = leat_timer_new(loop, on_shot, &s);
    struct leat_timer *blocker = leat_timer_new(loop, block_then_set, &s);
    leat_timer_set(blocker, leat_now_us());
    run_for(loop, 5000);
    LEAT_CHECK_INT(s.fired, 1);
    LEAT_CHECK(s.fired_us >= s.deadline_us);
    LEAT_CHECK(s.fired_us < s.deadline_us + LATE_US);
    leat_timer_close(blocker);
    leat_timer_close(s.timer);
    leat_loop_free(loop);
}

static void block_first_turn(void *data)
{
    unsigned *turns = data;
    if ((*turns)++ == 0) {
        sleep_ms(400);
    }
}

static void timer__turn_hook_takes_long__not_late_by_it(void)
{
    struct leat_loop *loop = leat_loop_new();
    unsigned left = 1, turns = 0;
    struct shot s = {.loop = loop, .left = &left, .deadline_us = leat_now_us() + 450000};
    s.timer = leat_timer_new(loop, on_shot, &s);
    leat_timer_set(s.timer, s.deadline_us);
    leat_loop_on_turn(loop, block_first_turn, &turns);
    run_for(loop, 5000);
    LEAT_CHECK(s.fired_us >= s.deadline_us);
    LEAT_CHECK(s.fired_us < s.deadline_us + LATE_US); /* 400 ms with the clock of before the hook */
    leat_timer_close(s.timer);
    leat_loop_free(loop);
}

static void rearm_in_the_past(void *data, uint64_t now_us)
{
    struct shot *s = data;
    s->fired++;
    (void)now_us;
    leat_timer_set(s->timer, 0);
}

static void timer__rearmed_in_the_past__few_shots_a_turn_and_others_run(void)
{
    struct leat_loop *loop = leat_loop_new();
    unsigned left = 1, turns = 1; /* the hook does not block */
    struct shot greedy = {.loop = loop}, other = {.loop = loop, .left = &left};
    greedy.timer = leat_timer_new(loop, rearm_in_the_past, &greedy);
    other.timer = leat_timer_new(loop, on_shot, &other);
    leat_loop_on_turn(loop, block_first_turn, &turns);
    leat_timer_set(greedy.timer, 0);
    leat_timer_set(other.timer, leat_now_us() + 20000);
    run_for(loop, 5000);
    LEAT_CHECK_INT(other.fired, 1);
    LEAT_CHECK(greedy.fired > 10);
    LEAT_CHECK(greedy.fired <= 2 * turns); /* by the timer and by the list of the past, each once */
    leat_timer_close(greedy.timer);
    leat_timer_close(other.timer);
    leat_loop_free(loop);
}

static void timer__disarmed_or_moved__fires_as_last_set(void)
{
    struct leat_loop *loop = leat_loop_new();
    struct shot off = {.loop = loop}, past_off = {.loop = loop}, moved = {.loop = loop};
    off.timer = leat_timer_new(loop, on_shot, &off);
    past_off.timer = leat_timer_new(loop, on_shot, &past_off);
    moved.timer = leat_timer_new(loop, on_shot, &moved);
    uint64_t now_us = leat_now_us();
    leat_timer_set(off.timer, now_us + 5000);
    leat_timer_set(off.timer, UINT64_MAX);
    leat_timer_set(past_off.timer, 0);
    leat_timer_set(past_off.timer, UINT64_MAX);
    leat_timer_set(moved.timer, 0);
    leat_timer_set(moved.timer, now_us + 60000);
    run_for(loop, 20);
    LEAT_CHECK_INT(moved.fired, 0);
    run_for(loop, 100);
    LEAT_CHECK_INT(moved.fired, 1);
    LEAT_CHECK_INT(off.fired, 0);
    LEAT_CHECK_INT(past_off.fired, 0);
    leat_timer_close(off.timer);
    leat_timer_close(past_off.timer);
    leat_timer_close(moved.timer);
    leat_timer_close(NULL);
    leat_loop_free(loop);
}

static void close_self(void *data, uint64_t now_us)
{
    struct shot *s = data;
    s->fired++;
    leat_timer_set(s->timer, now_us); /* due at once, but closed */
    leat_timer_close(s->timer);
}

static void timer__closed_in_its_callback__fires_no_more(void)
{
    struct leat_loop *loop = leat_loop_new();
    struct shot s = {.loop = loop};
    s.timer = leat_timer_new(loop, close_self, &s);
    leat_timer_set(s.timer, leat_now_us() + 1000);
    run_for(loop, 30);
    LEAT_CHECK_INT(s.fired, 1);
    leat_loop_free(loop);
}

/* ---- turns ---- */

static void count_turn(void *data)
{
    (*(unsigned *)data)++;
}

static void loop__idle__waits_and_does_not_spin(void)
{
    struct leat_loop *loop = leat_loop_new();
    unsigned turns = 0;
    leat_loop_on_turn(loop, count_turn, &turns);
    uint64_t start_us = leat_now_us();
    run_for(loop, 100);
    LEAT_CHECK(leat_now_us() - start_us >= 100000);
    LEAT_CHECK(turns >= 1 && turns < 10);
    leat_loop_free(loop);
}

struct last_turn {
    struct leat_loop *loop;
    bool is_made, is_sent;
};

/** A message comes after the place where libuv calls the hook. */
static void make_and_stop(void *data, struct leat_list *message)
{
    struct last_turn *l = data;
    (void)message;
    l->is_made = true;
    leat_loop_stop(l->loop);
}

static void send_made(void *data)
{
    struct last_turn *l = data;
    l->is_sent = l->is_made;
}

static void loop__stopped_in_a_callback__hook_still_sees_that_turn(void)
{
    struct leat_loop *loop = leat_loop_new();
    struct last_turn l = {.loop = loop};
    leat_loop_on_turn(loop, send_made, &l);
    struct leat_mailbox *m = leat_mailbox_new(loop, make_and_stop, &l);
    struct leat_list message;
    leat_mailbox_post(m, &message);
    leat_loop_run(loop);
    LEAT_CHECK(l.is_made);
    LEAT_CHECK(l.is_sent);
    leat_mailbox_close(m);
    leat_loop_free(loop);
}

static void loop__clocks_and_version__plausible(void)
{
    uint64_t a = leat_now_us();
    uint64_t b = leat_now_us();
    LEAT_CHECK(b >= a);
    LEAT_CHECK(leat_unix_us() > UINT64_C(1600000000000000));
    LEAT_CHECK(strncmp(leat_io_library_version(), "1.", 2) == 0);
}

/* ---- signals, threads, work ---- */

static struct leat_loop *signal_loop;

static void on_usr1(void *data, int signum)
{
    *(int *)data = signum;
    leat_loop_stop(signal_loop);
}

static void signal__raised__reaches_the_loop(void)
{
    signal_loop = leat_loop_new();
    int seen = 0;
    struct leat_signal *s = leat_signal_new(signal_loop, SIGUSR1, on_usr1, &seen);
    LEAT_CHECK(s != NULL);
    (void)raise(SIGUSR1);
    run_for(signal_loop, 2000);
    LEAT_CHECK_INT(seen, SIGUSR1);
    LEAT_CHECK(leat_signal_new(signal_loop, SIGKILL, on_usr1, &seen) == NULL);
    leat_signal_close(s);
    leat_signal_close(NULL);
    leat_loop_free(signal_loop);
}

static void read_own_name(void *data)
{
    (void)pthread_getname_np(pthread_self(), data, 16);
}

static void thread__started__runs_under_its_name_cut_to_fit(void)
{
    char name[16] = "";
    struct leat_thread *t = NULL;
    LEAT_CHECK_INT(leat_thread_start(&t, "leat-worker-with-a-long-name", read_own_name, name), 0);
    leat_thread_join(t);
    leat_thread_join(NULL);
    LEAT_CHECK_STR(name, "leat-worker-wit");
}

struct job {
    struct leat_loop *loop;
    pthread_t loop_thread;
    int nice;
    bool is_worked, is_done, done_here;
    unsigned *done_count;
};

static void do_job(void *data)
{
    struct job *j = data;
    j->nice = getpriority(PRIO_PROCESS, 0);
    sleep_ms(5);
    j->is_worked = true;
}

static void job_done(void *data)
{
    struct job *j = data;
    j->is_done = j->is_worked;
    j->done_here = pthread_equal(pthread_self(), j->loop_thread) != 0;
    if (j->done_count != NULL) {
        (*j->done_count)++;
    }
    leat_loop_stop(j->loop);
}

static void work__submitted__runs_at_lower_priority_and_is_done_on_the_loop(void)
{
    struct leat_loop *loop = leat_loop_new();
    struct job j = {.loop = loop, .loop_thread = pthread_self()};
    int nice = getpriority(PRIO_PROCESS, 0);
    LEAT_CHECK_INT(leat_work_submit(loop, do_job, job_done, &j), 0);
    run_for(loop, 2000);
    LEAT_CHECK(j.is_done && j.done_here);
    LEAT_CHECK(j.nice > nice || nice == 19);
    LEAT_CHECK_INT(getpriority(PRIO_PROCESS, 0), nice);
    leat_loop_free(loop);
}

static void work__loop_is_shut_down__every_done_is_called(void)
{
    struct leat_loop *loop = leat_loop_new();
    struct job jobs[40];
    unsigned done_count = 0;
    for (size_t i = 0; i < LEAT_ARRAY_LEN(jobs); i++) {
        jobs[i] =
            (struct job){.loop = loop, .loop_thread = pthread_self(), .done_count = &done_count};
        LEAT_CHECK_INT(leat_work_submit(loop, do_job, job_done, &jobs[i]), 0);
    }
    leat_loop_stop(loop);
    leat_loop_run(loop);
    LEAT_CHECK(done_count < LEAT_ARRAY_LEN(jobs)); /* some are still under way */
    leat_loop_free(loop);
    LEAT_CHECK_INT(done_count, LEAT_ARRAY_LEN(jobs));
    for (size_t i = 0; i < LEAT_ARRAY_LEN(jobs); i++) {
        LEAT_CHECK_ROW(i, jobs[i].is_done);
    }
}

/** Callbacks and the hook count, waiting does not. */
static void loop__load__counts_what_runs_and_not_the_waiting(void)
{
    struct leat_loop *loop = leat_loop_new();
    unsigned left = 1;
    struct shot s = {.loop = loop, .left = &left};
    s.timer = leat_timer_new(loop, on_shot, &s);
    struct leat_timer *blocker = leat_timer_new(loop, block_then_set, &s); /* 150 ms */
    leat_timer_set(blocker, leat_now_us() + 50000);
    run_for(loop, 5000);
    struct leat_loop_load load = leat_loop_load_of(loop);
    LEAT_CHECK(load.turns >= 1 && load.longest_us >= 149000);
    LEAT_CHECK(load.busy_us >= load.longest_us);
    LEAT_CHECK(load.busy_us < 150000 + LATE_US); /* some 150 ms more were waited for */
    LEAT_CHECK_INT(load.longest_recent_us, load.longest_us);
    leat_timer_close(blocker);
    leat_timer_close(s.timer);
    leat_loop_free(loop);
}

LEAT_TESTS(LEAT_TEST(timer__odd_deadlines__never_early_and_soon),
           LEAT_TEST(timer__set_after_a_long_callback__counts_from_now),
           LEAT_TEST(timer__turn_hook_takes_long__not_late_by_it),
           LEAT_TEST(timer__rearmed_in_the_past__few_shots_a_turn_and_others_run),
           LEAT_TEST(timer__disarmed_or_moved__fires_as_last_set),
           LEAT_TEST(timer__closed_in_its_callback__fires_no_more),
           LEAT_TEST(loop__idle__waits_and_does_not_spin),
           LEAT_TEST(loop__stopped_in_a_callback__hook_still_sees_that_turn),
           LEAT_TEST(loop__load__counts_what_runs_and_not_the_waiting),
           LEAT_TEST(loop__clocks_and_version__plausible),
           LEAT_TEST(signal__raised__reaches_the_loop),
           LEAT_TEST(thread__started__runs_under_its_name_cut_to_fit),
           LEAT_TEST(work__submitted__runs_at_lower_priority_and_is_done_on_the_loop),
           LEAT_TEST(work__loop_is_shut_down__every_done_is_called))
