"""Random ways to damage one file of a run folder."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

Damage = Callable[[Path, random.Random], None]
_HUGE: Final = 2**38
"""Size of a sparse file in bytes."""


def truncate(path: Path, draws: random.Random) -> None:
    """Truncate it to a random length."""
    data = path.read_bytes()
    path.write_bytes(data[: draws.randrange(len(data) + 1)])


def garble(path: Path, draws: random.Random) -> None:
    """Overwrite a range with random bytes."""
    data = bytearray(path.read_bytes())
    if data:
        start = draws.randrange(len(data))
        length = draws.choice((1, 2, 16, 400))
        data[start : start + length] = draws.randbytes(len(data[start : start + length]))
    path.write_bytes(data)


def swap(path: Path, draws: random.Random) -> None:
    """Exchange its halves, or shuffle its lines."""
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    if path.suffix in (".json", ".jsonl") and len(lines) > 1:
        draws.shuffle(lines)
        path.write_bytes(b"".join(lines))
    else:
        middle = draws.randrange(len(data) + 1)
        path.write_bytes(data[middle:] + data[:middle])


def empty(path: Path, draws: random.Random) -> None:
    """Remove its content."""
    path.write_bytes(b"")


def nested(path: Path, draws: random.Random) -> None:
    """Replace it with JSON that is nested too deep."""
    depth = draws.choice((900, 5_000, 200_000))
    path.write_bytes(draws.choice((b"[", b'{"a":')) * depth + b"\n")


def no_text(path: Path, draws: random.Random) -> None:
    """Insert bytes that are not UTF-8."""
    data = path.read_bytes()
    middle = draws.randrange(len(data) + 1)
    path.write_bytes(data[:middle] + b"\xff\xfe\xc3(" + data[middle:])


def huge(path: Path, draws: random.Random) -> None:
    """Append a hole of many gigabytes, or replace the content with one."""
    if draws.random() < 0.5:
        path.write_bytes(b"")
    os.truncate(path, _HUGE)


def removed(path: Path, draws: random.Random) -> None:
    """Remove it."""
    path.unlink()


def fifo(path: Path, draws: random.Random) -> None:
    """Replace it with a named pipe that has no writer."""
    path.unlink()
    os.mkfifo(path)


def folder(path: Path, draws: random.Random) -> None:
    """Replace it with a folder."""
    path.unlink()
    path.mkdir()


def device(path: Path, draws: random.Random) -> None:
    """Replace it with a link to a device."""
    path.unlink()
    path.symlink_to(draws.choice(("/dev/zero", "/dev/full", "/dev/tty")))


def unix_socket(path: Path, draws: random.Random) -> None:
    """Replace it with a socket."""
    path.unlink()
    # The path of a socket is limited to about 100 bytes.
    with socket.socket(socket.AF_UNIX) as bound, contextlib.chdir(path.parent):
        bound.bind(path.name)


def link_out(path: Path, draws: random.Random) -> None:
    """Replace it with a link to the same content in another folder."""
    elsewhere = path.parents[2] / f"elsewhere-{path.name}"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def circle(path: Path, draws: random.Random) -> None:
    """Replace it with a link to itself."""
    path.unlink()
    path.symlink_to(path.name)


def retyped(path: Path, draws: random.Random) -> None:
    """Change the type of a value in JSON, or of a column in a table."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        place = draws.randrange(table.num_columns)
        name, column = table.column_names[place], table.column(place)
        other = draws.choice((pa.string(), pa.float64(), pa.bool_(), pa.binary(), pa.null()))
        values = [None if other == pa.null() else _other(v, other) for v in column.to_pylist()]
        pq.write_table(table.set_column(place, name, pa.array(values, other)), path)
        return
    text = path.read_bytes()
    data = json.loads(text.splitlines()[0] if path.suffix == ".jsonl" else text)
    holder: Any = data
    while isinstance(holder, dict | list) and holder:
        key = draws.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not isinstance(holder[key], dict | list) or not holder[key] or draws.random() < 0.3:
            holder[key] = draws.choice((None, [], {}, "", "\ud800", -1, 10**30, 1.5, True, [[{}]]))
            break
        holder = holder[key]
    path.write_text(json.dumps(data) + "\n", encoding="utf-8")


def _other(value: Any, type_: pa.DataType) -> Any:
    if type_ == pa.string():
        return str(value)
    if type_ == pa.binary():
        return b"\xff"
    return None if value is None else 1.0 if type_ == pa.float64() else True


def fewer_rows(path: Path, draws: random.Random) -> None:
    """Remove all rows, one, the last tenth, or half."""
    rows = _rows(path)
    if not rows:
        return
    one = draws.randrange(len(rows))
    kept = draws.choice(
        ([], rows[:one] + rows[one + 1 :], rows[: len(rows) * 9 // 10], rows[: len(rows) // 2])
    )
    _put_rows(path, kept)


def no_rows(path: Path, draws: random.Random) -> None:
    """Remove all rows."""
    _put_rows(path, [])


def other_order(path: Path, draws: random.Random) -> None:
    """Shuffle the rows."""
    rows = _rows(path)
    draws.shuffle(rows)
    _put_rows(path, rows)


def row_twice(path: Path, draws: random.Random) -> None:
    """Duplicate a row."""
    rows = _rows(path)
    if rows:
        _put_rows(path, [*rows, draws.choice(rows)])


def _rows(path: Path) -> list[Any]:
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    return path.read_bytes().splitlines(keepends=True)


def _put_rows(path: Path, rows: list[Any]) -> None:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows, schema=pq.read_schema(path)), path)
    else:
        path.write_bytes(b"".join(rows))


ANY: Final[Mapping[str, Damage]] = {
    f.__name__: f
    for f in (
        truncate, garble, swap, empty, nested, no_text, huge, removed, fifo, folder, device,
        unix_socket, link_out, circle,
    )
}  # fmt: skip
"""Damage to a file of any kind."""
OF_TABLES: Final[Mapping[str, Damage]] = {
    f.__name__: f for f in (no_rows, fewer_rows, other_order, row_twice, retyped)
}
"""Damage to a table, as Parquet or as lines, that leaves it readable."""


def damages(path: Path) -> dict[str, Damage]:
    """The damages that apply to a file, by name."""
    if path.suffix in (".parquet", ".jsonl"):
        return {**ANY, **OF_TABLES}
    return {**ANY, "retyped": retyped} if path.suffix == ".json" else dict(ANY)


def fresh(base: Path, place: Path) -> Path:
    """Copy a run folder, in place of an earlier copy."""
    shutil.rmtree(place, ignore_errors=True)
    return Path(shutil.copytree(base, place / base.name))
