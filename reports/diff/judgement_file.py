"""Read a judgement file (`onceproof check --json`), only the fields that a comparison needs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from onceproof.checkers.claims_json import claim_from_json
from onceproof.checkers.model import Evidence, Hop, Verdict
from onceproof.reports import model


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class JudgedClaim(_Part):
    """A claim with its verdict."""

    verdict: Verdict
    reason: str
    refuted_by: tuple[str, ...]
    undecided: tuple[str, ...]
    hazards_seen: dict[str, int]
    expected: bool | None
    claim: dict[str, Any]

    def to_model(self) -> model.Claim:
        """Convert to a report's claim.

        Raises:
            BadClaim: the claim cannot be parsed.
        """
        claim = claim_from_json(self.claim)
        fine_print = claim.fine_print
        return model.Claim(
            name=claim.name,
            guarantee=claim.guarantee,
            hop=claim.hop,
            input=claim.scope.input,
            sink=claim.scope.sink,
            view=claim.scope.view,
            fine_print=model.FinePrint(
                promise=fine_print.promise,
                failures=fine_print.failures,
                guarantee=fine_print.guarantee,
                not_tested=fine_print.not_tested,
                covers=tuple(sorted(fine_print.covers)),
            ),
            verdict=self.verdict,
            reason=self.reason,
            refuted_by=self.refuted_by,
            undecided=self.undecided,
            hazards_required=tuple(sorted(claim.hazards)),
            hazards_seen=self.hazards_seen,
            expectation=model.Expectation.of(claim.expect),
            expected=self.expected,
        )


class JudgedCause(_Part):
    """A hazard beside a finding."""

    hazard: str | None = None
    fault: str | None = None


class JudgedFinding(_Part):
    """One finding."""

    key: dict[str, model.Value]
    sentence: str
    causes: tuple[JudgedCause, ...] = ()


class JudgedFindings(_Part):
    """All findings of one anomaly: their count, and the first of them."""

    anomaly: str
    hop: Hop
    evidence: Evidence
    count: int = Field(ge=0)
    shown: tuple[JudgedFinding, ...]

    def to_model(self) -> model.Findings:
        return model.Findings(
            anomaly=self.anomaly,
            hop=self.hop,
            evidence=self.evidence,
            count=self.count,
            refutes=(),
            shown=tuple(_finding(finding) for finding in self.shown),
        )


class JudgementFile(_Part):
    """A judgement file, version 1 or 2."""

    format: Literal["onceproof-judgement"]
    version: Literal[1, 2]
    source: str
    claims: tuple[JudgedClaim, ...]
    findings: tuple[JudgedFindings, ...]
    mutation_check: tuple[model.Mutation, ...] = Field(
        validation_alias=AliasChoices("mutation_check", "self_proof")
    )
    """Called `self_proof` in version 1."""


def _finding(finding: JudgedFinding) -> model.Finding:
    return model.Finding(
        sentence=finding.sentence,
        key=finding.key,
        at=None,
        witness=(),
        witness_count=0,
        causes=tuple(
            model.Cause(
                hazard=cause.hazard,
                at=None,
                detail="",
                fault=cause.fault,
                batch=None,
                attempt=None,
            )
            for cause in finding.causes
            if cause.hazard is not None
        ),
        path=None,
    )
