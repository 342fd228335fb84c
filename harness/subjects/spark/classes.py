"""An archive of the classes that a Spark driver loads (class data sharing), kept for later drivers.

A driver takes 13 s of CPU time for its first micro-batches, and 8 s with the archive. It is
recorded once, with `jobs/classes.py`, and used for our own jobs only; for users' jobs see
`user_pipeline/driver_classes.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from onceproof.harness.processes.processes import Processes
from onceproof.harness.subjects.spark.driver import HOME, JVM, DriverParts, start_driver
from onceproof.harness.tools import class_archive
from onceproof.harness.tools.class_archive import NoClassArchive
from onceproof.harness.wait import Overdue, wait_until

JOB: Final = Path(__file__).parent / "jobs" / "classes.py"
_SECONDS: Final = 300.0
"""Recording takes half a minute, and more on a busy machine."""


def with_classes(parts: DriverParts) -> tuple[str, ...]:
    """Return a driver's JVM options, with the class archive if it exists or can be recorded."""
    java = parts.tools.java_home / "bin" / "java"
    home_of_spark = parts.tools.spark_home or HOME

    def build(folder: Path) -> None:
        job = start_driver(
            parts,
            Processes(parts.processes.marker, folder),
            [str(JOB)],
            options=(*JVM, *class_archive.recording(folder)),
        )
        try:
            wait_until(
                lambda: not job.alive(),
                what="the Spark job that records the class archive to exit",
                seconds=_SECONDS,
                stop=parts.stop,
                seen=job.tail,
            )
        except Overdue as error:
            raise NoClassArchive(str(error)) from error
        finally:
            job.kill("no longer needed")
        if job.popen.returncode != 0:
            raise NoClassArchive(
                f"the job that records the class archive failed; last output: {job.tail()}"
            )

    try:
        home = class_archive.installed(
            "spark", build, java=java, jars=home_of_spark / "jars", options=JVM
        )
    except NoClassArchive:
        return JVM
    return (*JVM, *class_archive.using(home))
