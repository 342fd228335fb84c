"""Cache the classes that a Spark driver's JVM loads in its dry run, for faster starts in the trial.

A trial starts a driver about twenty times, and loading and compiling classes takes most of each
start. JVM class data sharing (JEP 350) avoids the loading, and C1 alone compiles faster than C1 and
C2. Neither changes the job's behavior or any Spark setting. A JVM that is not started by Spark's
launcher is not affected.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from onceproof.harness.tools import cache, class_archive
from onceproof.harness.tools.jvm import quoted_for_spark

VARIABLE: Final = "SPARK_SUBMIT_OPTS"
"""Spark's launcher puts these options before those of the job, which take precedence."""
_JVM: Final = ("-XX:+IgnoreUnrecognizedVMOptions", "-XX:TieredStopAtLevel=1")
"""JVMs before JDK 13 do not know class archives; they ignore the options."""
_MAX_ARCHIVES: Final = 4
"""Number of archives to keep; each takes about 150 MB."""


class DriverClasses:
    """The class archive of one command's driver."""

    def __init__(self, command: Sequence[str], folder: str) -> None:
        """`command` still has its placeholders; `folder` is its working directory."""
        digest = hashlib.sha256(shlex.join([folder, *command]).encode()).hexdigest()[:16]
        self._archives = cache.location() / "drivers"
        self._folder = self._archives / digest

    def recording(self) -> dict[str, str]:
        """Return the environment of a driver that writes the archive when it exits normally."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return _environment(())
        self._evict()
        return _environment(class_archive.recording(self._folder))

    def using(self) -> dict[str, str]:
        """Return the environment of a driver that uses the archive, if there is one."""
        return _environment(class_archive.using(self._folder))

    def _evict(self) -> None:
        """Remove the oldest archives, and this command's previous one."""
        with suppress(OSError):
            others = [folder for folder in self._archives.iterdir() if folder != self._folder]
            others.sort(key=lambda folder: folder.stat().st_mtime)
            for old in others[: max(0, len(others) - _MAX_ARCHIVES + 1)]:
                cache.remove(old)
            for file in self._folder.iterdir():
                file.unlink()


def _environment(options: Sequence[str]) -> dict[str, str]:
    before = os.environ.get(VARIABLE, "")
    ours = " ".join(map(quoted_for_spark, (*_JVM, *options)))
    return {VARIABLE: f"{before} {ours}".strip()}
