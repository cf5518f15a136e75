# SPDX-License-Identifier: MIT
"""What the tests of the real daemon share: tests/e2e drives it by hand, tests/interop with browsers and libraries.

    program.py  run the tests of a program and report them; wait for something
    daemon.py   leatd on sockets of its own, and its control socket
    stage.py    a namespace with a daemon, the demo controller and browsers in it
    page.py     RTCPeerConnections in a browser's page, as Python objects (page.js is their inside)
"""
