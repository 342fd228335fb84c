"""How far a pipeline of somebody's own is, as it can be seen without its help.

The one thing to know: it has come as far as a consumer group of the cluster has committed, or to
the end of each partition whose last input has an effect. The second holds where a partition is
processed in order; where an input may have no effect, one of the last few is enough. Neither counts
before its output has stood still for a while.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from harness.identity import RECORD_HEADER
from harness.kafka.log_reader import LogReader, UnreadableLog
from harness.own.group_commits import GroupCommits
from harness.own.outputs.base import UnreadableOutput
from harness.own.upserts import passed
from harness.sinks.base import Sink
from harness.subjects.pipeline import Positions

QUIET: Final = 5.0
"""Seconds for which an output must not change before it counts as still."""
_FEW: Final = 25
"""How many of the last inputs of a partition are looked at where an input may have no effect."""

Opened = Callable[[LogReader], Sink]


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
    _tail: dict[tuple[str, int], int] = field(default_factory=dict, init=False)
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

    def done(self) -> tuple[int, int]:
        """How many inputs have an effect, and how many stand in the input."""
        with self.reader() as reader:
            there = [
                [
                    (record, (entry.key or b"").decode(errors="replace"))
                    for entry in log.entries
                    if (record := entry.headers.get(RECORD_HEADER, b"").decode())
                ]
                for log in reader.read_topic(self.topic)
            ]
            effects = {e.record for e in self.sink(reader).effects()}
        known = {record for inputs in there for record, _ in inputs}
        if not self.upserts:
            return len(known & effects), len(known)
        past = {record for inputs in there for record, done in passed(inputs, effects) if done}
        return len(past), len(known)

    def positions(self) -> Positions | None:
        """How far it is in each partition; None: nowhere yet."""
        found = self.groups.newest()
        if self.still() and self._tail_of != self._size:
            self._tail, self._tail_of = self._reached(), self._size
        for at, offset in self._tail.items():
            found[at] = max(offset, found.get(at, 0))
        return found or None

    def _reached(self) -> dict[tuple[str, int], int]:
        """The end of each partition one of whose last inputs has an effect."""
        found = {}
        try:
            with self.reader() as reader:
                effects = {e.record for e in self.sink(reader).effects()}
                for log in reader.read_topic(self.topic):
                    inputs = [
                        entry
                        for entry, committed in zip(log.entries, log.committed(), strict=True)
                        if committed and entry.kind == "data"
                    ]
                    last = inputs[-(_FEW if self.optional else 1) :]
                    names = {e.headers.get(RECORD_HEADER, b"").decode() for e in last}
                    if names & effects:
                        found[log.topic, log.partition] = inputs[-1].offset + 1
        except (UnreadableLog, UnreadableOutput):
            pass  # not now
        return found
