"""Find sends that only a retry can have acknowledged: they were in the log while no answer came
through, and were acknowledged after we had looked.
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
        seen: attempt → time at which it was seen in the log of `where`, unanswered.
        why: reason why no answer came through.
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
                f"{len(retried)} sends were in the log of {where} while {why}, and were "
                "acknowledged after a retry"
            ),
        )
