#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checks of this folder must be able to fail: plant each kind of violation in a copy and see it reported.

Usage: test_lint.py ROOT [CC].
"""
import contextlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_format
import check_layers
import check_pure_archives

ROOT = pathlib.Path(".")
CC = ["cc"]
SPDX = "/* SPDX-License-Identifier: MIT */\n"


def run(check, *arguments):
    """(exit status, printed lines) of a check's main."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = check.main(*arguments)
    return status, out.getvalue().splitlines()


class Layers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        for name in ("include", "src", "tools", "bench"):
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.root / name,
                                ignore=shutil.ignore_patterns("__pycache__", "node_modules"))

    def tearDown(self):
        self.folder.cleanup()

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def reported(self, *planted):
        """The new lines that check_layers.py prints when the files are planted."""
        before = set(run(check_layers, self.root)[1])
        for name, text in planted:
            self.plant(name, text)
        status, lines = run(check_layers, self.root)
        new = [line for line in lines if line not in before]
        self.assertEqual(status, 1 if lines else 0)
        return new

    def expect(self, name, include, why, *others):
        """Of the planted file, the include in line 2 and nothing else is reported, for the reason given."""
        new = self.reported(*others, (name, SPDX + include + "\n"))
        self.assertEqual(len(new), 1, new)
        self.assertTrue(new[0].startswith(f"{name}:2: "), new)
        self.assertIn(why, new[0])

    def test_harmless_files__nothing_is_reported(self):
        private = ("src/stun/planted.h", SPDX)
        self.assertEqual(self.reported(private, (
            "src/stun/planted.c", SPDX + '#include "planted.h"\n#include "generated.h"\n#include <leat/bytes.h>\n'
            "#include <string.h>\n#include <stdio.h>\n")), [])

    def test_private_header_of_a_sibling(self):
        private = ("src/stun/planted.h", SPDX)
        self.expect("src/peer/planted.c", '#include "planted.h"', "is private to 'stun'", private)

    def test_private_header_of_a_sibling__by_path(self):
        private = ("src/stun/planted.h", SPDX)
        self.expect("src/peer/planted.c", "#include <stun/planted.h>", "is private to 'stun'", private)

    def test_private_header_of_a_sibling__upwards(self):
        private = ("src/stun/planted.h", SPDX)
        self.expect("src/peer/planted.c", '#  include "../stun/planted.h"', "'..'", private)

    def test_parent_folder__in_a_public_header(self):
        new = self.reported(("include/leat/planted.h", SPDX + "/* @module rtp */\n#include \"../x.h\"\n"))
        self.assertEqual(len(new), 1, new)
        self.assertIn("'..'", new[0])

    def test_public_headers_against_the_direction(self):
        dtls = ("include/leat/planted_dtls.h", SPDX + "/* @module dtls */\n")
        sfu = ("include/leat/planted_sfu.h", SPDX + "/* @module sfu */\n")
        for name, header, module in (("src/stun/planted.c", dtls, "stun"), ("src/base/planted.c", dtls, "base"),
                                     ("src/route/planted.c", dtls, "route"), ("src/peer/planted.c", sfu, "peer"),
                                     ("tools/leatctl/planted.c", sfu, "leatctl"),
                                     ("tools/leatdump/planted.c", sfu, "leatdump"),
                                     ("tools/leatload/planted.c", sfu, "loadgen")):
            with self.subTest(name):
                include = f"#include <{header[0][8:]}>"
                self.expect(name, include, f"module '{module}' may not use", header)
                (self.root / name).unlink()

    def test_public_header_that_nobody_owns(self):
        self.expect("src/rtp/planted.c", "#include <leat/nobody.h>", "no module owns")

    def test_headers_behind_a_door(self):
        for module, header in (("stun", "uv.h"), ("sfu", "time.h"), ("rtp", "sys/socket.h"), ("srtp", "mbedtls/ssl.h"),
                               ("dtls", "srtp2/srtp.h"), ("control", "cjson/cJSON.h"), ("peer", "pthread.h"),
                               ("route", "errno.h"), ("sdp", "unistd.h"), ("io", "openssl/ssl.h"),
                               ("base", "sys/random.h"), ("daemon", "uv.h")):
            with self.subTest(module):
                name = f"src/{module}/planted.c"
                self.expect(name, f"#include <{header}>", f"may include <{header}>")
                (self.root / name).unlink()

    def test_bench__libraries_that_it_compares__and_no_other(self):
        self.assertEqual(self.reported(("bench/planted.c", SPDX + "#include <leat/srtp.h>\n#include <mbedtls/md.h>\n"
                                        "#include <openssl/evp.h>\n#include <srtp2/srtp.h>\n#include <intel-ipsec-mb.h>\n")), [])
        self.expect("bench/planted.c", "#include <uv.h>", "may include <uv.h>")
        self.expect("bench/planted.c", "#include <leat/sfu.h>", "module 'bench' may not use")
        private = ("src/crypto/planted.h", SPDX)
        self.expect("bench/planted.c", '#include "planted.h"', "is private to 'crypto'", private)

    def test_headers_of_one_file(self):
        for module, header, file, doors in (("crypto", "intel-ipsec-mb.h", "provider_ipsecmb.c", "bench, crypto"),
                                            ("crypto", "dlfcn.h", "provider_ipsecmb.c", "bench, crypto, dtls"),
                                            ("dtls", "dlfcn.h", "kx_openssl.c", "bench, crypto, dtls"),
                                            ("dtls", "openssl/ec.h", "backend_openssl.c, context_openssl.c, keys_openssl.c, kx_openssl.c, library_openssl.h", "bench, crypto, dtls")):
            with self.subTest(module + " " + header):
                self.expect(f"src/{module}/planted.c", f"#include <{header}>", f"only {file} may include")
                (self.root / f"src/{module}/planted.c").unlink()
                self.expect("src/io/planted.c", f"#include <{header}>", f"only {doors} may include")
                (self.root / "src/io/planted.c").unlink()

    def test_log_in_a_pure_module(self):
        for module in ("rtp", "stun", "dtls", "srtp", "sdp", "peer", "route", "sfu", "json"):
            with self.subTest(module):
                self.expect(f"src/{module}/planted.c", "#include <leat/log.h>", "pure modules return and count")

    def test_computed_include(self):
        self.expect("src/rtp/planted.c", "#include PLANTED_HEADER", "computed")

    def test_unknown_module(self):
        new = self.reported(("src/misc/planted.c", SPDX))
        self.assertEqual(new, ["src/misc/planted.c: 'misc' is no known module"])

    def test_public_header_without_its_module(self):
        for text in ("", "/* @module nobody */\n"):
            new = self.reported(("include/leat/planted.h", SPDX + text))
            self.assertEqual(len(new), 1, new)
            self.assertIn("no '@module NAME'", new[0])
            (self.root / "include/leat/planted.h").unlink()

    def test_build_file_that_links_or_looks_elsewhere(self):
        head = "# SPDX-License-Identifier: MIT\n"
        (self.root / "src/route").mkdir(parents=True, exist_ok=True)
        (self.root / "src/route/meson.build").write_text(head)
        new = self.reported(("src/route/meson.build", head + "lib_route = static_library('x', dependencies: [dep_rtp, dep_sfu])\n"))
        self.assertEqual(new, ["src/route/meson.build: module 'route' may not link 'sfu'"])
        (self.root / "src/route/meson.build").write_text(head)
        new = self.reported(("src/route/meson.build", head + "x = include_directories('../rtp')\n"))
        self.assertEqual(new, ["src/route/meson.build: only include/ is on a module's include path"])

    def test_file_without_its_licence(self):
        for name, text in (("src/rtp/planted.c", ""), ("tests/planted.h", "int x;\n"), ("tools/planted", "#!/bin/sh\n"),
                           ("tools/planted.py", "pass\n"), ("bench/planted.sh", "\n"), ("bench/meson.build", "\n"),
                           (".ci/planted", "#!/bin/sh\n")):
            with self.subTest(name):
                new = self.reported((name, text))
                self.assertEqual(len(new), 1, new)
                self.assertTrue(new[0].startswith(f"{name}: no 'SPDX"), new)
        self.assertEqual(self.reported(("tools/README", "text\n"), ("tools/page.html", "<p>\n")), [])


