"""Judging a history in shares gives the same result as judging it whole."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from onceproof.audit.judging import claims_of
from onceproof.audit.shares import judge_in_shares
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.history import History
from onceproof.checkers.model import Judgement, Verdict
from onceproof.harness.audit.folder import AuditFolder
from onceproof.harness.audit.judged import Side

SIDE = Side(
    name="ledger",
    view="table",
    number=0,
    topic=True,
    most=1,
    optional=False,
    ranked=False,
    oldest=None,
    newest=None,
)
RECORDS = [f"r{n:03d}" for n in range(400)]


def save(folder: Path, *, lost: set[str], twice: set[str], unidentified: int = 0) -> AuditFolder:
    audit = AuditFolder.create(folder)
    seen: list[str | None] = [r for r in RECORDS if r not in lost] + sorted(twice)
    seen += [None] * unidentified
    History.of(
        log=[
            {"topic": "orders", "partition": 0, "offset": n, "record": r, "kind": "data"}
            for n, r in enumerate(RECORDS)
        ],
        expected=[{"sink": "ledger", "record": r, "digest": "d"} for r in RECORDS],
        effects=[
            {
                "sink": "ledger",
                "view": "table",
                "record": r,
                "digest": "d",
                "position": f"row {n}",
                "ordinal": n,
            }
            for n, r in enumerate(seen)
        ],
        phases=[{"phase": phase, "outcome": "ok"} for phase in ("settle", "collect")],
    ).save(audit.history)
    return audit


def judge(folder: AuditFolder, share: int) -> tuple[Judgement, dict[str, Counter[Any]]]:
    rows: dict[str, Counter[Any]] = {}

    def keep(name: str, table: pa.Table) -> None:
        rows.setdefault(name, Counter()).update(table["record"].to_pylist())

    (claim,) = claims_of(["exactly-once"], "orders", [SIDE], [])
    return judge_in_shares(folder, [claim], Settings(), keep, share), rows


def test_shares_find_the_same_anomalies(tmp_path: Path) -> None:
    folder = save(tmp_path / "a", lost={"r003", "r017", "r300"}, twice={"r008", "r399"})
    whole, rows_of_whole = judge(folder, len(RECORDS))
    shared, rows_of_shares = judge(folder, 100)
    assert rows_of_shares == rows_of_whole
    assert {f.anomaly: f.count for f in shared.findings} == {
        f.anomaly: f.count for f in whole.findings
    }
    assert (
        shared.claims[0].found == whole.claims[0].found == {"lost-output": 3, "duplicate-output": 2}
    )
    assert shared.claims[0].reason.startswith("Found duplicate-output (2), lost-output (3): r")
    assert not (folder.path / "shares").exists()


@pytest.mark.parametrize("share", [100, 400])
def test_missing_identity_makes_claim_invalid(tmp_path: Path, share: int) -> None:
    judgement, _ = judge(save(tmp_path / "a", lost=set(), twice=set(), unidentified=1), share)
    assert judgement.claims[0].verdict is Verdict.INVALID
    assert "No identity could be read in 1 of" in judgement.claims[0].reason


@pytest.mark.parametrize("share", [100, 400])
def test_correct_history_has_no_findings(tmp_path: Path, share: int) -> None:
    judgement, rows = judge(save(tmp_path / "a", lost=set(), twice=set()), share)
    assert rows == {}
    assert judgement.claims[0].verdict is Verdict.UNEXERCISED
