/* SPDX-License-Identifier: MIT */
/* leatctl: one call to leatd from the command line, or its events until Ctrl-C. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "discover.h"
#include "params.h"
#include "print.h"
#include "scan.h"
#include "session.h"

#define STATUS_REFUSED 1
#define STATUS_USAGE 2
#define DEFAULT_SOCKET "/run/leat/leatd.sock"

static const char usage[] =
    "usage: leatctl [--socket PATH] [--json] METHOD [key=value ...]\n"
    "       leatctl [--socket PATH] [--json] events [group=G] [peer=P] [types=a,b]\n"
    "       leatctl [--socket PATH] methods | help [METHOD]\n"
    "\n"
    "  leatctl peer.list group=room1\n"
    "  leatctl route.set to.peer=b to.mid=1 from.peer=a from.mid=0\n"
    "  leatctl peer.create id=alice offer=@offer.sdp\n"
    "\n"
    "Keys with dots make objects. Values are JSON where they can be read so, else text; what "
    "names\n"
    "something (id, peer, mid, group, ...) is text always. @FILE is the text of a file, @- of the\n"
    "standard input.\n"
    "\n"
    "  --socket PATH  leatd's control socket ($LEAT_SOCKET, else " DEFAULT_SOCKET ")\n"
    "  --json         the result as leatd gave it, in one line\n"
    "\n"
    "Exit status: 0 done, 1 leatd refused, 2 wrong call or no connection.\n";

enum mode { MODE_CALL, MODE_EVENTS, MODE_METHODS, MODE_HELP };

struct program {
    const char *socket, *method, *topic;
    bool is_json, is_help;
    enum mode mode;
    struct leat_ctl_params params;
    int status;
};

/* ---- arguments ---- */

static int fault(const char *what)
{
    (void)fprintf(stderr, "leatctl: %s\nleatctl --help says more\n", what);
    return STATUS_USAGE;
}

/** The method, or one of the words of our own. */
static void take_method(struct program *p, const char *word)
{
    p->method = word;
    if (strcmp(word, "events") == 0) {
        p->mode = MODE_EVENTS;
        p->method = "events.subscribe";
    } else if (strcmp(word, "methods") == 0 || strcmp(word, "help") == 0) {
        p->mode = word[0] == 'm' ? MODE_METHODS : MODE_HELP;
        p->method = "rpc.discover";
    }
}

/** Where a parameter goes: the filters of events and the one route of route.set have shorthands. */
static const char *place_of(const struct program *p, const char *argument)
{
    static const char *const filters[] = {"group=", "peer=", "types="};
    for (size_t i = 0; p->mode == MODE_EVENTS && i < LEAT_ARRAY_LEN(filters); i++) {
        if (strncmp(argument, filters[i], strlen(filters[i])) == 0) {
            return "filter";
        }
    }
    return NULL;
}

static int take_argument(struct program *p, const char *argument)
{
    char why[LEAT_CTL_WHY_MAX];
    if (p->method == NULL) {
        take_method(p, argument);
        return 0;
    }
    if (p->mode == MODE_HELP && p->topic == NULL) {
        p->topic = argument;
        return 0;
    }
    if (leat_ctl_params_add(&p->params, argument, place_of(p, argument), why) != 0) {
        return fault(why);
    }
    return 0;
}

