"""What a JVM has loaded, kept in a file, so that the next one starts in about half the time.

The one thing to know: an archive is a shortcut and nothing more. A JVM compares it with its own
build and with the jars on its class path, and goes on without it where they differ, so whoever has
none, or one that does not fit, only starts more slowly. This is the JVM's own class data sharing
(JEP 350).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from harness.tools import cache

# A JVM says on standard output what it thinks of an archive, and whose output that is has no use
# for it.
_SILENT: Final = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
_OWNER: Final = "of.json"


def recording(archive: Path) -> tuple[str, ...]:
    """Options for a JVM that is to write an archive when it ends of itself, or by SIGTERM."""
    return (f"-XX:ArchiveClassesAtExit={archive}", *_SILENT)


def using(archive: Path) -> tuple[str, ...]:
    """Options for a JVM that is to start with an archive; none if there is none."""
    return (f"-XX:SharedArchiveFile={archive}", *_SILENT) if archive.is_file() else ()


def installed(
    kind: str,
    build: Callable[[Path], None],
    *,
    java: Path,
    jars: Path,
    options: Iterable[str],
) -> Path:
    """The folder in the cache for what only this Java with these jars can use.

    An archive is big, and of no use any more when the jars are others: that of the same Java and
    the same folder of jars is removed when a new one is made, and those whose Java or jars are
    gone.

    Args:
        kind: whose archive it is; the name of a folder.
        build: fills an empty folder, if there is none yet.
        java: the program `java`.
        jars: the folder that is on the class path.
        options: the JVM's other options: the collector decides whether an archive can be used.

    Raises:
        SetupError: it cannot be written.
    """
    program = java.resolve()
    # An archive holds the times and sizes of what it was made with.
    files = [program, *sorted(jars.glob("*.jar"))]
    made_with = [(str(file), (at := file.stat()).st_size, at.st_mtime_ns) for file in files]
    state = hashlib.sha256(json.dumps([str(jars), made_with, *options]).encode())
    owner = [str(program), str(jars)]
    target = cache.location() / kind / state.hexdigest()[:16]

    def build_one(folder: Path) -> None:
        for old in target.parent.glob(f"*/{_OWNER}"):
            its = json.loads(old.read_text())
            if its == owner or not all(Path(part).exists() for part in its):
                cache.remove(old.parent)
        build(folder)
        (folder / _OWNER).write_text(json.dumps(owner))

    return cache.install(target, build_one)
