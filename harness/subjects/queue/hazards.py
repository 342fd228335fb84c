"""What put forwarders to the test, by what they were given and by what they left.

A broker's own word for a delivery that is not the first is not relied upon.
Forwarders write down each that they get: a record that was given out more often than it was sent
was given out again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from onceproof.harness.subjects.counted import beyond, counted
from onceproof.harness.subjects.group.hazards import ABANDONED, REPLAYED

REDELIVERED: Final = "redelivered-input"
"""Messages were delivered again that some forwarder had been given before, and had not consumed."""
REWRITTEN: Final = "rewritten-effect"
"""Effects were sent again that had been with the broker before: in a transaction that came to
nothing, or else for good."""
DROPPED: Final = "dropped-duplicate"
"""The broker dropped effects that it had taken before, by its own word."""


def hazards(
    lines: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    source: str,
    sink: str,
    dropped: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Rows of the `hazards` table.

    Args:
        lines: the history as it was written while the run lasted, by kind: `delivered`, what each
            forwarder was given, `written`, what had its effect with the broker before it was to be
            consumed, and `log`, with the logs of both queues.
        source: the address that they consume.
        sink: the address that they write to.
        dropped: records of effects that the broker says to have dropped.
    """
    log = [row for row in lines.get("log", ()) if row["record"] is not None]
    written = Counter(row["record"] for row in log if row["topic"] == sink)
    inputs = Counter(row["record"] for row in log if row["topic"] == source)
    found = []
    for hazard, kind, words in (
        (REDELIVERED, "delivered", "messages were delivered more than once"),
        (REWRITTEN, "written", "messages had an effect with the broker more than once"),
    ):
        again = _again(lines.get(kind, ()), inputs)
        found += [row | {"at": min(again.values())} for row in counted((hazard, len(again), words))]
    return found + counted(
        (DROPPED, len(dropped), f"messages to {sink} were dropped, by the broker's log"),
        (
            REPLAYED,
            beyond(inputs, written),
            f"inputs have more effects in {sink} than they have to have",
        ),
        (
            ABANDONED,
            len(inputs.keys() - written.keys()),
            f"messages were consumed and have no effect in {sink}",
        ),
    )


def _again(rows: Sequence[Mapping[str, Any]], inputs: Mapping[str, int]) -> Mapping[str, int]:
    """Records that come more often than they were sent, and when that was first seen."""
    times: Counter[str] = Counter()
    found: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: int(row["at"])):
        times[row["record"]] += 1
        if times[row["record"]] > max(1, inputs.get(row["record"], 0)):
            found.setdefault(row["record"], int(row["at"]))
    return found
