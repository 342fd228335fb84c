"""A user's program that reads the records of a trial and writes their effects to another topic."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.checkers import Claim
from onceproof.harness.explore.bench.lanes.base import in_turn
from onceproof.harness.explore.bench.lanes.reader import PARTITIONS, Input, ReaderLane
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.placeholders import fill
from onceproof.harness.user_pipeline.subject import OwnPipeline
from onceproof.harness.wait import Overdue, wait_until

PLACEHOLDERS: Final = ("bootstrap", "input", "output", "group", "client_id")
"""With all of them in its command, trials can run side by side."""
_EVERY: Final = 0.2
_IDLE_SECONDS: Final = 1.0
"""How long its output must not change before it is ended."""
_END_SECONDS: Final = 20.0


@dataclass(kw_only=True)
class ProgramLane(ReaderLane):
    """A user's program.

    Attributes:
        pipeline: the program, its input and its output as given by the user.
        claimed: the claims about it.
    """

    role: ClassVar[str] = "pipeline"
    pipeline: OwnPipeline
    claimed: Sequence[Claim]

    def client_ids(self, life: int) -> str | None:
        return f"{self.name}-{life}*"

    @cached_property
    def own(self) -> OwnPipeline:
        """The program with the topics of this lane."""
        orders, (output,) = self.pipeline.orders, self.pipeline.outputs
        assert isinstance(orders, Orders)
        few = replace(
            orders,
            topic=self.source,
            records=self.size,
            partitions=PARTITIONS,
            producers=1,
            sentinels=0,
            odd=(),
            expects=tuple((self.output, function) for _, function in orders.expects),
        )
        return replace(self.pipeline, orders=few, outputs=(replace(output, place=self.output),))

    def claims(self) -> Sequence[Claim]:
        return [
            replace(claim, scope=replace(claim.scope, input=self.source, sink=self.output))
            for claim in self.claimed
        ]

    def start(self) -> None:
        client_id, around = f"{self.name}-{len(self.lives) + 1}", self.around
        meanings = {
            "bootstrap": around.bootstrap,
            "input": self.source,
            "output": self.output,
            "group": self.group_id,
            "client_id": client_id,
            "instance": "0",
            "work": str(around.work),
        }
        self.lives.append(
            around.processes.start(
                client_id,
                [fill(part, meanings) for part in self.own.command],
                environment={name: fill(value, meanings) for name, value in self.own.variables},
                folder=Path(self.own.folder),
            )
        )

    def inputs(self) -> Iterable[Input]:
        return (
            Input(
                record=record.record,
                key=record.key.encode(),
                value=record.value_sent,
                headers=record.headers,
            )
            for record in self.own.orders.sends(producer=0, seed=0)
        )

    def perceived(self) -> str:
        ends = [life.ended for life in self.lives if not life.ending and not life.leader_alive()]
        return in_turn(ends) or "went on"

    def close(self) -> None:
        """Ask the program to end once its output is idle; kill it if its work is not done."""
        if self._over:
            self._wait_idle()
            self.lives[-1].end("the trial is over", asked=True)
        super().close()

    def _wait_idle(self) -> None:
        since, size = time.monotonic(), -1

        def idle() -> bool:
            nonlocal since, size
            with self.around.reader() as reader:
                found = sum(end for _, end in reader.ends(self.output).values())
            if found != size:
                since, size = time.monotonic(), found
            return time.monotonic() > since + _IDLE_SECONDS

        with suppress(Overdue):
            wait_until(idle, what="", seconds=_END_SECONDS, every=_EVERY, stop=self.around.stop)

    def open_sink(self, reader: LogReader) -> Sink:
        return self.own.open_sink(database="", reader=reader, work=self.around.work)

    def expected(self) -> Iterable[Mapping[str, Any]]:
        return self.own.orders.expected(self.own, producer=0, seed=0)
