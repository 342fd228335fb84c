"""What the JVM of somebody's Spark driver has loaded, kept from its dry run for its trial.

A trial starts a driver some twenty times, and most of each start is loading and compiling classes.
The JVM's own class data sharing spares the loading (JEP 350), and C1 alone compiles sooner than C1
and C2. Neither changes what the job does, nor any setting of Spark; whoever starts a JVM in another
way than Spark's launcher starts it as ever.
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
"""Options that Spark's launcher puts before those of the job, which may say otherwise."""
_JVM: Final = ("-XX:+IgnoreUnrecognizedVMOptions", "-XX:TieredStopAtLevel=1")
"""A JVM older than JDK 13 does not know archives of classes, and starts all the same."""
_KEPT: Final = 4
"""How many archives are kept: each takes some 150 MB."""


class DriverClasses:
    """The classes that one command's driver loads."""

    def __init__(self, command: Sequence[str], folder: str) -> None:
        """`command` is as the user gave it, with its words in braces; `folder` is where it runs."""
        digest = hashlib.sha256(shlex.join([folder, *command]).encode()).hexdigest()[:16]
        self._all = cache.location() / "drivers"
        self._folder = self._all / digest

    def recording(self) -> dict[str, str]:
        """The environment of a driver that writes them down when it ends of itself."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return _environment(())
        self._forget()
        return _environment(class_archive.recording(self._folder))

    def using(self) -> dict[str, str]:
        """The environment of a driver that starts with what was written down, if anything was."""
        return _environment(class_archive.using(self._folder))

    def _forget(self) -> None:
        """Remove what was not used for longest, and what this command had before."""
        with suppress(OSError):
            others = [folder for folder in self._all.iterdir() if folder != self._folder]
            others.sort(key=lambda folder: folder.stat().st_mtime)
            for old in others[: max(0, len(others) - _KEPT + 1)]:
                cache.remove(old)
            for file in self._folder.iterdir():
                file.unlink()


def _environment(options: Sequence[str]) -> dict[str, str]:
    before = os.environ.get(VARIABLE, "")
    ours = " ".join(map(quoted_for_spark, (*_JVM, *options)))
    return {VARIABLE: f"{before} {ours}".strip()}
