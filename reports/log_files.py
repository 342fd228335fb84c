"""Read the lines of a period from a run's logs, whatever their size.

Lines are in order of time, so the period is found by bisection, and only its lines are read: at
most `_READ` of them, and only their beginnings. A line without a time stamp belongs to the line
before.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from onceproof.checkers.regular import NotRegular, check_regular
from onceproof.reports.stamps import LOOKED_AT, Stamp, stamp
from onceproof.reports.text import cut, storable, visible

_READ = 20_000
"""Maximum number of lines read per period."""
_AHEAD = 65_536
"""Bytes searched for the next line with a time stamp."""
_LONGEST = 2**24
"""A longer line is the last one read: the hole of a sparse file may span many gigabytes."""
_LINES, _LOGS = 30, 40
_TEXT = 240
_LATE = 1.0
"""Seconds; upper bound for the disorder of lines from several threads."""
_ZONES = 900
"""Seconds; time zones differ by multiples of 15 minutes."""
_AT_ONCE = 60
"""Seconds after its start within which a program usually logs something."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line, and when it was written, in seconds since 1970."""

    at: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Lines:
    """The lines of one log nearest to a time; `count` is the number of all lines in the period."""

    log: str
    lines: tuple[Line, ...]
    count: int


class LogFiles:
    """The logs in a folder.

    Attributes:
        silent: names of non-empty logs without any time stamp.
        refused: names of `*.log` entries that are not regular files of the folder.
    """

    def __init__(self, folder: Path, started: Mapping[str, float] | None = None) -> None:
        """Read the beginning of each log.

        Args:
            folder: need not exist.
            started: name of a log without `.log` → when its writer was started, in seconds since
                1970. It determines the time zone of the log's stamps.
        """
        found = sorted(folder.glob("*.log")) if folder.is_dir() else []
        names = [p for p in found if _is_regular(p, folder)]
        self.refused = tuple(p.name for p in found if p not in names)
        first = {p: _first(p) for p in names[:_LOGS]}
        self.silent = tuple(p.name for p, (size, found) in first.items() if size and not found)
        zones = _zones({p.stem: found for p, (_, found) in first.items() if found}, started or {})
        self._zones = {p: zones[p.stem] for p, (_, found) in first.items() if found}

    def around(self, middle: float, start: float, end: float) -> tuple[Lines, ...]:
        """Return each log's lines of a period, those nearest to `middle`; in seconds since 1970."""
        found = []
        for path, zone in self._zones.items():
            lines = [
                Line(at=line.at - zone.ahead, text=line.text)
                for line in _between(path, start + zone.ahead, end + zone.ahead)
            ]
            if lines:
                near = sorted(range(len(lines)), key=lambda i: abs(lines[i].at - middle))
                kept = tuple(lines[i] for i in sorted(near[:_LINES]))
                found.append(Lines(log=path.name, lines=kept, count=len(lines)))
        return tuple(found)


def _is_regular(path: Path, folder: Path) -> bool:
    try:
        check_regular(path, folder.parent)  # the folder of logs must be inside its parent, too
    except NotRegular:
        return False
    return path.is_file()


@dataclass(frozen=True)
class _Zone:
    """How many seconds a log's time stamps are ahead of UTC."""

    ahead: float


def _zones(first: Mapping[str, Stamp], started: Mapping[str, float]) -> dict[str, _Zone]:
    """Derive each log's time zone: how far its first stamp is from its writer's start.

    A program that logs nothing for long after its start gets the zone of the one that logged
    soonest after its own start.
    """
    ahead: dict[str, tuple[float, float]] = {}
    for name, at in first.items():
        if not at.zoned and name in started:
            whole = (at.at - started[name] + 1) // _ZONES * _ZONES
            ahead[name] = (at.at - started[name] - whole, whole)
    soonest = min(ahead.values(), default=(0.0, 0.0))
    return {
        name: _Zone(0.0 if at.zoned else (_plausible(ahead.get(name)) or soonest)[1])
        for name, at in first.items()
    }


def _plausible(found: tuple[float, float] | None) -> tuple[float, float] | None:
    return found if found and found[0] <= _AT_ONCE else None


def _first(path: Path) -> tuple[int, Stamp | None]:
    """Return the size of a log's beginning, and its first time stamp."""
    with path.open("rb") as log:
        head = log.read(_AHEAD)
    return len(head), next((s for line in head.splitlines() if (s := stamp(line))), None)


def _between(path: Path, start: float, end: float) -> Iterator[Line]:
    """Yield the lines with a time stamp in a period, in the log's own time zone."""
    if not path.stat().st_size:
        return
    with path.open("rb") as log, mmap.mmap(log.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        place, at = _bisect(whole, start - _LATE), None
        for _ in range(_READ):
            line, place = _line(whole, place)
            if not line:
                return
            found = stamp(line)
            at = found.at if found else at
            if at is None:
                continue
            if at > end + _LATE:
                return
            if start <= at <= end and line.strip():
                # Spark overwrites its progress with \r: only the last part stays visible.
                text = line.rstrip(b"\r\n").rsplit(b"\r", 1)[-1].decode("utf-8", "backslashreplace")
                # Escaping a long line is slow, so cut it first to what `cut` needs.
                yield Line(at=at, text=cut(storable(visible(text[: _TEXT + 1])), _TEXT))


def _bisect(whole: mmap.mmap, at: float) -> int:
    """Return the offset of the first line at or after a time, or of one shortly before it."""
    low, high = 0, len(whole)
    while high - low > _AHEAD:
        middle = (low + high) // 2
        found = _stamped(whole, middle, high)
        if found is None or found[1] >= at:
            high = middle
        else:
            low = found[0]
    return low


def _stamped(whole: mmap.mmap, place: int, end: int) -> tuple[int, float] | None:
    """Return the first line with a time stamp within `_AHEAD` bytes: its offset, and its time."""
    stop = min(end, place + _AHEAD)
    newline = whole.find(b"\n", place, stop)
    place = newline + 1
    while newline >= 0 and place < stop:
        line, after = _line(whole, place)
        if found := stamp(line):
            return place, found.at
        place = after
    return None


def _line(whole: mmap.mmap, place: int) -> tuple[bytes, int]:
    """Return the beginning of a line, and the offset of the next one."""
    newline = whole.find(b"\n", place, place + _LONGEST)
    after = len(whole) if newline < 0 else newline + 1
    return whole[place : min(after, place + LOOKED_AT)], after
