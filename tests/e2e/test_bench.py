#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# timeout: 300
"""The bench programs: what they print and refuse, and in which order the harness does things. Durations are nobody's test."""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from harness.daemon import BUILD, ROOT
from harness.program import run

sys.path.insert(0, str(ROOT / "bench"))
import rows

FAKE = BUILD / "tests/unit/bench/fake_bench"
PROGRAMS = {path.stem[len("bench_"):]: BUILD / "bench" / path.stem for path in sorted((ROOT / "bench").glob("bench_*.c"))}
TEXTS = {"bench", "op", "side", "suite", "backend", "provider", "level", "cache", "unit"}
NUMBERS = {"octets", "batch", "sessions", "runs"}
# Rows of every kind that are quick to set up.
SAMPLES = {
    "crypto": ["octets=20", "op=mask", "op=block", "set-up", "octets=8", "op=random-u64"],
    "stun": [""],
    "dtls": [""],
    "srtp": ["sessions=1 octets=1200", "op=protect sessions=64 batch=16 octets=1200", "op=protect-rtcp"],
}


def call(program, *arguments):
    return subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, check=False)


def listed(program, *filters, more=()):
    done = call(program, "--list", *more, *(word for text in filters for word in ("--filter", text)))
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout.splitlines()


def measured(program, *arguments):
    """(rows, what was said beside them)."""
    done = call(program, "--json", *arguments)
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


# ---- the harness

def fake__three_turns__median_least_and_greatest_of_what_each_turn_gave():
    found, _ = measured(FAKE, "--runs", "3")
    assert found == [
        {"bench": "fake", "op": "first", "side": "server", "suite": "S", "backend": "b", "provider": "p", "level": "l", "cache": "hot", "octets": 1200, "batch": 1,
         "sessions": 64, "ns": 500.0, "min": 100.0, "max": 900.0, "runs": 3},
        {"bench": "fake", "op": "second", "provider": "p", "batch": 16, "ns": 250.0, "min": 250.0, "max": 250.0, "runs": 3},
        {"bench": "fake", "op": "alone", "octets": 20, "ns": 40.0, "min": 40.0, "max": 40.0, "runs": 3},
    ], found


def fake__two_turns__median_between_them():
    found, _ = measured(FAKE, "--runs", "2", "--filter", "op=first", "--filter", "op=second")
    assert [(row["ns"], row["min"], row["max"]) for row in found] == [(500.0, 100.0, 900.0), (250.0, 250.0, 250.0)], found


def fake__two_groups__rows_of_a_group_take_turns_and_are_taken_down_together():
    said = measured(FAKE, "--runs", "2")[1].splitlines()
    assert said == ["set-up first", "set-up missing", "set-up second", "set-up gone",
                    "run first", "run second", "run first", "run second", "run first", "run second",
                    "take-down first", "take-down second", "set-up alone", "run alone", "take-down alone",
                    "bench_fake: 2 rows cannot run here, the first is 'bench=fake op=missing batch=16': there is none here"], said


def fake__a_table__the_same_rows_and_only_columns_that_are_used():
    done = call(FAKE, "--runs", "3")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[1:] == [["op", "side", "suite", "backend", "provider", "level", "cache", "octets", "batch", "sessions", "ns", "min", "max"],
                         ["first", "server", "S", "b", "p", "l", "hot", "1200", "1", "64", "500.0", "100.0", "900.0"],
                         ["second", "p", "16", "250.0", "250.0", "250.0"], ["alone", "20", "40.00", "40.00", "40.00"]], lines
    narrow = call(FAKE, "--runs", "1", "--filter", "alone").stdout.splitlines()
    assert narrow[1].split() == ["op", "octets", "ns", "min", "max"], narrow


def fake__filters__a_field_is_whole_and_words_are_parts():
    for filters, expected in (((), ["first", "missing", "second", "gone", "alone"]), (("batch=1",), ["first"]),
                              (("batch=16",), ["missing", "second"]), (("batch=16 provider=p",), ["second"]),
                              (("op=one",), []), (("one",), ["gone", "alone"]), (("  one  octets=20 ",), ["alone"]),
                              (("op=first", "op=gone"), ["first", "gone"]), (("octets=120",), []), (("octets=12000",), []),
                              (("bench=fake level=l",), ["first"]), (("ch=1",), []), (("batch=1 batch=16",), [])):
        found = [re.search(r" op=(\S+)", line)[1] for line in listed(FAKE, *filters)]
        assert found == expected, (filters, found)


