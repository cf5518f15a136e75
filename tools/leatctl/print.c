/* SPDX-License-Identifier: MIT */
/* Which results are tables and with which columns, and the layout of everything else. */
#include "print.h"

#include "scan.h"
#include "table.h"

#define LINE_MAX_LEN 400
#define NAME_MAX_LEN 32

static const struct leat_ctl_column peer_columns[] = {
    {"PEER", "id"},       {"GROUP", "group"},   {"STATE", "state"},   {"REASON", "reason"},
    {"WORKER", "worker"}, {"REMOTE", "remote"}, {"TRACKS", "tracks"}, {"SENDERS", "senders"},
};
static const struct leat_ctl_column route_columns[] = {
    {"TO", "to"}, {"FROM", "from"}, {"STATE", "state"}, {"REASON", "reason"}, {"PAUSED", "paused"},
};
static const struct leat_ctl_column transport_columns[] = {
    {"TRANSPORT", "peer"},       {"GROUP", "group"},        {"ICE", "iceState"},
    {"DTLS", "dtlsState"},       {"ROLE", "dtlsRole"},      {"SRTP", "srtpCipher"},
    {"SENT", "packetsSent"},     {"OCTETS", "bytesSent"},   {"RECEIVED", "packetsReceived"},
    {"OCTETS", "bytesReceived"}, {"LOCAL", "localAddress"}, {"REMOTE", "remoteAddress"},
};
static const struct leat_ctl_column inbound_columns[] = {
    {"INBOUND", "peer"},
    {"MID", "mid"},
    {"KIND", "kind"},
    {"SSRC", "ssrc"},
    {"PACKETS", "packetsReceived"},
    {"OCTETS", "bytesReceived"},
    {"LOST", "packetsLost"},
    {"JITTER", "jitter"},
    {"DISCARDED", "packetsDiscarded"},
    {"KEYFRAMES", "keyFramesReceived"},
    {"PLI", "pliCount"},
    {"FIR", "firCount"},
};
static const struct leat_ctl_column outbound_columns[] = {
    {"OUTBOUND", "peer"},
    {"MID", "mid"},
    {"KIND", "kind"},
    {"SSRC", "ssrc"},
    {"PACKETS", "packetsSent"},
    {"OCTETS", "bytesSent"},
    {"DROPPED", "packetsDropped"},
    {"PLI", "pliCount"},
    {"FIR", "firCount"},
};
static const struct leat_ctl_column remote_columns[] = {
    {"REMOTE INBOUND", "peer"}, {"MID", "mid"},
    {"KIND", "kind"},           {"SSRC", "ssrc"},
    {"LOST", "packetsLost"},    {"FRACTION", "fractionLost"},
    {"JITTER", "jitter"},       {"ROUND TRIP", "roundTripTime"},
};

/** A list in a result that is printed as a table. */
static const struct {
    const char *method, *list;
    const char *type; /**< only elements of this type, NULL for all */
    const struct leat_ctl_column *columns;
    size_t column_count;
} lists[] = {
    {"peer.list", "peers", NULL, peer_columns, LEAT_ARRAY_LEN(peer_columns)},
    {"route.list", "routes", NULL, route_columns, LEAT_ARRAY_LEN(route_columns)},
    {"route.set", "routes", NULL, route_columns, LEAT_ARRAY_LEN(route_columns)},
    {"stats.get", "stats", "transport", transport_columns, LEAT_ARRAY_LEN(transport_columns)},
    {"stats.get", "stats", "inbound-rtp", inbound_columns, LEAT_ARRAY_LEN(inbound_columns)},
    {"stats.get", "stats", "outbound-rtp", outbound_columns, LEAT_ARRAY_LEN(outbound_columns)},
    {"stats.get", "stats", "remote-inbound-rtp", remote_columns, LEAT_ARRAY_LEN(remote_columns)},
};

void leat_ctl_print_text(FILE *out, struct leat_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];
        (void)fputc(c < 0x20 || c == 0x7f ? ' ' : c, out);
    }
}

/* ---- tables ---- */