static int read_arguments(struct program *p, int argc, char **argv)
{
    const char *from_environment = getenv("LEAT_SOCKET");
    p->socket = from_environment != NULL ? from_environment : DEFAULT_SOCKET;
    for (int i = 1; i < argc; i++) {
        int status = 0;
        if (strcmp(argv[i], "--json") == 0) {
            p->is_json = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            p->is_help = true;
        } else if (strcmp(argv[i], "--socket") == 0 && i + 1 < argc) {
            p->socket = argv[++i];
        } else if (argv[i][0] == '-') {
            char why[128];
            (void)snprintf(why, sizeof why, "%s '%.64s'",
                           strcmp(argv[i], "--socket") == 0 ? "no path after" : "unknown option",
                           argv[i]);
            status = fault(why);
        } else {
            status = take_argument(p, argv[i]);
        }
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

/** route.set with to and from stands for a list of one route. */
static void write_params(const struct program *p, struct leat_json_writer *w)
{
    bool is_one_route =
        strcmp(p->method, "route.set") == 0 && !leat_ctl_params_has(&p->params, "routes");
    if (is_one_route) {
        leat_json_open(w, '{');
        leat_json_write_key(w, "routes");
        leat_json_open(w, '[');
    }
    leat_ctl_params_write(&p->params, w);
    if (is_one_route) {
        leat_json_close(w, ']');
        leat_json_close(w, '}');
    }
}

/* ---- replies ---- */

static void print_raw(struct leat_span json)
{
    (void)fwrite(json.data, 1, json.len, stdout);
    (void)fputc('\n', stdout);
    (void)fflush(stdout);
}

static void take_error(struct program *p, struct leat_span text)
{
    char why[LEAT_JSON_WHY_MAX];
    leat_json *error = leat_json_parse(text, why);
    p->status = STATUS_REFUSED;
    leat_ctl_print_error(stderr, error);
    if (p->is_json) {
        print_raw(text);
    }
    leat_json_free(error);
}

static void take_document(struct program *p, struct leat_span text)
{
    char why[LEAT_JSON_WHY_MAX];
    leat_json *document = leat_json_parse(text, why);
    if (document == NULL) {
        (void)fprintf(stderr, "leatctl: rpc.discover: %s\n", why);
        p->status = STATUS_USAGE;
    } else if (p->mode == MODE_METHODS) {
        leat_ctl_print_methods(stdout, document);
    } else if (!leat_ctl_print_method(stdout, document, p->topic)) {
        (void)fprintf(stderr, "leatctl: there is no method \"%s\"; leatctl methods lists them\n",
                      p->topic);
        p->status = STATUS_USAGE;
    }
    leat_json_free(document);
}

/** What a subscription begins with, in one line. */
static void print_subscribed(struct leat_span result)
{
    struct leat_span boot = {NULL, 0}, seq = {NULL, 0}, snapshot, list, element;
    size_t peers = 0, routes = 0, cursor = 0;
    if (leat_ctl_scan_member(result, "boot", &boot) && boot.len >= 2 && boot.data[0] == '"') {
        boot = leat_span(boot.data + 1, boot.len - 2);
    }
    (void)leat_ctl_scan_member(result, "seq", &seq);
    (void)fprintf(stdout, "boot %.*s, seq %.*s", (int)boot.len, (const char *)boot.data,
                  (int)seq.len, (const char *)seq.data);
    if (leat_ctl_scan_member(result, "snapshot", &snapshot) && snapshot.data[0] == '{') {
        while (leat_ctl_scan_member(snapshot, "peers", &list) &&
               leat_ctl_scan_next(list, &cursor, &element)) {
            peers++;
        }
        cursor = 0;
        while (leat_ctl_scan_member(snapshot, "routes", &list) &&
               leat_ctl_scan_next(list, &cursor, &element)) {
            routes++;
        }
        (void)fprintf(stdout, ": %zu peers, %zu routes", peers, routes);
    }
    (void)fputc('\n', stdout);
    (void)fflush(stdout);
}

static void take_result(struct program *p, struct leat_span result)
{
    if (p->mode == MODE_METHODS || p->mode == MODE_HELP) {
        take_document(p, result);
    } else if (p->is_json) {
        print_raw(result);
    } else if (p->mode == MODE_EVENTS) {
        print_subscribed(result);
    } else if (leat_ctl_print_result(stdout, p->method, result) != 0) {
        print_raw(result); /* too large for a layout: as it came */
    }
}

/** A notification: an event, or a part of a snapshot. */
static void take_notification(const struct program *p, struct leat_span line)
{
    char why[LEAT_JSON_WHY_MAX];
    struct leat_span method;
    leat_json *message = leat_json_parse(line, why);
    if (p->is_json) {
        print_raw(line);
    } else if (leat_json_string(leat_json_get(message, "method"), &method) &&
               !leat_span_equal(method, leat_span_str("snapshot"))) {
        leat_ctl_print_event(stdout, method, leat_json_get(message, "params"));
        (void)fflush(stdout);
    }
    leat_json_free(message);
}

static bool on_line(void *data, struct leat_span line)
{
    struct program *p = data;
    struct leat_span part;
    if (leat_ctl_scan_member(line, "error", &part)) {
        take_error(p, part);
        return false;
    }
    if (leat_ctl_scan_member(line, "result", &part)) {
        take_result(p, part);
        return p->mode == MODE_EVENTS;
    }
    if (p->mode == MODE_EVENTS) {
        take_notification(p, line);
    }
    return true;
}

/* ---- main ---- */

static int run(struct program *p)
{
    struct leat_ctl_session s = {.line = on_line, .data = p};
    struct leat_json_writer w;
    leat_json_writer_init(&w);
    write_params(p, &w);
    int error = w.failed ? LEAT_E_NOMEM : leat_ctl_session_open(&s, p->socket);
    if (error == 0) {
        error = leat_ctl_session_request(&s, p->method, leat_span(w.text, w.len));
    }
    if (error == 0) {
        error = leat_ctl_session_run(&s, p->mode == MODE_EVENTS);
    }
    if (error != 0) {
        (void)fprintf(stderr, "leatctl: %s\n", s.why[0] != '\0' ? s.why : leat_error_text(error));
        p->status = STATUS_USAGE;
    }
    leat_ctl_session_close(&s);
    leat_json_writer_deinit(&w);
    return p->status;
}

int main(int argc, char **argv)
{
    static struct program p;
    leat_ctl_params_init(&p.params);
    int status = read_arguments(&p, argc, argv);
    if (status == 0 && (p.is_help || (p.mode == MODE_HELP && p.topic == NULL))) {
        (void)fputs(usage, stdout);
    } else if (status == 0 && p.method == NULL) {
        status = fault("no method");
    } else if (status == 0) {
        status = run(&p);
    }
    leat_ctl_params_deinit(&p.params);
    return status;
}
