"""A user's program with topics and a group of its own choice: the only client of its stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from onceproof.harness.explore.bench.lanes.program import ProgramLane
from onceproof.harness.kafka.group_offsets import Commit, commits
from onceproof.harness.kafka.log_reader import LogReader, UnreadableLog
from onceproof.harness.links.gate.client import Event
from onceproof.harness.links.gate.rules import POSITIONS
from onceproof.harness.user_pipeline.orders import Orders


@dataclass(kw_only=True)
class AloneLane(ProgramLane):
    """A program on a stage of its own, whose every message is of the program.

    Its group is learned from its messages. If it does not commit offsets in Kafka, its work is done
    when its output has all effects.
    """

    _messages: Callable[[], Sequence[Event]] = field(default=tuple, init=False)

    @cached_property
    def source(self) -> str:
        orders = self.pipeline.orders
        assert isinstance(orders, Orders)
        return orders.topic

    @cached_property
    def output(self) -> str:
        (output,) = self.pipeline.outputs
        return output.place

    @property
    def group_id(self) -> str:
        """The group of its first commit; before that, what `{group}` stands for."""
        return self._group or self.name

    def client_ids(self, life: int) -> None:
        """Return None: the program chooses its client ids."""
        return

    def listen(self, messages: Callable[[], Sequence[Event]]) -> None:
        self._messages = messages

    @property
    def _group(self) -> str | None:
        found = (event["groups"] for event in self._messages() if event["api"] in POSITIONS)
        return next((name for names in found for name in names), None)

    def prepare(self, reader: LogReader) -> None:
        """Do nothing: the stage is new, so the group has no earlier commits."""

    def _committed(self) -> bool:
        if self._group:
            return super()._committed()
        return self._written_so_far().issuperset(self._sent)

    def _written_so_far(self) -> set[str | None]:
        try:
            with self.around.reader() as reader:
                return {effect.record for effect in self.open_sink(reader).effects()}
        except UnreadableLog:
            return set()  # the broker is the one that fails

    def positions(self, reader: LogReader) -> list[Commit]:
        """Return the committed offsets; none if it does not commit them in Kafka."""
        return commits(reader, self.group_id, 0) if self._group else []
