#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail when a source file reaches across the allowed module direction.

Usage: check_layers.py ROOT. Prints one line a violation and exits 1 if there is any. The tables are the whole
policy: edit them in the commit that adds a dependency. Checked are
  - every #include of include/leat, src/<module>, tools/<program> and bench: public headers by ALLOWED and RESTRICTED, library
    and system headers by DOORS, private headers only from the module's own folder, no '..', no computed name;
  - src/<module>/meson.build: links only what may be included, adds no include path;
  - every public header names its module; every C, Python and shell source and meson.build carries the licence line.
"""
import os
import pathlib
import re
import sys

ALLOWED = {  # module -> modules whose public headers it may include
    "base": set(),
    "crypto": {"base"},
    "rtp": {"base"},
    "json": {"base"},
    "sdp": {"base"},
    "stun": {"base", "crypto"},
    "dtls": {"base", "crypto"},
    "srtp": {"base", "crypto"},
    "peer": {"base", "crypto", "rtp", "stun", "dtls", "srtp"},
    "route": {"base", "rtp"},
    "sfu": {"base", "crypto", "rtp", "srtp", "peer", "route"},
    "control": {"base", "json", "sdp", "sfu"},
    "io": {"base"},
    "daemon": {"base", "crypto", "rtp", "json", "sdp", "stun", "dtls", "srtp", "peer", "route", "sfu",
               "control", "io"},
    "loadgen": {"base", "crypto", "rtp", "json", "sdp", "stun", "dtls", "srtp", "peer", "io"},
    "leatctl": {"base", "json", "io"},
    "leatdump": {"base", "rtp", "stun", "dtls"},
    "bench": {"base", "crypto", "rtp", "stun", "dtls", "srtp"},
}
PROGRAMS = {"leatload": "loadgen", "leatctl": "leatctl", "leatdump": "leatdump"}  # below tools/ -> module
ENDS = {"daemon", "loadgen", "leatctl", "leatdump", "bench"}  # programs: they own a process
DOORS = {  # library or system header, or the start of its name -> modules that may include it
    "uv.h": {"io"},
    "uv/": {"io"},
    "mbedtls/": {"crypto", "dtls", "bench"},
    "psa/": {"crypto", "dtls"},
    "srtp2/": {"srtp", "bench"},
    "cjson/": {"json"},
    "openssl/": {"crypto", "dtls", "bench"},
    "intel-ipsec-mb.h": {"crypto", "bench"},
    "dlfcn.h": {"crypto", "dtls", "bench"},
    "sys/": {"io", "daemon", "crypto", "bench"},
    "linux/": {"io"},
    "net/": {"io"},
    "netinet/": {"io", "base"},  # base: inet_pton and inet_ntop
    "arpa/": {"io", "base"},
    "ifaddrs.h": {"io"},
    "netdb.h": {"io"},
    "poll.h": {"io"},
    "sched.h": {"io", "daemon", "bench"},
    "pthread.h": {"io", "daemon", "crypto"},  # crypto: pthread_once, and pthread_atfork for the generator
    "threads.h": {"io", "daemon"},
    "fcntl.h": {"io"} | ENDS,
    "signal.h": {"io"} | ENDS,
    "unistd.h": {"io", "base"} | ENDS,  # base: log.c writes its lines
    "time.h": {"io", "base", "crypto", "bench"},  # base: log.c stamps its lines; crypto: measures, and the age of a seed
    "errno.h": {"io", "crypto"} | ENDS,
}
FILES = {  # module and header, or the start of its name -> the only files of the module that may include it
    ("crypto", "intel-ipsec-mb.h"): {"provider_ipsecmb.c"},
    ("crypto", "openssl/"): {"provider_openssl.c"},
    ("crypto", "dlfcn.h"): {"provider_ipsecmb.c"},  # loads its library at run time
    ("dtls", "openssl/"): {"backend_openssl.c", "context_openssl.c", "keys_openssl.c", "kx_openssl.c", "library_openssl.h"},
    ("dtls", "dlfcn.h"): {"kx_openssl.c"},  # hands on what it does not compute
}
RESTRICTED = {  # public header -> modules that may include it, whatever ALLOWED says
    # Pure modules return and count, they do not log. crypto says at start which provider it dropped.
    "log.h": {"base", "crypto", "io", "control", "daemon", "loadgen"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:([<"])([^>"]+)[>"]|(\S+))')
LICENCE = "SPDX-License-Identifier: MIT"


def module_sources(root, owner):
    """(file, module) of everything that is compiled into a module."""
    found = [(path, owner.get(path.name)) for path in (root / "include/leat").glob("*.h")]
    found += [(path, path.relative_to(root / "src").parts[0]) for path in (root / "src").rglob("*.[ch]")]
    for name, module in PROGRAMS.items():
        found += [(path, module) for path in (root / "tools" / name).rglob("*.[ch]")]
        found += [(path, module) for path in (root / "tools").glob(name + ".[ch]")]
    found += [(path, "bench") for path in (root / "bench").glob("*.[ch]")]
    return sorted(found, key=lambda entry: str(entry[0]))


def owners(root, bad):
    """Public header name -> module, by the header's own @module line."""
    owner = {}
    for header in sorted((root / "include/leat").glob("*.h")):
        mark = re.search(r"@module (\w+)", header.read_text())
        if not mark or mark[1] not in ALLOWED:
            bad.append(f"{header.relative_to(root)}: no '@module NAME' line naming a known module")
        else:
            owner[header.name] = mark[1]
    return owner


