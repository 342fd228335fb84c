"""The workload for a pipeline that reads several topics: a join, or a union.

Each topic has its own records, from a file or generated; generated ones match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.origins import of_topic
from onceproof.harness.user_pipeline.profile import ABORTED
from onceproof.harness.workload.contributions import Transforms
from onceproof.harness.workload.task_file import SenderRecord


@dataclass(frozen=True, kw_only=True)
class SeveralInputs:
    """A workload for several topics, each with the same numbers of producers and partitions.

    Attributes:
        rate: records per second of all producers together, while faults are active.
        file: names of the files with records; None: they are generated.
    """

    inputs: tuple[Orders, ...]
    rate: int = 400
    transaction: int = field(default=0, init=False)
    file: str | None = field(default=None, init=False)
    trickle = Orders.trickle
    rounds = 1
    probes = (ABORTED,)
    """No null values: one deletes the stored state of its key, perhaps before its match arrives."""
    # Options that cannot be judged with several inputs are rejected earlier.
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
        """Return about so many generated records; files remain whole, to keep their matches."""
        if self.file:
            return self
        each = max(records // len(self.inputs), 1)
        return replace(self, inputs=tuple(replace(of, records=each) for of in self.inputs))

    def by_input(self, sink: str) -> dict[str | None, ExpectedEffects]:
        """Return the effects that each record of a topic has in an output."""
        return {each.topic: each.yields(sink) for each in self.inputs}

    def sends(self, *, producer: int, seed: int) -> Iterator[SenderRecord]:
        """Yield what one producer sends: topics interleaved, sentinels last. See `Orders.sends`."""
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
        """Yield the expected effects of one producer's records, as rows of `expected`."""
        for each in self.inputs:
            for row in each.expected(subject, producer=producer, seed=seed):
                yield {**row, "record": of_topic(each.topic, row["record"])}

    def contributed(
        self, subject: Transforms, *, producer: int, seed: int
    ) -> Iterator[dict[str, Any]]:
        """Yield nothing: only effects are judged."""
        return iter(())

    def required(self, *, seed: int) -> frozenset[str]:
        return self._of_each(lambda each: each.required(seed=seed))

    def required_sentinels(self, *, seed: int) -> frozenset[str]:
        return self._of_each(lambda each: each.required_sentinels(seed=seed))

    def elsewhere(self, sink: str, *, seed: int) -> frozenset[str]:
        """Return nothing: what a record must have, it must have in every output."""
        return frozenset()

    def _of_each(self, names: Callable[[Orders], Iterable[str]]) -> frozenset[str]:
        return frozenset(of_topic(of.topic, name) for of in self.inputs for name in names(of))


def _in_turn(lists: Sequence[Sequence[SenderRecord]]) -> list[SenderRecord]:
    """Interleave lists evenly, each in its own order."""
    placed = [
        ((n + 0.5) / len(each), which, record)
        for which, each in enumerate(lists)
        for n, record in enumerate(each)
    ]
    return [record for _, _, record in sorted(placed, key=lambda place: place[:2])]
