"""A Quix Streams application, with or without exactly-once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from onceproof.harness.history.system import System
from onceproof.harness.subjects.group.task import SESSION_TIMEOUT_MS
from onceproof.harness.subjects.streams.in_python import InPython

_RECONNECTING: Final = {"reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500}


@dataclass(frozen=True, kw_only=True)
class Quix(InPython):
    """Quix Streams; `group` is its `consumer_group`.

    Attributes:
        commit_every: commit after so many records, at the latest after 20 s; 0: by the clock.
        variable: keep balances in a variable of the program, not in a state store.
    """

    library: ClassVar[str] = "quix-streams"
    title: ClassVar[str] = "Quix Streams"
    package: ClassVar[str] = "quixstreams"
    commit_every: int = 0
    variable: bool = False

    @property
    def system(self) -> System:
        return System.QUIX

    @property
    def name(self) -> str:
        by_count = "-by-count" if self.commit_every else ""
        return f"{super().name}{'-variable' if self.variable else ''}{by_count}"

    @property
    def guarantee(self) -> str:
        return f"processing_guarantee={self.settings['application']['processing_guarantee']}"

    @property
    def store(self) -> str:
        return "a variable" if self.variable else "a state store with a changelog"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "variable": self.variable,
            "application": {
                "processing_guarantee": "exactly-once" if self.exactly else "at-least-once",
                **self._commits,
                "auto_offset_reset": "earliest",
                "consumer_poll_timeout": 0.1,
            },
            "consumer": {
                **_RECONNECTING,
                "session.timeout.ms": SESSION_TIMEOUT_MS,
                "heartbeat.interval.ms": 1000,
                "socket.timeout.ms": 3000,
            },
            "producer": {
                **_RECONNECTING,
                "linger.ms": 5,
                "socket.timeout.ms": 3000,
                "request.timeout.ms": 1500,
                **self._transactions,
            },
        }

    @property
    def _commits(self) -> Mapping[str, Any]:
        if self.commit_every:
            return {"commit_interval": 20.0, "commit_every": self.commit_every}
        return {"commit_interval": 0.1 if self.exactly else 2.0}  # its default is 5 s

    @property
    def _transactions(self) -> Mapping[str, Any]:
        if not self.exactly:
            return {}
        # Its transactional id is drawn anew for each life, so the transaction of a killed one stays
        # open until it times out. A zombie's must not: it would be fenced.
        return {"transaction.timeout.ms": 60_000 if self.commit_every else 10_000}

    @property
    def changelog(self) -> str:
        return f"changelog__{self.group}--payments--default"

    def configuration(self) -> Mapping[str, Any]:
        return {
            "instances": {"number": self.members, "version": self.version},
            **{name: self.settings[name] for name in ("application", "consumer", "producer")},
        }
