"""Infer the log behind a Jepsen history from polls and acknowledgements.

For each offset:

* **Polled**: the record is there. If polls saw several records at an offset, all are there, which
  is `inconsistent-offsets`. The record is committed unless the only transactions that sent it were
  aborted or, where readers see uncommitted records, may have been. (A read of such a record is
  itself the anomaly `aborted-read`; the log must not hide it.)
* **Acknowledged, and polled at another offset**: the record is at both, a `duplicate`.
* **Acknowledged, never polled, and some reader passed the offset** without a break in its session,
  or saw another record there: it is not there, so it is a `lost-write`.
* **Acknowledged, never polled, and no reader got that far**: assumed to be there, as the broker
  said. If a reader stopped before it, it is `unseen`.
* **Acknowledged without an offset, never polled**: unknown. Then no record is reported as lost.

An acknowledgement counts only if its send certainly took effect: `:ok`, or `:info` in a transaction
of which a committed read saw something.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from onceproof.checkers.imports.jepsen_readers import Session

Records = tuple[str | None, ...]
"""The records at one offset; more than one if observers contradict each other."""


@dataclass(slots=True)
class Attempt:
    """One send."""

    key: int
    record: str
    offset: int | None
    effective: bool
    """It was acknowledged and certainly took effect."""
    possible: bool


@dataclass(frozen=True, kw_only=True)
class Log:
    """The inferred log: key → offset → records, and the uncommitted records."""

    entries: Mapping[int, Mapping[int, Records]]
    uncommitted: frozenset[str]
    undecidable: int
    """Number of acknowledged sends that may or may not be in the log."""


class ReadRanges:
    """Offset ranges that were read without a break, merged per key."""

    def __init__(self, sessions: Iterable[Session]) -> None:
        found: dict[int, list[tuple[int, int]]] = {}
        for session in sessions:
            if (stretch := session.stretch) is not None and stretch[0] < stretch[1]:
                found.setdefault(session.key, []).append(stretch)
        self._starts: dict[int, list[int]] = {}
        self._ends: dict[int, list[int]] = {}
        for key, stretches in found.items():
            starts, ends = self._starts.setdefault(key, []), self._ends.setdefault(key, [])
            for start, end in sorted(stretches):
                # Ranges that share offsets count as one: each shared offset was read in one of
                # them.
                if ends and start < ends[-1]:
                    ends[-1] = max(ends[-1], end)
                else:
                    starts.append(start)
                    ends.append(end)

    def passed(self, key: int, offset: int) -> bool:
        """Whether a reader passed this offset."""
        starts = self._starts.get(key, [])
        place = bisect_right(starts, offset) - 1
        return place >= 0 and offset < self._ends[key][place]


def log_of(
    polled: Mapping[int, dict[int, Records]],
    attempts: Iterable[Attempt],
    stretches: ReadRanges,
    *,
    transactions: bool,
) -> Log:
    """Infer the log from polls (key → offset → records), sends and the offsets that readers passed.

    With `transactions` a send takes effect only by a commit.
    """
    entries = {key: dict(found) for key, found in polled.items()}
    seen = {record for found in polled.values() for there in found.values() for record in there}
    sent: set[str] = set()
    possible: set[str] = set()
    undecidable = 0
    for attempt in attempts:
        sent.add(attempt.record)
        if attempt.possible:
            possible.add(attempt.record)
        if not attempt.effective:
            continue
        if attempt.offset is None:
            undecidable += attempt.record not in seen
            continue
        there = entries.setdefault(attempt.key, {})
        here = there.get(attempt.offset, ())
        if attempt.record not in here and (
            attempt.record in seen
            or not (
                attempt.offset in polled.get(attempt.key, ())
                or stretches.passed(attempt.key, attempt.offset)
            )
        ):
            there[attempt.offset] = (*here, attempt.record)
    return Log(
        entries=entries,
        uncommitted=frozenset(sent - possible) if transactions else frozenset(),
        undecidable=undecidable,
    )
