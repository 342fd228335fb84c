"""Observe a user pipeline's progress from its outputs.

A partition of the input is done when each of its inputs has its effects in every output. If some
are missing, the pipeline may have lost them or may still hold them back. To find out, the last
inputs of the workload, its *sentinels*, are sent only when the outputs are idle. A partition is
also done when all its sentinels have effects and the outputs are idle again; what is still missing
is lost. Commits of consumer groups are not used.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final

from onceproof.harness.context.pipeline import PipelineTrouble, Positions
from onceproof.harness.history.identity import ODD_HEADER, RECORD_HEADER
from onceproof.harness.kafka.log_reader import Entry, LogReader, PartitionLog, UnreadableLog
from onceproof.harness.user_pipeline.final_state import arrived
from onceproof.harness.user_pipeline.group_commits import GroupCommits
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from onceproof.harness.user_pipeline.together import CombinedOutputs
from onceproof.harness.user_pipeline.upserts import passed

QUIET: Final = 5.0
"""Seconds without a change after which an output is considered idle."""

Opened = Callable[[LogReader], CombinedOutputs]


@dataclass(kw_only=True)
class Look:
    """Observes one pipeline.

    Attributes:
        sent: identities of its inputs.
        required: those of `sent` that must have an effect.
        elsewhere: for each output, those of `required` that need none there.
        sentinels: those of `required` that are sent last, when the outputs are idle.
        rest: seconds without a change after which its outputs are considered idle.
        pause: its longest usual pause between two writes, in seconds.
        upserts: whether a later input of a key overwrites the value of an earlier one.
        keys: for each output that is a state table, the result of `keys_of`.
    """

    topics: tuple[str, ...]
    groups: GroupCommits
    reader: Callable[[], AbstractContextManager[LogReader]]
    sink: Opened
    sent: Collection[str]
    required: Collection[str]
    elsewhere: Sequence[Collection[str]] = ()
    sentinels: Collection[str] = frozenset()
    rest: float = QUIET
    pause: float = 0.0
    upserts: bool = False
    keys: Sequence[Mapping[str, Collection[str]]] = ()
    close: Callable[[], None] = lambda: None
    clock: Callable[[], float] = time.monotonic
    changes: int = field(default=0, init=False)
    """How often its outputs were seen to change."""
    added: set[tuple[str, int]] = field(default_factory=set, init=False)
    """Partitions that were added before its last start, so that it must know them."""
    _size: int | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    """Without it, two threads that see results in different order would count a change twice."""
    _since: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._since = self.clock()

    def size(self) -> int:
        """Return a number that changes with everything that becomes visible in the outputs.

        Raises:
            UnreadableLog, UnreadableOutput, psycopg.Error: an output cannot be read now.
        """
        with self._lock:
            with self.reader() as reader:
                size = self.sink(reader).size()
            if size != self._size:
                self._size, self._since = size, self.clock()
                self.changes += 1
            return size

    @property
    def quiet_for(self) -> float:
        return self.clock() - self._since

    def still(self) -> bool:
        """Return whether the outputs are idle."""
        self.size()
        return self.quiet_for >= self.rest

    def arrived(self) -> tuple[int, int, str]:
        """Return how many effects name an input, how many do not, and an example of the latter."""
        with self.reader() as reader:
            sink = self.sink(reader)
            if self.keys:
                return self._arrived_keys(sink.named())
            effects = sink.effects()
        unidentified = [e for e in effects if e.record not in self.sent]
        example = (
            f"{unidentified[0].position} has the identity {unidentified[0].record or 'none'}"
            if unidentified
            else ""
        )
        return len(effects) - len(unidentified), len(unidentified), example

    def _arrived_keys(self, there: Sequence[frozenset[str | None]]) -> tuple[int, int, str]:
        """Do the same for state tables, by keys that come from inputs and keys that do not."""
        unknown = [
            key
            for found, keys in zip(there, self.keys, strict=True)
            for key in found - frozenset(key for each in keys.values() for key in each)
        ]
        example = f"a row has the key {unknown[0] or 'none'}" if unknown else ""
        return sum(map(len, there)) - len(unknown), len(unknown), example

    def has(self, records: Collection[str]) -> bool:
        """Return whether each of these has an effect in every output; raises as `size` does."""
        with self.reader() as reader:
            effects = self.sink(reader).named()
        return all(record in there for there in effects for record in records)

    def nameless(self) -> int:
        """Return how many effects have no identity; raises as `size` does."""
        with self.reader() as reader:
            return sum(effect.record is None for effect in self.sink(reader).effects())

    def check_empty(self) -> None:
        """Raise `PipelineTrouble` if the outputs are not empty before the first start.

        Effects of an earlier trial have the same identities: they would hide losses, or look like
        duplicates.
        """
        try:
            ours, others, _ = self.arrived()
        except (UnreadableLog, UnreadableOutput):
            return  # an output that the program has not created yet cannot be read
        if ours + others:
            raise PipelineTrouble(
                f"the outputs have {ours + others} effects before the pipeline was first started; "
                "expected none. Let it write below {work} or to {database}, which are new in each "
                "run, or remove the output of earlier runs."
            )

    def done(self) -> tuple[int, int]:
        """Return how many inputs have an effect in every output, and how many inputs there are."""
        with self.reader() as reader:
            there = [
                [named for entry in inputs_of(log) if (named := _identity_and_key(entry))[0]]
                for log in self._logs(reader)
            ]
            effects = self.sink(reader).named()
        known = {record for inputs in there for record, _ in inputs}
        past = {
            record
            for inputs in there
            for (record, _), done in zip(inputs, self._done(inputs, effects), strict=True)
            if all(done)
        }
        return len(past), len(known)

    def past(self, ends: Positions) -> bool:
        """Return whether an input after each offset has all its effects; raises as `size` does."""
        with self.reader() as reader:
            effects = self.sink(reader).named()
            logs = {(log.topic, log.partition): log for log in self._logs(reader)}
        return all(
            any(done and offset >= end for offset, _, done in self._with_effects(inputs, effects))
            for at, end in ends.items()
            if (inputs := [(e.offset, *_identity_and_key(e)) for e in inputs_of(logs[at])])
        )

    def getting_past(self, ends: Positions) -> Callable[[], bool]:
        """Return a function that polls `past`, and reads the outputs only after a change."""
        changes = -1

        def is_past() -> bool:
            nonlocal changes
            self.size()
            if self.changes == changes:
                return False
            changes = self.changes
            return self.past(ends)

        return is_past

    def positions(self) -> Positions | None:
        """Return the end of each partition that is done, or else its first missing input.

        None while there are no inputs, or the outputs cannot be read.
        """
        still = self.still()
        try:
            with self.reader() as reader:
                effects = self.sink(reader).named()
                logs = [log for log in self._logs(reader) if inputs_of(log)]
        except (UnreadableLog, UnreadableOutput):
            return None
        reached = {(log.topic, log.partition): self._reached(log, effects, still) for log in logs}
        ends = {(log.topic, log.partition): inputs_of(log)[-1].offset + 1 for log in logs}
        for log in logs:
            at = log.topic, log.partition
            others = (reached[other] == end for other, end in ends.items() if other != at)
            # It read all others to their ends and nothing of this one, so it will not find it.
            if at in self.added and still and all(others) and self._is_untouched(log, effects):
                reached[at] = ends[at]
        return reached or None

    def _is_untouched(self, log: PartitionLog, effects: Sequence[Collection[str | None]]) -> bool:
        """Return whether no input of a partition has effects in every output."""
        inputs = [(entry.offset, *_identity_and_key(entry)) for entry in inputs_of(log)]
        return not any(done for _, _, done in self._with_effects(inputs, effects))

    def _reached(
        self, log: PartitionLog, effects: Sequence[Collection[str | None]], still: bool
    ) -> int:
        inputs = [(entry.offset, *_identity_and_key(entry)) for entry in inputs_of(log)]
        waiting = {
            record: offset
            for offset, record, done in self._with_effects(inputs, effects)
            if not done and record in self.required
        }
        sentinels = {record for _, record, _ in inputs if record in self.sentinels}
        if waiting and not (still and sentinels and sentinels.isdisjoint(waiting)):
            return min(waiting.values())
        return inputs[-1][0] + 1

    def input_logs(self) -> list[PartitionLog]:
        """Return the logs of all input partitions; raise `UnreadableLog` if that fails now."""
        with self.reader() as reader:
            return self._logs(reader)

    def _logs(self, reader: LogReader) -> list[PartitionLog]:
        return [log for topic in self.topics for log in reader.read_topic(topic)]

    def waits(self) -> bool:
        """Return whether a required input lacks an effect in an output; raises as `size` does."""
        with self.reader() as reader:
            effects = self.sink(reader).named()
            logs = [
                [(entry.offset, *_identity_and_key(entry)) for entry in inputs_of(log)]
                for log in self._logs(reader)
            ]
        return any(
            record in self.required and not done
            for inputs in logs
            for _, record, done in self._with_effects(inputs, effects)
        )

    def _with_effects(
        self, inputs: Sequence[tuple[int, str, str]], effects: Sequence[Collection[str | None]]
    ) -> list[tuple[int, str, bool]]:
        """Return offset, identity and whether it is done, for each input of a partition."""
        each = self._done([(record, key) for _, record, key in inputs], effects)
        return [
            (offset, record, all(done))
            for (offset, record, _), done in zip(inputs, each, strict=True)
        ]

    def _done(
        self, inputs: Sequence[tuple[str, str]], effects: Sequence[Collection[str | None]]
    ) -> list[tuple[bool, ...]]:
        """Return for each input (identity, key) of a partition which outputs have its effect."""
        arrival = passed if self.upserts else _arrived_by_identity
        if self.keys:
            records = [record for record, _ in inputs]
            by_output = [
                arrived(records, there, keys)
                for there, keys in zip(effects, self.keys, strict=True)
            ]
        else:
            by_output = [arrival(inputs, there) for there in effects]
        other = self.elsewhere or [()] * len(effects)
        each = [
            [done or record in elsewhere for record, done in found]
            for found, elsewhere in zip(by_output, other, strict=True)
        ]
        return list(zip(*each, strict=True))


def _arrived_by_identity(
    inputs: Iterable[tuple[str, str]], there: Collection[str | None]
) -> Iterator[tuple[str, bool]]:
    for record, _ in inputs:
        yield record, record in there


def inputs_of(log: PartitionLog) -> list[Entry]:
    """Return the committed inputs of a partition, without odd records sent beside them."""
    return [
        entry
        for entry, committed in zip(log.entries, log.committed(), strict=True)
        if committed
        and entry.kind == "data"
        and RECORD_HEADER in entry.headers
        and ODD_HEADER not in entry.headers
    ]


def _identity_and_key(entry: Entry) -> tuple[str, str]:
    record = entry.headers.get(RECORD_HEADER, b"").decode()
    return record, (entry.key or b"").decode(errors="replace")