def fake__wrong_arguments__named_with_what_was_expected():
    for arguments, status, expected in (
            (["--runs"], 2, "argument 1: --runs takes a number from 1 to 1000, not ''"),
            (["--json", "--runs", "0"], 2, "argument 2: --runs takes a number from 1 to 1000, not '0'"),
            (["--runs", "1001"], 2, "not '1001'"), (["--runs", "+3"], 2, "not '+3'"), (["--runs", "3x"], 2, "not '3x'"),
            (["--runs", "99999999999999999999"], 2, "not '99999999999999999999'"),
            (["--filter"], 2, "argument 1: --filter takes words"), (["--filter", "a"] * 17, 2, "argument 33: --filter"),
            (["--fast"], 2, "argument 1: '--fast' is no option"), (["row"], 2, "argument 1: 'row' is no option"),
            (["--filter", "nothing"], 1, "no row matches the filter")):
        done = call(FAKE, *arguments)
        assert done.returncode == status and done.stdout == "", (arguments, done)
        assert done.stderr.startswith("bench_fake: ") and expected in done.stderr, (arguments, done.stderr)


def fake__help__says_all_options():
    done = call(FAKE, "--help")
    assert done.returncode == 0 and done.stderr == "", done
    assert all(option in done.stdout for option in ("--filter", "--runs", "--quick", "--json", "--list")), done.stdout


# ---- each program

def check_row(row, module):
    assert set(row) <= TEXTS | NUMBERS | {"ns", "min", "max"} and {"bench", "op", "ns", "min", "max", "runs"} <= set(row), row
    assert all(isinstance(row[field], str) and row[field] and not set(row[field]) & set(' "') for field in TEXTS & set(row)), row
    assert all(isinstance(row[field], int) and row[field] > 0 for field in NUMBERS & set(row)), row
    assert row["bench"] == module and row["runs"] == 1 and row.get("cache") in (None, "hot", "cold"), row
    assert 0 < row["min"] <= row["ns"] <= row["max"], row


def every_program__a_sample_of_its_rows__each_is_well_formed_and_one_of_the_list():
    for module, program in PROGRAMS.items():
        filters = [word for text in SAMPLES[module] for word in ("--filter", text)]
        found, said = measured(program, "--quick", "--runs", "1", *filters)
        for row in found:
            check_row(row, module)
        names = [rows.text_of(row) for row in found]
        assert len(set(names)) == len(names), names
        wanted = listed(program, *SAMPLES[module], more=["--quick"])
        left_out = sum(int(count) for count in re.findall(r"(\d+) rows cannot run here", said))
        assert set(names) <= set(wanted) and len(names) + left_out == len(wanted) > 0, (module, said, set(wanted) - set(names))


def every_program__its_whole_list__one_line_a_row_and_what_it_compares_is_there():
    expected = {"crypto": ["mbedtls", "auto", "mbedtls-plain", "getrandom", "leat", "mbedtls_ctr_drbg"],
                "stun": ["mbedtls", "auto", "mbedtls-plain"], "dtls": ["mbedtls", "mbedtls-plain"], "srtp": ["mbedtls", "auto", "libsrtp2-stock"]}
    for module, program in PROGRAMS.items():
        lines = listed(program)
        assert len(set(lines)) == len(lines), sorted(line for line in lines if lines.count(line) > 1)
        providers = {field[len("provider="):] for line in lines for field in line.split() if field.startswith("provider=")}
        assert set(expected[module]) <= providers, (module, providers)


def every_program__filters__the_scripts_choose_the_same_rows():
    texts = ("batch=16", "octets=100", "op=protect batch=1", "hmac", "provider=auto", "mbedtls", "sessions=1 hot", "op=prot", "batch=1")
    for program in PROGRAMS.values():
        lines = listed(program)
        for text in texts:
            expected = [line for line in lines if rows.matches(dict(field.split("=") for field in line.split()), [text])]
            assert listed(program, text) == expected, (program, text)


def main():
    return run([fake__three_turns__median_least_and_greatest_of_what_each_turn_gave, fake__two_turns__median_between_them,
                fake__two_groups__rows_of_a_group_take_turns_and_are_taken_down_together,
                fake__a_table__the_same_rows_and_only_columns_that_are_used,
                fake__filters__a_field_is_whole_and_words_are_parts, fake__wrong_arguments__named_with_what_was_expected,
                fake__help__says_all_options, every_program__a_sample_of_its_rows__each_is_well_formed_and_one_of_the_list,
                every_program__its_whole_list__one_line_a_row_and_what_it_compares_is_there,
                every_program__filters__the_scripts_choose_the_same_rows])


if __name__ == "__main__":
    sys.exit(main())
