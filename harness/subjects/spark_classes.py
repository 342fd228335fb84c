"""The classes that a Spark driver loads, kept for the next one.

The one thing to know: a driver needs thirteen seconds of a core until it has processed its first
micro-batches, and eight with these. They are recorded once, of a job that does nothing else
(`jobs/classes.py`), and used only by our own jobs: a program of somebody's own is started as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import pyspark

from harness.stage.processes import Process, Processes
from harness.tools import class_archive
from harness.wait import Overdue, Stop, wait_until

JOB: Final = Path(__file__).parent / "jobs" / "classes.py"
_ARCHIVE: Final = "classes.jsa"
_SECONDS: Final = 300.0
"""It takes half a minute, and more where every core is busy."""

Start = Callable[[Processes, Sequence[str], tuple[str, ...]], Process]
"""Start a job with options for the driver's JVM, as one of the given processes."""


def with_classes(
    start: Start, *, java: Path, options: Sequence[str], marker: str, stop: Stop
) -> tuple[str, ...]:
    """The options of a driver's JVM, with those that spare it loading; recorded if they are not.

    Args:
        start: starts the job that is recorded.
        java: the program `java`.
        options: what the JVM is told otherwise.
        marker: of the run, so that nothing of the job outlives us.
        stop: ends every wait when set.

    Raises:
        SetupError: they cannot be kept.
    """

    def build(folder: Path) -> None:
        recording = class_archive.recording(folder / _ARCHIVE)
        job = start(Processes(marker, folder), [str(JOB)], (*options, *recording))
        try:
            with suppress(Overdue):
                wait_until(
                    lambda: not job.alive(),
                    what="a Spark job that is only recorded to end",
                    seconds=_SECONDS,
                    stop=stop,
                )
        finally:
            job.kill("not needed any more")
            if job.popen.returncode != 0:
                # Killed, perhaps: half of one would be worse than none.
                (folder / _ARCHIVE).unlink(missing_ok=True)

    jars = Path(pyspark.__file__).parent / "jars"
    home = class_archive.installed("spark", build, java=java, jars=jars, options=options)
    return (*options, *class_archive.using(home / _ARCHIVE))
