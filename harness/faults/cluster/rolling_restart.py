"""Restart all brokers one after the other, as an upgrade does, so that every leadership moves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.rounds import Rounds
from onceproof.harness.faults.stop import Stop
from onceproof.harness.faults.targets.brokers import Node


@dataclass(frozen=True, kw_only=True)
class RollingRestart:
    """SIGTERM one broker after the other, each restarted and in sync before the next."""

    example: ClassVar[str] = "rolling-restart"
    kind: ClassVar[str] = "crash"
    needs = "stop"

    def describe(self) -> str:
        return "restart all brokers, one after the other"

    def inject(self, context: RunContext, name: str) -> Rounds:
        stops = [Stop(Node(name=broker)) for broker in context.stage.brokers]
        return Rounds([partial(stop.inject, context, name) for stop in stops])
