"""Import histories that were recorded elsewhere.

`read(path)` detects the format. It returns a history or raises `BadHistory` with the file, the
line, the field, what was expected and what was found.

    imported = read("store/latest/history.edn")
    judgement = check(imported.history, claims)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from onceproof.checkers.imports.errors import BadImport
from onceproof.checkers.imports.imported import Imported

__all__ = ["FORMATS", "BadImport", "Imported", "format_of", "read"]

FORMATS: Final = ("jepsen", "jsonl", "parquet")


def format_of(path: str | Path) -> str:
    """Detect a path's format by the name of the file, or of the files in the folder.

    Raises:
        BadImport: the path does not exist, or has an unknown format.
    """
    path = Path(path)
    names = [path.name]
    if path.is_dir():
        names = sorted(child.name for child in path.iterdir())
    elif not path.exists():
        raise BadImport(path, "there is no such file or folder.")
    for suffix, format_ in ((".parquet", "parquet"), (".jsonl", "jsonl"), (".edn", "jepsen")):
        if any(name.endswith(suffix) for name in names):
            return format_
    raise BadImport(
        path,
        "expected a folder with *.parquet or *.jsonl files, or a *.jsonl or *.edn file. Set the "
        f"format with --format {'|'.join(FORMATS)}.",
    )


def read(path: str | Path, format_: str | None = None, **options: Any) -> Imported:
    """Read a history.

    Args:
        format_: one of `FORMATS`; None: see `format_of`.
        options: for the format's reader, see `read_jepsen`; for sealed Parquet, `unsealed=True`
            accepts changed files.

    Raises:
        BadHistory: it cannot be read; the message says where and why.
    """
    chosen = format_ or format_of(path)
    if chosen not in _READERS:
        raise BadImport(path, f"expected one of the formats {', '.join(FORMATS)}, found {chosen}.")
    return _READERS[chosen](Path(path), **options)


def _jepsen(path: Path, **options: Any) -> Imported:
    from onceproof.checkers.imports.jepsen import read_jepsen

    return read_jepsen(path / "history.edn" if path.is_dir() else path, **options)


def _jsonl(path: Path) -> Imported:
    from onceproof.checkers.imports.jsonl import read_jsonl

    return read_jsonl(path)


def _parquet(path: Path, *, unsealed: bool = False) -> Imported:
    from onceproof.checkers.history import History
    from onceproof.checkers.local_folder import LocalFolder
    from onceproof.checkers.promised import RequiredHistory
    from onceproof.checkers.seal import check_seal

    folder = LocalFolder(path)
    rows, changed = check_seal(folder, unsealed=unsealed)
    return Imported(
        history=History.load(folder), unsealed=changed, promised=RequiredHistory(rows=rows)
    )


_READERS: Final[dict[str, Callable[..., Imported]]] = {
    "jepsen": _jepsen,
    "jsonl": _jsonl,
    "parquet": _parquet,
}
