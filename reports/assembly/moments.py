"""Quote the logs around findings, each period once; the total length is bounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from onceproof.reports.assembly.tables import short
from onceproof.reports.log_files import Lines
from onceproof.reports.model import Findings
from onceproof.reports.model_story import LogExcerpt, LogLine, Moment

AROUND = 2.0
"""Seconds before and after a finding."""
_TOGETHER = 1.0
_MOMENTS = 40
_TEXT_LIMIT = 250_000

Look = Callable[[float, float, float], tuple[Lines, ...]]
"""Return lines of logs by middle, start and end, in seconds since 1970."""


@dataclass(frozen=True, kw_only=True)
class FindingsAndMoments:
    """Findings with the index of their moment, and the moments."""

    findings: tuple[Findings, ...]
    moments: tuple[Moment, ...]


def moments(findings: Sequence[Findings], look: Look | None, origin: float) -> FindingsAndMoments:
    """Return the periods around findings; `origin` is the run's start in seconds since 1970."""
    if look is None:
        return FindingsAndMoments(findings=tuple(findings), moments=())
    place_of: dict[float, int] = {}
    found: list[Moment] = []
    left = _TEXT_LIMIT
    # The first finding of each anomaly is shown in full, so its time has priority.
    for at in _by_priority(findings)[:_MOMENTS]:
        if at in place_of or left <= 0:
            continue
        near = [f.at for g in findings for f in g.shown if f.at is not None]
        mine = {t for t in near if at <= t <= at + _TOGETHER and t not in place_of}
        moment = _moment(look, at, max(mine), origin)
        if moment.logs:
            place_of |= dict.fromkeys(mine, len(found))
            found.append(moment)
            left -= sum(len(line.text) + 20 for log in moment.logs for line in log.lines)
    updated = tuple(
        group.model_copy(
            update={
                "shown": tuple(
                    f.model_copy(
                        update={"moment": place_of.get(f.at) if f.at is not None else None}
                    )
                    for f in group.shown
                )
            }
        )
        for group in findings
    )
    return FindingsAndMoments(findings=updated, moments=tuple(found))


def _by_priority(findings: Sequence[Findings]) -> list[float]:
    """Return the distinct times of findings: of the first of each anomaly, then the second ones."""
    longest = max((len(group.shown) for group in findings), default=0)
    turns = (g.shown[i].at for i in range(longest) for g in findings if i < len(g.shown))
    return list(dict.fromkeys(at for at in turns if at is not None))


def _moment(look: Look, first: float, last: float, origin: float) -> Moment:
    start, end = first - AROUND, last + AROUND
    logs = look(origin + (first + last) / 2, origin + start, origin + end)
    return Moment(
        start=round(start, 3),
        end=round(end, 3),
        logs=tuple(
            LogExcerpt(
                log=short(log.log),
                lines=tuple(
                    LogLine(at=round(line.at - origin, 3), text=line.text) for line in log.lines
                ),
                count=log.count,
            )
            for log in logs
        ),
    )
