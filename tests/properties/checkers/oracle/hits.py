"""An oracle's findings with their witnesses, and the columns that identify witness rows.

A hit is one witness row; hits with the same key form one finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Key = tuple[Any, ...]
Witness = Counter[tuple[Any, ...]]
Findings = dict[str, dict[Key, Witness]]
"""Anomaly → key of a finding → its witness rows with their number."""


@dataclass(frozen=True)
class Hit:
    """One witness row of a finding."""

    key: Key
    row: Mapping[str, Any]


WITNESS: Final[dict[str, tuple[str, ...]]] = {
    "lost-write": ("attempt", "sends", "positions"),
    "duplicate": ("partition", "offset", "may", "positions"),
    "phantom": ("partition", "offset"),
    "corrupt": ("partition", "offset"),
    "inconsistent-offsets": ("source", "who", "record"),
    "aborted-read": ("session", "ordinal", "partition", "offset"),
    "precommitted-read": ("session", "ordinal", "partition", "offset", "txn"),
    "torn-transaction": ("what", "name", "unit_topic", "partition", "offset", "state"),
    "reordered-send": ("record", "ordinal", "offset", "after_attempt", "after_offset"),
    "skipped-read": ("record", "reached", "read_offset", "ordinal"),
    "repeated-read": ("record", "offset", "reached"),
    **dict.fromkeys(
        ("G0", "G1c", "G1c-process", "G1c-realtime", "G1c-ww"), ("step", "source", "target")
    ),
    "hanging-transaction": ("last_stable_offset", "high_watermark"),
    "unseen": ("record",),
    "lost-output": ("partition", "offset", "expected", "seen"),
    "duplicate-output": ("position", "ordinal", "expected", "seen"),
    "unfounded-output": ("position", "ordinal"),
    "phantom-output": ("position", "ordinal"),
    "wrong-output": ("position", "ordinal", "digest"),
    "torn-output": ("present_sink", "missing_sink", "partition", "offset", "seen"),
    "reordered-output": ("record", "ordinal", "after_offset", "after_ordinal"),
    "state-mismatch": ("expected_amount", "amount", "expected_digest", "digest"),
    "offset-ahead": ("position", "record", "effect_key", "offset"),
    "offset-behind": ("position", "record", "effect_key", "offset", "effect_position"),
    "offset-regressed": ("previous", "position"),
    "offset-gap": ("reached", "start_offset", "end_offset", "execution"),
    "zombie-write": ("position", "instance", "successor"),
    "no-progress": ("outcome", "detail"),
}
"""Anomaly → columns that distinguish the witness rows of a finding."""


def gathered(anomaly: str, hits: Iterable[Hit]) -> dict[Key, Witness]:
    """Hits grouped by finding."""
    found: dict[Key, Witness] = {}
    for hit in hits:
        row = tuple(hit.row[column] for column in WITNESS[anomaly])
        found.setdefault(hit.key, Counter())[row] += 1
    return found
