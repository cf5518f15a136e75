# SPDX-License-Identifier: MIT
"""Tables of saved rows, one a bench: a line for each thing measured, a column for each provider that did it."""
import rows

WHO = ("backend", "provider", "level")
POINT = [field for field in rows.KEY if field not in ("bench", *WHO)]
TEXTS = {"op", "side", "suite", "cache"}


def provider_of(row):
    return "/".join(row[field] for field in WHO if row.get(field)) or "ns"


def pivot(bench_rows, markdown):
    """One table. Providers stand in the order in which they first appear."""
    fields = rows.used(bench_rows, POINT)
    providers = list(dict.fromkeys(provider_of(row) for row in bench_rows))
    lines = {}
    for row in bench_rows:
        cells = lines.setdefault(tuple(row.get(field) for field in fields), {})
        cells[provider_of(row)] = f"{rows.show_ns(row['ns'])} ({rows.show_ns(row['min'])}-{rows.show_ns(row['max'])})"
    body = [[*point, *(cells.get(name) for name in providers)] for point, cells in lines.items()]
    return rows.format_table([*fields, *providers], body, {*fields, *providers} - TEXTS, markdown)


def show(all_rows, markdown):
    parts = []
    for bench in dict.fromkeys(row["bench"] for row in all_rows):
        of_bench = [row for row in all_rows if row["bench"] == bench]
        runs = sorted({row["runs"] for row in of_bench})
        title = f"{bench}: ns per operation, median of {' or '.join(map(str, runs))} interleaved runs (least-greatest)"
        parts.append((f"### {title}\n\n" if markdown else f"{title}\n") + pivot(of_bench, markdown))
    return "\n\n".join(parts)
