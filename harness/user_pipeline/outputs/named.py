"""File names of each format, and reading of compressed files.

Files are recognized by suffix, as in Spark. A file with a matching suffix and an unsupported
compression is an error, because its contents would be missed.
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
"""File suffixes by format."""
_OPENERS: Final[dict[str, Callable[..., Any]]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
_UNSUPPORTED: Final = (".deflate", ".lz4", ".snappy", ".zst")
"""Other compressions that Spark can write."""
UTF_8: Final = "utf-8-sig"
"""With or without a byte order mark."""


class Truncated(Exception):
    """A compressed file is truncated."""


def belongs(file: Path, format_: str) -> bool:
    """Return whether a file has a format, compressed or not."""
    if file.name.endswith(ENDS[format_]):
        return True
    packed = format_ != "parquet" and file.suffix in (*_OPENERS, *_UNSUPPORTED)
    return packed and file.stem.endswith(ENDS[format_])


@contextmanager
def text(file: Path, *, strict: bool, newline: str | None = None) -> Iterator[IO[str]]:
    """Open a text file.

    Raises:
        Truncated: it is compressed and truncated.
        UnreadableOutput: it is not compressed as its suffix says, or in an unsupported way.
    """
    if file.suffix in _UNSUPPORTED:
        raise UnreadableOutput(
            f"{file}: unsupported compression; expected none, or {', '.join(sorted(_OPENERS))}"
        )
    opener = _OPENERS.get(file.suffix, open)
    errors = "strict" if strict else "replace"
    with opener(file, "rt", newline=newline, encoding=UTF_8, errors=errors) as opened:
        try:
            yield cast("IO[str]", opened)
        except EOFError:
            raise Truncated from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            raise UnreadableOutput(f"{file}: {error}") from None
