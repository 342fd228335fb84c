"""Write a judgement as JSON (`onceproof check --json`), without facts about a run.

`version` increases when a field is removed or changes its meaning.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from onceproof.checkers.claims_json import claim_to_json
from onceproof.checkers.model import ClaimJudgement, Finding, Findings, Judgement, Mutation
from onceproof.reports.text import storable

VERSION: Final = 2


def judgement_json(judgement: Judgement, *, source: str, notes: Sequence[str] = ()) -> str:
    """Return the text of the file; `notes` are assumptions made when reading the history."""
    content = {
        "format": "onceproof-judgement",
        "version": VERSION,
        "source": source,
        "unsealed": judgement.unsealed,
        "claims": [_claim(judged) for judged in judgement.claims],
        "findings": [_findings(group) for group in judgement.findings],
        "mutation_check": [_mutation(mutation) for mutation in judgement.mutation_check],
        "notes": [*notes, *judgement.notes],
        "counts": dict(judgement.counts),
    }
    return storable(json.dumps(content, ensure_ascii=False, indent=2)) + "\n"


def _claim(judged: ClaimJudgement) -> dict[str, Any]:
    return {
        "name": judged.claim.name,
        "verdict": judged.verdict.value,
        "reason": judged.reason,
        "refuted_by": list(judged.refuted_by),
        "undecided": list(judged.undecided),
        "hazards_seen": dict(judged.hazards_seen),
        "expected": judged.expected,
        "claim": claim_to_json(judged.claim),
    }


def _findings(group: Findings) -> dict[str, Any]:
    return {
        "anomaly": group.anomaly,
        "hop": group.hop.value,
        "evidence": group.evidence.value,
        "count": group.count,
        "shown": [_finding(finding) for finding in group.shown],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "key": dict(finding.key),
        "sentence": finding.sentence,
        "witness": [dict(row) for row in finding.witness],
        "causes": [dict(row) for row in finding.causes],
    }


def _mutation(mutation: Mutation) -> dict[str, Any]:
    """Leave out `placed`, which the format does not have."""
    return {name: value for name, value in asdict(mutation).items() if name != "placed"}
