"""Judging a run from its folder, and from nothing else.

It is what a run does at its end and what `onceproof check` does whenever
somebody asks again. Of a folder at a URI `stored_run` reads the same, for the same checkers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from onceproof.checkers import check
from onceproof.checkers.claims import claim_from_json
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.history import History
from onceproof.checkers.model import Judgement
from onceproof.checkers.promised import PHASES, Promised
from onceproof.harness.history.folder import Loaded, RunFolder
from onceproof.harness.history.run_record import RunRecord


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A run with what the checkers say of it."""

    record: RunRecord
    history: History
    judgement: Judgement


def judge(folder: Path, settings: Settings | None = None, *, unsealed: bool = False) -> Judged:
    """Load a run folder and judge it.

    Args:
        unsealed: judge the tables as they are, also if they are not as they were sealed.

    Raises:
        UnreadableRun, DamagedHistory, BadHistory: the folder is not a run, is damaged, or was
            changed; the text says what and what to do.
    """
    record = RunRecord.load(folder)
    loaded = RunFolder(folder).load_history(unsealed=unsealed)
    return judge_loaded(record, loaded, settings or Settings())


def judge_loaded(record: RunRecord, loaded: Loaded, settings: Settings) -> Judged:
    """Judge the history of a run by what its record claims, and by what it says must be there.

    Raises:
        BadHistory: see `onceproof.checkers.check`.
    """
    judgement = check(
        loaded.history,
        tuple(claim_from_json(claim) for claim in record.claims),
        settings=settings,
        promised=promised_by(record, loaded),
    )
    return Judged(
        record=record,
        history=loaded.history,
        judgement=replace(
            judgement, notes=(*loaded.limits, *judgement.notes), unsealed=loaded.changed
        ),
    )


def promised_by(record: RunRecord, loaded: Loaded) -> Promised:
    """What must be in a history, by the record of its run and by its seal."""
    written = record.written
    promised = Promised(
        phases=PHASES,
        faults={step.fault: step.required for step in record.schedule},
        rows=loaded.rows,
        doubt=loaded.doubt,
    )
    if written is None:
        return promised
    return replace(
        promised,
        logs=written.logs,
        in_bytes=frozenset(written.in_bytes),
        records=written.records,
        positions=written.positions,
        expected=written.expected,
        contributions=written.contributions,
    )
