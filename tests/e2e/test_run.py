# SPDX-License-Identifier: MIT
# timeout: 300
# build: release
"""tools/run: it says what runs and what to do next, serves the demo, and Ctrl-C stops all of it."""
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from browser import Chromium, processes_of_session
from harness.daemon import ROOT, Rpc, free_udp_port
from harness.program import run, until

START_S = 120  # it builds first, or sees that nothing is to be built


def free_tcp_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Run:
    """tools/run in a session of its own, as a terminal would have it."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.socket = pathlib.Path(self.folder.name) / "leatd.sock"
        self.log = pathlib.Path(self.folder.name) / "log"
        self.port, self.udp_port = free_tcp_port(), free_udp_port()
        self.url = f"http://127.0.0.1:{self.port}/"

    def __enter__(self):
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [ROOT / "tools/run", "--port", str(self.port), "--udp-port", str(self.udp_port), "--socket", self.socket],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, "LEAT_SKIP_SETUP": "1"})
        try:
            until(self._is_up, lambda: f"tools/run is up: {self.text()}", START_S)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _is_up(self):
        assert self.process.poll() is None, self.text()
        return "Ctrl-C stops all of it." in self.text()

    def text(self):
        return self.log.read_text(errors="replace")

    def pids(self):
        return processes_of_session(self.process.pid)

    def get(self, path=""):
        with urllib.request.urlopen(self.url + path, timeout=10) as reply:
            return reply.read().decode()

    def __exit__(self, *_):
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.folder.cleanup()


def run__started__serves_the_page_and_says_so():
    with Run() as one, Rpc(one.socket) as rpc:
        assert f"http://localhost:{one.port}" in one.text() and f"UDP port {one.udp_port}" in one.text(), one.text()
        assert "<title>leat demo</title>" in one.get()
        info = rpc.call("daemon.info")
        assert {address["port"] for address in info["announce"]} == {one.udp_port}, info
        assert "127.0.0.1" in {address["address"] for address in info["announce"]}, info
        leatctl = re.search(r"(\S*leatctl) --socket", one.text()).group(1)
        done = subprocess.run([ROOT / leatctl, "--socket", one.socket, "peer.list"], capture_output=True, text=True, cwd=ROOT, check=False)
        assert done.returncode == 0, done
        with Chromium() as browser:
            browser.open(f"http://localhost:{one.port}/?room=lobby&name=Ann&publish=camera")
            until(lambda: [peer for peer in rpc.call("peer.list")["peers"] if peer["state"] == "connected"], "Ann's camera is connected")
            assert browser.evaluate("async () => document.getElementById('message').textContent") == ""


def run__ctrl_c__stops_all_of_it():
    with Run() as one:
        assert len(one.pids()) == 3, one.text()
        os.killpg(one.process.pid, signal.SIGINT)
        assert one.process.wait(30) == 0, one.text()
        assert one.pids() == [] and not one.socket.exists(), one.pids()
        try:
            one.get()
        except urllib.error.URLError:
            return
        raise AssertionError("the page is still served")


def run__leatd_dies__the_rest_stops_and_the_end_says_why():
    with Run() as one:
        with Rpc(one.socket) as rpc:
            os.kill(rpc.call("daemon.info")["pid"], signal.SIGKILL)
        assert one.process.wait(30) == 1, one.text()
        assert "leatd ended" in one.text() and one.pids() == [], one.text()


if __name__ == "__main__":
    sys.exit(run((run__started__serves_the_page_and_says_so, run__ctrl_c__stops_all_of_it,
                  run__leatd_dies__the_rest_stops_and_the_end_says_why)))
