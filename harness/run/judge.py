"""Judge a run from its folder alone.

Both a run at its end and `onceproof check` do this. For a folder at a URI, `stored_run` loads the
same data for the same checkers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from onceproof.checkers import check
from onceproof.checkers.claims import claim_from_json
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.history import History
from onceproof.checkers.model import Judgement
from onceproof.checkers.promised import PHASES, RequiredHistory
from onceproof.harness.history.folder import Loaded, RunFolder
from onceproof.harness.history.run_record import RunRecord


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A run and the checkers' judgement of it."""

    record: RunRecord
    history: History
    judgement: Judgement


def judge(folder: Path, settings: Settings | None = None, *, unsealed: bool = False) -> Judged:
    """Load a run folder and judge it; `unsealed` as in `RunFolder.load_history`.

    Raises:
        UnreadableRun, DamagedHistory, BadHistory: the folder is not a run, damaged or changed.
    """
    record = RunRecord.load(folder)
    loaded = RunFolder(folder).load_history(unsealed=unsealed)
    return judge_loaded(record, loaded, settings or Settings())


def judge_loaded(record: RunRecord, loaded: Loaded, settings: Settings) -> Judged:
    """Judge a history by the claims of the run record and by what the record promises.

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


def promised_by(record: RunRecord, loaded: Loaded) -> RequiredHistory:
    """Return what a history must contain, according to its run record and its seal."""
    written = record.written
    promised = RequiredHistory(
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
