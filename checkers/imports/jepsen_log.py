"""The log behind a Jepsen history, as far as it was seen, and what its absence of a record proves.

Jepsen reads no broker's log. What is in it is known from polls and from
acknowledgements, and from nothing else. Position by position:

* **Polled**: it is there. If polls saw several records at a position, all of them are there, which
  is `inconsistent-offsets`. Committed unless the only transactions that sent the record were
  aborted, or, where readers see uncommitted records, may have been. (A read of such a record is
  itself the anomaly, `aborted-read`; the log must not say that all was well.)
* **Acknowledged, and the record was polled somewhere else**: it is in both places, a `duplicate`.
* **Acknowledged, never polled, and some reader passed over the position** without a break in its
  session, or saw another record there: it is not there, and so the record is a `lost-write`.
* **Acknowledged, never polled, and nobody came that far**: taken as there, on the broker's word. If
  a reader stood still before it, it is `unseen`.
* **Acknowledged without an offset, never polled**: nobody knows. Nothing is then said to be lost.

Only acknowledgements count whose send certainly took effect: `:ok`, or `:info` in a transaction of
which a committed read saw something.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from onceproof.checkers.imports.jepsen_readers import Session

Records = tuple[str | None, ...]
"""What stands at one position; more than one where observers contradict each other."""


@dataclass(slots=True)
class Attempt:
    """One send, as the log needs it."""

    key: int
    record: str
    offset: int | None
    effective: bool
    """It was acknowledged and certainly took effect."""
    possible: bool
    """It may have taken effect."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """What stands where: key → offset → records, and what is not committed."""

    entries: Mapping[int, Mapping[int, Records]]
    uncommitted: frozenset[str]
    undecidable: int
    """Acknowledged sends of which nobody knows whether they are there."""


class Stretches:
    """What was read without a break, per key, put together."""

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
                # Offsets that two stretches share were read in one of them.
                if ends and start < ends[-1]:
                    ends[-1] = max(ends[-1], end)
                else:
                    starts.append(start)
                    ends.append(end)

    def passed(self, key: int, offset: int) -> bool:
        """Whether a reader was before this offset, and behind it afterwards."""
        starts = self._starts.get(key, [])
        place = bisect_right(starts, offset) - 1
        return place >= 0 and offset < self._ends[key][place]


def log_of(
    polled: Mapping[int, dict[int, Records]],
    attempts: Iterable[Attempt],
    stretches: Stretches,
    *,
    transactions: bool,
) -> Log:
    """The log as far as it is known.

    Args:
        polled: key → offset → the records that polls saw there.
        stretches: what was read without a break.
        transactions: whether a send takes effect only by a commit.
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
