"""Withhold the pipeline's writes, then end the pipeline by SIGKILL or SIGTERM.

A pipeline that has already committed the offsets of the withheld records loses them.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.probed_link import wait_mended
from onceproof.harness.faults.messages.message import AtGates, Message
from onceproof.harness.faults.program.programs import (
    at_work,
    end,
    offsets_committed,
    running,
    start_again,
)
from onceproof.harness.faults.words import Word
from onceproof.harness.links.gate.rules import Action
from onceproof.harness.links.topology import Link
from onceproof.harness.wait import wait_until

Ending = Literal["kill", "stop"]
_WRITE_SECONDS: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class WithholdWrites:
    """Hold back what your pipeline writes to a topic, then kill it, or stop it by SIGTERM and let
    the writes through.

    Attributes:
        ending: `kill` loses what was withheld; `stop` releases it after SIGTERM, so that a pipeline
            can flush before it ends.
        seconds: maximum time to withhold, until the pipeline commits offsets.
        phase: how long after a write to begin; see `at_work`.
    """

    example: ClassVar[str] = "withhold-writes enriched kill"
    kind: ClassVar[str] = "crash"
    needs = "gates"
    topic: Annotated[str, Word("TOPIC")]
    ending: Annotated[Ending, Word()] = "kill"
    seconds: float = 2.0
    phase: float = 0.0

    def describe(self) -> str:
        signal = "SIGKILL" if self.ending == "kill" else "SIGTERM"
        return (
            f"{signal} the pipeline while its writes to {self.topic} are withheld, once it commits "
            f"offsets or after {self.seconds:g} s"
        )

    @property
    def message(self) -> Message:
        """The withheld message, which needs a gate."""
        return Message(source="pipeline", direction="request", api="Produce", topic=self.topic)

    def inject(self, context: RunContext, name: str) -> _Withheld:
        return _Withheld(context, name, self)


class _Withheld:
    def __init__(self, context: RunContext, name: str, fault: WithholdWrites) -> None:
        self._context = context
        self._fault = fault
        process = running(context)
        at_work(context, fault.phase)
        self._links = [Link("pipeline", node) for node in context.stage.brokers]
        with ExitStack() as gates:
            action: Action = "drop" if fault.ending == "kill" else "hold"
            writes = AtGates(context, "pipeline", fault.message.rule(action, times=None))
            gates.callback(writes.remove)
            wait_until(
                lambda: writes.fired() or not process.leader_alive(),
                what=f"a write of the pipeline to {fault.topic}",
                seconds=_WRITE_SECONDS,
                every=0.005,
                stop=context.stop,
            )
            self._committed = offsets_committed(context, fault.seconds)
            self._withheld = len(writes.fired())
            self.at = now()
            how = f"{'SIGKILL' if fault.ending == 'kill' else 'SIGTERM'} by fault «{name}»"
            if fault.ending == "stop":
                process.ask_all_to_end()
                writes.remove()
            self._ended = end(process, how, asked=fault.ending == "stop")
        self.target = self._ended.split()[0]

    def evidence(self) -> str | None:
        if not self._withheld:
            return None
        return (
            f"{self._ended} while {self._withheld} of its Produce requests to {self._fault.topic} "
            f"were withheld; meanwhile it had committed offsets {self._committed} times"
        )

    def heal(self) -> None:
        wait_mended(self._context, self._links)
        start_again(self._context)
