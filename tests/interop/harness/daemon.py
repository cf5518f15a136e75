# SPDX-License-Identifier: MIT
"""leatd as a process of a test's own, and its control socket.

    with Daemon(netns=inside, config={"workers": 2}) as leatd:
        answer = leatd.rpc.call("peer.create", id="a", offer=sdp)["answer"]

The daemon has a folder of its own with its configuration, control socket and log. When the body ends, it is stopped and must
end well; when the body fails, the log is shown.
"""
import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from .program import PATIENCE_S, until

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("LEAT_BUILD") or ROOT / "build/release")
LEATD = pathlib.Path(os.environ.get("LEATD") or BUILD / "src/daemon/leatd")
LOG_TAIL = 60
SANITIZER = re.compile(r"runtime error:|ERROR: \w+Sanitizer")


class RpcError(Exception):
    """leatd refused; code, reason and field are its words."""

    def __init__(self, error):
        super().__init__(error["message"])
        data = error.get("data") or {}
        self.error, self.code, self.reason, self.field = error, error["code"], data.get("reason"), data.get("field")


class Rpc:
    """One connection to a control socket. Notifications are kept in .events, in order."""

    def __init__(self, path, timeout=PATIENCE_S):
        self.timeout, self.numbers, self.events, self.buffer = timeout, itertools.count(1), [], b""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(str(path))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, octets):
        self.socket.sendall(octets)

    def line(self, timeout=None):
        """The next message, whatever it is; None when the daemon closed the connection."""
        end = time.monotonic() + (self.timeout if timeout is None else timeout)
        while b"\n" not in self.buffer:
            self.socket.settimeout(max(end - time.monotonic(), 0.001))
            data = self.socket.recv(1 << 18)
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def call(self, method, **params):
        number = next(self.numbers)
        self.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n")
        while True:
            message = self.line()
            if message is None:
                raise ConnectionError(f"leatd closed the connection instead of answering {method}")
            if "method" in message:
                self.events.append(message)
            elif message["id"] == number:
                break
        if "error" in message:
            raise RpcError(message["error"])
        return message["result"]

    def event(self, method, timeout=PATIENCE_S, **wanted):
        """The first kept or coming notification of a type with these parameters; it is taken from .events."""
        end = time.monotonic() + timeout
        seen = 0
        while True:
            for i, event in enumerate(self.events[seen:], seen):
                if event["method"] == method and all(event["params"].get(key) == value for key, value in wanted.items()):
                    return self.events.pop(i)["params"]
            seen = len(self.events)
            remaining = end - time.monotonic()
            with contextlib.suppress(TimeoutError):
                message = self.line(remaining) if remaining > 0 else None
                if message is not None:
                    self.events.append(message)
                    continue
            raise AssertionError(f"no {method} with {wanted} in {timeout:.0f} s; there were {self.events[-20:]}")

    # What nearly every test says.

    def route(self, to, source):
        """Point a sender (peer, mid) at a track (peer, mid) or at None."""
        end = None if source is None else {"peer": source[0], "mid": source[1]}
        return self.call("route.set", routes=[{"to": {"peer": to[0], "mid": to[1]}, "from": end}])["routes"][0]

    def peer(self, peer):
        return self.call("peer.get", id=peer)

    def stats(self, peer, kind):
        """The records of one type (inbound-rtp, ...) of a peer."""
        return [record for record in self.call("stats.get", peers=[peer])["stats"] if record["type"] == kind]


def free_udp_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Daemon:
    """config: keys beside `control` and, unless given, `listen`. listen is a socket on 127.0.0.1, or "auto" in a namespace."""

    def __init__(self, netns=None, config=None, arguments=(), program=LEATD):
        self.netns, self.program, self.arguments = netns, program, [str(argument) for argument in arguments]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="leat-daemon-"))
        self.socket, self.log = self.folder / "leatd.sock", self.folder / "log"
        self.port = 3478 if netns else free_udp_port()
        self.config = {"control": {"socket": str(self.socket)}, "port": self.port,
                       "listen": "auto" if netns else [{"address": "127.0.0.1", "port": self.port}], **(config or {})}
        self.process = self.rpc = None
        self.may_end_badly = False  # a test that kills it says so

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__(AssertionError)
            raise
        return self

    def start(self):
        path = self.folder / "leatd.json"
        path.write_text(json.dumps(self.config))
        command = [self.program, "--config", path, *self.arguments]
        command = self.netns.command(*command) if self.netns else [str(part) for part in command]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        until(self._is_up, "leatd answers on its control socket")

    def _is_up(self):
        if self.process.poll() is not None:
            raise AssertionError(f"leatd ended at once with status {self.process.returncode}")
        try:
            self.rpc = Rpc(self.socket)
        except OSError:
            return False
        return self.rpc.call("daemon.info")

    def connect(self):
        """One more connection to the control socket."""
        return Rpc(self.socket)

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, timeout=PATIENCE_S):
        """SIGTERM, and its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)

    def text(self):
        return self.log.read_text(errors="replace") if self.log.is_file() else ""

    def explain(self):
        print(f"  ---- end of leatd's log ({self.log})")
        for line in self.text().splitlines()[-LOG_TAIL:]:
            print("  | " + line)

    def __exit__(self, failure, *_):
        try:
            if self.rpc:
                self.rpc.close()
            if self.process:
                self._end(failure)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, failure):
        try:
            status = self.stop()
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = f"none: it did not end after SIGTERM, killed ({self.process.wait()})"
        is_good = self.may_end_badly or status == 0 and not SANITIZER.search(self.text())
        if failure or not is_good:
            self.explain()
        if not failure:
            assert is_good, f"leatd ended badly: status {status}"