def fault_of_private(path, name, private):
    """Why a quoted or <module/file.h> include is wrong, or None. A name that is nowhere is a generated file."""
    if (path.parent / name).is_file():
        return None
    holders = sorted(private.get(pathlib.PurePath(name).name, ()))
    if holders:
        return f"{name} is private to '{', '.join(holders)}'"
    return None


def fault_of(path, module, bracket, name, owner, private):
    if ".." in name:
        return "a '..' include reaches into another folder"
    if name.startswith("leat/"):
        other = owner.get(name[5:])
        if other is None:
            return f"no module owns {name}"
        if other != module and other not in ALLOWED[module]:
            return f"module '{module}' may not use '{other}'"
        if module not in RESTRICTED.get(name[5:], {module}):
            return f"module '{module}' may not include {name}: pure modules return and count"
        return None
    if bracket == '"' or name.split("/")[0] in ALLOWED:
        return fault_of_private(path, name, private)
    for start, users in DOORS.items():
        if name.startswith(start) and module not in users:
            return f"only {', '.join(sorted(users))} may include <{name}>"
    for (user, start), files in FILES.items():
        if user == module and name.startswith(start) and path.name not in files:
            return f"only {', '.join(sorted(files))} may include <{name}>"
    return None


def check_includes(root, owner, bad):
    sources = module_sources(root, owner)
    private = {}  # private header name -> modules that have one
    for path, module in sources:
        if path.suffix == ".h" and path.parent.name != "leat":
            private.setdefault(path.name, set()).add(module)
    for path, module in sources:
        where = path.relative_to(root)
        if module not in ALLOWED:
            if path.parent != root / "include/leat":
                bad.append(f"{where}: '{module}' is no known module")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            hit = INCLUDE.match(line)
            if not hit:
                continue
            why = "a computed include hides what is used" if hit[3] else fault_of(
                path, module, hit[1], hit[2], owner, private)
            if why:
                bad.append(f"{where}:{number}: {why}")


def check_build_files(root, bad):
    for path in sorted((root / "src").glob("*/meson.build")):
        module, text = path.parent.name, re.sub(r"#.*", "", path.read_text())
        where = path.relative_to(root)
        for other in sorted(set(re.findall(r"\b(?:dep|lib)_(\w+)", text)) & set(ALLOWED)):
            if other != module and other not in ALLOWED.get(module, set()):
                bad.append(f"{where}: module '{module}' may not link '{other}'")
        if re.search(r"\binclude_directories\s*\(", text):
            bad.append(f"{where}: only include/ is on a module's include path")


def is_source(path):
    if path.suffix in (".c", ".h", ".py", ".sh") or path.name == "meson.build":
        return True
    if path.suffix:
        return False
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def check_licences(root, bad):
    for folder, folders, names in os.walk(root):
        top = pathlib.Path(folder)
        folders[:] = sorted(f for f in folders if f == ".ci" or (
            f[0] != "." and not (top / f / "meson-info").is_dir() and f not in ("node_modules", "__pycache__")
            and not (top == root and f.startswith("build"))))
        for path in sorted(top / name for name in names):
            if path.is_file() and is_source(path):
                head = path.read_text(errors="replace").splitlines()[:3]
                if not any(LICENCE in line for line in head):
                    bad.append(f"{path.relative_to(root)}: no '{LICENCE}' in its first three lines")


def main(root):
    root, bad = pathlib.Path(root).resolve(), []
    check_includes(root, owners(root, bad), bad)
    check_build_files(root, bad)
    check_licences(root, bad)
    if bad:
        print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
