#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""leatctl against a scripted leatd: requests, exit status, large results, events, a daemon that goes away.

Usage: test_leatctl.py PROGRAM. Prints `N passed, N failed`.
"""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

PROGRAM = sys.argv[1]


class Daemon:
    """Answers a connection's requests by a function of (request) that returns lines to send; None closes."""

    def __init__(self, folder, answer):
        self.path, self.answer, self.requests = os.path.join(folder, "s"), answer, []
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection = self.listener.accept()[0]
            for line in connection.makefile(encoding="utf-8"):
                self.requests.append(json.loads(line))
                answers = self.answer(self.requests[-1])
                if answers is None:
                    break
                for part in answers:
                    connection.sendall((json.dumps(part) + "\n").encode())
            connection.close()


def result(value):
    return lambda request: [{"jsonrpc": "2.0", "id": request["id"], "result": value}]


def error(code, message, **data):
    return lambda request: [{"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message, "data": data}}]


def call(folder, answer, *arguments, stdin=None):
    """(status, output, errors, requests)."""
    daemon = Daemon(folder, answer)
    done = subprocess.run([PROGRAM, "--socket", daemon.path, *arguments], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr, daemon.requests


def request__is_what_was_asked(folder):
    status, out, _, requests = call(folder, result({"routes": []}), "route.set", "to.peer=b", "to.mid=1", "from.peer=a", "from.mid=0")
    assert status == 0 and out == "none\n", out
    assert requests == [{"jsonrpc": "2.0", "id": 1, "method": "route.set", "params": {"routes": [
        {"to": {"peer": "b", "mid": "1"}, "from": {"peer": "a", "mid": "0"}}]}}], requests
    _, _, _, requests = call(folder, result({"routes": []}), "route.set", 'routes=[{"to": {"peer": "b", "mid": "1"}, "from": null}]')
    assert requests[0]["params"]["routes"] == [{"to": {"peer": "b", "mid": "1"}, "from": None}]
    _, _, _, requests = call(folder, result({}), "peer.create", "id=1", "offer=@-", stdin="v=0\r\n")
    assert requests[0]["params"] == {"id": "1", "offer": "v=0\r\n"}, requests


def json__is_the_raw_result(folder):
    value = {"peers": [{"id": "a", "data": {"x": [1, None]}}]}
    status, out, _, _ = call(folder, result(value), "--json", "peer.list")
    assert status == 0 and json.loads(out) == value and out.count("\n") == 1


def refusal__is_status_1_with_reason(folder):
    status, out, errors, _ = call(folder, error(-32000, "there is no peer \"b\"", reason="no_such_peer", field="routes[0].to.peer"),
                                  "route.set", "to.peer=b")
    assert status == 1 and out == "", (status, out)
    assert errors == 'leatctl: there is no peer "b"\n  reason: no_such_peer\n  field: routes[0].to.peer\n', errors
    status, _, errors, _ = call(folder, error(-32601, "there is no method", did_you_mean="peer.list"), "peer.lits")
    assert status == 1 and "did you mean: peer.list?" in errors, errors
    status, out, _, _ = call(folder, error(-32000, "m", reason="r"), "--json", "peer.get", "id=x")
    assert status == 1 and json.loads(out)["data"] == {"reason": "r"}


def wrong_calls__are_status_2(folder):
    for arguments in ([], ["--socket"], ["--nope", "peer.list"], ["peer.get", "id"], ["peer.get", "id=1", "id=2"]):
        done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 2 and done.stderr.startswith(b"leatctl: "), (arguments, done)
    done = subprocess.run([PROGRAM, "--socket", os.path.join(folder, "none"), "peer.list"], stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"No such file" in done.stderr, done
    assert subprocess.run([PROGRAM, "--help"], stdout=subprocess.PIPE).returncode == 0


def environment__names_the_socket(folder):
    daemon = Daemon(folder, result({"peers": []}))
    done = subprocess.run([PROGRAM, "peer.list"], env={**os.environ, "LEAT_SOCKET": daemon.path}, stdout=subprocess.PIPE)
    assert done.returncode == 0 and done.stdout == b"none\n"


def daemon__that_goes_away_is_status_2(folder):
    status, _, errors, _ = call(folder, lambda request: None, "peer.list")
    assert status == 2 and "closed the connection" in errors, (status, errors)


def large_result__is_a_table(folder):
    """Longer than one document of the parser may be."""
    peers = [{"id": f"peer-{i}", "group": "room", "state": "connected", "reason": "", "worker": 0, "data": "x" * 900,
              "remote": {"address": "10.0.0.1", "port": i}, "tracks": [], "senders": []} for i in range(3000)]
    status, out, errors, _ = call(folder, result({"peers": peers}), "peer.list")
    lines = out.splitlines()
    assert status == 0 and len(lines) == 3001, (status, len(lines), errors)
    assert lines[3000].split() == ["peer-2999", "room", "connected", "0", "10.0.0.1:2999"], lines[3000]
    status, out, _, _ = call(folder, result({"peers": peers}), "--json", "peer.list")
    assert status == 0 and json.loads(out) == {"peers": peers}
    status, out, _, _ = call(folder, result({"other": peers}), "peer.list")
    assert status == 0 and json.loads(out) == {"other": peers}, "what cannot be laid out comes as it is"


def event(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


EVENTS = [event("peer.state", seq=8, time_us=1500000, peer="a", group="g", data=None, state="ended", reason="ice_timeout"),
          event("route.state", seq=9, time_us=1600000, to={"peer": "b", "mid": "1"}, **{"from": {"peer": "a", "mid": "0"}},
                state="flowing", reason=""),
          event("novel.thing", seq=10, time_us=1700000, peer="a", colour="red\u001b[0m")]


def subscribe(request):
    return [event("snapshot", part=0, peers=[]), *result({"boot": "b0", "seq": 7, "resumed": False,
                                                          "snapshot": {"peers": [1, 2], "routes": []}})(request), *EVENTS]


def events__are_lines_until_interrupted(folder):
    daemon = Daemon(folder, subscribe)
    for flags, last in ([], "novel.thing"), (["--json"], "novel.thing"):
        process = subprocess.Popen([PROGRAM, "--socket", daemon.path, *flags, "events", "group=7", "types=peer.state"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = []
        while not lines or last not in lines[-1]:
            lines.append(process.stdout.readline())
            assert lines[-1], process.stderr.read()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        if flags:
            assert [json.loads(line) for line in lines[2:]] == EVENTS
            assert json.loads(lines[1])["seq"] == 7
        else:
            assert [line.split() for line in lines] == [
                ["boot", "b0,", "seq", "7:", "2", "peers,", "0", "routes"],
                ["1.500", "peer.state", "a", "ended", "(ice_timeout)", "group=g"],
                ["1.600", "route.state", "b/1", "<-", "a/0", "flowing"],
                ["1.700", "novel.thing", "a", "colour=red", "[0m"]], lines
    assert daemon.requests[0]["method"] == "events.subscribe"
    assert daemon.requests[0]["params"] == {"filter": {"group": "7", "types": ["peer.state"]}}


def events__end_with_the_daemon(folder):
    def once(request):
        return None if request["method"] != "events.subscribe" else subscribe(request)
    daemon = Daemon(folder, once)
    process = subprocess.Popen([PROGRAM, "--socket", daemon.path, "events"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.terminate()
    assert process.wait(20) == 0
    status, _, errors, _ = call(folder, lambda request: None, "events")
    assert status == 2 and "closed the connection" in errors


DOCUMENT = {"openrpc": "1.2.6", "methods": [
    {"name": "peer.get", "summary": "One peer.", "params": [{"name": "id", "required": True, "description": "Whose.", "schema": {"$ref": "#/x/Id"}},
                                                            {"name": "way", "schema": {"enum": ["a", "b"]}}],
     "result": {"schema": {"$ref": "#/components/schemas/Peer"}}},
    {"name": "peer.list", "summary": "All peers.", "params": []}],
    "components": {"schemas": {"Peer": {"properties": {"id": {"type": "string"}, "tracks": {"type": "array", "items": {"$ref": "#/x/Track"}}}}}}}


def methods_and_help__come_from_the_document(folder):
    status, out, _, requests = call(folder, result(DOCUMENT), "methods")
    assert status == 0 and [line.split(None, 1) for line in out.splitlines()] == [["peer.get", "One peer."], ["peer.list", "All peers."]]
    assert requests[0]["method"] == "rpc.discover"
    status, out, _, _ = call(folder, result(DOCUMENT), "help", "peer.get")
    assert status == 0 and out == ("peer.get: One peer.\nparameters:\n  id: Id, required  -- Whose.\n  way: a|b\n"
                                   "result:\n  id: string\n  tracks: [Track]\n"), out
    status, _, errors, _ = call(folder, result(DOCUMENT), "help", "peer.gte")
    assert status == 2 and "peer.gte" in errors


TESTS = [request__is_what_was_asked, json__is_the_raw_result, refusal__is_status_1_with_reason, wrong_calls__are_status_2,
         environment__names_the_socket, daemon__that_goes_away_is_status_2, large_result__is_a_table,
         events__are_lines_until_interrupted, events__end_with_the_daemon, methods_and_help__come_from_the_document]


def main():
    failed = 0
    for test in TESTS:
        try:
            with tempfile.TemporaryDirectory() as folder:
                test(folder)
        except Exception:  # any failure is the test's
            failed += 1
            print(f"not ok {test.__name__}\n{traceback.format_exc()}")
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
