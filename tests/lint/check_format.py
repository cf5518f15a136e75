#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail when a C file is not as clang-format would write it.

Usage: check_format.py ROOT. Versions of clang-format differ in details, so only Debian 12's decides; without it the check is
skipped (exit 77).
"""
import pathlib
import re
import shutil
import subprocess
import sys

MAJOR = 14
FOLDERS = ("include", "src", "tools", "tests", "bench")


def find_formatter():
    for name in (f"clang-format-{MAJOR}", "clang-format"):
        program = shutil.which(name)
        if program:
            text = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
            if re.search(rf"version {MAJOR}\.", text):
                return program
    return None


def main(root):
    program = find_formatter()
    if program is None:
        print(f"skipped: no clang-format {MAJOR} here")
        return 77
    root = pathlib.Path(root)
    files = sorted(str(path) for folder in FOLDERS for path in (root / folder).rglob("*.[ch]"))
    done = subprocess.run([program, "--dry-run", "-Werror", "--style=file"] + files,
                          stderr=subprocess.PIPE, text=True, check=False)
    wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error:", done.stderr, re.MULTILINE)))
    if done.returncode:
        print("\n".join(f"{path}: clang-format -i would change it" for path in wrong) or done.stderr)
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
