"""What files of a format are called, and how those are opened that are compressed.

A file is known by the end of its name, as it is to Spark. One whose end says
that it belongs here, and that it is compressed in a way that we cannot read, is refused: all that
is in it would be missed.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput

ENDS: Final[dict[str, tuple[str, ...]]] = {
    "parquet": (".parquet",),
    "csv": (".csv",),
    "json": (".json", ".jsonl", ".ndjson"),
}
"""How names of files end, by format."""
_OPENED: Final[dict[str, Callable[..., Any]]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
_REFUSED: Final = (".deflate", ".lz4", ".snappy", ".zst")
"""What Spark can write beside these."""
UTF_8: Final = "utf-8-sig"
"""With a byte order mark at its beginning, or without."""


class Torn(Exception):
    """A compressed file ends before its end."""


def belongs(file: Path, format_: str) -> bool:
    """Whether a file is one of a format, compressed or not."""
    if file.name.endswith(ENDS[format_]):
        return True
    packed = format_ != "parquet" and file.suffix in (*_OPENED, *_REFUSED)
    return packed and file.stem.endswith(ENDS[format_])


@contextmanager
def text(file: Path, *, strict: bool, newline: str | None = None) -> Iterator[IO[str]]:
    """Open a file of text.

    Raises:
        Torn: it is compressed, and ends before its end.
        UnreadableOutput: it is not compressed as its name says, or as nobody here can read it.
    """
    if file.suffix in _REFUSED:
        raise UnreadableOutput(
            f"{file} is compressed: expected no compression, or {', '.join(sorted(_OPENED))}"
        )
    opener = _OPENED.get(file.suffix, open)
    errors = "strict" if strict else "replace"
    with opener(file, "rt", newline=newline, encoding=UTF_8, errors=errors) as opened:
        try:
            yield cast("IO[str]", opened)
        except EOFError:
            raise Torn from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            raise UnreadableOutput(f"{file}: {error}") from None