static bool has_type(const leat_json *element, const char *type)
{
    struct leat_span text;
    return type == NULL || (leat_json_string(leat_json_get(element, "type"), &text) &&
                            leat_span_equal(text, leat_span_str(type)));
}

/** @return rows printed, or an error. */
static int print_list(FILE *out, size_t list, struct leat_span array, bool needs_gap)
{
    struct leat_ctl_table t;
    struct leat_span element;
    size_t cursor = 0;
    int result = 0;
    leat_ctl_table_init(&t, lists[list].columns, lists[list].column_count);
    while (result == 0 && leat_ctl_scan_next(array, &cursor, &element)) {
        char why[LEAT_JSON_WHY_MAX];
        leat_json *j = leat_json_parse(element, why);
        result = j == NULL ? LEAT_E_INVALID : 0;
        if (j != NULL && has_type(j, lists[list].type)) {
            leat_ctl_table_add(&t, j);
        }
        leat_json_free(j);
    }
    if (result == 0) {
        (void)fputs(needs_gap && t.count != 0 ? "\n" : "", out);
        leat_ctl_table_print(&t, out);
        result = t.failed ? LEAT_E_NOMEM : t.count != 0 ? 1 : 0;
    }
    leat_ctl_table_deinit(&t);
    return result;
}

/* ---- key: value ---- */

static bool is_inline(const leat_json *j)
{
    enum leat_json_type type = leat_json_type_of(j);
    if (type == LEAT_JSON_STRING) {
        struct leat_span text;
        (void)leat_json_string(j, &text);
        return memchr(text.data, '\n', text.len) == NULL && text.len < LINE_MAX_LEN;
    }
    if (type == LEAT_JSON_ARRAY) {
        enum leat_json_type inner = leat_json_type_of(leat_json_first(j));
        return leat_json_count(j) == 0 || (inner != LEAT_JSON_ARRAY && inner != LEAT_JSON_OBJECT);
    }
    if (type == LEAT_JSON_OBJECT) { /* small pairs */
        return leat_json_count(j) == 0 ||
               (leat_json_count(j) == 2 &&
                (leat_json_get(j, "address") != NULL || leat_json_get(j, "peer") != NULL));
    }
    return true;
}

static void print_value(FILE *out, const leat_json *j, unsigned depth);

/** A text of several lines (SDP), each indented. */
static void print_lines(FILE *out, struct leat_span text, unsigned depth)
{
    for (size_t from = 0; from < text.len;) {
        const uint8_t *end = memchr(text.data + from, '\n', text.len - from);
        size_t to = end != NULL ? (size_t)(end - text.data) : text.len;
        size_t len = to - from;
        len -= len != 0 && text.data[to - 1] == '\r' ? 1 : 0;
        (void)fprintf(out, "%*s", (int)(2 * depth), "");
        leat_ctl_print_text(out, leat_span(text.data + from, len));
        (void)fputc('\n', out);
        from = to + 1;
    }
}

static void print_members(FILE *out, const leat_json *j, unsigned depth, bool is_item)
{
    for (const leat_json *m = leat_json_first(j); m != NULL; m = leat_json_next(m)) {
        bool is_first = is_item && m == leat_json_first(j);
        (void)fprintf(out, "%*s%s", (int)(2 * (is_first ? depth - 1 : depth)), "",
                      is_first ? "- " : "");
        leat_ctl_print_text(out, leat_span_str(leat_json_key(m)));
        (void)fputc(':', out);
        if (is_inline(m)) {
            char text[LINE_MAX_LEN];
            (void)leat_ctl_cell(m, text, sizeof text);
            (void)fprintf(out, "%s%s\n", text[0] != '\0' ? " " : "", text);
        } else {
            (void)fputc('\n', out);
            print_value(out, m, depth + 1);
        }
    }
}

