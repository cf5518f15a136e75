# SPDX-License-Identifier: MIT
# timeout: 240
# build: release
"""aiortc, a WebRTC written in Python, publishes and receives through leatd: with itself and with Chromium."""
import asyncio
import contextlib
import fractions
import sys
import threading

import netns
from harness.program import PATIENCE_S, run, until
from harness.stage import Stage

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError, MediaStreamTrack
from av import VideoFrame

RED, GREEN = (255, 0, 0), (0, 255, 0)
YUV = {RED: (81, 90, 240), GREEN: (145, 54, 34)}  # BT.601, studio range
WIDTH, HEIGHT, FPS = 320, 240, 15


class Loop:
    """An asyncio loop in a thread of its own, whose sockets are in a namespace."""

    def __init__(self, inside):
        self.inside, self.loop = inside, asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        with netns.entered(self.inside.path):
            self.loop.run_forever()

    def __enter__(self):
        self.thread.start()
        return self

    async def _cancel_all(self):
        """What aiortc leaves running behind a closed connection."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def do(self, coroutine, timeout=2 * PATIENCE_S):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout)

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self._cancel_all(), self.loop).result(PATIENCE_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


class Picture(MediaStreamTrack):
    """A picture of one colour; its brightness wavers, so that no two frames are the same."""

    kind = "video"

    def __init__(self, colour):
        super().__init__()
        self.colour, self.count = YUV[colour], 0

    async def recv(self):
        await asyncio.sleep(1 / FPS)
        frame = VideoFrame(WIDTH, HEIGHT, "yuv420p")
        for plane, value in zip(frame.planes, self.colour):
            plane.update(bytes([value - self.count % 3]) * plane.buffer_size)
        frame.pts, frame.time_base = self.count * 90000 // FPS, fractions.Fraction(1, 90000)
        self.count += 1
        return frame


class Client:
    """One RTCPeerConnection of aiortc that publishes tracks or receives them."""

    def __init__(self, stage, loop, name):
        self.stage, self.loop, self.name = stage, loop, name
        self.frames, self.last = {"audio": 0, "video": 0}, None
        self.pc = loop.do(self._make())

    async def _make(self):
        pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))  # the default asks a public server
        pc.on("track", lambda track: asyncio.ensure_future(self._pull(track)))
        return pc

    async def _pull(self, track):
        with contextlib.suppress(MediaStreamError):  # its end
            while True:
                frame = await track.recv()
                self.frames[track.kind] += 1
                if track.kind == "video":
                    self.last = frame

    def publish(self, *tracks):
        async def offer():
            for track in tracks:
                self.pc.addTransceiver(track, direction="sendonly")
            await self.pc.setLocalDescription(await self.pc.createOffer())
        self._negotiate(offer())

    def receive(self, *kinds):
        async def offer():
            for kind in kinds:
                self.pc.addTransceiver(kind, direction="recvonly")
            await self.pc.setLocalDescription(await self.pc.createOffer())
        self._negotiate(offer())

    def _negotiate(self, offer):
        self.loop.do(offer)
        made = self.stage.rpc.call("peer.create", id=self.name, offer=self.pc.localDescription.sdp)
        self.loop.do(self.pc.setRemoteDescription(RTCSessionDescription(made["answer"], "answer")))
        until(lambda: self.pc.connectionState == "connected", lambda: f"{self.name} connected: {self.pc.connectionState}")

    def colour(self):
        """The mean colour of the last picture."""
        octets = bytes(self.last.reformat(format="rgb24").planes[0])
        return tuple(sum(octets[i::3]) * 3 / len(octets) for i in range(3))

    def until_received(self, colour, size):
        until(lambda: self.frames["video"] > 30 and self.frames["audio"] > 50, lambda: f"frames at {self.name}: {self.frames}")
        until(lambda: is_near(self.colour(), colour), lambda: f"{colour} at {self.name}: {self.colour()}")
        assert (self.last.width, self.last.height) == size, self.last

    def close(self):
        self.loop.do(self.pc.close())


def is_near(a, b):
    return all(abs(x - y) < 50 for x, y in zip(a, b))


def connect(stage, receiver, publisher):
    """Route the audio and video sections, wherever each side has them."""
    sources = {track["kind"]: track["mid"] for track in stage.rpc.peer(publisher)["tracks"]}
    for sender in stage.rpc.peer(receiver)["senders"]:
        stage.rpc.route((receiver, sender["mid"]), (publisher, sources[sender["kind"]]))


def aiortc_to_aiortc__audio_and_video__decoded_and_ended_at_once(stage, loop):
    ann, bob = Client(stage, loop, "ann"), Client(stage, loop, "bob")
    ann.publish(AudioStreamTrack(), Picture(RED))
    bob.receive("audio", "video")
    connect(stage, "bob", "ann")
    bob.until_received(RED, (WIDTH, HEIGHT))
    transport = stage.rpc.stats("ann", "transport")[0]
    assert transport["srtpCipher"] == "SRTP_AES128_CM_HMAC_SHA1_80" and transport["srtpAuthFail"] == 0, transport
    for one in (ann, bob):
        one.close()
        until(lambda: stage.rpc.peer(one.name)["reason"] == "closed_by_remote", lambda: stage.rpc.peer(one.name))


def aiortc_to_chromium__audio_and_video__shown(stage, loop):
    ann = Client(stage, loop, "ann")
    ann.publish(AudioStreamTrack(), Picture(GREEN))
    viewer = stage.receiver(stage.page(stage.chromium()), "viewer", "audio", "video")
    connect(stage, "viewer", "ann")
    viewer.until_colour(GREEN, "1")
    viewer.until_frames(30)
    until(lambda: viewer.inbound("audio").get("packetsReceived", 0) > 50, "audio arrives")
    seen = viewer.pixels("1")
    assert (seen["width"], seen["height"]) == (WIDTH, HEIGHT), seen
    ann.close()


def chromium_to_aiortc__audio_and_video__decoded(stage, loop):
    stage.publisher(stage.page(stage.chromium()), "ann", colour="rgb(255 0 0)", audio=True).until_connected()
    bob = Client(stage, loop, "bob")
    bob.receive("audio", "video")
    connect(stage, "bob", "ann")
    bob.until_received(RED, (320, 180))
    bob.close()


def main():
    if not netns.may_create():
        print("skip aiortc machine: may not create network namespaces")
        return 0
    with Stage() as stage, Loop(stage.inside) as loop:
        return run((aiortc_to_aiortc__audio_and_video__decoded_and_ended_at_once, aiortc_to_chromium__audio_and_video__shown,
                    chromium_to_aiortc__audio_and_video__decoded), stage, loop, tidy=stage.tidy)


if __name__ == "__main__":
    sys.exit(main())
