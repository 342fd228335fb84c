"""A finished run wherever it was put: read from a `Folder`, and never written to.

The one thing to know: only a sealed history can be read so. What a run writes while it lasts is for
the machine that it runs on.
"""

from __future__ import annotations

from dataclasses import dataclass

from checkers.claims import claim_from_json
from checkers.folders import Folder
from checkers.history import History
from checkers.model import Claim
from harness.folder import LIMITS_FILE, check_whole, missing_tables, parse_limits
from harness.record import RUN_FILE, RunRecord
from harness.recording.tables import DamagedHistory


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """What a verdict needs of a run."""

    claims: tuple[Claim, ...]
    history: History
    limits: tuple[str, ...]
    """What limits the history, in sentences."""


def load_stored(folder: Folder) -> StoredRun:
    """Read what a run claims and open its history.

    Raises:
        UnreadableRun, DamagedHistory, BadHistory: it is not a run, not a finished one, or damaged;
            the text says what and what to do.
    """
    record = RunRecord.parse(folder.text(RUN_FILE), f"{folder.place}/{RUN_FILE}")
    if "history" not in folder.names():
        raise DamagedHistory(f"{folder.place} has no folder `history`: nothing was recorded")
    inside = folder.folder("history")
    there = inside.names()
    if missing_tables(there) and any(name.endswith(".jsonl") for name in there):
        raise DamagedHistory(
            f"{inside.place}: expected Parquet tables, found lines (*.jsonl), because this run did "
            "not come to its end. Copy it to this machine, and give the copy."
        )
    check_whole(there, inside.place)
    limits: tuple[str, ...] = ()
    if LIMITS_FILE in there:
        limits = parse_limits(inside.text(LIMITS_FILE), f"{inside.place}/{LIMITS_FILE}")
    return StoredRun(
        claims=tuple(claim_from_json(claim) for claim in record.claims),
        history=History.load(inside),
        limits=limits,
    )
