"""Generate the reference page of tables; a test compares the two.

python -m onceproof.checkers.tables_page > docs/reference/history.md
"""

from __future__ import annotations

import sys
from typing import Final

import pyarrow as pa

from onceproof.checkers.engines.validation import UNIQUE, WORDS
from onceproof.checkers.tables import TABLES, Column, Table

_TYPES: Final[dict[pa.DataType, str]] = {
    pa.string(): "string",
    pa.int32(): "int32",
    pa.int64(): "int64",
    pa.bool_(): "bool",
}
_HEAD: Final = """\
# The tables of a history

*Made from `checkers/tables.py` by `python -m onceproof.checkers.tables_page`; do not edit.*

A history is a set of tables. A verdict depends on nothing else, so any history that fills these
tables can be judged: [how to check a foreign history](../how-to/check-a-foreign-history.md) shows
this in JSON Lines and Parquet.

- A missing table counts as empty. A claim needs only its own tables: `sends` and `log` for a claim
  about producers; `log`, `effects` and `expected` for a claim about a pipeline.
- **Null** says whether a column may contain NULL; such a column may also be left out. NULL means
  *unknown*, never *none*: an unknown value is never counted as an error.
- Times are monotonic nanoseconds. Only times of the same `clock` are compared, never those of
  different hosts.
- `record` is an identity that the record itself carries, never one derived from offsets. `attempt`
  is one call to send it: an application that sends a record twice makes two attempts.
- A digest is any text that is equal for equal contents.
- Unlisted columns are ignored in Parquet and rejected in JSON Lines.

| type | JSON | Arrow and Parquet |
| --- | --- | --- |
| string | string | string (UTF-8) |
| int32, int64 | number without fraction | int32, int64 |
| bool | true, false | bool |
"""


def page() -> str:
    contents = "\n".join(f"- [{t.name}](#{t.name}): {t.row}" for t in TABLES.values())
    return "\n".join([_HEAD, contents, *(_section(table) for table in TABLES.values())])


def _section(table: Table) -> str:
    lines = ["", f"## {table.name}", "", f"One row is {table.row}.", ""]
    if unique := UNIQUE.get(table.name):
        lines += [f"No two rows have the same {', '.join(f'`{name}`' for name in unique)}.", ""]
    lines += ["| column | type | null | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join([*lines, *(_row(table, column) for column in table.columns)])


def _row(table: Table, column: Column) -> str:
    meaning = column.meaning
    words = WORDS.get(table.name, {}).get(column.name)
    if words and not all(word in meaning for word in words):
        one_of = f"one of {', '.join(sorted(words))}"
        meaning = f"{meaning}; {one_of}" if meaning else one_of
    null = "yes" if column.nullable else ""
    meaning = meaning.replace("|", "\\|")
    return f"| `{column.name}` | {_TYPES[column.type]} | {null} | {meaning} |"


if __name__ == "__main__":
    sys.stdout.write(page())
