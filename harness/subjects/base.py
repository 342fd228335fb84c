"""What a subject is: the system whose claim is on trial, as plain data.

The one thing to know: a subject says how it is started and where its effects go; it never says
whether its claim holds. Add one by adding a file here and, for a pipeline, a job in `jobs/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.kafka.log_reader import LogReader
from harness.sinks.base import Sink


@dataclass(frozen=True, kw_only=True)
class JobPlace:
    """Where a job finds its input and leaves its output."""

    source_bootstrap: str
    sink_bootstrap: str
    database: str
    topic: str
    checkpoint: Path
    progress: Path


class SparkSubject(Protocol):
    """A PySpark pipeline."""

    @property
    def name(self) -> str:
        """Short name: what `onceproof list` shows."""

    @property
    def says(self) -> str:
        """What it is and what it promises, in a sentence or two."""

    @property
    def sink(self) -> str:
        """Table or topic that its effects go to."""

    @property
    def view(self) -> str:
        """Who looks at the sink."""

    @property
    def output_topic(self) -> str | None:
        """A topic that has to be there before it starts."""

    def command(self, place: JobPlace) -> list[str]:
        """The job's script and arguments, for the Python interpreter."""

    def open_sink(self, *, database: str, reader: LogReader) -> Sink:
        """Our own way into its sink, past all proxies."""


JOBS = Path(__file__).parent / "jobs"
"""The scripts of the jobs."""
