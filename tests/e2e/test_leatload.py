#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# timeout: 240
"""Real clients through the real daemon: every packet must come back whole, in order, once."""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from harness.daemon import BUILD, Daemon
from harness.program import run

LEATLOAD = BUILD / "tools/leatload/leatload"


def load(leatd, *arguments):
    done = subprocess.run([LEATLOAD, "--socket", leatd.socket, "--json", *arguments], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.stdout, (done.returncode, done.stderr)
    return done.returncode, json.loads(done.stdout)


def leatload__two_publishers_sixteen_subscribers__nothing_lost_nothing_wrong():
    with Daemon() as leatd:
        status, result = load(leatd, "--publishers", "2", "--subscribers", "16", "--seconds", "5", "--rate-kbps", "500",
                              "--size", "1000")
        assert status == 0 and result["good"], result
        assert result["connected"] == 18 and result["lost"] == 0 and result["wrong"] == 0, result
        assert result["received"] == result["expected"] > 16 * 500, result
        counters = leatd.rpc.call("daemon.stats")["workers"][0]["counters"]
        assert counters["rtp_out"] >= result["received"], counters
        assert leatd.rpc.call("peer.list")["peers"] == []


def leatload__audio_beside_video__nothing_lost():
    with Daemon() as leatd:
        status, result = load(leatd, "--publishers", "3", "--subscribers", "4", "--seconds", "3", "--rate-kbps", "300",
                              "--size", "900", "--audio")
        assert status == 0 and result["lost"] == 0 and result["wrong"] == 0, result


def leatload__daemon_that_goes_away__says_so():
    with Daemon() as leatd:
        process = subprocess.Popen([LEATLOAD, "--socket", leatd.socket, "--json", "--publishers", "1", "--subscribers", "2",
                                    "--seconds", "60", "--rate-kbps", "200", "--size", "800"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        leatd.rpc.call("events.subscribe")
        for _ in range(3):
            leatd.rpc.event("peer.state", state="connected")
        leatd.stop()
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 1, process.returncode
        assert not json.loads(output)["good"], output


if __name__ == "__main__":
    sys.exit(run([leatload__two_publishers_sixteen_subscribers__nothing_lost_nothing_wrong,
                  leatload__audio_beside_video__nothing_lost,
                  leatload__daemon_that_goes_away__says_so]))
