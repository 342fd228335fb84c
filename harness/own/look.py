"""How far a pipeline of somebody's own is, as it can be seen without its help.

The one thing to know: it has come as far as its consumer groups have committed, or to the end of
each partition whose last input has an effect in every output; where an input may have no effect,
one of the last few is enough. Neither counts before its outputs have stood still for a while. Where
a group says that it is not at the end and some input behind its position has no effect, the group
may be right, and so may an output that has less than another: they have to stand still for much
longer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from harness.identity import RECORD_HEADER
from harness.kafka.log_reader import Entry, LogReader, UnreadableLog
from harness.own.group_commits import GroupCommits
from harness.own.outputs.base import UnreadableOutput
from harness.own.together import Together
from harness.own.upserts import passed
from harness.subjects.pipeline import PipelineTrouble, Positions

QUIET: Final = 5.0
"""Seconds for which an output must not change before it counts as still."""
LONG: Final = 60.0
"""The same where the pipeline's group says that there is something left to do."""
_FEW: Final = 25
"""How many of the last inputs of a partition are looked at where an input may have no effect."""

Opened = Callable[[LogReader], Together]


@dataclass(frozen=True, kw_only=True)
class _Tail:
    """Where a partition ends whose last input has an effect.

    Attributes:
        end: behind that input.
        undone: the last input that an output has no effect of; -1 if there is none.
        everywhere: whether the last input has an effect in every output.
    """

    end: int
    undone: int
    everywhere: bool


@dataclass(kw_only=True)
class Look:
    """Looks at one pipeline.

    Attributes:
        topic: its input.
        groups: knows what consumer groups commit.
        reader: opens a reader of logs.
        sink: opens its outputs.
        sent: identities that its inputs have.
        optional: whether an input may have no effect.
        upserts: whether an input leaves a value that a later one of its key takes the place of.
    """

    topic: str
    groups: GroupCommits
    reader: Callable[[], LogReader]
    sink: Opened
    sent: Collection[str]
    optional: bool
    upserts: bool = False
    changes: int = field(default=0, init=False)
    """How often something new was found in its outputs."""
    _size: int | None = field(default=None, init=False)
    _looking: threading.Lock = field(default_factory=threading.Lock, init=False)
    """Two who look at once, and hear in the other order, would count what is new twice."""
    _since: float = field(default_factory=time.monotonic, init=False)
    _tail: dict[tuple[str, int], _Tail] = field(default_factory=dict, init=False)
    _tail_of: int | None = field(default=None, init=False)

    def size(self) -> int:
        """A number that changes with everything that becomes visible in its outputs.

        Raises:
            UnreadableLog, UnreadableOutput, psycopg.Error: it cannot be seen now.
        """
        with self._looking:
            with self.reader() as reader:
                size = self.sink(reader).size()
            if size != self._size:
                self._size, self._since = size, time.monotonic()
                self.changes += 1
            return size

    def still(self) -> bool:
        """Whether nothing has changed in its outputs for a while."""
        self.size()
        return time.monotonic() - self._since >= QUIET

    def arrived(self) -> tuple[int, int, str]:
        """How many effects name an input, how many do not, and where one of those stands."""
        with self.reader() as reader:
            effects = self.sink(reader).effects()
        strangers = [e for e in effects if e.record not in self.sent]
        example = (
            f"{strangers[0].position} names {strangers[0].record or 'none'}" if strangers else ""
        )
        return len(effects) - len(strangers), len(strangers), example

    def check_empty(self) -> None:
        """See that nothing stands in its outputs before it has ever run.

        What an earlier trial left has the identities of this one's inputs: it would hide a loss, or
        look like a copy.

        Raises:
            PipelineTrouble: something does.
        """
        try:
            ours, others, _ = self.arrived()
        except (UnreadableLog, UnreadableOutput):
            return  # what its program has yet to make cannot be read
        if ours + others:
            raise PipelineTrouble(
                f"its outputs hold {ours + others} effects before it was ever started; expected "
                "none. Let it write below {work} or into {database}, which each run has for "
                "itself, or remove what an earlier run left."
            )

    def done(self) -> tuple[int, int]:
        """How many inputs have an effect in every output, and how many stand in the input."""
        with self.reader() as reader:
            there = [
                [named for entry in log.entries if (named := _named(entry))[0]]
                for log in reader.read_topic(self.topic)
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

    def positions(self) -> Positions | None:
        """How far it is in each partition; None: nowhere yet."""
        found = self.groups.newest()
        if self.still() and self._tail_of != self._size:
            try:
                self._tail, self._tail_of = self._reached(), self._size
            except (UnreadableLog, UnreadableOutput):
                self._tail, self._tail_of = {}, None  # not now: it is looked at again
        long = time.monotonic() - self._since >= LONG
        for at, tail in self._tail.items():
            if long or (tail.everywhere and tail.undone < found.get(at, tail.end)):
                found[at] = max(tail.end, found.get(at, 0))
        return found or None

    def _reached(self) -> dict[tuple[str, int], _Tail]:
        """The end of each partition one of whose last inputs has an effect.

        Raises:
            UnreadableLog, UnreadableOutput: it cannot be seen now.
        """
        found = {}
        with self.reader() as reader:
            effects = self.sink(reader).named()
            for log in reader.read_topic(self.topic):
                inputs = [
                    entry
                    for entry, committed in zip(log.entries, log.committed(), strict=True)
                    if committed and entry.kind == "data"
                ]
                done = self._done([_named(entry) for entry in inputs], effects)
                last = [
                    any(each) for each in zip(*done[-(_FEW if self.optional else 1) :], strict=True)
                ]
                if any(last):
                    undone = [
                        entry.offset
                        for entry, is_ in zip(inputs, done, strict=True)
                        if not all(is_)
                    ]
                    found[log.topic, log.partition] = _Tail(
                        end=inputs[-1].offset + 1,
                        undone=max(undone, default=-1),
                        everywhere=all(last),
                    )
        return found

    def _done(
        self, inputs: Sequence[tuple[str, str]], effects: Sequence[Collection[str | None]]
    ) -> list[tuple[bool, ...]]:
        """Of each input of a partition, by identity and key: whether each output has an effect."""
        if self.upserts:
            each = [[done for _, done in passed(inputs, there)] for there in effects]
        else:
            each = [[record in there for record, _ in inputs] for there in effects]
        return list(zip(*each, strict=True))


def _named(entry: Entry) -> tuple[str, str]:
    """Identity and key of an input."""
    record = entry.headers.get(RECORD_HEADER, b"").decode()
    return record, (entry.key or b"").decode(errors="replace")
