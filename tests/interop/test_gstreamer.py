# SPDX-License-Identifier: MIT
# timeout: 240
# build: release
"""GStreamer's webrtcbin (with libnice) publishes and receives through leatd: with itself and with Chromium."""
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import threading

from harness.program import until
from harness.stage import perform

RED, GREEN = (255, 0, 0), (0, 255, 0)
PROGRAM = pathlib.Path(__file__).with_name("gstreamer_client.py")


class Client:
    """gstreamer_client.py in the stage's namespace; .seen is its last report."""

    def __init__(self, stage, name, *arguments):
        self.stage, self.name, self.seen, self.offer = stage, name, {}, None
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(stage.inside.command("/usr/bin/python3", PROGRAM, *arguments), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "offer" in message:
                self.offer = message["offer"]
            else:
                self.seen = message

    def __enter__(self):
        try:
            until(lambda: self.offer, lambda: f"an offer of {self.name}: {self.complaints()}")
            made = self.stage.rpc.call("peer.create", id=self.name, offer=self.offer)
            self.process.stdin.write(json.dumps({"answer": made["answer"]}) + "\n")
            self.process.stdin.flush()
            until(lambda: self.seen.get("state") == "connected", lambda: f"{self.name} connected: {self.seen} {self.complaints()}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def complaints(self):
        self.errors.seek(0)
        return self.errors.read()[-2000:]

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.errors.close()

    def until_received(self, colour, size):
        until(lambda: self.seen["frames"] > 30 and self.seen["buffers"] > 50, lambda: f"media at {self.name}: {self.seen}")
        until(lambda: all(abs(a - b) < 50 for a, b in zip(self.seen["colour"], colour)), lambda: f"{colour}: {self.seen}")
        assert self.seen["size"] == size, self.seen


def connect(stage, receiver, publisher):
    """Route the audio and video sections, wherever each side has them."""
    sources = {track["kind"]: track["mid"] for track in stage.rpc.peer(publisher)["tracks"]}
    for sender in stage.rpc.peer(receiver)["senders"]:
        stage.rpc.route((receiver, sender["mid"]), (publisher, sources[sender["kind"]]))


def gstreamer_to_gstreamer__audio_and_video__decoded(stage):
    with Client(stage, "ann", "send", "red"), Client(stage, "bob", "receive") as bob:
        connect(stage, "bob", "ann")
        bob.until_received(RED, [320, 240])
        transport = stage.rpc.stats("ann", "transport")[0]
        assert transport["srtpAuthFail"] == 0 and transport["dtlsState"] == "connected", transport


def gstreamer_to_chromium__audio_and_video__shown(stage):
    with Client(stage, "ann", "send", "green"):
        viewer = stage.receiver(stage.page(stage.chromium()), "viewer", "audio", "video")
        connect(stage, "viewer", "ann")
        viewer.until_colour(GREEN, "1")
        viewer.until_frames(30)
        until(lambda: viewer.inbound("audio").get("packetsReceived", 0) > 50, "audio arrives")
        seen = viewer.pixels("1")
        assert (seen["width"], seen["height"]) == (320, 240), seen


def chromium_to_gstreamer__audio_and_video__decoded(stage):
    stage.publisher(stage.page(stage.chromium()), "ann", colour="rgb(255 0 0)", audio=True).until_connected()
    with Client(stage, "bob", "receive") as bob:
        connect(stage, "bob", "ann")
        bob.until_received(RED, [320, 180])


if __name__ == "__main__":
    sys.exit(perform((gstreamer_to_gstreamer__audio_and_video__decoded, gstreamer_to_chromium__audio_and_video__shown,
                      chromium_to_gstreamer__audio_and_video__decoded)))
