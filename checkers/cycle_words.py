"""Describe a cycle: for each step, why one transaction came before another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from onceproof.checkers.model import Row

NAMED: Final = 10
"""Maximum number of transactions of a cycle that are named."""


def explain(rows: Sequence[Row]) -> str:
    """Describe the steps of one cycle, or the first of them."""
    steps = sorted(rows, key=lambda row: cast("int", row["step"]))
    reasons = [f"{row['source']} before {row['target']}, because {because(row)}" for row in steps]
    if steps[-1]["target"] != steps[0]["source"]:
        return "; ".join([*reasons[:NAMED], f"and so on, back to {steps[0]['source']}"])
    if len(reasons) > NAMED:
        reasons[NAMED - 1 : -1] = ["and so on"]
    return "; ".join([*reasons[:-1], f"yet {reasons[-1]}"])


def because(row: Row) -> str:
    """Describe why one step's transaction came before the next."""
    place = f"{row['at_topic']}-{row['at_partition']}"
    match row["kind"]:
        case "wr":
            return (
                f"{row['target']} read {row['record']} at {place}@{row['at_offset']}, which "
                f"{row['source']} wrote"
            )
        case "ww":
            return (
                f"{row['target']} wrote {row['record']} at {place}@{row['at_offset']}, after "
                f"{row['after_record']} of {row['source']} at {row['after_offset']}"
            )
        case "process":
            return f"{row['session']} began {row['target']} after {row['source']}"
        case "realtime":
            return (
                f"{row['source']} ended at {row['from_at']} and {row['target']} began at "
                f"{row['to_at']}, later by the same clock"
            )
        case kind:
            return f"there is an edge of kind {kind}"
