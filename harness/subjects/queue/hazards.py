"""What put forwarders to the test, by what they were told and by what they left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from harness.recording.tables import Recorded
from harness.subjects.counted import counted
from harness.subjects.group.hazards import ABANDONED, REPLAYED

REDELIVERED: Final = "redelivered-input"
"""Messages were delivered again that some forwarder had been given before, and had not consumed."""


def hazards(
    redelivered: Iterable[Mapping[str, Any]], told: Recorded, *, source: str, sink: str
) -> list[dict[str, Any]]:
    """Rows of the `hazards` table.

    Args:
        redelivered: what forwarders were told to have been delivered before.
        told: the history as it was written while the run lasted, logs of both queues included.
        source: the address that they consume.
        sink: the address that they write to.
    """
    log = [row for row in told.lines.get("log", []) if row["record"] is not None]
    written = Counter(row["record"] for row in log if row["topic"] == sink)
    inputs = {row["record"] for row in log if row["topic"] == source}
    again = sorted(redelivered, key=lambda row: int(row["at"]))
    delivered = counted(
        (
            REDELIVERED,
            len({row["record"] for row in again}),
            "messages were delivered more than once",
        )
    )
    return [row | {"at": again[0]["at"]} for row in delivered] + counted(
        (
            REPLAYED,
            sum(1 for count in written.values() if count > 1),
            f"inputs have more than one effect in {sink}",
        ),
        (
            ABANDONED,
            len(inputs - written.keys()),
            f"messages were consumed and have no effect in {sink}",
        ),
    )