class PureArchives(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.build = pathlib.Path(self.folder.name)
        (self.build / "meson-info").mkdir()
        (self.build / "src/rtp").mkdir(parents=True)
        self.options(sanitize=False)

    def tearDown(self):
        self.folder.cleanup()

    def options(self, **values):
        text = json.dumps([{"name": name, "value": value} for name, value in values.items()])
        (self.build / "meson-info/intro-buildoptions.json").write_text(text)

    def check(self, source):
        (self.build / "planted.c").write_text(source)
        subprocess.run(CC + ["-O1", "-w", "-fPIC", "-c", "planted.c", "-o", "planted.o"], cwd=self.build, check=True)
        archive = self.build / "src/rtp/libleat_rtp.a"
        archive.unlink(missing_ok=True)
        subprocess.run(["ar", "rcs", archive, "planted.o"], cwd=self.build, check=True)
        status, lines = run(check_pure_archives, self.build, ["rtp"])
        return status, "\n".join(lines)

    def test_constants_only__passes(self):
        status, text = self.check('static const char *const names[] = {"a", "b"};\nconst int table[] = {1, 2};\n'
                                  "const char *f(int i) { return names[i]; }\n")
        self.assertEqual(status, 0, text)

    def test_each_kind_of_writable_static__fails(self):
        for source, section in (("int state = 1;", ".data"), ("int state;", ".bss"),
                                ("static int state; int *f(void) { return &state; }", ".bss"),
                                ("static int state; int *volatile pointer = &state;", ".data"),
                                ("_Thread_local int state;", ".tbss"), ("_Thread_local int state = 1;", ".tdata")):
            with self.subTest(source):
                status, text = self.check(source)
                self.assertEqual(status, 1)
                self.assertIn(section, text)

    def test_forbidden_call__fails(self):
        for name in ("printf", "clock_gettime", "leat_log", "pthread_self", "getrandom"):
            with self.subTest(name):
                status, text = self.check(f"int {name}(); int f(void) {{ return {name}(0) + 1; }}")
                self.assertEqual(status, 1)
                self.assertIn(name, text)
        self.assertEqual(self.check("int snprintf_like(); int f(void) { return snprintf_like(0) + 1; }")[0], 0)

    def test_archive_beside_a_modules_own__may_hold_what_is_granted(self):
        own = self.build / "src/dtls"
        own.mkdir(parents=True)
        for source, status in (("void *state;", 0), ("void *state[2];", 1), ("void *state; int more;", 1),
                               ("int time(); int f(void) { return time(0) + 1; }", 1)):
            with self.subTest(source):
                self.check(source)
                (self.build / "src/rtp/libleat_rtp.a").replace(own / "libleat_dtls_kx.a")
                self.check("const int table[] = {1, 2};")
                (self.build / "src/rtp/libleat_rtp.a").replace(own / "libleat_dtls.a")
                self.assertEqual(run(check_pure_archives, self.build, ["dtls"])[0], status)
        self.check("void *state;")
        (self.build / "src/rtp/libleat_rtp.a").replace(own / "libleat_dtls.a")
        self.assertEqual(run(check_pure_archives, self.build, ["dtls"])[0], 1)

    def test_archive_missing__fails(self):
        self.assertEqual(run(check_pure_archives, self.build, ["rtp"])[0], 1)

    def test_sanitized_build__is_skipped(self):
        self.options(sanitize=True)
        self.assertEqual(self.check("int state = 1;")[0], 77)


class Format(unittest.TestCase):
    def test_badly_formatted_file__is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            shutil.copy(ROOT / ".clang-format", root)
            (root / "src").mkdir()
            (root / "src/good.c").write_text("int x;\n")
            status, lines = run(check_format, root)
            if status == 77:
                self.skipTest(lines[0])
            self.assertEqual((status, lines), (0, []))
            (root / "src/bad.c").write_text("int  x;\n")
            status, lines = run(check_format, root)
            self.assertEqual(status, 1)
            self.assertEqual(lines, [f"{root}/src/bad.c: clang-format -i would change it"])


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    CC = sys.argv[2:] or CC
    unittest.main(argv=sys.argv[:1])
