"""A faust-streaming application, with or without exactly-once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from onceproof.harness.history.system import System
from onceproof.harness.subjects.group.task import SESSION_TIMEOUT_MS
from onceproof.harness.subjects.streams.in_python import InPython


@dataclass(frozen=True, kw_only=True)
class Faust(InPython):
    """faust-streaming, without state; `group` is the `id` of its `App`."""

    library: ClassVar[str] = "faust-streaming"
    title: ClassVar[str] = "faust-streaming"
    package: ClassVar[str] = "faust-streaming"

    def __post_init__(self) -> None:
        """Raise `ValueError` for balances, which its program does not keep."""
        if self.balances:
            raise ValueError("faust-streaming does not support balances=True")

    @property
    def system(self) -> System:
        return System.FAUST

    @property
    def guarantee(self) -> str:
        return f"processing_guarantee={self.settings['processing_guarantee']}"

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

    def configuration(self) -> Mapping[str, Any]:
        about = {"instances": self.members, "version": self.version}
        return {"faust": {**self.settings, **about}}
