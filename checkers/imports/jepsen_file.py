"""The file of a Jepsen history, from its lines to its operations.

Lines of the regular shape are read by `jepsen_lines`, many at once; each of the others by the
complete reader, which also knows what is open where an operation goes on over several lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from onceproof.checkers.imports import jepsen_lines
from onceproof.checkers.imports.edn import BadEdn, Reader
from onceproof.checkers.imports.errors import BadImport
from onceproof.checkers.imports.jepsen_ops import Names, Operation, Wrong, operation

_AT_ONCE: Final = 200_000
"""Bytes of lines that are read together."""


def operations(file: BinaryIO, path: Path, names: Names) -> Iterator[Operation | None]:
    """The operations of a history file; None for those of the nemesis.

    Raises:
        BadImport: the file is not EDN, or not a history of this workload.
    """
    reader, line, number, before = Reader(), 0, 0, 0
    try:
        while lines := file.readlines(_AT_ONCE):
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
                    except Wrong as wrong:
                        raise BadImport(path, str(wrong), line=began, field=wrong.field) from None
                    number += 1
            before = line
        reader.end(line)
    except BadEdn as error:
        raise BadImport(path, error.problem, line=error.line, column=error.column) from None
