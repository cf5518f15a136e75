# SPDX-License-Identifier: MIT
"""RTCPeerConnections in a browser's page, from Python.

    page = load(browser.page, "http://127.0.0.1:8080/")
    ann = Call(page, "ann")
    ann.accept(leatd.rpc.call("peer.create", id="ann", offer=ann.publish(camera=True))["answer"])
"""
import json
import pathlib

from .program import PATIENCE_S, until

SOURCE = (pathlib.Path(__file__).parent / "page.js").read_text()


def load(page, url, max_fps=60):
    """Open a page with page.js in it before the page's own scripts run. Once in a page's life is enough: it stays.

    max_fps bounds what canvases of the page send, when many pages share a small machine.
    """
    if not getattr(page, "has_preload", False):
        source = f"window.leatMaxFps ??= {max_fps};\n{SOURCE}"
        if hasattr(page, "context"):
            page.browser.command("script.addPreloadScript", {"functionDeclaration": "() => {" + source + "}",
                                                             "contexts": [page.context]})
        else:
            page._command("POST", "/goog/cdp/execute",
                          {"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": source}})
        page.has_preload = True
    page.open(url)
    return page


class Call:
    """One RTCPeerConnection, known in its page by a name."""

    def __init__(self, page, name):
        self.page, self.name = page, name

    def do(self, method, *arguments):
        return self.page.evaluate(f"async (...a) => leat.{method}(...a)", *arguments)

    def publish(self, **what):
        """The offer of a connection that sends: camera=True, or colour="#f00" and audio=True."""
        return self.do("publish", self.name, what)

    def receive(self, *kinds):
        """The offer of a connection that receives these kinds; called again, more of them."""
        return self.do("receive", self.name, kinds)

    def adopt(self, index=0):
        """This is the page's own connection, the index-th that it made."""
        self.do("adopt", self.name, index)
        return self

    def offer(self):
        return self.do("offer", self.name)

    def restart(self):
        return self.do("restart", self.name)

    def accept(self, answer):
        self.do("accept", self.name, answer)

    def close(self):
        self.do("close", self.name)

    def state(self):
        return self.do("state", self.name)

    def stats(self, kind=None):
        return self.do("stats", self.name, kind)

    def inbound(self, kind, mid=None):
        """The inbound-rtp record of a kind or section; {} before the first packet."""
        for record in self.stats("inbound-rtp"):
            if record["kind"] == kind and mid in (None, record.get("mid")):
                return record
        return {}

    def local_ufrag(self):
        """The page's ICE ufrag of the pair that media takes."""
        records = {record["id"]: record for record in self.stats()}
        transport = next(record for record in records.values() if record["type"] == "transport")
        pair = records.get(transport.get("selectedCandidatePairId"), {})
        return records.get(pair.get("localCandidateId"), {}).get("usernameFragment", "(none)")

    def frames(self, mid=None):
        return self.inbound("video", mid).get("framesDecoded", 0)

    def pixels(self, mid="0"):
        return self.do("pixels", self.name, mid)

    def until_connected(self):
        until(lambda: self.state()["connection"] == "connected", lambda: f"{self.name} connected: {self.state()}")

    def until_frames(self, count, mid=None, timeout=PATIENCE_S):
        """Wait until so many more frames than now were decoded."""
        start = self.frames(mid)
        until(lambda: self.frames(mid) >= start + count,
              lambda: f"{count} frames at {self.name} after {start}; {json.dumps(self.inbound('video', mid))}", timeout)

    def until_colour(self, colour, mid="0", timeout=PATIENCE_S):
        """Wait until the picture of a section is about this colour, (r, g, b)."""
        def is_close():
            seen = self.pixels(mid)
            return seen and all(abs(a - b) < 50 for a, b in zip(seen["mean"], colour))
        until(is_close, lambda: f"{self.name}/{mid} shows {colour}; it shows {self.pixels(mid)}", timeout)
