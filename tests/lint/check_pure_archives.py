#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail when a pure module keeps state of its own or reaches for the clock, threads, sockets or a log.

Usage: check_pure_archives.py BUILD_DIR MODULE... For each module's static library: .data, .bss, .tdata and .tbss must be
empty (tables of constant pointers, .data.rel.ro, are read-only once loaded), and no forbidden function may be called.
Archives that stand beside a module's own, where the build has them, may hold what the table SIDE grants.
Exits 77 (skipped) in a sanitized, fuzzing or coverage build, where the compiler adds data of its own.
"""
import json
import pathlib
import re
import subprocess
import sys

WRITABLE = re.compile(r"\.(?:data(?!\.rel\.ro)|bss|tdata|tbss)(?:\.|$)")
FORBIDDEN = re.compile(
    r"(?:_*v?f?printf(?:_chk)?|v?dprintf|puts|fputs|fwrite|perror|syslog|leat_log\w*"
    r"|time|clock|clock_gettime|gettimeofday|nanosleep|usleep|sleep"
    r"|rand|random|rand_r|drand48|getrandom|getentropy|arc4random"
    r"|open|fopen|read|write|socket|sendto|sendmsg|sendmmsg|recvfrom|recvmsg|recvmmsg|getenv|uv_\w+|pthread_\w+|thrd_\w+)$")

SIDE = {  # module -> archives beside its own, and the octets of writable data that each may hold
    # One pointer, set before threads start: the entry points that the TLS library calls get no context of ours.
    "dtls": {"libleat_dtls_kx.a": 8},
}


def is_instrumented(build):
    options = json.loads((build / "meson-info/intro-buildoptions.json").read_text())
    value = {option["name"]: option["value"] for option in options}
    return bool(value.get("sanitize") or value.get("fuzz") or value.get("b_coverage")
                or value.get("b_sanitize", "none") not in ("none", []))


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def writable_sections(archive):
    """(member, section, octets) of each section that is writable and not empty."""
    member = "?"
    for line in run("objdump", "-h", archive).splitlines():
        if ":     file format" in line:
            member = pathlib.PurePath(line.split(":     file format")[0]).name
            continue
        fields = line.split()
        if len(fields) > 2 and fields[0].isdigit() and WRITABLE.match(fields[1]) and int(fields[2], 16):
            yield member, fields[1], int(fields[2], 16)


def symbols(archive, kinds):
    """Names in the archive's symbol table whose letter (see nm) is one of kinds."""
    lines = (line.split() for line in run("nm", archive).splitlines())
    return sorted({fields[-1] for fields in lines if len(fields) > 1 and fields[-2] in kinds})


def check(archive, granted, bad):
    found = list(writable_sections(archive))
    if sum(size for _, _, size in found) > granted:
        names = symbols(archive, "dDbBC")
        bad.append(f"{archive.name}: {'; '.join(f'{member} {section} holds {size} octets' for member, section, size in found)}"
                   f"; writable: {', '.join(names) or 'no symbol'}")
    calls = [name for name in symbols(archive, "U") if FORBIDDEN.match(name)]
    if calls:
        bad.append(f"{archive.name}: a pure module calls {', '.join(calls)}")


def main(build, modules):
    build, bad = pathlib.Path(build), []
    if is_instrumented(build):
        print("skipped: this build is instrumented, which adds data to every object; run it in a plain build")
        return 77
    for module in modules:
        folder = build / "src" / module
        archive = folder / f"libleat_{module}.a"
        if not archive.is_file():
            bad.append(f"{archive}: not built")
            continue
        check(archive, 0, bad)
        for name, granted in SIDE.get(module, {}).items():
            if (folder / name).is_file():
                check(folder / name, granted, bad)
    print("\n".join(bad) if bad else f"{len(modules)} pure archives hold no writable data that is not granted")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
