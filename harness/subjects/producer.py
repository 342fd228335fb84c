"""Who sends is on trial: a producer, its client library, and what that claims.

Nothing is behind the topic. The senders of the workload are the subject, so
one that stands still is its own failure, and observers only look on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onceproof.harness.context.pipeline import NoPipeline, Pipeline, PipelineParts
from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.nothing import Nothing
from onceproof.harness.subjects.observed import Observed, Observer


@dataclass(frozen=True, kw_only=True)
class ProducerSubject(SubjectBase):
    """Producers, seen by observers."""

    name: str
    says: str
    observers: tuple[Observer, ...] = ()
    topics: tuple[str, ...] = ()
    sink: str = ""
    sinks: tuple[str, ...] = ()
    view: str = ""
    sends: bool = True

    def configuration(self) -> Mapping[str, Any]:
        """The observers' settings; those of the producers stand beside them."""
        return {observer.name: dict(observer.settings()) for observer in self.observers}

    def pipeline(self, parts: PipelineParts) -> Pipeline:
        """The observers, or nobody."""
        return Observed(self.observers, self.topics, parts) if self.observers else NoPipeline()

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return Nothing()
