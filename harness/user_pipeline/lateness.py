"""Decide which inputs a pipeline may drop as late, from the input's log.

The watermark at the time an input is read is not visible from outside: it follows the event times
of one partition, or of all, in the order of reading. But it never exceeds the greatest event time
read, minus the allowed lateness. So an input is

* on time if its event time is later than that of every input written before it, in any partition,
  minus the allowed lateness; it must have its effects;
* *late* otherwise: dropping it is correct.

An input that is on time may still be dropped if its partition was read after others, whose later
inputs had advanced the watermark. That is ruled out if a later input of its partition, with an
event time that is no later, was not dropped. Otherwise an input without effects is *unclear*, not
lost.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from onceproof.harness.history.identity import ATTEMPT_HEADER, ODD_HEADER, RECORD_HEADER
from onceproof.harness.kafka.log_reader import PartitionLog
from onceproof.harness.user_pipeline.event_time import EventTime

LATE: Final = "late"
UNCLEAR: Final = "unclear"

Place = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class TimedInput:
    """One committed input.

    Attributes:
        at: event time; None: it has none, so it may be dropped.
        called, returned: when the producer's send was called, and when it was acknowledged, on
            one clock; by default unknown, that is, the earliest and the latest time.
        served: whether it has its effects.
    """

    place: Place
    at: int | None
    called: float = -math.inf
    returned: float = math.inf
    served: bool


def lateness(inputs: Iterable[TimedInput], allowed: int) -> dict[Place, str]:
    """Return `LATE` or `UNCLEAR` for each input that need not have effects.

    `allowed` is the allowed lateness, in the unit of event times.
    """
    by_partition: dict[int, list[TimedInput]] = {}
    for each in sorted(inputs, key=lambda each: each.place):
        by_partition.setdefault(each.place[0], []).append(each)
    written = {partition: _GreatestTimes(logged) for partition, logged in by_partition.items()}
    found: dict[Place, str] = {}
    for partition, logged in by_partition.items():
        others = [each for other, each in written.items() if other != partition]
        before = -math.inf
        last_served = _last_served(logged)
        for each, witness in zip(logged, last_served, strict=True):
            if each.at is None:
                found[each.place] = LATE
                continue
            greatest = max([before, *(other.greatest(each.returned) for other in others)])
            if each.at <= greatest - allowed:
                found[each.place] = LATE
            elif not each.served and witness > each.at:
                found[each.place] = UNCLEAR
            before = max(before, each.at)
    return found


class _GreatestTimes:
    """The greatest event time of a partition, by the time of sending."""

    def __init__(self, logged: Sequence[TimedInput]) -> None:
        known = sorted((each.called, each.at) for each in logged if each.at is not None)
        self._called = [called for called, _ in known]
        self._greatest = list(accumulate((at for _, at in known), max))

    def greatest(self, by: float) -> float:
        place = bisect_right(self._called, by)
        return self._greatest[place - 1] if place else -math.inf


def _last_served(logged: Sequence[TimedInput]) -> list[float]:
    """Return, for each input of a partition, the least event time after it that was not dropped."""
    least, found = math.inf, []
    for each in reversed(logged):
        found.append(least)
        if each.served and each.at is not None:
            least = min(least, each.at)
    return found[::-1]


def timed(
    logs: Iterable[PartitionLog],
    *,
    times: EventTime,
    served: Sequence[Collection[str | None]],
    sends: Iterable[Mapping[str, Any]],
) -> list[TimedInput]:
    """Return the inputs of a topic.

    Odd records have the event times of inputs before them, so they do not move the watermark.
    `served` holds, for each output, the inputs that have effects there.
    """
    calls = {
        row["attempt"]: (
            row["called_at"],
            row["returned_at"] if row["outcome"] == "ok" else math.inf,
        )
        for row in sends
    }
    found = []
    for log in logs:
        for entry, committed in zip(log.entries, log.committed(), strict=True):
            if not committed or entry.kind != "data" or ODD_HEADER in entry.headers:
                continue
            record = entry.headers.get(RECORD_HEADER, b"").decode(errors="replace")
            attempt = entry.headers.get(ATTEMPT_HEADER, b"").decode(errors="replace")
            called, returned = calls.get(attempt, (-math.inf, math.inf))
            value = None if entry.value is None else entry.value.decode(errors="replace")
            found.append(
                TimedInput(
                    place=(log.partition, entry.offset),
                    at=times.find(value),
                    called=called,
                    returned=returned,
                    served=all(record in each for each in served),
                )
            )
    return found
