#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A GStreamer webrtcbin in a process of its own, driven by lines of JSON: test_gstreamer.py runs two of them in a namespace.

    gstreamer_client.py send PATTERN    a test picture and a tone
    gstreamer_client.py receive         an audio and a video section

It prints {"offer": SDP}, reads {"answer": SDP}, and from then on prints once in a while what it sees: {"state", "frames",
"buffers", "size", "colour"}. It ends, with a close of its connection, when its input does.
"""
import json
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

SEND = """webrtcbin name=rtc bundle-policy=max-bundle
    videotestsrc is-live=true pattern={} ! video/x-raw,width=320,height=240,framerate=15/1 ! vp8enc deadline=1 cpu-used=8
        keyframe-max-dist=10000 ! rtpvp8pay picture-id-mode=15-bit ! application/x-rtp,media=video,encoding-name=VP8,payload=96 ! rtc.
    audiotestsrc is-live=true ! opusenc ! rtpopuspay ! application/x-rtp,media=audio,encoding-name=OPUS,payload=97 ! rtc."""
DECODE = {"video": "rtpvp8depay ! vp8dec ! videoconvert ! video/x-raw,format=RGB ! fakesink name=end sync=false signal-handoffs=true",
          "audio": "rtpopusdepay ! opusdec ! fakesink name=end sync=false signal-handoffs=true"}
REPORT_MS = 200


def say(**what):
    print(json.dumps(what), flush=True)


def describe(text, kind):
    _, message = GstSdp.SDPMessage.new_from_text(text)
    return GstWebRTC.WebRTCSessionDescription.new(kind, message)


class Client:
    def __init__(self, role, pattern):
        self.loop = GLib.MainLoop()
        self.counts, self.size, self.colour, self.has_offered = {"audio": 0, "video": 0}, None, None, False
        if role == "send":
            self.pipeline = Gst.parse_launch(SEND.format(pattern))
            self.rtc = self.pipeline.get_by_name("rtc")
        else:
            self.pipeline = Gst.Pipeline.new("receive")
            self.rtc = Gst.ElementFactory.make("webrtcbin", "rtc")
            self.rtc.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
            self.pipeline.add(self.rtc)
            for caps in ("application/x-rtp,media=audio,encoding-name=OPUS,payload=97,clock-rate=48000,encoding-params=(string)2",
                         "application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000"):
                self.rtc.emit("add-transceiver", GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY, Gst.Caps.from_string(caps))
        for i in range(2):
            transceiver = self.rtc.emit("get-transceiver", i)
            if role == "send" and transceiver:
                transceiver.set_property("direction", GstWebRTC.WebRTCRTPTransceiverDirection.SENDONLY)
        self.rtc.connect("pad-added", self.on_pad)
        self.rtc.connect("on-negotiation-needed", lambda *_: GLib.idle_add(self.offer))

    def run(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        GLib.timeout_add(REPORT_MS, self.report)
        threading.Thread(target=self.read, daemon=True).start()
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)

    def read(self):
        for line in sys.stdin:
            answer = json.loads(line)["answer"]
            GLib.idle_add(self.accept, answer)
        GLib.idle_add(self.loop.quit)

    def offer(self):
        if not self.has_offered:
            self.has_offered = True

            def made(promise, *_):  # each part has a name: the memory is the reply's, which must outlive the rest
                reply = promise.get_reply()
                description = reply.get_value("offer")
                message = description.sdp
                GLib.idle_add(self.offered, message.as_text())
            self.rtc.emit("create-offer", None, Gst.Promise.new_with_change_func(made))
        return False

    def offered(self, text):
        self.rtc.emit("set-local-description", describe(text, GstWebRTC.WebRTCSDPType.OFFER), None)
        say(offer=text)
        return False

    def accept(self, text):
        self.rtc.emit("set-remote-description", describe(text, GstWebRTC.WebRTCSDPType.ANSWER), None)
        return False

    def on_pad(self, _, pad):
        if pad.direction != Gst.PadDirection.SRC:
            return
        kind = pad.get_current_caps().get_structure(0).get_string("media")
        part = Gst.parse_bin_from_description(DECODE[kind], True)
        part.get_by_name("end").connect("handoff", self.on_buffer, kind)
        self.pipeline.add(part)
        part.sync_state_with_parent()
        pad.link(part.get_static_pad("sink"))

    def on_buffer(self, _, buffer, pad, kind):
        self.counts[kind] += 1
        if kind == "video":
            caps = pad.get_current_caps().get_structure(0)
            self.size = [caps.get_int("width")[1], caps.get_int("height")[1]]
            octets = buffer.extract_dup(0, buffer.get_size())
            self.colour = [sum(octets[i::3]) * 3 / len(octets) for i in range(3)]

    def report(self):
        say(state=self.rtc.get_property("connection-state").value_nick, frames=self.counts["video"], buffers=self.counts["audio"],
            size=self.size, colour=self.colour)
        return True


Gst.init(None)
Client(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "").run()
