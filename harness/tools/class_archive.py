"""What a JVM has loaded, kept in a file, so that the next one starts much sooner.

An archive is a shortcut and nothing more. A JVM compares it with its own
build and with the jars on its class path, and goes on without it where they differ; so does a run
whose archive cannot be kept, or is being made by another run. This is the JVM's own class data
sharing (JEP 350).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

from onceproof.harness.tools import cache
from onceproof.harness.tools.error import SetupError

# A JVM says on standard output what it thinks of an archive, and whose output that is has no use
# for it.
_SILENT: Final = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
_ARCHIVE: Final = "classes.jsa"
_OWNER: Final = "of.json"


class NotKept(RuntimeError):
    """There is no archive yet, and none can be made now; the text says why."""


def recording(folder: Path) -> tuple[str, ...]:
    """Options for a JVM that is to write an archive there when it ends of itself, or by SIGTERM."""
    return (f"-XX:ArchiveClassesAtExit={folder / _ARCHIVE}", *_SILENT)


def using(folder: Path) -> tuple[str, ...]:
    """Options for a JVM that is to start with the archive there; none if there is none."""
    archive = folder / _ARCHIVE
    return (f"-XX:SharedArchiveFile={archive}", *_SILENT) if archive.is_file() else ()


def installed(
    kind: str,
    build: Callable[[Path], None],
    *,
    java: Path,
    jars: Path,
    options: Sequence[str],
) -> Path:
    """The folder in the cache for what only this Java with these jars can use.

    An archive is big, and of no use any more when the jars are others: that of the same Java and
    the same folder of jars is removed when a new one is made, and those whose Java or jars are
    gone.

    Args:
        kind: whose archive it is; the name of a folder.
        build: fills an empty folder, if there is none yet. Where a JVM cannot write an archive it
            leaves it without one; where something else went wrong it raises `NotKept`, and the next
            run tries again.
        options: the JVM's other options: the collector decides whether an archive can be used.

    Raises:
        NotKept: `build` did, nothing can be written there, or somebody else is about it.
    """
    program = java.resolve()
    # What an archive holds of what it was made with; seconds, as some file systems and every zip.
    files = [program, *sorted(jars.glob("*.jar"))]
    made_with = [(str(file), (at := file.stat()).st_size, int(at.st_mtime)) for file in files]
    owner = [str(program), str(jars), *options]
    state = hashlib.sha256(json.dumps([owner, made_with]).encode())
    target = cache.location() / kind / state.hexdigest()[:16]

    def build_one(folder: Path) -> None:
        for old in target.parent.glob(f"*/{_OWNER}"):
            with suppress(OSError, ValueError):  # another run may be removing it
                its = json.loads(old.read_text())
                if its == owner or not all(Path(part).exists() for part in its[:2]):
                    _remove(old.parent)
        build(folder)
        (folder / _OWNER).write_text(json.dumps(owner))

    try:
        return cache.install(target, build_one, waiting=_busy)
    except SetupError as error:
        raise NotKept(str(error)) from error


def _busy() -> NoReturn:
    raise NotKept("another run is making it")


def _remove(folder: Path) -> None:
    """Remove it whole: what is half removed is not taken for one that is there."""
    gone = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    folder.rename(gone)
    cache.remove(gone)
