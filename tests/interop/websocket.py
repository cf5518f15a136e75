# SPDX-License-Identifier: MIT
"""A WebSocket client (RFC 6455), as much as a local WebDriver BiDi needs: text messages, pings, a close."""
import base64
import os
import socket
import struct
import time

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class WebSocket:
    """connect(host, port, timeout) -> socket replaces the ordinary way to the server."""

    def __init__(self, host, port, path, timeout, connect=None):
        self.socket = connect(host, port, timeout) if connect else socket.create_connection((host, port), timeout)
        self.buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                             "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        until = time.monotonic() + timeout
        while b"\r\n\r\n" not in self.buffer:
            self._fill(until)
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise OSError(f"no WebSocket: {head.decode(errors='replace')}")

    def send(self, text, opcode=TEXT):
        payload = text.encode() if isinstance(text, str) else text
        mask = os.urandom(4)
        if len(payload) < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | len(payload))
        elif len(payload) < 65536:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, len(payload))
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, len(payload))
        whole = int.from_bytes(payload, "big") ^ int.from_bytes((mask * (len(payload) // 4 + 1))[:len(payload)], "big")
        self.socket.sendall(head + mask + whole.to_bytes(len(payload), "big"))

    def receive(self, timeout):
        """The next text message; TimeoutError when none comes in time."""
        until = time.monotonic() + timeout
        message = b""
        while True:
            is_last, opcode, payload = self._frame(until)
            if opcode == CLOSE:
                raise OSError("the WebSocket was closed")
            if opcode == PING:
                self.send(payload, PONG)
            elif opcode != PONG:
                message += payload
                if is_last:
                    return message.decode()

    def close(self):
        self.socket.close()

    def _frame(self, until):
        first, second = self._take(2, until)
        length = second & 0x7F
        if length == 126:
            length = struct.unpack("!H", self._take(2, until))[0]
        elif length == 127:
            length = struct.unpack("!Q", self._take(8, until))[0]
        return bool(first & 0x80), first & 0x0F, self._take(length, until)

    def _take(self, count, until):
        while len(self.buffer) < count:
            self._fill(until)
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def _fill(self, until):
        remaining = until - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("no answer on the WebSocket")
        self.socket.settimeout(remaining)
        data = self.socket.recv(65536)
        if not data:
            raise OSError("the WebSocket ended")
        self.buffer += data
