"""Read a Jepsen history file into operations.

`jepsen_lines` parses lines of the regular shape in batches. The complete reader parses all others,
and keeps the state of operations that span several lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from onceproof.checkers.imports import jepsen_lines
from onceproof.checkers.imports.edn import BadEdn, Reader
from onceproof.checkers.imports.errors import BadImport
from onceproof.checkers.imports.jepsen_ops import InvalidField, Names, Operation, operation

_CHUNK_BYTES: Final = 200_000
"""Bytes of lines per batch."""


def operations(file: BinaryIO, path: Path, names: Names) -> Iterator[Operation | None]:
    """Yield the operations of a history file; None for those of the nemesis.

    Raises:
        BadImport: the file is not EDN, or not a history of this workload.
    """
    reader, line, number, before = Reader(), 0, 0, 0
    try:
        while lines := file.readlines(_CHUNK_BYTES):
            many = zip(lines, jepsen_lines.regular(lines), strict=True)
            for line, (raw, found) in enumerate(many, before + 1):
                if found is not None and reader.between_forms:
                    taken = jepsen_lines.operation(found, line, number, names)
                    if taken is not None:
                        yield taken
                        number += 1
                        continue
                for began, form in reader.take(raw, line):
                    try:
                        yield operation(form, began, number, names)
                    except InvalidField as wrong:
                        raise BadImport(path, str(wrong), line=began, field=wrong.field) from None
                    number += 1
            before = line
        reader.end(line)
    except BadEdn as error:
        raise BadImport(path, error.problem, line=error.line, column=error.column) from None
