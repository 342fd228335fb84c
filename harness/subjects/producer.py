"""Producers under test: a client library and what it claims, without a pipeline behind the topic.

A sender that hangs is the subject's failure. Observers only read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onceproof.harness.context.pipeline import NoPipeline, Pipeline, PipelineParts
from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.history.system import System
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.nothing import EmptySink
from onceproof.harness.subjects.observed import Observed, Observer


@dataclass(frozen=True, kw_only=True)
class ProducerSubject(SubjectBase):
    """Producers, watched by observers."""

    name: str
    says: str
    observers: tuple[Observer, ...] = ()
    topics: tuple[str, ...] = ()
    sink: str = ""
    sinks: tuple[str, ...] = ()
    view: str = ""
    sends: bool = True

    @property
    def system(self) -> System:
        return System.PRODUCER

    def configuration(self) -> Mapping[str, Any]:
        """Return the observers' settings; the report has the producers' separately."""
        return {observer.name: dict(observer.settings()) for observer in self.observers}

    def pipeline(self, parts: PipelineParts) -> Pipeline:
        return Observed(self.observers, self.topics, parts) if self.observers else NoPipeline()

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return EmptySink()
