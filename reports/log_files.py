"""The logs of a run: the lines of a stretch of time, from files of any size.

Nothing is read but the stretch that is asked for, found by bisection, since
logs are in order of time; and of that no more than `_READ` lines, of which no more than their
beginnings. A line without a stamp belongs to the line before.
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
"""How many lines are looked at for one stretch."""
_AHEAD = 65_536
"""How far is read on to find a line that has a stamp."""
_LONGEST = 2**24
"""A line that is longer is the last one that is read: a hole of many gigabytes has no end."""
_LINES, _LOGS = 30, 40
_TEXT = 240
_LATE = 1.0
"""Lines of several threads are out of order by less than this many seconds."""
_ZONES = 900
"""Zones are whole quarters of an hour apart."""
_AT_ONCE = 60
"""A program says something within so many seconds of its start."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line, and when it was written: seconds since 1970."""

    at: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Lines:
    """The lines of one log that are nearest to a moment; `count` is of all in the stretch."""

    log: str
    lines: tuple[Line, ...]
    count: int


class LogFiles:
    """The logs in a folder.

    Attributes:
        silent: names of logs that hold something, and no line of it says when.
        refused: names of what is called a log and is no regular file of the folder.
    """

    def __init__(self, folder: Path, started: Mapping[str, float] | None = None) -> None:
        """Look into every log.

        Args:
            folder: where they lie; it need not exist.
            started: by the name of a log without `.log`, when what wrote it was started: seconds
                since 1970. It tells which zone the stamps of a log are in.
        """
        there = sorted(folder.glob("*.log")) if folder.is_dir() else []
        names = [p for p in there if _is_regular(p, folder)]
        self.refused = tuple(p.name for p in there if p not in names)
        first = {p: _first(p) for p in names[:_LOGS]}
        self.silent = tuple(p.name for p, (size, found) in first.items() if size and not found)
        zones = _zones({p.stem: found for p, (_, found) in first.items() if found}, started or {})
        self._zones = {p: zones[p.stem] for p, (_, found) in first.items() if found}

    def around(self, middle: float, start: float, end: float) -> tuple[Lines, ...]:
        """The lines of a stretch of time (seconds since 1970), of each log that has any."""
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
        check_regular(path, folder.parent)  # where the folder of logs itself must lie as well
    except NotRegular:
        return False
    return path.is_file()


@dataclass(frozen=True)
class _Zone:
    """How many seconds the stamps of a log are ahead of UTC."""

    ahead: float


def _zones(first: Mapping[str, Stamp], started: Mapping[str, float]) -> dict[str, _Zone]:
    """The zone of each log, by how its first stamp differs from when its writer was started.

    A program that is silent for long at first tells nothing; then it has the zone of the one that
    spoke the soonest.
    """
    ahead: dict[str, tuple[float, float]] = {}
    for name, at in first.items():
        if not at.zoned and name in started:
            whole = (at.at - started[name] + 1) // _ZONES * _ZONES
            ahead[name] = (at.at - started[name] - whole, whole)
    soonest = min(ahead.values(), default=(0.0, 0.0))
    return {
        name: _Zone(0.0 if at.zoned else (_own(ahead.get(name)) or soonest)[1])
        for name, at in first.items()
    }


def _own(found: tuple[float, float] | None) -> tuple[float, float] | None:
    return found if found and found[0] <= _AT_ONCE else None


def _first(path: Path) -> tuple[int, Stamp | None]:
    """How large a log is, and its first stamp."""
    with path.open("rb") as log:
        head = log.read(_AHEAD)
    return len(head), next((s for line in head.splitlines() if (s := stamp(line))), None)


def _between(path: Path, start: float, end: float) -> Iterator[Line]:
    """The lines whose stamp is in a stretch, in the log's own time."""
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
                # Spark writes its progress over itself: the last of it is what stays.
                text = line.rstrip(b"\r\n").rsplit(b"\r", 1)[-1].decode("utf-8", "backslashreplace")
                # Escaping a long line whole takes its time; more than the cut needs is in vain.
                yield Line(at=at, text=cut(storable(visible(text[: _TEXT + 1])), _TEXT))


def _bisect(whole: mmap.mmap, at: float) -> int:
    """Where the first line stands whose stamp is not before a moment, or a little before it."""
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
    """The first line with a stamp behind a place, soon enough: where it begins, and its stamp."""
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
    """What a line begins with, and where the next one begins."""
    newline = whole.find(b"\n", place, place + _LONGEST)
    after = len(whole) if newline < 0 else newline + 1
    return whole[place : min(after, place + LOOKED_AT)], after
