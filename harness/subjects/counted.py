"""Hazards of processing that are counted in what a run left, as rows of the `hazards` table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onceproof.harness.clock import clock_id, now

Counted = tuple[str, int, str]
"""A hazard, how often it was, and of what that is the number."""


def counted(*found: Counted) -> list[dict[str, Any]]:
    """Rows of what was found at all."""
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
    """How many records have more effects than they are in the input, given how often each does.

    What was sent twice is there twice, and is rightly processed twice. One that is not known
    there counts as sent once.
    """
    return sum(1 for record, count in effects.items() if count > max(1, inputs.get(record, 0)))
