"""Print results as a table, or as CSV or JSON for programs.

The content of a history is untrusted. Tables show control characters visibly; CSV and JSON contain
it unchanged.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from datetime import date, datetime, time
from itertools import islice
from typing import Any, Final, TextIO

from rich.table import Table
from rich.text import Text

from onceproof.reports.terminal import console
from onceproof.reports.text import line, plural, visible
from onceproof.shell.database import Answer

FORMATS: Final = ("table", "csv", "json")
SHOWN: Final = 100
"""Default maximum of rows in a table."""
_PLAN: Final = ["explain_key", "explain_value"]
"""The columns of a query plan, which is a drawing."""


def print_answer(answer: Answer, out: TextIO, *, format_: str, shown: int = SHOWN) -> None:
    """Print a result; `shown` limits the rows of a table."""
    if not answer.columns:
        return
    if format_ == "csv":
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(answer.columns)
        writer.writerows([_plain(value) for value in row] for row in answer.rows())
    elif format_ == "json":
        _print_json(answer, out)
    elif answer.columns == _PLAN:
        for row in answer.rows():
            print(visible(str(row[1])), file=out)
    else:
        rows = answer.rows()
        console(out).print(_table(answer.columns, islice(rows, shown)))
        more = sum(1 for _ in rows)
        if more:
            print(f"and {plural(more, 'more row', 'more rows')}: `.rows N` shows more", file=out)
    out.flush()


def _table(columns: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in columns:
        table.add_column(Text(line(name)), overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    return table


def _cell(value: Any) -> Text:
    if value is None:
        return Text("NULL", style="dim")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return Text(line(str(_plain(value))), justify="right" if number else "left")


def _print_json(answer: Answer, out: TextIO) -> None:
    out.write("[")
    for number, row in enumerate(answer.rows()):
        values = dict(zip(answer.columns, row, strict=True))
        text = json.dumps(values, ensure_ascii=False, default=_plain)
        out.write(f"{',' if number else ''}\n  {text}")
    out.write("\n]\n")


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or isinstance(value, int | float | str):
        return value
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
