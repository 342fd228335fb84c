"""Judging a run from its folder, and from nothing else.

The one thing to know: it is what a run does at its end and what `onceproof check` does whenever
somebody asks again. Of a folder at a URI `stored_run` reads the same, for the same checkers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from checkers import check
from checkers.claims import claim_from_json
from checkers.engines.settings import Settings
from checkers.history import History
from checkers.model import Judgement
from harness.folder import RunFolder
from harness.record import RunRecord


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A run with what the checkers say of it."""

    record: RunRecord
    history: History
    judgement: Judgement


def judge(folder: Path, settings: Settings | None = None) -> Judged:
    """Load a run folder and judge it.

    Args:
        folder: the run folder.
        settings: by which engine, and within which limits.

    Raises:
        UnreadableRun, DamagedHistory, BadHistory: the folder is not a run, or is damaged; the text
            says what and what to do.
    """
    record = RunRecord.load(folder)
    history, limits = RunFolder(folder).load_history()
    judgement = check(
        history,
        tuple(claim_from_json(claim) for claim in record.claims),
        settings=settings or Settings(),
    )
    return Judged(
        record=record,
        history=history,
        judgement=replace(judgement, notes=(*limits, *judgement.notes)),
    )
