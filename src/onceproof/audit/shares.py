"""Judge a large history in shares, to limit memory.

Every anomaly of an audit concerns one record: its inputs, expected effects and effects. So records
are partitioned by a hash, each share is judged separately, and the overall verdict is the worst
one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from onceproof.checkers import check
from onceproof.checkers.engines.literals import literal
from onceproof.checkers.engines.overlay import SHOWN
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.history import History
from onceproof.checkers.model import Claim, ClaimJudgement, Findings, Judgement, Verdict
from onceproof.harness.audit.database import database
from onceproof.harness.audit.folder import AuditFolder

SHARE: Final = 1_000_000
"""Approximate number of inputs in a share."""
_DEALT: Final = ("log", "expected", "effects")


def judge_in_shares(
    folder: AuditFolder,
    claims: Sequence[Claim],
    settings: Settings,
    rows: Callable[[str, pa.Table], None],
    share: int = SHARE,
) -> Judgement:
    """Judge the history in a folder; `rows` is called for each share as `check` calls it."""
    judgements = [
        check(history, claims, settings, rows=rows) for history in _shares(folder, settings, share)
    ]
    return merged(judgements)


def _shares(folder: AuditFolder, settings: Settings, share: int) -> Iterator[History]:
    number = -(-pq.read_metadata(folder.table("log")).num_rows // share)
    if number <= 1:
        yield History.load(folder.history)
        return
    dealt = folder.path / "shares"
    shutil.rmtree(dealt, ignore_errors=True)  # left by a killed audit
    dealt.mkdir()
    try:
        with database(folder, settings.memory and settings.memory // 2) as db:
            for table in _DEALT:
                db.execute(
                    f"COPY (SELECT *, hash(record) % {number} AS share FROM "
                    f"read_parquet({literal(str(folder.table(table)))})) "
                    f"TO {literal(str(dealt / table))} "
                    "(FORMAT parquet, COMPRESSION lz4, PARTITION_BY (share))"
                )
        phases = pq.read_table(folder.table("phases"))
        for each in range(number):
            tables = {table: _read(dealt / table / f"share={each}") for table in _DEALT}
            yield History({**tables, "phases": phases}, source=str(folder.history))
    finally:
        shutil.rmtree(dealt, ignore_errors=True)


def _read(folder: Path) -> pa.Table:
    files = sorted(folder.glob("*.parquet"))
    return pa.concat_tables([pq.ParquetFile(file).read() for file in files])


def merged(judgements: Sequence[Judgement]) -> Judgement:
    first = judgements[0]
    if len(judgements) == 1:
        return first
    findings: dict[str, Findings] = {}
    for found in (each for judgement in judgements for each in judgement.findings):
        had = findings.get(found.anomaly)
        findings[found.anomaly] = (
            found
            if had is None
            else replace(
                had, count=had.count + found.count, shown=(had.shown + found.shown)[:SHOWN]
            )
        )
    claims = tuple(
        _worst([judgement.claims[n] for judgement in judgements], findings)
        for n in range(len(first.claims))
    )
    in_order = tuple(findings[name] for name in sorted(findings))
    return replace(first, claims=claims, findings=in_order)


def _worst(each: Sequence[ClaimJudgement], findings: dict[str, Findings]) -> ClaimJudgement:
    order = list(Verdict)
    worst = min(each, key=lambda judged: order.index(judged.verdict))
    if worst.verdict is not Verdict.VIOLATED:
        return worst
    counts: dict[str, int] = {}
    for judged in each:
        for name, count in judged.found.items():
            counts[name] = counts.get(name, 0) + count
    names = sorted(counts)
    example = findings[names[0]].shown[0].sentence
    words = ", ".join(f"{name} ({counts[name]})" for name in names)
    return replace(
        worst, refuted_by=tuple(names), found=counts, reason=f"Found {words}: {example}."
    )
