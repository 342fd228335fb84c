"""Read the records of a user's file: JSON Lines, CSV with a header, or Parquet.

A line of JSON is sent verbatim; a row of the other formats is sent as JSON. Ambiguous records are
rejected, with their line: a record that was not sent as its owner means it would be misjudged.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from onceproof.harness.user_pipeline.identity import BadRule, Rule, Written
from onceproof.harness.user_pipeline.outputs.base import FoundEffect, UnreadableOutput
from onceproof.harness.user_pipeline.outputs.folder import MORE, csv_rows, json_lines, parquet

_FORMATS: Final = {".jsonl": "json", ".ndjson": "json", ".json": "json", ".csv": "csv"} | {
    ".parquet": "parquet"
}


@dataclass(frozen=True, kw_only=True)
class InputRecord:
    """One record to send."""

    identity: str
    key: str
    value: str | None
    headers: tuple[tuple[str, str | None], ...] = ()


def given(file: Path) -> Iterator[tuple[Written, str]]:
    """Yield the records of a file with their places; raise `BadRule` if it cannot be read."""
    format_ = _FORMATS.get(file.suffix.lower())
    if format_ is None:
        raise BadRule(
            f"{file}: unknown format; expected a file name that ends in {', '.join(_FORMATS)}"
        )
    try:
        for found in _rows(file, format_):
            value = (found.written.value or "").rstrip("\r\n")
            yield Written(value=value), found.position
    except UnicodeDecodeError as error:
        raise BadRule(f"{file}: expected text in UTF-8, found {error}") from None
    except (UnreadableOutput, OSError) as error:
        raise BadRule(f"{file}: {error}") from error


def records_of(file: Path, *, identity: str, key: str | None) -> Iterator[InputRecord]:
    """Yield the records of a file.

    Args:
        identity, key: rules; without `key`, the identity is the message key.

    Raises:
        BadRule: as for `given`; or a record has no identity, a duplicate one, or no key.
    """
    rule, by_key = Rule.parse(identity), Rule.parse(key) if key else None
    seen: dict[str, str] = {}
    for found, place in given(file):
        named = _find(rule, "identity", found, place)
        if (before := seen.setdefault(named, place)) != place:
            raise BadRule(
                f"{place} has the same identity as {before}: {named!r}; expected a different "
                "identity for each record"
            )
        keyed = named if by_key is None else _find(by_key, "key", found, place)
        yield InputRecord(identity=named, key=keyed, value=found.value or "")


def _find(rule: Rule, what: str, written: Written, place: str) -> str:
    """Return what a rule finds in a record; raise `BadRule` if that is nothing."""
    found = rule.find(written)
    if found is not None:
        return found
    if not rule.of_rows:
        raise BadRule(
            f"{what} {rule}: records of a file have neither key nor headers; "
            f"expected --data-{what}, such as json:$.FIELD"
        )
    raise BadRule(
        f"{place}: {rule} finds no {what}: {rule.why_not(written)}; the record is "
        f"{(written.value or '')[:120]!r}"
    )


def count(file: Path) -> int:
    """Return the number of records; raise `BadRule` if there are none, or as `given` does."""
    found = sum(1 for _ in given(file))
    if not found:
        raise BadRule(f"{file} has no records")
    return found


def _rows(file: Path, format_: str) -> Iterator[FoundEffect]:
    if format_ == "json":
        return json_lines(file, file.name, strict=True)
    if format_ == "csv":
        _check_header(file)
        return csv_rows(file, file.name, strict=True)
    _check_columns(file)
    return parquet(file, file.name)


def _check_header(file: Path) -> None:
    with file.open(newline="", encoding="utf-8-sig") as opened:
        names = next(csv.reader(opened), [])
    for name in names:
        if names.count(name) > 1 or name in ("", MORE):
            raise BadRule(
                f"{file} line 1: {'duplicate' if names.count(name) > 1 else 'invalid'} column name "
                f"{name!r}; expected a different, non-empty name for each column, other than "
                f"{MORE!r}"
            )


def _check_columns(file: Path) -> None:
    try:
        schema = pq.read_schema(file)
    except (pa.ArrowException, OSError) as error:
        raise BadRule(f"{file}: cannot be read as Parquet: {error}") from error
    for field in schema:
        if _binary(field.type):
            raise BadRule(
                f"{file}: column {field.name} has the type {field.type}, which JSON cannot "
                "represent; expected text, numbers, or lists or structs of them. Cast the column, "
                "or use JSON Lines"
            )


def _binary(type_: pa.DataType) -> bool:
    if pa.types.is_nested(type_):
        return any(_binary(type_.field(n).type) for n in range(type_.num_fields))
    return bool(
        pa.types.is_binary(type_)
        or pa.types.is_large_binary(type_)
        or pa.types.is_fixed_size_binary(type_)
    )
