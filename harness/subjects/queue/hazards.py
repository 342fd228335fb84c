"""What put forwarders to the test, by what they were given and by what they left.

The one thing to know: a broker's own word for a delivery that is not the first is not relied upon.
Forwarders write down each that they get: a record that was given out more often than it was sent
was given out again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.subjects.counted import counted
from harness.subjects.group.hazards import ABANDONED, REPLAYED

REDELIVERED: Final = "redelivered-input"
"""Messages were delivered again that some forwarder had been given before, and had not consumed."""


def hazards(
    lines: Mapping[str, Sequence[Mapping[str, Any]]], *, source: str, sink: str
) -> list[dict[str, Any]]:
    """Rows of the `hazards` table.

    Args:
        lines: the history as it was written while the run lasted, by kind: `delivered`, what each
            forwarder was given, and `log`, with the logs of both queues.
        source: the address that they consume.
        sink: the address that they write to.
    """
    log = [row for row in lines.get("log", ()) if row["record"] is not None]
    written = Counter(row["record"] for row in log if row["topic"] == sink)
    inputs = Counter(row["record"] for row in log if row["topic"] == source)
    again = _again(lines.get("delivered", ()), inputs)
    delivered = counted((REDELIVERED, len(again), "messages were delivered more than once"))
    return [row | {"at": min(again.values())} for row in delivered] + counted(
        (
            REPLAYED,
            sum(1 for record, count in written.items() if count > max(1, inputs[record])),
            f"inputs have more effects in {sink} than they have to have",
        ),
        (
            ABANDONED,
            len(inputs.keys() - written.keys()),
            f"messages were consumed and have no effect in {sink}",
        ),
    )


def _again(delivered: Sequence[Mapping[str, Any]], inputs: Mapping[str, int]) -> Mapping[str, int]:
    """Records that were delivered more often than they were sent, and when that was seen first."""
    times: Counter[str] = Counter()
    found: dict[str, int] = {}
    for row in sorted(delivered, key=lambda row: int(row["at"])):
        times[row["record"]] += 1
        if times[row["record"]] > inputs.get(row["record"], 0):
            found.setdefault(row["record"], int(row["at"]))
    return found
