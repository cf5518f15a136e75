# SPDX-License-Identifier: MIT
"""Rows as the bench programs print them: reading, choosing, tables."""
import json

KEY = ("bench", "op", "side", "suite", "backend", "provider", "level", "cache", "unit", "octets", "batch", "sessions")
FIGURES = ("ns", "min", "max", "runs")


class BadRows(Exception):
    """A file that holds something else than rows; the text names the place."""


def key_of(row):
    return tuple(row.get(field) for field in KEY)


def text_of(row):
    """What filters are matched against, and how a row is named in messages."""
    return " ".join(f"{field}={row[field]}" for field in KEY if row.get(field) is not None)


def matches(row, filters):
    """As the programs do: all words of one of the filters; a word with '=' is a whole field."""
    text = text_of(row)
    fields = text.split(" ")
    return not filters or any(all(word in fields if "=" in word else word in text for word in filter_.split())
                              for filter_ in filters)


def parse(lines, name):
    """(environment or None, rows) of JSON lines; `name` says in errors where they come from."""
    environment, rows = None, []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadRows(f"{name}:{number}: expected a JSON object: {error}") from None
        if isinstance(row, dict) and "environment" in row:
            environment = environment or row["environment"]
            continue
        missing = [field for field in ("bench", "op", *FIGURES) if not isinstance(row, dict) or field not in row]
        if missing:
            raise BadRows(f"{name}:{number}: expected a row, it has no '{missing[0]}'")
        rows.append(row)
    return environment, rows


def read(paths):
    """(environment of the first file that has one, rows of all)."""
    environment, rows = None, []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                found, more = parse(file, path)
        except OSError as error:
            raise BadRows(f"{path}: {error.strerror}") from None
        environment = environment or found
        rows += more
    return environment, rows


def show_ns(ns):
    """Four digits, or three behind the point of small figures: no more than a measurement tells."""
    return f"{ns:.0f}" if ns >= 1000 else f"{ns:.1f}" if ns >= 100 else f"{ns:.2f}"


def format_table(head, body, numbers, markdown):
    """A table; `numbers` are the heads of the columns that are aligned right."""
    cells = [["" if cell is None else str(cell) for cell in line] for line in [head, *body]]
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    lines = [[cell.rjust(width) if name in numbers else cell.ljust(width) for name, cell, width in zip(head, line, widths)]
             for line in cells]
    if not markdown:
        return "\n".join("  ".join(line).rstrip() for line in lines)
    rule = "|".join("-" * (width + 1) + ":" if name in numbers else "-" * (width + 2) for name, width in zip(head, widths))
    drawn = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([drawn[0], f"|{rule}|", *drawn[1:]])


def used(rows, fields):
    """Those of the fields that some row has."""
    return [field for field in fields if any(row.get(field) is not None for row in rows)]


def line_of(row):
    """A row as a program prints it."""
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False)
