"""Find what exercised the forwarders' claims, in what was delivered to them and what they left.

The broker's redelivery flag is not used: forwarders record every delivery, and a record that was
delivered more often than it was sent was redelivered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from onceproof.harness.subjects.counted import beyond, counted
from onceproof.harness.subjects.group.hazards import ABANDONED, REPLAYED

REDELIVERED: Final = "redelivered-input"
"""Messages that a forwarder had been given and had not consumed were delivered again."""
REWRITTEN: Final = "rewritten-effect"
"""Effects that the broker already had were sent again; the first ones had been rolled back, or
committed."""
DROPPED: Final = "dropped-duplicate"
"""The broker dropped effects as duplicates: its log says so, or its answer did."""


def hazards(
    lines: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    source: str,
    sink: str,
    dropped: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return rows of the `hazards` table.

    Args:
        lines: rows that were recorded during the run, by kind: `delivered` (given to a forwarder),
            `written` (effect at the broker, input not yet consumed), and `log` (both queues).
        dropped: records of effects that the broker dropped.
    """
    log = [row for row in lines.get("log", ()) if row["record"] is not None]
    written = Counter(row["record"] for row in log if row["topic"] == sink)
    inputs = Counter(row["record"] for row in log if row["topic"] == source)
    found = []
    for hazard, kind, text in (
        (REDELIVERED, "delivered", "messages were delivered more than once"),
        (REWRITTEN, "written", "messages had their effect sent to the broker more than once"),
    ):
        repeated = _repeated(lines.get(kind, ()), inputs)
        found += [
            row | {"at": min(repeated.values())} for row in counted((hazard, len(repeated), text))
        ]
    return found + counted(
        (
            DROPPED,
            len(dropped),
            f"messages to {sink} were dropped as duplicates, according to the broker",
        ),
        (
            REPLAYED,
            beyond(inputs, written),
            f"inputs have more effects in {sink} than expected",
        ),
        (
            ABANDONED,
            len(inputs.keys() - written.keys()),
            f"messages were consumed but have no effect in {sink}",
        ),
    )


def _repeated(rows: Sequence[Mapping[str, Any]], inputs: Mapping[str, int]) -> Mapping[str, int]:
    """Return records that appear more often than they were sent, and when that was first seen."""
    times: Counter[str] = Counter()
    found: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: int(row["at"])):
        times[row["record"]] += 1
        if times[row["record"]] > max(1, inputs.get(row["record"], 0)):
            found.setdefault(row["record"], int(row["at"]))
    return found
