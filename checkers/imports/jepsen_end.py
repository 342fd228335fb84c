"""Determine which keys of a Jepsen history were read to their end, and its phases.

If an acknowledged send has no known offset, no loss can be proven: the log was not *collected*. If
a key was not read to its end, findings count but there may be more: the run was *interrupted*
before its final polls ended, and no claim holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from onceproof.checkers.imports.jepsen_log import Log
from onceproof.checkers.imports.jepsen_readers import Session


@dataclass(frozen=True, kw_only=True)
class End:
    """The end of a history."""

    unread: tuple[int, ...]
    """Keys that no reader read from beginning to end after the last send to them."""
    to_the_end: frozenset[int]
    """Indices of sessions that reached the end, or stopped before it."""
    final: int | None
    """When the first of these sessions began."""


def end_of(sessions: list[Session], log: Log, last_sends: Mapping[int, int]) -> End:
    """Compare reads with `last_sends`, the times of the last acknowledged send to each key."""
    targets = {key: max(there) for key, there in log.entries.items() if there}
    read: set[int] = set()
    to_the_end: set[int] = set()
    began: list[int] = []
    for place, session in enumerate(sessions):
        if not session.from_beginning or session.last_poll_called is None:
            continue
        if session.last_poll_called < last_sends.get(session.key, -1):
            continue
        reached = -1 if session.reached is None else session.reached
        complete = reached >= targets.get(session.key, -1)
        if complete or (session.last_poll_empty and session.ended is None):
            read.add(session.key)
            began.append(session.began)
            if session.ended is None:
                to_the_end.add(place)
    return End(
        unread=tuple(sorted((targets.keys() | last_sends.keys()) - read)),
        to_the_end=frozenset(to_the_end),
        final=min(began, default=None),
    )


def phases(
    end: End, log: Log, names: Mapping[int, str], *, first: int, last: int
) -> list[dict[str, str | int | None]]:
    """Return the rows of `phases`, without their clock."""
    final = last if end.final is None else end.final
    cut = some([names[key] for key in end.unread])
    unknown = (
        f"{log.undecidable} acknowledged sends have no offset and were not polled, so it is "
        "unknown where they are"
        if log.undecidable
        else None
    )
    return [
        _phase("disturb", first, final),
        _phase("settle", final, final),
        _phase(
            "final polls",
            final,
            last,
            f"{cut}: not read from the beginning to the end after the last send" if cut else None,
        ),
        _phase("collect", final, last, unknown),
    ]


def _phase(
    name: str, started: int, ended: int, problem: str | None = None
) -> dict[str, str | int | None]:
    return {
        "phase": name,
        "started_at": started,
        "ended_at": ended,
        "outcome": "interrupted" if problem else "ok",
        "detail": problem,
    }


def some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
