#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# timeout: 180
"""The controller in README.md, as it stands there: one browser publishes to it, another plays what it was given."""
import http.client
import re
import subprocess
import sys

from harness.daemon import ROOT
from harness.page import Call
from harness.program import until
from harness.stage import perform

PORT = 8000


def source(control_socket):
    """The Python of README.md, with the one path that depends on the machine."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(blocks) == 1, f"README.md has {len(blocks)} blocks of Python"
    lines = [line for line in blocks[0].splitlines() if line.strip()]
    assert len(lines) <= 36, f"README.md promises thirty lines, it has {len(lines)}"
    assert "/run/leat/leatd.sock" in blocks[0]
    return blocks[0].replace("/run/leat/leatd.sock", str(control_socket))


def post(stage, path, offer):
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    connection.sock = stage.inside.connect("127.0.0.1", PORT, 10.0)
    connection.request("POST", path, body=offer)
    reply = connection.getresponse()
    assert reply.status == 201, (reply.status, reply.read())
    return reply.read().decode()


def is_listening(stage):
    try:
        stage.inside.connect("127.0.0.1", PORT, 1.0).close()
        return True
    except OSError:
        return False


def readme_controller__publish_and_watch__plays(stage):
    process = subprocess.Popen(stage.inside.command(sys.executable, "-c", source(stage.leatd.socket)),
                               stderr=subprocess.DEVNULL)
    try:
        until(lambda: is_listening(stage), "the controller of README.md listens")
        ann = Call(stage.page(stage.chromium()), "ann")
        ann.accept(post(stage, "/publish/ann", ann.publish(camera=True)))
        ann.until_connected()
        viewer = Call(stage.page(stage.chromium(), is_new=True), "viewer")
        viewer.accept(post(stage, "/watch/ann", viewer.receive("audio", "video")))
        viewer.until_frames(50)
        until(lambda: viewer.inbound("audio").get("packetsReceived", 0) > 50, "audio arrives")
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    sys.exit(perform((readme_controller__publish_and_watch__plays,)))
