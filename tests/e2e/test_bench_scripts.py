#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# timeout: 300
# build: release
"""tools/bench: its judgement of two revisions, in canned figures and in two revisions of a small project; tables and pictures."""
import contextlib
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from harness.daemon import ROOT
from harness.program import run, until

sys.path.insert(0, str(ROOT / "bench"))
import compare
import plot
import rows
import table
import targets

BUILD_S = 120
SPDX = "SPDX-License-Identifier: MIT"
MESON = """# SPDX-License-Identifier: MIT
project('small', 'c')
executable('small', 'small.c')
subdir('bench')
"""
BENCH_MESON = """# SPDX-License-Identifier: MIT
foreach module : MODULES
  executable('bench_' + module, 'bench_' + module + '.c', include_directories: '..')
endforeach
"""
# A bench that prints what the project's header says it costs. COST is what a revision changes.
PROGRAM = """/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "cost.h"

int main(int argc, char **argv)
{
    int is_list = argc > 1 && strcmp(argv[1], "--list") == 0;
    for (int i = 0; i < (int)(sizeof(costs) / sizeof(costs[0])); i++) {
        if (is_list) {
            printf("bench=MODULE op=%s\\n", costs[i].op);
        } else {
            printf("{\\"bench\\":\\"MODULE\\",\\"op\\":\\"%s\\",\\"ns\\":%d,\\"min\\":%d,\\"max\\":%d,\\"runs\\":9}\\n",
                   costs[i].op, costs[i].ns, costs[i].ns, costs[i].ns);
        }
    }
    return 0;
}
"""


def row(ns, **fields):
    return {"bench": "b", "op": "o", **fields, "ns": ns, "min": ns, "max": ns, "runs": 9}


# ---- judging

def judged(old, new, typical=0.0):
    return compare.judge(compare.Result(row(1), old, new), typical)


def judge__sides_apart_by_more_than_each_one_s_spread__faster_or_slower():
    said = judged([100, 102, 101], [50, 51, 50])
    assert said == {"bench": "b", "op": "o", "old": 101, "new": 50, "ratio": 0.495, "noise": 0.0198, "verdict": "faster"}, said
    assert judged([100, 102, 101], [150, 151, 150])["verdict"] == "slower"
    assert judged([3600, 3620, 3610], [330, 340, 990])["verdict"] == "faster"  # a wide range, but of small figures


def judge__ranges_that_overlap__within_noise():
    assert judged([100, 130, 101], [102, 90, 91])["verdict"] == "within noise"
    assert judged([100, 101], [100, 101])["verdict"] == "within noise"
    assert judged([100, 101, 140], [139, 145, 146])["verdict"] == "within noise"  # the medians are further apart than each spread


def judge__apart_but_by_less_than_the_noise__within_noise():
    assert judged([100, 110], [111, 121])["verdict"] == "slower"  # 10 %: just more than either's spread
    assert judged([100, 112], [113, 117])["verdict"] == "within noise"
    assert judged([100, 100], [104, 104], typical=0.05)["verdict"] == "within noise"
    assert judged([100, 100], [106, 106], typical=0.05)["verdict"] == "slower"
    assert judged([106, 106], [100, 100], typical=0.05)["verdict"] == "faster"


def judge__one_side_only__is_said():
    assert judged([5, 6], []) == {"bench": "b", "op": "o", "old": 5.5, "verdict": "only in base"}
    assert judged([], [5, 7]) == {"bench": "b", "op": "o", "new": 6, "verdict": "only in head"}


def collect__runs_of_both_sides__by_the_row_s_fields_in_the_order_of_the_head():
    old = [[row(10, batch=1), row(20, batch=16)], [row(11, batch=1), row(21, batch=16)]]
    new = [[row(5, batch=16), row(6, level="l", batch=16)], [row(4, batch=16), row(7, level="l", batch=16)]]
    found = [(one.row.get("level"), one.row["batch"], one.old, one.new) for one in compare.collect(old, new, False)]
    assert found == [(None, 16, [20, 21], [5, 4]), ("l", 16, [], [6, 7]), (None, 1, [10, 11], [])], found


def typical_noise__median_of_the_greater_spread_of_rows_of_both_sides():
    results = [compare.Result(row(1), [100, 110], [100, 100]), compare.Result(row(1), [100, 100], [100, 102]),
               compare.Result(row(1), [100, 100], [100, 104]), compare.Result(row(1), [100, 200], [])]
    assert abs(compare.typical_noise(results) - 4 / 102) < 1e-9, compare.typical_noise(results)
    assert compare.typical_noise([]) == 0


