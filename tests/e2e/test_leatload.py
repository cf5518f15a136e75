#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# timeout: 300
"""leatload against the real daemon: nothing lost and nothing wrong; and it says so when something is."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

BUILD = pathlib.Path(os.environ["LEAT_BUILD"])
LEATD = os.environ.get("LEATD", str(BUILD / "src/daemon/leatd"))
LEATLOAD, LEATCTL = BUILD / "tools/leatload/leatload", BUILD / "tools/leatctl/leatctl"


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Daemon:
    def __init__(self, folder, **settings):
        self.socket = os.path.join(folder, "leatd.sock")
        config = {"control": {"socket": self.socket}, "listen": [{"address": "127.0.0.1", "port": free_port()}], **settings}
        path = os.path.join(folder, "leatd.json")
        pathlib.Path(path).write_text(json.dumps(config))
        self.log = open(os.path.join(folder, "log"), "w+")
        self.process = subprocess.Popen([LEATD, "--config", path], stdout=self.log, stderr=self.log)
        end = time.monotonic() + 30
        while not os.path.exists(self.socket):
            assert self.process.poll() is None and time.monotonic() < end, self.text()
            time.sleep(0.02)

    def text(self):
        self.log.seek(0)
        return self.log.read()[-3000:]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        """Every test also sees that the daemon ends well."""
        self.process.terminate()
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "none: it had to be killed"
        if kind is None:
            assert status == 0, f"leatd's exit status is {status}\n{self.text()}"
        self.log.close()

    def ctl(self, *arguments, status=0):
        done = subprocess.run([LEATCTL, "--socket", self.socket, "--json", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60)
        assert done.returncode == status, (arguments, done)
        return json.loads(done.stdout)

    def start_load(self, *arguments):
        return subprocess.Popen([LEATLOAD, "--socket", self.socket, "--json", *map(str, arguments)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def load(self, *arguments):
        return finish(self.start_load(*arguments))

    def wait_for_flow(self, count):
        """Until that many routes carry media."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            routes = self.ctl("route.list")["routes"]
            if sum(route["state"] == "flowing" for route in routes) == count:
                return routes
            time.sleep(0.05)
        raise AssertionError("no media flows")


def finish(process):
    """(exit status, result, errors)."""
    out, errors = process.communicate(timeout=200)
    return process.returncode, json.loads(out), errors


def all_good(outcome, publishers, subscribers, kinds=1):
    status, result, errors = outcome
    assert status == 0 and result["good"], (result, errors)
    assert result["connected"] == publishers + subscribers and result["not_connected"] == 0, result
    assert result["lost"] == result["wrong"] == result["reordered"] == result["duplicates"] == 0, result
    assert result["sent"] > 0 and result["received"] == result["expected"] == result["sent"] * subscribers, result
    assert result["keyframes"] >= publishers, result


def two_to_sixteen(folder):
    with Daemon(folder) as d:
        all_good(d.load("--publishers", 2, "--subscribers", 16, "--seconds", 5), 2, 16)
        assert d.ctl("peer.list") == {"peers": []}, "leatload takes back what it made"


def four_to_sixty_four_with_audio(folder):
    with Daemon(folder) as d:
        all_good(d.load("--publishers", 4, "--subscribers", 64, "--seconds", 2, "--rate-kbps", 300, "--audio"), 4, 64)


def two_workers(folder):
    """A group is on one worker: both loads work, whichever each gets."""
    port = free_port()
    with Daemon(folder, workers=2, listen=[{"address": "127.0.0.1", "port": port}]) as d:
        loads = [d.start_load("--publishers", 1, "--subscribers", 3, "--seconds", 2) for _ in range(2)]
        for load in loads:
            all_good(finish(load), 1, 3)


def small_and_large_packets(folder):
    with Daemon(folder) as d:
        for size in (80, 1400):
            all_good(d.load("--publishers", 1, "--subscribers", 2, "--seconds", 1, "--size", size, "--rate-kbps", 400), 1, 2)


