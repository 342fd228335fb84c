"""How far a Jepsen history goes: which keys were read to their end, and what its phases are.

Two different things may be missing. If nobody knows where to look for some
acknowledged send, nothing can be said to be lost: the log was not *collected*. If a key was not
read to its end, what was found counts, but there may be more: the run was *interrupted* before its
final polls were over, and no claim holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from onceproof.checkers.imports.jepsen_log import Log
from onceproof.checkers.imports.jepsen_readers import Session


@dataclass(frozen=True, kw_only=True)
class End:
    """What is known of the end of a history."""

    unread: tuple[int, ...]
    """Keys that nobody read from the beginning to the end after the last send to them."""
    to_the_end: frozenset[int]
    """Places in the list of sessions of those that came to the end, or stood still before it."""
    final: int | None
    """When the first of these sessions began."""


def end_of(sessions: list[Session], log: Log, last_sends: Mapping[int, int]) -> End:
    """How far keys were read.

    Args:
        log: what is known to be there.
        last_sends: when the last acknowledged send to each key came back.
    """
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
    """The rows of `phases`, without their clock."""
    final = last if end.final is None else end.final
    cut = some([names[key] for key in end.unread])
    unknown = (
        f"{log.undecidable} acknowledged sends have no offset and were not polled: nobody knows "
        "where they are"
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
    """The first few names, and how many there are besides."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