# ---- two revisions

class Project:
    """A small project in a git repository, with tools/bench and its scripts as they are here."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name) / "project"
        self.temporary = pathlib.Path(self.folder.name) / "tmp"
        (self.root / "bench").mkdir(parents=True)
        (self.root / "tools").mkdir()
        self.temporary.mkdir()
        shutil.copy(ROOT / "tools/bench", self.root / "tools/bench")
        for path in (ROOT / "bench").glob("*.py"):
            shutil.copy(path, self.root / "bench")
        self.write("meson.build", MESON)
        self.write("small.c", f"/* {SPDX} */\nint main(void)\n{{\n    return 0;\n}}\n")
        self.env = {**os.environ, "LEAT_SKIP_SETUP": "1", "TMPDIR": str(self.temporary), "GIT_CONFIG_GLOBAL": os.devnull,
                    "GIT_AUTHOR_NAME": "T", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "T",
                    "GIT_COMMITTER_EMAIL": "t@example.org"}
        self.git("init", "-q")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def write(self, name, text):
        (self.root / name).write_text(text)

    def benches(self, *modules):
        self.write("bench/meson.build", BENCH_MESON.replace("MODULES", str(list(modules))))
        for module in modules:
            self.write(f"bench/bench_{module}.c", PROGRAM.replace("MODULE", module))

    def costs(self, **costs):
        entries = "".join(f'{{"{op}", {ns}}}, ' for op, ns in costs.items())
        self.write("cost.h", f"/* {SPDX} */\nstatic const struct {{\n    const char *op;\n    int ns;\n}} costs[] = {{{entries}}};\n")

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.root, *arguments], env=self.env, check=True, capture_output=True, text=True).stdout

    def commit(self, name):
        self.git("add", "-A", ":!build")
        self.git("commit", "-q", "-m", name)
        self.git("tag", name)

    def bench(self, *arguments):
        return subprocess.run([self.root / "tools/bench", *arguments], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=BUILD_S, check=False)

    def compared(self, *arguments):
        """(rows by module and op, notes)."""
        done = self.bench("compare", *arguments, "--json")
        assert done.returncode == 0, done
        found = [json.loads(line) for line in done.stdout.splitlines() if line]
        notes = [line for line in done.stderr.splitlines() if line.startswith("bench_")]
        self.check_tidy()
        return {(one["bench"], one["op"]): one for one in found}, notes

    def check_tidy(self):
        assert len(self.git("worktree", "list").splitlines()) == 1, self.git("worktree", "list")
        assert list(self.temporary.iterdir()) == [], list(self.temporary.iterdir())


def revisions__same_benches__each_row_is_judged():
    with Project() as one:
        one.benches("stun")
        one.costs(kept=100, better=200, dropped=7)
        one.commit("old")
        one.costs(kept=100, better=50, added=9)
        one.commit("new")
        found, notes = one.compared("old", "new", "--rounds", "2")
        assert notes == [], notes
        assert found == {
            ("stun", "kept"): {"bench": "stun", "op": "kept", "old": 100, "new": 100, "ratio": 1.0, "noise": 0.0,
                               "verdict": "within noise"},
            ("stun", "better"): {"bench": "stun", "op": "better", "old": 200, "new": 50, "ratio": 0.25, "noise": 0.0,
                                 "verdict": "faster"},
            ("stun", "added"): {"bench": "stun", "op": "added", "new": 9, "verdict": "only in head"},
            ("stun", "dropped"): {"bench": "stun", "op": "dropped", "old": 7, "verdict": "only in base"}}, found
        # Without a second revision it is HEAD, not what lies in the tree.
        one.costs(kept=999)
        done = one.bench("compare", "old", "--rounds", "2", "--markdown")
        assert done.returncode == 0 and "changes that are not committed are not in it" in done.stderr, done
        lines = [line.replace(" ", "") for line in done.stdout.splitlines()]
        assert "|stun|better|200.0|50.00|0.250|0.0%|faster|" in lines and "|stun|added||9.00|||onlyinhead|" in lines, lines
        assert any(line.startswith("-commit:`base") for line in lines) and any(line.startswith("-cpu:") for line in lines), lines


def revisions__other_bench_sources__not_comparable_unless_ported():
    with Project() as one:
        one.benches("stun", "srtp")
        one.costs(op=100)
        one.commit("old")
        one.benches("stun", "srtp", "dtls")
        with (one.root / "bench/bench_srtp.c").open("a") as file:
            file.write("/* changed */\n")
        one.costs(op=50)
        one.commit("new")
        found, notes = one.compared("old", "new", "--rounds", "2")
        assert set(found) == {("stun", "op")} and "ported" not in found["stun", "op"], found
        assert notes == ["bench_dtls: only in head", "bench_srtp: not comparable, its sources differ: bench/bench_srtp.c"], notes
        found, notes = one.compared("old", "new", "--rounds", "2", "--head-benches")
        assert notes == [] and [("ported" in one_row, one_row["verdict"]) for _, one_row in sorted(found.items())] == [
            (True, "faster"), (True, "faster"), (False, "faster")], (found, notes)


def revisions__a_bench_that_the_base_cannot_build__is_said():
    with Project() as one:
        one.benches("stun", "srtp")
        one.costs(op=100)
        one.commit("old")
        text = PROGRAM.replace("MODULE", "srtp").replace('#include "cost.h"', '#include "cost.h"\n#include "later.h"')
        one.write("bench/bench_srtp.c", text)
        one.write("later.h", f"/* {SPDX} */\n")
        one.commit("new")
        found, notes = one.compared("old", "new", "--rounds", "2", "--head-benches")
        assert set(found) == {("stun", "op")}, found
        assert notes == ["bench_srtp: not comparable, the head's sources cannot be built in the base"], notes


def revisions__no_such_one__named():
    with Project() as one:
        one.benches("stun")
        one.costs(op=100)
        one.commit("old")
        done = one.bench("compare", "older")
        assert done.returncode == 1 and "'older' names no commit" in done.stderr and done.stdout == "", done
        done = one.bench("compare", "old", "old", "--rounds", "1")
        assert done.returncode == 2 and "expected 2 or more" in done.stderr, done


def revisions__interrupted_while_a_bench_runs__nothing_is_left():
    with Project() as one:
        one.benches("stun")
        one.costs(op=100)
        text = PROGRAM.replace("MODULE", "stun").replace("int is_list", 'fflush(stdout);\n    int is_list').replace(
            "    return 0;\n", "    if (!is_list) {\n        fputs(\"runs now\\n\", stderr);\n        sleep(600);\n    }\n    return 0;\n")
        one.write("bench/bench_stun.c", text.replace("#include <stdio.h>", "#define _GNU_SOURCE\n#include <stdio.h>\n#include <unistd.h>"))
        one.commit("old")
        for number in (signal.SIGINT, signal.SIGTERM):
            log = pathlib.Path(one.folder.name) / "log"
            with log.open("wb") as out:
                process = subprocess.Popen([one.root / "tools/bench", "compare", "old"], env=one.env, stdin=subprocess.DEVNULL,
                                           stdout=out, stderr=out, start_new_session=True)
            try:
                until(lambda: "runs now" in log.read_text() or process.poll() is not None, log.read_text, BUILD_S)
                os.killpg(process.pid, number)
                assert process.wait(30) == 130, log.read_text()
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            one.check_tidy()


def run__in_the_tree__saves_what_a_table_is_made_of():
    with Project() as one:
        one.benches("stun", "srtp")
        one.costs(op=100)
        one.commit("old")
        saved = one.root / "rows.json"
        done = one.bench("stun", "--save", saved)
        assert done.returncode == 0, done
        lines = [json.loads(line) for line in saved.read_text().splitlines()]
        assert lines[1:] == [{"bench": "stun", "op": "op", "ns": 100, "min": 100, "max": 100, "runs": 9}], lines
        made = lines[0]["environment"]
        assert made["commit"] == one.git("rev-parse", "--short=12", "HEAD").strip(), made
        assert made["command"] == f"./tools/bench stun --save {saved}" and made["cpu"] and made["system"] and made["compiler"], made
        shown = one.bench("table", saved, "--markdown")
        assert shown.returncode == 0 and "| op | 100.0 (100.0-100.0) |" in shown.stdout, shown
        assert f"- command: `./tools/bench stun --save {saved}`" in shown.stdout.splitlines(), shown
        assert one.bench("--list").stdout.splitlines() == ["bench=stun op=op", "bench=srtp op=op"], one.bench("--list")


def run__wrong_arguments__named_with_what_was_expected():
    with Project() as one:
        one.benches("stun")
        one.costs(op=100)
        one.write("bad.json", '{"bench":"b","op":"o","ns":1,"min":1,"max":1,"runs":1}\n{"bench":"b"}\n')
        one.write("worse.json", "\n\nnot JSON\n")
        for arguments, status, expected in (
                (["crypto"], 1, "'crypto' has no bench; there are stun"), (["--runs", "0"], 2, "expected a number from 1 to 1000, not '0'"),
                (["--json", "--list"], 2, "not allowed with"), (["compare"], 2, "required: BASE"), (["table"], 2, "required: FILE"),
                (["table", "nowhere.json"], 1, "nowhere.json: No such file"),
                (["table", one.root / "bad.json"], 1, "bad.json:2: expected a row, it has no 'op'"),
                (["plot", one.root / "worse.json"], 1, "worse.json:3: expected a JSON object"),
                (["table", one.root / "bad.json", "--rounds", "2"], 2, "unrecognized arguments")):
            done = one.bench(*arguments)
            assert done.returncode == status and expected in done.stderr and done.stdout == "", (arguments, done)


# ---- tables and pictures

def table__providers_as_columns__one_line_for_what_they_all_did():
    shown = table.show([row(1234.5, provider="p", batch=1), row(56.789, provider="p", batch=16), row(5.5, provider="q", batch=16),
                        row(777.7, provider="q", level="l", batch=1), {**row(3), "bench": "c"}], True)
    assert shown == """### b: ns per operation, median of 9 interleaved runs (least-greatest)

