"""Run folders of finished and interrupted runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onceproof.checkers.claims import EXACTLY_ONCE, claim_to_json
from onceproof.checkers.fine_print import standard_fine_print
from onceproof.checkers.history import History
from onceproof.checkers.model import Claim, Hop, Scope
from onceproof.checkers.promised import PHASES
from onceproof.harness.history.folder import seal_folder
from onceproof.harness.history.run_record import RunRecord
from onceproof.harness.history.writer import HistoryWriter

CLAIM = Claim(
    guarantee=EXACTLY_ONCE,
    hop=Hop.PROCESS,
    scope=Scope(input="payments", sink="ledger", view="table"),
    fine_print=standard_fine_print(EXACTLY_ONCE, Hop.PROCESS),
)
ENDED = [{"phase": p, "outcome": "ok"} for p in PHASES]


def finished(runs: Path, name: str = "20260101T000000Z-small-7", **changed: Any) -> Path:
    """A run in which record b appears twice in the sink."""
    folder = record(runs, name, **changed)
    log = [{"topic": "payments", "record": r, "offset": n} for n, r in enumerate("ab")]
    effects = [{"sink": "ledger", "view": "table", "record": r, "digest": "x"} for r in "abb"]
    expected = [{"sink": "ledger", "record": r, "digest": "x"} for r in "ab"]
    History.of(log=log, effects=effects, expected=expected, phases=ENDED).save(folder / "history")
    seal_folder(folder)
    return folder


def interrupted(runs: Path, name: str = "20260101T000001Z-small-8", **changed: Any) -> Path:
    """A run whose harness was killed while a line was being written."""
    folder = record(runs, name, **changed)
    writer = HistoryWriter(folder / "history", "producer-0")
    for n in range(3):
        writer.write(
            "called", attempt=f"a{n}", record=f"r{n}", key=None, digest="d", ordinal=n, session="s",
            txn=None, topic="payments", partition=None, called_at=n, clock="c",
        )  # fmt: skip
    writer.write("returned", attempt="a0", outcome="ok", offset=0, returned_at=9, error=None)
    writer.close()
    with writer.path.open("a") as file:
        file.write('{"t": "returned", "attem')
    return folder


def record(runs: Path, name: str, **changed: Any) -> Path:
    """A run folder with its record and nothing else."""
    folder = runs / name
    (folder / "history").mkdir(parents=True)
    fields: dict[str, Any] = {
        "run": name,
        "scenario": "small",
        "title": "A small run",
        "seed": 7,
        "repeat": "onceproof run small --seed 7",
        "started_at": "2026-01-01T00:00:00+00:00",
        "clock": "c",
        "monotonic_ns": 0,
        "wall_ns": 0,
        "host": {},
        "versions": {},
        "subject": "s",
        "subject_says": "It says.",
        "workload": {},
        "configuration": {"backend": "local"},
        "schedule": [],
        "claims": [claim_to_json(CLAIM)],
    }
    RunRecord(**{**fields, **changed}).save(folder)
    return folder
