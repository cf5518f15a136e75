/* SPDX-License-Identifier: MIT */
#include "support.h"

#define SENDERS 4
#define EACH 10000

struct message {
    struct leat_list node;
    unsigned sender, number;
};

struct office {
    struct leat_loop *loop;
    struct leat_mailbox *mailbox;
    unsigned next[SENDERS];
    unsigned out_of_order, received, stop_at;
    bool close_at_first;
};

static void on_message(void *data, struct leat_list *node)
{
    struct office *o = data;
    struct message *m = LEAT_CONTAINER(node, struct message, node);
    o->out_of_order += m->number != o->next[m->sender];
    o->next[m->sender] = m->number + 1;
    o->received++;
    free(m);
    if (o->close_at_first) {
        o->close_at_first = false;
        leat_mailbox_close(o->mailbox);
    }
    if (o->received == o->stop_at) {
        leat_loop_stop(o->loop);
    }
}

static void post(struct office *o, unsigned sender, unsigned number)
{
    struct message *m = calloc(1, sizeof(*m));
    m->sender = sender;
    m->number = number;
    leat_mailbox_post(o->mailbox, &m->node);
}

struct sender {
    struct office *office;
    unsigned index;
};

static void send_all(void *data)
{
    const struct sender *s = data;
    for (unsigned i = 0; i < EACH; i++) {
        post(s->office, s->index, i);
    }
}

static void open_office(struct office *o)
{
    *o = (struct office){.loop = leat_loop_new()};
    o->mailbox = leat_mailbox_new(o->loop, on_message, o);
}

static void mailbox__four_threads__all_in_each_senders_order(void)
{
    struct office o;
    open_office(&o);
    o.stop_at = SENDERS * EACH;
    struct sender senders[SENDERS];
    struct leat_thread *threads[SENDERS];
    for (unsigned i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){&o, i};
        LEAT_CHECK_INT(leat_thread_start(&threads[i], "sender", send_all, &senders[i]), 0);
    }
    run_for(o.loop, 20000);
    for (unsigned i = 0; i < SENDERS; i++) {
        leat_thread_join(threads[i]);
        LEAT_CHECK_ROW(i, o.next[i] == EACH);
    }
    LEAT_CHECK_INT(o.received, SENDERS * EACH);
    LEAT_CHECK_INT(o.out_of_order, 0);
    leat_mailbox_close(o.mailbox);
    leat_loop_free(o.loop);
}

static void count_turn(void *data)
{
    (*(unsigned *)data)++;
}

static void mailbox__burst__one_wake_up(void)
{
    struct office o;
    open_office(&o);
    unsigned turns = 0;
    leat_loop_on_turn(o.loop, count_turn, &turns);
    for (unsigned i = 0; i < 1000; i++) {
        post(&o, 0, i);
    }
    run_for(o.loop, 30);
    LEAT_CHECK_INT(o.received, 1000);
    LEAT_CHECK(turns < 10);
    leat_mailbox_close(o.mailbox);
    leat_loop_free(o.loop);
}

static void mailbox__one_message__wakes_the_loop(void)
{
    struct office o;
    open_office(&o);
    o.stop_at = 1;
    for (unsigned i = 0; i < 3; i++) {
        post(&o, 0, i);
        run_for(o.loop, 1000);
        LEAT_CHECK_INT(o.received, o.stop_at);
        o.stop_at++;
    }
    leat_mailbox_close(o.mailbox);
    leat_loop_free(o.loop);
}

static void mailbox__closed_with_messages__they_are_received_first(void)
{
    struct office o;
    open_office(&o);
    for (unsigned i = 0; i < 5; i++) {
        post(&o, 0, i);
    }
    leat_mailbox_close(o.mailbox);
    LEAT_CHECK_INT(o.received, 5);
    LEAT_CHECK_INT(o.out_of_order, 0);
    leat_mailbox_close(NULL);
    leat_loop_free(o.loop);
}

static void mailbox__closed_while_receiving__rest_is_received_in_order(void)
{
    struct office o;
    open_office(&o);
    o.close_at_first = true;
    for (unsigned i = 0; i < 5; i++) {
        post(&o, 0, i);
    }
    run_for(o.loop, 30);
    LEAT_CHECK_INT(o.received, 5);
    LEAT_CHECK_INT(o.out_of_order, 0);
    leat_loop_free(o.loop);
}

LEAT_TESTS(LEAT_TEST(mailbox__four_threads__all_in_each_senders_order),
           LEAT_TEST(mailbox__burst__one_wake_up), LEAT_TEST(mailbox__one_message__wakes_the_loop),
           LEAT_TEST(mailbox__closed_with_messages__they_are_received_first),
           LEAT_TEST(mailbox__closed_while_receiving__rest_is_received_in_order))
