# SPDX-License-Identifier: MIT
# timeout: 240
# build: release
"""The browsers themselves can be driven: pages, values, errors, fake devices, a loopback call, namespaces, no leftovers."""
import http.server
import os
import pathlib
import sys
import tempfile
import threading
import traceback

import netns
from browser import BrowserError, Chromium, Firefox, processes_of_session

PAGE = b"<!doctype html><title>trivial</title><h1>trivial page</h1>"
MEDIA = """async () => {
    const stream = await navigator.mediaDevices.getUserMedia({audio: true, video: {width: 320, height: 240}});
    const video = Object.assign(document.createElement('video'), {srcObject: stream, muted: true});
    await video.play();
    while (video.currentTime < 0.3) await new Promise(wake => setTimeout(wake, 20));
    return [stream.getAudioTracks().length, video.videoWidth, video.videoHeight];
}"""
LOOPBACK = """async () => {
    const [near, far] = [new RTCPeerConnection(), new RTCPeerConnection()];
    near.onicecandidate = e => far.addIceCandidate(e.candidate);
    far.onicecandidate = e => near.addIceCandidate(e.candidate);
    const stream = await navigator.mediaDevices.getUserMedia({audio: true, video: true});
    stream.getTracks().forEach(track => near.addTrack(track, stream));
    await near.setLocalDescription();
    await far.setRemoteDescription(near.localDescription);
    await far.setLocalDescription();
    await near.setRemoteDescription(far.localDescription);
    for (let i = 0; i < 300; i++) {
        for (const report of (await far.getStats()).values()) {
            if (report.type === 'inbound-rtp' && report.framesDecoded > 10) return report.framesDecoded;
        }
        await new Promise(wake => setTimeout(wake, 50));
    }
    throw new Error('no frames: ' + near.iceConnectionState);
}"""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_):
        pass


def serve(inside=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
    if inside:
        server.socket.close()
        server.socket = inside.socket()
    server.server_bind()
    server.server_activate()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def page__values_and_errors__come_back(browser, url):
    browser.open(url)
    assert browser.evaluate("async (a, b) => [document.title, a + b, {deep: null}]", 1, 2) == ["trivial", 3, {"deep": None}]
    try:
        browser.evaluate("async () => { throw new Error('on purpose'); }")
    except BrowserError as error:
        assert "on purpose" in str(error)
    else:
        raise AssertionError("the error of the page was lost")
    picture = pathlib.Path(tempfile.gettempdir()) / f"leat-{os.getpid()}.png"
    browser.screenshot(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    picture.unlink()


def page__second_page__is_independent(browser, url):
    browser.evaluate("async () => { window.mark = 1; }")
    second = browser.new_page()
    second.open(url)
    assert second.evaluate("async () => window.mark ?? null") is None
    assert browser.evaluate("async () => window.mark") == 1
    second.close()
    assert browser.evaluate("async () => document.title") == "trivial"


def media__fake_devices__deliver(browser, _):
    assert browser.evaluate(MEDIA, timeout=20) == [1, 320, 240]


def media__loopback_call__decodes(browser, _):
    assert browser.evaluate(LOOPBACK, timeout=30) > 10


def main():
    failed = 0
    tests = (page__values_and_errors__come_back, page__second_page__is_independent, media__fake_devices__deliver,
             media__loopback_call__decodes)

    def report(name, error):
        nonlocal failed
        failed += bool(error)
        print(("not ok " if error else "ok ") + name, flush=True)
        if error:
            traceback.print_exception(error)

    for kind in (Chromium, Firefox):
        if not netns.may_create():
            print(f"skip browser_{kind.__name__.lower()} machine: may not create network namespaces")
            continue
        with netns.Namespace("browser") as inside:
            server = serve(inside)
            browser = kind(netns=inside)
            try:
                with browser:
                    for test in tests:
                        try:
                            test(browser, f"http://127.0.0.1:{server.server_port}/")
                            report(f"{kind.__name__.lower()}/{test.__name__}", None)
                        except Exception as error:  # the next test still runs
                            report(f"{kind.__name__.lower()}/{test.__name__}", error)
            except Exception as error:
                report(f"{kind.__name__.lower()}/start", error)
            session = browser.process.pid if browser.process else 0
            report(f"{kind.__name__.lower()}/close__leaves_nothing",
                   AssertionError("processes left") if processes_of_session(session) or browser.folder.exists() else None)
            server.shutdown()
            server.server_close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
