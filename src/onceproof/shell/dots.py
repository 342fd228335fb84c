"""Dot commands: list tables and relations, and set the output format."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Final, TextIO

from onceproof.checkers.tables import TABLES
from onceproof.reports.text import number
from onceproof.shell.output import FORMATS, SHOWN
from onceproof.shell.relations import meanings
from onceproof.shell.source import Source

HELP: Final = {
    ".tables": "list the tables, with the number and meaning of their rows",
    ".columns TABLE": "list the columns of a table, with their meaning",
    ".relations [WORD]": "list what the checkers derive; it is computed when a query names it",
    ".format table|csv|json": "set the output format",
    ".rows N": "set the maximum number of rows that are shown",
    ".help": "show this list",
    ".quit": "quit, as Ctrl-D does",
}
_JUDGED: Final = {
    "claims": "a claim and its verdict, from the report",
    "findings": "one of the first findings of each anomaly, from the report",
}


@dataclass(kw_only=True)
class OutputSettings:
    """Output settings; dot commands change them."""

    format_: str = "table"
    rows: int = SHOWN


class Quit(Exception):
    """The user wants to quit."""


def run_dot_command(word: str, source: Source, settings: OutputSettings, out: TextIO) -> None:
    """Execute a dot command.

    Raises:
        ValueError: an unknown command or wrong usage; the message gives the right one.
        Quit: the command was to quit.
    """
    name, *rest = word.split()
    if name in (".quit", ".exit", ".q"):
        raise Quit
    if name == ".tables":
        _tables(source, out)
    elif name in (".columns", ".schema") and len(rest) == 1:
        _columns(rest[0], source, out)
    elif name == ".relations":
        _relations(rest, out)
    elif name == ".format" and len(rest) == 1 and rest[0] in FORMATS:
        settings.format_ = rest[0]
    elif name == ".rows" and len(rest) == 1 and rest[0].isdigit():
        settings.rows = int(rest[0])
    elif name == ".help":
        _print_pairs(HELP, out)
        print("Everything else is SQL, and ends with a semicolon.", file=out)
    else:
        raise ValueError(_wrong(name))


def _wrong(name: str) -> str:
    known = {usage.split()[0]: usage for usage in HELP}
    if name in known:
        return f"expected {known[name]}"
    near = difflib.get_close_matches(name, known, n=1)
    return f"there is no {name}. " + (f"Did you mean {near[0]}?" if near else "`.help` lists all.")


def _tables(source: Source, out: TextIO) -> None:
    rows = {name: (source.history.rows(name), TABLES[name].row) for name in TABLES}
    rows |= {name: (table.num_rows, _JUDGED[name]) for name, table in source.judged.items()}
    for name, (count, says) in rows.items():
        print(f"{name:<14} {number(count):>10}  {says}", file=out)


def _columns(name: str, source: Source, out: TextIO) -> None:
    if name in source.judged:
        _print_pairs({field.name: str(field.type) for field in source.judged[name].schema}, out)
        return
    if name not in TABLES:
        near = difflib.get_close_matches(name, [*TABLES, *source.judged], n=1)
        hint = f"Did you mean {near[0]}?" if near else "`.tables` lists all."
        raise ValueError(f"there is no table {name}. {hint}")
    for column in TABLES[name].columns:
        null = "NULL: unknown" if column.nullable else ""
        print(f"{column.name:<18} {column.type!s:<8} {column.meaning} {null}".rstrip(), file=out)


def _relations(words: list[str], out: TextIO) -> None:
    found = {n: m for n, m in meanings().items() if all(word in n for word in words)}
    _print_pairs({name: " ".join(meaning.split()) for name, meaning in found.items()}, out)


def _print_pairs(pairs: dict[str, str], out: TextIO) -> None:
    width = max(map(len, pairs), default=0)
    for name, says in pairs.items():
        print(f"{name:<{width}}  {says}", file=out)