def keyframe_request_is_served(folder):
    with Daemon(folder) as d:
        load = d.start_load("--seconds", 3, "--publishers", 1, "--subscribers", 1)
        source = d.wait_for_flow(1)[0]["from"]
        d.ctl("track.request_keyframe", f"peer={source['peer']}", f"mid={source['mid']}")
        outcome = finish(load)
        all_good(outcome, 1, 1)
        assert outcome[1]["keyframe_requests"] >= 1 and outcome[1]["keyframes"] >= 2, outcome


def paused_route_is_loss(folder):
    with Daemon(folder) as d:
        load = d.start_load("--seconds", 4, "--publishers", 1, "--subscribers", 2)
        route = d.wait_for_flow(2)[0]
        ends = [f"{end}.{part}={route[end][part]}" for end in ("to", "from") for part in ("peer", "mid")]
        d.ctl("route.set", *ends, "paused=true")
        time.sleep(0.5)
        d.ctl("route.set", *ends, "paused=false")
        status, result, _ = finish(load)
        assert status == 1 and not result["good"] and result["lost"] > 0, result


def peer_that_is_taken_away_is_told(folder):
    with Daemon(folder) as d:
        load = d.start_load("--seconds", 3, "--publishers", 1, "--subscribers", 2)
        peer = d.wait_for_flow(2)[0]["to"]["peer"]
        d.ctl("peer.close", f"id={peer}")
        status, result, errors = finish(load)
        assert status == 1 and result["ended_early"] == 1 and peer in errors, (result, errors)


def interrupt_closes_the_peers(folder):
    with Daemon(folder) as d:
        load = d.start_load("--seconds", 60, "--publishers", 1, "--subscribers", 2)
        d.wait_for_flow(2)
        load.send_signal(signal.SIGINT)
        status, result, _ = finish(load)
        assert status == 1 and result["interrupted"] and result["lost"] == result["wrong"] == 0, result
        assert d.ctl("peer.list") == {"peers": []}


def daemon_that_refuses_is_told(folder):
    with Daemon(folder, limits={"peers": 2}) as d:
        status, result, _ = d.load("--seconds", 1, "--publishers", 1, "--subscribers", 3)
        assert status == 1 and "limit" in result["failure"], result
        assert d.ctl("peer.list") == {"peers": []}


def daemon_that_ends_is_told(folder):
    with Daemon(folder) as d:
        load = d.start_load("--seconds", 60, "--publishers", 1, "--subscribers", 1)
        d.wait_for_flow(1)
        d.process.terminate()
        status, result, _ = finish(load)
        assert status == 1 and result["failure"], result


def no_daemon_is_status_2(folder):
    done = subprocess.run([LEATLOAD, "--socket", os.path.join(folder, "none")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "No such file" in done.stderr, done
    assert subprocess.run([LEATLOAD, "--nope"], stderr=subprocess.PIPE).returncode == 2


def controller_that_stays_does_not_keep_the_daemon(folder):
    with Daemon(folder) as d:
        connections = []
        for _ in range(2):
            connections.append(socket.socket(socket.AF_UNIX))
            connections[-1].connect(d.socket)
            connections[-1].sendall(b'{"jsonrpc": "2.0", "id": 1, "method": "events.subscribe", "params": {"filter": {"group": "x"}}}\n')
            assert connections[-1].recv(65536)
        connections[0].close()
    connections[1].close()


TESTS = [two_to_sixteen, four_to_sixty_four_with_audio, two_workers, small_and_large_packets, keyframe_request_is_served,
         paused_route_is_loss, peer_that_is_taken_away_is_told, interrupt_closes_the_peers, daemon_that_refuses_is_told,
         daemon_that_ends_is_told, no_daemon_is_status_2, controller_that_stays_does_not_keep_the_daemon]


def main():
    failed = 0
    for test in TESTS:
        if len(sys.argv) > 1 and test.__name__ not in sys.argv[1:]:
            continue
        try:
            with tempfile.TemporaryDirectory() as folder:
                test(folder)
            print(f"ok {test.__name__}", flush=True)
        except Exception:  # any failure is the test's
            failed += 1
            print(f"not ok {test.__name__}\n{traceback.format_exc()}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
