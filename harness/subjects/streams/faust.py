"""A faust-streaming application, with or without exactly-once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.python import programs
from onceproof.harness.subjects.group.task import SESSION_TIMEOUT_MS
from onceproof.harness.subjects.streams.base import StreamsSubject
from onceproof.harness.subjects.tasks import Program

_PROGRAM: Final = "faust_streaming"


@dataclass(frozen=True, kw_only=True)
class Faust(StreamsSubject):
    """faust-streaming; `group` is the `id` of its `App`."""

    library: ClassVar[str] = "faust-streaming"
    title: ClassVar[str] = "faust-streaming"

    @property
    def guarantee(self) -> str:
        return f"processing_guarantee={self.settings['processing_guarantee']}"

    @property
    def store(self) -> str:
        return "a table with a changelog"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "processing_guarantee": "exactly_once" if self.exactly else "at_least_once",
            # Its default is 2.8 s.
            "broker_commit_interval": 0.1 if self.exactly else 2.0,
            "broker_session_timeout": SESSION_TIMEOUT_MS / 1000,
            "broker_heartbeat_interval": 1.0,
            "broker_request_timeout": 10.0,
            "broker_rebalance_timeout": 10.0,
            "producer_linger": 0.005,
            "producer_request_timeout": 3.0,
            "consumer_auto_offset_reset": "earliest",
        }

    @property
    def changelog(self) -> str:
        return f"{self.group}-balances-changelog"

    def configuration(self) -> Mapping[str, Any]:
        version = programs.version_of(_PROGRAM, "faust-streaming")
        instances = {"instances": self.members, "version": version}
        return {"faust": {**self.settings, **instances}}

    def program(self, parts: PipelineParts) -> Program:
        return partial(programs.command, _PROGRAM)