| op | batch |                   p |                q |                 q/l |
|----|------:|--------------------:|-----------------:|--------------------:|
| o  |     1 |    1234 (1234-1234) |                  | 777.7 (777.7-777.7) |
| o  |    16 | 56.79 (56.79-56.79) | 5.50 (5.50-5.50) |                     |

### c: ns per operation, median of 9 interleaved runs (least-greatest)

| op |               ns |
|----|-----------------:|
| o  | 3.00 (3.00-3.00) |""", shown


def targets__reached_missed_and_not_measured__said():
    mine = {"bench": "srtp", "op": "protect", "suite": "AES_CM_128_HMAC_SHA1_80", "cache": "hot", "octets": 1200, "batch": 16,
            "sessions": 64, "provider": "auto"}
    shown = targets.show([row(250, **mine), row(4000, **{**mine, "provider": "libsrtp2-stock"}),
                          row(300, **{**mine, "provider": "ipsecmb-raw", "level": "sse"}),
                          row(200, **{**mine, "provider": "ipsecmb-raw", "level": "avx512"}),
                          row(2, bench="crypto", op="random", octets=8, provider="leat")], False)
    said = {line[:line.index("  ")]: line.split("  ")[-1].strip() for line in shown.splitlines()}
    assert said["protect CM-SHA1-80, batch of 16, 64 sessions, over libsrtp2"] == "yes", shown
    assert said["the same over ipsec-mb's own bursts"] == "no" and "1.25" in shown, shown
    assert said["8 random octets, ns"] == "yes" and said["8 random octets over getrandom(2)"] == "not measured", shown


def srtp(ns, batch, sessions, provider, **more):
    return row(ns, **{"bench": "srtp", "op": "protect", "suite": "GCM", "cache": "hot", "octets": 1200, "batch": batch,
                      "sessions": sessions, "provider": provider, **more})


FIGURES = {"ipsecmb": (800, 400, 200), "mbedtls": (4000, 4000, 3000), "auto": (803, 402, 201)}
SRTP = [srtp(ns, batch, 64, provider) for provider, figures in FIGURES.items() for batch, ns in zip((1, 4, 16), figures)] + [
    srtp(210, 16, 4096, "ipsecmb"), srtp(300, 16, 64, "ipsecmb", cache="cold"), srtp(330, 16, 4096, "ipsecmb", cache="cold"),
    srtp(1, 1, 64, "ipsecmb", op="unprotect"), srtp(1, 1, 64, "ipsecmb", octets=100)]


def plot__rows_of_srtp__a_picture_over_batch_size_and_one_over_sessions():
    found = plot.pictures(SRTP)
    assert set(found) == {"protect-GCM-by-batch.svg", "protect-GCM-by-sessions.svg"}, set(found)
    space = "{http://www.w3.org/2000/svg}"
    for name, lines in (("protect-GCM-by-batch.svg", {"ipsecmb": [(1, "800.0"), (4, "400.0"), (16, "200.0")],
                                                      "mbedtls": [(1, "4000"), (4, "4000"), (16, "3000")],
                                                      "auto": [(1, "803.0"), (4, "402.0"), (16, "201.0")]}),
                        ("protect-GCM-by-sessions.svg", {"ipsecmb": [(64, "200.0"), (4096, "210.0")],
                                                         "ipsecmb, cold": [(64, "300.0"), (4096, "330.0")]})):
        picture = xml.etree.ElementTree.fromstring(found[name])
        circles = picture.findall(f"{space}circle")
        titles = [circle.find(f"{space}title").text for circle in circles]
        assert titles == [f"{line}, {x}: {ns} ns" for line, points in lines.items() for x, ns in points], titles
        high = {title: float(circle.get("cy")) for title, circle in zip(titles, circles)}
        values = {title: float(title.split()[-2]) for title in titles}
        for one in titles:
            assert all((values[one] < values[other]) == (high[one] > high[other]) for other in titles), (one, high)
        wide = {(title.rsplit(",", 1)[1].split(":")[0], circle.get("cx")) for title, circle in zip(titles, circles)}
        assert len(wide) == len({x for x, _ in wide}), wide  # one place across for each number
        texts = [text for text in picture.findall(f"{space}text") if text.text in lines]
        places = sorted(float(text.get("y")) for text in texts)
        assert len(texts) == len(lines) and all(b - a >= 14 for a, b in zip(places, places[1:])), places


def plot__equal_steps_of_the_axis_for_equal_ratios():
    picture = plot.pictures(SRTP)["protect-GCM-by-batch.svg"]
    root = xml.etree.ElementTree.fromstring(picture)
    points = [(float(circle.get("cx")), float(circle.get("cy"))) for circle in root.iter("{http://www.w3.org/2000/svg}circle")][:3]
    assert abs((points[1][0] - points[0][0]) - (points[2][0] - points[1][0])) < 0.2, points  # 1, 4, 16
    assert abs((points[1][1] - points[0][1]) - (points[2][1] - points[1][1])) < 0.2, points  # 800, 400, 200


def plot__nothing_to_draw__said():
    with tempfile.TemporaryDirectory() as folder:
        try:
            plot.draw_all([row(1)], pathlib.Path(folder) / "plots")
        except rows.BadRows as error:
            assert "no rows of bench srtp" in str(error), error
        else:
            raise AssertionError("it drew something")
        assert plot.draw_all(SRTP, pathlib.Path(folder) / "plots")[0].read_text().startswith("<svg ")


def report__json__rows_only_on_the_standard_output():
    out, beside = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(beside):
        compare.report([judged([1, 1], [2, 2])], ["bench_x: only in head"], 0.0, {"base": "a", "head": "b"}, "json", ["x"])
    assert json.loads(out.getvalue())["verdict"] == "slower" and beside.getvalue() == "bench_x: only in head\n", out.getvalue()


def main():
    return run([judge__sides_apart_by_more_than_each_one_s_spread__faster_or_slower, judge__ranges_that_overlap__within_noise,
                judge__apart_but_by_less_than_the_noise__within_noise, judge__one_side_only__is_said,
                collect__runs_of_both_sides__by_the_row_s_fields_in_the_order_of_the_head,
                typical_noise__median_of_the_greater_spread_of_rows_of_both_sides,
                revisions__same_benches__each_row_is_judged, revisions__other_bench_sources__not_comparable_unless_ported,
                revisions__a_bench_that_the_base_cannot_build__is_said, revisions__no_such_one__named,
                revisions__interrupted_while_a_bench_runs__nothing_is_left, run__in_the_tree__saves_what_a_table_is_made_of,
                run__wrong_arguments__named_with_what_was_expected,
                table__providers_as_columns__one_line_for_what_they_all_did, targets__reached_missed_and_not_measured__said,
                plot__rows_of_srtp__a_picture_over_batch_size_and_one_over_sessions,
                plot__equal_steps_of_the_axis_for_equal_ratios, plot__nothing_to_draw__said,
                report__json__rows_only_on_the_standard_output])


if __name__ == "__main__":
    sys.exit(main())
