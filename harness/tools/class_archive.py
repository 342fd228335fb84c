"""Keep archives of loaded classes, so that JVMs start faster (class data sharing, JEP 350).

Archives are optional. A JVM ignores one that does not match its own build or class path. A run
works without one if it cannot be written, or if another run is creating it.
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

# A JVM reports on archives on standard output, where programs that parse it do not expect that.
_SILENT: Final = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
_ARCHIVE: Final = "classes.jsa"
_OWNER: Final = "of.json"


class NoClassArchive(RuntimeError):
    """There is no archive, and none can be created now; the message says why."""


def recording(folder: Path) -> tuple[str, ...]:
    """Return JVM options that write an archive at a normal exit or SIGTERM."""
    return (f"-XX:ArchiveClassesAtExit={folder / _ARCHIVE}", *_SILENT)


def using(folder: Path) -> tuple[str, ...]:
    """Return JVM options that use the folder's archive; empty if there is none."""
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
    """Return the cache folder of the archive for this Java and these jars; build it if missing.

    Archives are large. So a new one replaces that of the same Java, folder of jars and options, and
    those whose Java or folder of jars no longer exists are removed.

    Args:
        kind: the program that the archive is for; a folder name.
        build: fills the empty folder. If the JVM cannot write archives, it leaves none. After any
            other failure it raises `NoClassArchive`, so that the next run tries again.
        options: other JVM options: an archive depends on the garbage collector.

    Raises:
        NoClassArchive: `build` raised it, the folder cannot be written, or another process is
            building it.
    """
    program = java.resolve()
    # Modification times in seconds: some file systems, and zip, are no more precise.
    files = [program, *sorted(jars.glob("*.jar"))]
    stats = [(str(file), (stat := file.stat()).st_size, int(stat.st_mtime)) for file in files]
    owner = [str(program), str(jars), *options]
    state = hashlib.sha256(json.dumps([owner, stats]).encode())
    target = cache.location() / kind / state.hexdigest()[:16]

    def build_one(folder: Path) -> None:
        for old in target.parent.glob(f"*/{_OWNER}"):
            with suppress(OSError, ValueError):  # another run may be removing it
                old_owner = json.loads(old.read_text())
                if old_owner == owner or not all(Path(p).exists() for p in old_owner[:2]):
                    _remove(old.parent)
        build(folder)
        (folder / _OWNER).write_text(json.dumps(owner))

    try:
        return cache.install(target, build_one, waiting=_do_not_wait)
    except SetupError as error:
        raise NoClassArchive(str(error)) from error


def _do_not_wait() -> NoReturn:
    raise NoClassArchive("another run is creating it")


def _remove(folder: Path) -> None:
    """Rename the folder before removal, so that a half-removed one is never used."""
    renamed = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    folder.rename(renamed)
    cache.remove(renamed)
