"""The event time of an input: a field of its JSON value that advances a pipeline's watermark.

A watermark is the greatest event time read, minus the allowed lateness. Inputs behind the watermark
are dropped. A window is written only when later inputs move the watermark past its end. The last
inputs are therefore sent in rounds, each with an event time far beyond all before it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from onceproof.harness.user_pipeline.identity import BadRule, Rule, at

ISO: Final = "iso"
MILLISECONDS: Final = "ms"
SECONDS: Final = "s"
FORMATS: Final = {
    ISO: "a time in ISO 8601, such as 2026-01-01T00:00:00Z",
    MILLISECONDS: "milliseconds since 1970",
    SECONDS: "seconds since 1970",
}
ROUNDS: Final = 3
"""How often later event times advance the watermark. The effects of the first round are awaited.
The second closes its windows; the third is for engines that advance the watermark a batch later."""
_UNITS: Final = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000} | {
    "d": 86_400_000_000
}
_DURATION: Final = re.compile(r"([1-9]\d{0,8})(ms|s|m|h|d)")
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MADE_UP_FROM: Final = 1_767_225_600_000_000
"""2026-01-01T00:00:00Z."""
_IN_LATENESS: Final = 300
"""Generated inputs per allowed lateness of event time: three seconds' worth at 100 a second."""
_DISORDER: Final = 4
"""Generated inputs are out of order by at most a quarter of the allowed lateness. The rest is for
reordering on the way: an input may wait for its broker while others overtake it."""
_LATE_EVERY: Final = 50
_LATE: Final = 25
"""Out of every `_LATE_EVERY` generated inputs, the one at this index is too late."""
_ROUND_LATENESS_FACTOR: Final = 1_000
_MIN_ROUND_DISTANCE: Final = _UNITS["d"]
"""Minimum distance of a round from all event times before it: longer than windows are."""


@dataclass(frozen=True, kw_only=True)
class EventTime:
    """Where an input has its event time. Parsed event times are microseconds since 1970.

    Attributes:
        path: of the field, such as `$.at`.
        format: a name of `FORMATS`.
        lateness: allowed lateness in microseconds.
    """

    path: str
    format: str
    lateness: int

    @classmethod
    def parse(cls, rule: str, format_: str, lateness: str) -> EventTime:
        """Parse the values of command-line options; raise `BadRule` if one is invalid."""
        found = Rule.parse(rule)
        if found.kind != "json" or "[" in found.argument:
            raise BadRule(f"invalid --event-time {rule!r}: expected json:$.FIELD")
        if format_ not in FORMATS:
            raise BadRule(f"invalid --event-time-format {format_!r}: expected {', '.join(FORMATS)}")
        duration = _DURATION.fullmatch(lateness)
        if duration is None:
            raise BadRule(
                f"invalid --allowed-lateness {lateness!r}: expected a number and a unit, such as "
                "500ms, 10s, 5m, 1h or 1d"
            )
        micros = int(duration[1]) * _UNITS[duration[2]]
        return cls(path=found.argument, format=format_, lateness=micros)

    def __str__(self) -> str:
        seconds = self.lateness / _UNITS["s"]
        return f"at {self.path}, as {FORMATS[self.format]}; allowed lateness {seconds:g} s"

    def read(self, value: str | None) -> int:
        """Return the event time of an input; raise `BadRule` if it has no readable one."""
        try:
            content = at(json.loads(value or ""), self.path)
        except (ValueError, LookupError, TypeError):
            raise BadRule(
                f"no event time at {self.path}; the record is {(value or '')[:120]!r}"
            ) from None
        found = self._micros(content)
        if found is None:
            options = [f"--event-time-format {name}" for name in _possible_formats(content)]
            raise BadRule(
                f"the event time at {self.path} is {json.dumps(content)[:80]}; expected "
                f"{FORMATS[self.format]}{f', or {options[0]}' if options else ''}"
            )
        return found

    def find(self, value: str | None) -> int | None:
        """Return the event time of an input; None if it has no readable one."""
        try:
            return self.read(value)
        except BadRule:
            return None

    def put(self, value: str, micros: int) -> str:
        """Return the input with another event time, formatted as its present one, if any."""
        content = json.loads(value)
        *before, last = self.path.removeprefix("$.").split(".")
        inside = content
        for name in before:
            inside = inside.setdefault(name, {})
        inside[last] = self._formatted(micros, inside.get(last))
        return json.dumps(content, ensure_ascii=False)

    def _micros(self, content: Any) -> int | None:
        if self.format == ISO:
            moment = _iso(content)
            return None if moment is None else moment[0]
        found = _number(content)
        if found is None or self.format not in _possible_formats(content):
            return None
        return round(found * _UNITS[self.format])

    def _formatted(self, micros: int, like: Any) -> str | int:
        if self.format != ISO:
            whole = micros // _UNITS[self.format]
            return str(whole) if isinstance(like, str) else whole
        was = _iso(like)
        zone = was[1].tzinfo if was else UTC
        moment = (_EPOCH + timedelta(microseconds=micros)).astimezone(zone or UTC)
        text = moment.replace(tzinfo=None).isoformat(
            sep=" " if was and " " in like else "T",
            timespec="seconds" if was and "." not in like else "milliseconds",
        )
        if was is None or str(like).endswith("Z"):
            return f"{text}Z"
        return text if zone is None else f"{text}{moment.isoformat()[-6:]}"


