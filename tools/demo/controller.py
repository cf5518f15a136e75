#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A meeting server on leatd: it speaks WHIP and WHEP over HTTP to browsers and JSON to leatd.

    POST   /whip/ROOM              publish: an SDP offer, answered with 201, the SDP answer and a Location
    POST   /whep/ROOM/PUBLISHER    watch one publisher, by name or id
    POST   /watch/ROOM             watch everyone: a slot for each audio and video section of the offer
    PUT    /peer/ID                a new offer for what a Location named: more sections, or an ICE restart
    DELETE /peer/ID                leave
    GET    /events/ROOM            server-sent events: who publishes, and whom each slot shows

It knows no accounts: who may do what is your part.
"""
import argparse
import http.server
import json
import pathlib
import sys
import threading
import urllib.parse

from leatd import Leatd, LeatdError
from meeting import Meeting

HERE = pathlib.Path(__file__).resolve().parent
PAGES = {"": "index.html", "demo.js": "demo.js", "demo.css": "demo.css", "whep.html": "whep.html"}
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css"}
MAX_OFFER = 256 * 1024


class Handler(http.server.BaseHTTPRequestHandler):
    meeting = None

    def serve(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        client = query.get("client")
        try:
            match (self.command, *map(urllib.parse.unquote, url.path[1:].split("/"))):
                case "POST", "whip", room:
                    self.join(room, {"role": "publisher", "client": client, "name": query.get("name", "guest")[:40]})
                case "POST", "whep", room, publisher:
                    self.join(room, {"role": "viewer", "client": None, "only": publisher})
                case "POST", "watch", room:  # WHEP for a whole room: a slot for every two sections of the offer
                    self.join(room, {"role": "viewer", "client": client})
                case "PUT", "peer", peer:
                    self.reply(200, self.meeting.renegotiate(peer, self.body()), "application/sdp")
                case "PATCH", "peer", _:  # candidates are welcome but not needed; a restart (RFC 9725 4.3.3) comes by PUT
                    self.reply(405 if self.headers.get("If-Match") == "*" else 204)
                case "DELETE", "peer", peer:
                    self.meeting.leave(peer)
                    self.reply(200)
                case "GET", "events", room:
                    self.stream(self.meeting.watch(room, client))
                case "GET", page if page in PAGES:
                    path = HERE / PAGES[page]
                    self.reply(200, path.read_text(encoding="utf-8"), TYPES[path.suffix])
                case _:
                    self.reply(404)
        except LeatdError as error:
            self.reply(404 if error.reason == "no_such_peer" else 400, str(error))
        except ConnectionError:
            pass  # the browser left

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve

    def join(self, room, data):
        peer, answer = self.meeting.join(room, data, self.body())
        self.reply(201, answer, "application/sdp", Location=f"/peer/{peer}")

    def body(self):
        return self.rfile.read(min(int(self.headers.get("Content-Length", 0)), MAX_OFFER)).decode()

    def reply(self, status, text="", kind="text/plain", **headers):
        self.send_response(status)
        for key, value in {"Content-Type": kind, "Content-Length": len(text.encode()), **headers}.items():
            self.send_header(key, str(value))
        self.end_headers()
        self.wfile.write(text.encode())

    def stream(self, views):
        """Server-sent events, one JSON document each."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        for view in views:
            self.wfile.write(f"data: {json.dumps(view)}\n\n".encode())

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description="A meeting server on leatd.")
    parser.add_argument("--socket", default="/run/leat/leatd.sock", help="leatd's control socket")
    parser.add_argument("--address", default="127.0.0.1", help="where the page is served")
    parser.add_argument("--port", type=int, default=8080)
    options = parser.parse_args()
    try:
        leatd = Leatd(options.socket)
        server = http.server.ThreadingHTTPServer((options.address, options.port), Handler)
    except OSError as error:
        sys.exit(f"controller: {options.socket} and {options.address}:{options.port}: {error.strerror}")
    Handler.meeting = Meeting(leatd)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for method, params in leatd.events():
        Handler.meeting.on_event(method, params)
    sys.exit("controller: leatd is gone")


if __name__ == "__main__":
    main()
