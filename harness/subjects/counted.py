"""Processing hazards that are counted after a run, as rows of the `hazards` table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onceproof.harness.clock import clock_id, now

Counted = tuple[str, int, str]
"""(hazard, count, what was counted)."""


def counted(*found: Counted) -> list[dict[str, Any]]:
    """Return a row for each hazard with a count above 0."""
    return [
        {
            "hazard": hazard,
            "hop": "process",
            "at": now(),
            "clock": clock_id(),
            "fault": None,
            "detail": f"{count} {words}",
            "owner": None,
            "batch": None,
            "attempt": None,
        }
        for hazard, count, words in found
        if count
    ]


def beyond(inputs: Mapping[str, int], effects: Mapping[str, int]) -> int:
    """Return how many records have more effects than copies in the input.

    A record that was sent twice is rightly processed twice. A record missing in `inputs` counts as
    sent once.
    """
    return sum(1 for record, count in effects.items() if count > max(1, inputs.get(record, 0)))