def made_up(times: EventTime, records: int, seed: int) -> Sequence[int]:
    """Return event times in the order of sending: they increase, but most are out of order within
    the allowed lateness, and some are too late.
    """
    draw = random.Random(f"{seed}/event-times")
    step = max(times.lateness // _IN_LATENESS, 1)
    found = []
    for n in range(records):
        behind = draw.randrange(times.lateness // _DISORDER + 1)
        if n % _LATE_EVERY == _LATE:
            behind = times.lateness * draw.randrange(5, 20)
        found.append(_MADE_UP_FROM + n * step - behind)
    return found


def round_event_time(times: EventTime, known: Iterable[int], number: int) -> int:
    """Return the event time of a round of last inputs (from 0), beyond all known event times."""
    far = max(_MIN_ROUND_DISTANCE, _ROUND_LATENESS_FACTOR * times.lateness)
    return max(known, default=_MADE_UP_FROM) + (number + 1) * far


def late(times: EventTime, found: Iterable[int]) -> tuple[list[bool], int]:
    """Return which of the inputs, in order, are too late, and how many others are out of order."""
    which, disordered, greatest = [], 0, None
    for each in found:
        is_late = greatest is not None and each <= greatest - times.lateness
        which.append(is_late)
        disordered += greatest is not None and each < greatest and not is_late
        greatest = each if greatest is None else max(greatest, each)
    return which, disordered


def _iso(content: Any) -> tuple[int, datetime] | None:
    """Parse ISO 8601: microseconds (UTC if there is no zone), and the datetime as written."""
    if not isinstance(content, str) or _NUMBER.fullmatch(content):
        return None
    try:
        moment = datetime.fromisoformat(content)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1), moment


def _number(content: Any) -> float | int | None:
    if isinstance(content, bool) or not isinstance(content, int | float | str):
        return None
    if isinstance(content, str):
        if not _NUMBER.fullmatch(content):
            return None
        return float(content) if "." in content else int(content)
    return content


def _possible_formats(content: Any) -> tuple[str, ...]:
    """Return the possible formats of a value: 10^11 is the year 1973 in ms, or 5138 in s."""
    if _iso(content):
        return (ISO,)
    found = _number(content)
    if found is None or abs(found) >= 1e14:
        return ()
    return (MILLISECONDS,) if abs(found) >= 1e11 else (SECONDS,)
