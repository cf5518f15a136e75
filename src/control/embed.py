#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn the OpenRPC document into a C source with its text, without blanks.

Usage: embed.py openrpc.json OUT.c
"""
import json
import sys


def main(source, target):
    with open(source, encoding="utf-8") as file:
        text = json.dumps(json.load(file), separators=(",", ":"), ensure_ascii=True)
    octets = [str(octet) for octet in text.encode("ascii")]
    rows = [", ".join(octets[at:at + 24]) for at in range(0, len(octets), 24)]
    with open(target, "w", encoding="ascii") as file:
        file.write("/* Made from openrpc.json. */\n#include <stddef.h>\n\n"
                   "extern const char leat__control_openrpc[];\n"
                   "extern const size_t leat__control_openrpc_len;\n\n"
                   "const char leat__control_openrpc[] = {\n    " + ",\n    ".join(rows) + "};\n"
                   "const size_t leat__control_openrpc_len = sizeof(leat__control_openrpc);\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