static void print_value(FILE *out, const leat_json *j, unsigned depth)
{
    struct leat_span text;
    char line[LINE_MAX_LEN];
    if (leat_json_string(j, &text)) {
        print_lines(out, text, depth);
    } else if (leat_json_type_of(j) == LEAT_JSON_OBJECT) {
        print_members(out, j, depth, false);
    } else if (leat_json_type_of(j) == LEAT_JSON_ARRAY) {
        for (const leat_json *e = leat_json_first(j); e != NULL; e = leat_json_next(e)) {
            if (leat_json_type_of(e) == LEAT_JSON_OBJECT && !is_inline(e)) {
                print_members(out, e, depth + 1, true);
            } else {
                (void)fprintf(out, "%*s- %s\n", (int)(2 * depth), "",
                              leat_ctl_cell(e, line, sizeof line));
            }
        }
    } else {
        (void)fprintf(out, "%*s%s\n", (int)(2 * depth), "", leat_ctl_cell(j, line, sizeof line));
    }
}

int leat_ctl_print_result(FILE *out, const char *method, struct leat_span result)
{
    bool is_table = false, has_rows = false;
    for (size_t i = 0; i < LEAT_ARRAY_LEN(lists); i++) {
        struct leat_span array;
        if (strcmp(lists[i].method, method) != 0 ||
            !leat_ctl_scan_member(result, lists[i].list, &array)) {
            continue;
        }
        int printed = print_list(out, i, array, has_rows);
        if (printed < 0) {
            return printed;
        }
        is_table = true;
        has_rows = has_rows || printed > 0;
    }
    if (is_table) {
        (void)fputs(has_rows ? "" : "none\n", out);
        return 0;
    }
    char why[LEAT_JSON_WHY_MAX];
    leat_json *j = leat_json_parse(result, why);
    if (j == NULL) {
        return LEAT_E_INVALID;
    }
    print_value(out, j, 0);
    leat_json_free(j);
    return 0;
}

/* ---- events and errors ---- */

static bool is_known_member(const char *key)
{
    static const char *const known[] = {"seq",  "time_us", "peer",   "mid",   "to",
                                        "from", "state",   "reason", "group", "data"};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(known); i++) {
        if (strcmp(known[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static void print_field(FILE *out, const char *before, const leat_json *j, const char *after)
{
    char text[LINE_MAX_LEN];
    if (j != NULL && leat_ctl_cell(j, text, sizeof text)[0] != '\0') {
        (void)fprintf(out, "%s%s%s", before, text, after);
    }
}

void leat_ctl_print_event(FILE *out, struct leat_span method, const leat_json *params)
{
    double time_us = 0;
    (void)leat_json_number(leat_json_get(params, "time_us"), &time_us);
    (void)fprintf(out, "%12.3f  ", time_us / 1e6);
    leat_ctl_print_text(out, method);
    print_field(out, "  ", leat_json_get(params, "peer"), "");
    print_field(out, "/", leat_json_get(params, "mid"), "");
    print_field(out, "  ", leat_json_get(params, "to"), "");
    print_field(out, " <- ", leat_json_get(params, "from"), "");
    print_field(out, "  ", leat_json_get(params, "state"), "");
    print_field(out, " (", leat_json_get(params, "reason"), ")");
    print_field(out, "  group=", leat_json_get(params, "group"), "");
    for (const leat_json *m = leat_json_first(params); m != NULL; m = leat_json_next(m)) {
        if (!is_known_member(leat_json_key(m))) {
            (void)fputs("  ", out);
            leat_ctl_print_text(out, leat_span_str(leat_json_key(m)));
            print_field(out, "=", m, "");
        }
    }
    (void)fputc('\n', out);
}

void leat_ctl_print_error(FILE *out, const leat_json *error)
{
    struct leat_span message = leat_span_str("leatd refused");
    const leat_json *data = leat_json_get(error, "data");
    (void)leat_json_string(leat_json_get(error, "message"), &message);
    (void)fputs("leatctl: ", out);
    leat_ctl_print_text(out, message);
    (void)fputc('\n', out);
    for (const leat_json *m = leat_json_first(data); m != NULL; m = leat_json_next(m)) {
        bool is_hint = strcmp(leat_json_key(m), "did_you_mean") == 0;
        (void)fputs("  ", out);
        leat_ctl_print_text(out, leat_span_str(is_hint ? "did you mean" : leat_json_key(m)));
        print_field(out, ": ", m, is_hint ? "?" : "");
        (void)fputc('\n', out);
    }
}
