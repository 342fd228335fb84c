"""Judge histories: `check(history, claims)` returns findings and verdicts.

This package depends on neither processes nor Kafka nor Spark, so it can be used alone, on a history
from elsewhere:

    history = History.load("runs/…/history")
    judgement = check(history, [exactly_once("payments", into="ledger", view="table")])
    for judged in judgement.claims:
        print(judged.claim.name, judged.verdict, judged.reason)
"""

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.claims import (
    BadClaim,
    at_least_once,
    at_least_once_append,
    at_most_once,
    at_most_once_append,
    atomic,
    atomic_append,
    claim_from_json,
    claim_to_json,
    end_to_end,
    exactly_once,
    exactly_once_append,
    idempotent_append,
    ordered,
    ordered_append,
)
from onceproof.checkers.history import BadHistory, History
from onceproof.checkers.judging import check
from onceproof.checkers.model import (
    Claim,
    ClaimJudgement,
    Expectation,
    Finding,
    Findings,
    FinePrint,
    Hop,
    Judgement,
    Scope,
    Verdict,
)
from onceproof.checkers.verdict import exit_code

__all__ = [
    "BadClaim",
    "BadHistory",
    "Claim",
    "ClaimJudgement",
    "Expectation",
    "Finding",
    "Findings",
    "FinePrint",
    "History",
    "Hop",
    "Judgement",
    "Scope",
    "Verdict",
    "anomalies",
    "at_least_once",
    "at_least_once_append",
    "at_most_once",
    "at_most_once_append",
    "atomic",
    "atomic_append",
    "check",
    "claim_from_json",
    "claim_to_json",
    "end_to_end",
    "exactly_once",
    "exactly_once_append",
    "exit_code",
    "idempotent_append",
    "ordered",
    "ordered_append",
]
