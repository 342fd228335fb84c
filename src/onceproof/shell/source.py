"""Open what the shell queries: a run folder, finished or not, or a foreign history."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from onceproof.checkers import BadHistory
from onceproof.checkers.history import History
from onceproof.checkers.model import Claim

_FINDINGS = pa.schema(
    [
        ("anomaly", pa.string()),
        ("hop", pa.string()),
        ("sentence", pa.string()),
        ("refutes", pa.list_(pa.string())),
        ("key", pa.string()),
        ("at", pa.float64()),
        ("causes", pa.list_(pa.string())),
    ]
)
_CLAIMS = pa.schema(
    [
        ("claim", pa.string()),
        ("verdict", pa.string()),
        ("expected", pa.bool_()),
        ("reason", pa.string()),
        ("refuted_by", pa.list_(pa.string())),
        ("undecided", pa.list_(pa.string())),
    ]
)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A history to query.

    Attributes:
        name: for display.
        claims: claims about it.
        judged: tables from its report, if there is one: `claims`, and the first `findings` of each
            anomaly.
        notes: limitations, in sentences.
    """

    name: str
    history: History
    claims: tuple[Claim, ...]
    judged: dict[str, pa.Table]
    notes: tuple[str, ...] = ()


def open_source(path: Path) -> Source:
    """Open a run folder or a history; raise `ValueError` if it is neither, or is damaged."""
    if not path.exists():
        raise BadHistory(f"{path} does not exist; give a run folder or a history")
    return _run(path) if (path / "run.json").exists() else _foreign(path)


def _run(path: Path) -> Source:
    from onceproof.checkers.claims import claim_from_json
    from onceproof.harness.history.folder import RunFolder
    from onceproof.harness.history.run_record import RunRecord

    record = RunRecord.load(path)
    loaded = RunFolder(path).load_history(unsealed=True)
    judged = _judged(path)
    notes = [*([loaded.changed] if loaded.changed else []), *loaded.limits]
    if not judged:
        notes.append(
            f"the run is not judged yet, so it has no findings. To judge it: onceproof check {path}"
        )
    return Source(
        name=record.run,
        history=loaded.history,
        claims=tuple(claim_from_json(claim) for claim in record.claims),
        judged=judged,
        notes=tuple(notes),
    )


def _foreign(path: Path) -> Source:
    from onceproof.checkers.imports import BadImport, format_of, read
    from onceproof.checkers.imports.claims import all_claims

    try:
        format_ = format_of(path)
    except BadImport:
        raise BadHistory(
            f"{path} is neither a run folder (it has no run.json) nor a history: expected a folder "
            "with *.parquet or *.jsonl, or a file *.jsonl or *.edn. Give a folder that "
            "`onceproof run` printed."
        ) from None
    imported = read(path, format_, **({"unsealed": True} if format_ == "parquet" else {}))
    return Source(
        name=str(path),
        history=imported.history,
        claims=all_claims(imported.history),
        judged={},
        notes=(*([imported.unsealed] if imported.unsealed else []), *imported.notes),
    )


def _judged(path: Path) -> dict[str, pa.Table]:
    """Return the report as tables; empty without a readable report."""
    from onceproof.reports.write import UnreadableReport, load

    try:
        report = load(path)
    except UnreadableReport:
        return {}
    findings: list[dict[str, Any]] = [
        {
            "anomaly": group.anomaly,
            "hop": group.hop.value,
            "sentence": finding.sentence,
            "refutes": list(group.refutes),
            "key": ", ".join(f"{name}={value}" for name, value in finding.key.items()),
            "at": finding.at,
            "causes": [cause.detail for cause in finding.causes],
        }
        for group in report.findings
        for finding in group.shown
    ]
    claims: list[dict[str, Any]] = [
        {
            "claim": claim.name,
            "verdict": claim.verdict.value,
            "expected": claim.expected,
            "reason": claim.reason,
            "refuted_by": list(claim.refuted_by),
            "undecided": list(claim.undecided),
        }
        for claim in report.claims
    ]
    return {
        "findings": pa.Table.from_pylist(findings, schema=_FINDINGS),
        "claims": pa.Table.from_pylist(claims, schema=_CLAIMS),
    }
