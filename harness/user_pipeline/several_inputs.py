"""What is sent to a pipeline that reads several topics: a join, or a union.

Each topic has records of its own, read from a file or made up; those match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from onceproof.harness.user_pipeline.effects import Yield
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.origins import of_topic
from onceproof.harness.user_pipeline.profile import ABORTED
from onceproof.harness.workload.contributions import Transforms
from onceproof.harness.workload.task_file import SenderRecord


@dataclass(frozen=True, kw_only=True)
class SeveralInputs:
    """A workload of several topics.

    Attributes:
        inputs: what is sent to each, with as many producers and partitions as to the others.
        rate: records per second of all producers together, while faults are at work.
        file: names of the files that the records are from; None: they are made up.
    """

    inputs: tuple[Orders, ...]
    rate: int = 400
    transaction: int = field(default=0, init=False)
    file: str | None = field(default=None, init=False)
    trickle = Orders.trickle
    rounds = 1
    probes = (ABORTED,)
    """One without a value deletes what is kept for its key, perhaps before its match has come."""
    # What could not be judged of several inputs is refused before.
    expects = ()
    states = ()
    ignored = ()
    times = None

    def __post_init__(self) -> None:
        files = ", ".join(each.file for each in self.inputs if each.file)
        object.__setattr__(self, "file", files or None)

    @property
    def records(self) -> int:
        return sum(each.records for each in self.inputs)

    @property
    def producers(self) -> int:
        return self.inputs[0].producers

    @property
    def partitions(self) -> int:
        return self.inputs[0].partitions

    @property
    def topic(self) -> str:
        return self.topics[0]

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(each.topic for each in self.inputs)

    @property
    def sentinels(self) -> int:
        return sum(each.sentinels for each in self.inputs)

    def of_size(self, records: int) -> SeveralInputs:
        """The same with about so many records in all, if they are made up: files stay whole, for
        nobody knows which of their records match.
        """
        if self.file:
            return self
        each = max(records // len(self.inputs), 1)
        return replace(self, inputs=tuple(replace(of, records=each) for of in self.inputs))

    def by_input(self, sink: str) -> dict[str | None, Yield]:
        """What each record of a topic comes to in a sink."""
        return {each.topic: each.yields(sink) for each in self.inputs}

    def sends(self, *, producer: int, seed: int) -> Iterator[SenderRecord]:
        """What one producer sends, in order: of each topic its share, and the sentinels last.

        Raises:
            BadRule: as of `Orders.sends`.
        """
        first: list[list[SenderRecord]] = []
        last: list[list[SenderRecord]] = []
        for each in self.inputs:
            sent = [
                replace(record, record=of_topic(each.topic, record.record))
                for record in each.sends(producer=producer, seed=seed)
            ]
            end = len(sent) - each.sentinels // each.producers
            first.append(sent[:end])
            last.append(sent[end:])
        yield from _in_turn(first)
        yield from _in_turn(last)

    def expected(
        self, subject: Transforms, *, producer: int, seed: int
    ) -> Iterator[dict[str, Any]]:
        """What one producer's records must come to in each sink, as rows of `expected`."""
        for each in self.inputs:
            for row in each.expected(subject, producer=producer, seed=seed):
                yield {**row, "record": of_topic(each.topic, row["record"])}

    def contributed(
        self, subject: Transforms, *, producer: int, seed: int
    ) -> Iterator[dict[str, Any]]:
        """Nothing: only effects are judged."""
        return iter(())

    def required(self, *, seed: int) -> frozenset[str]:
        """Identities of all records that must have an effect."""
        return self._of_each(lambda each: each.required(seed=seed))

    def asked_last(self, *, seed: int) -> frozenset[str]:
        """Identities of the sentinels that must have an effect."""
        return self._of_each(lambda each: each.asked_last(seed=seed))

    def elsewhere(self, sink: str, *, seed: int) -> frozenset[str]:
        """None: what each must have, it must have everywhere."""
        return frozenset()

    def _of_each(self, names: Callable[[Orders], Iterable[str]]) -> frozenset[str]:
        return frozenset(of_topic(of.topic, name) for of in self.inputs for name in names(of))


def _in_turn(lists: Sequence[Sequence[SenderRecord]]) -> list[SenderRecord]:
    """All of some lists, each in its order and spread over the whole."""
    placed = [
        ((n + 0.5) / len(each), which, record)
        for which, each in enumerate(lists)
        for n, record in enumerate(each)
    ]
    return [record for _, _, record in sorted(placed, key=lambda place: place[:2])]
