"""Sends that only a retry can have acknowledged, by the log and by when the client got the outcome.

What stood in the log while no answer came through, and was acknowledged
after we had looked, was sent again.
"""

from __future__ import annotations

from collections.abc import Mapping

from onceproof.harness.context.run_context import Collected, RunContext


def note_retried(
    context: RunContext,
    known: Collected,
    seen: Mapping[str, int],
    *,
    fault: str,
    where: str,
    why: str,
) -> None:
    """Record the hazard `retried-send`, if there was one.

    Args:
        known: the outcomes that the clients got.
        seen: attempt → when it was seen in the log, unanswered.
        where: whose log that was.
        why: in words, why no answer came through.
    """
    retried = [
        attempt
        for attempt, seen_at in seen.items()
        if known.returned.get(attempt, ("", 0))[0] == "ok" and known.returned[attempt][1] > seen_at
    ]
    if retried:
        context.recorder.hazard(
            "retried-send",
            hop="produce",
            at=max(seen.values()),
            fault=fault,
            attempts=retried,
            detail=(
                f"{len(retried)} sends stood in the log of {where} while {why}, and were "
                "acknowledged after a retry"
            ),
        )
