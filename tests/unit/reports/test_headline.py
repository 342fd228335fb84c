"""The headline of a report for each verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from onceproof.checkers.model import Evidence, Findings, Hop, Judgement, Verdict
from onceproof.reports.build import build
from onceproof.reports.model import Report


@pytest.mark.parametrize(
    ("verdict", "headline"),
    [
        (
            Verdict.VIOLATED,
            "Not exactly once: 1 250 records of payments appear more than once in ledger.",
        ),
        (Verdict.INVALID, "No verdict, because the experiment failed: Because."),
        (Verdict.STALLED, "Stalled, so exactly once is undecided: Because."),
        (Verdict.UNKNOWN, "Unknown, exactly once is neither refuted nor confirmed: Because."),
        (
            Verdict.UNEXERCISED,
            "Not put to the test: nothing was lost and nothing was repeated on the way from "
            "payments to ledger, but nothing happened that could have broken exactly once.",
        ),
        (
            Verdict.HOLDS,
            "Exactly once held through 1 fault and 1 moment that could have broken it: nothing "
            "was lost and nothing was repeated on the way from payments to ledger.",
        ),
    ],
)
def test_headline_of_every_verdict(
    report_of: Callable[[Verdict], Report], verdict: Verdict, headline: str
) -> None:
    assert report_of(verdict).headline.replace("\u00a0", " ") == headline


def test_worst_claim_of_the_strongest_guarantee_decides(small: SimpleNamespace) -> None:
    claims = (
        small.judged("at-least-once", Verdict.VIOLATED, refuted_by=("lost-output",)),
        small.judged("exactly-once", Verdict.STALLED),
        small.judged("exactly-once", Verdict.HOLDS),
    )
    report = build(small.record(), {}, Judgement(claims=claims, findings=(), mutation_check=()))
    assert report.verdict is Verdict.STALLED


def test_lists_known_anomalies_and_counts_the_others(small: SimpleNamespace) -> None:
    names = ("my-own", "lost-output", "duplicate-output", "offset-gap", "wrong-output")
    found = tuple(
        Findings(anomaly=n, hop=Hop.PROCESS, evidence=Evidence.PRESENCE, count=2, shown=())
        for n in names
    )
    claim = small.judged("exactly-once", Verdict.VIOLATED, refuted_by=names, found=2)
    report = build(
        small.record(), {}, Judgement(claims=(claim,), findings=found, mutation_check=())
    )
    assert report.headline == (
        "Not exactly once: 2 records of payments are missing from ledger, 2 records of payments "
        "appear more than once in ledger, 2 records are in ledger with the wrong content and "
        "2 more kinds of anomaly."
    )


def test_counts_only_findings_and_hazards_of_its_claim(small: SimpleNamespace) -> None:
    """Findings are grouped by anomaly across all sinks, but the headline is about one claim."""
    found = Findings(
        anomaly="lost-output", hop=Hop.PROCESS, evidence=Evidence.PRESENCE, count=8, shown=()
    )
    claim = small.judged("exactly-once", Verdict.VIOLATED, refuted_by=("lost-output",), found=1)
    judgement = Judgement(claims=(claim,), findings=(found,), mutation_check=())
    headline = build(small.record(), small.history(), judgement).headline
    assert headline == "Not exactly once: 1 record of payments is missing from ledger."
    held = small.judged("exactly-once", Verdict.HOLDS, seen=3)
    judgement = Judgement(claims=(held,), findings=(), mutation_check=())
    headline = build(small.record(), small.history(), judgement).headline
    assert "and 3 moments that could have broken it" in headline


def test_explains_insufficient_hazards(small: SimpleNamespace) -> None:
    reason = "Nothing was found, but hazard retried-send, which the claim requires, was not seen."
    claim = small.judged("exactly-once", Verdict.UNEXERCISED, seen=5, reason=reason)
    judgement = Judgement(claims=(claim,), findings=(), mutation_check=())
    assert build(small.record(), small.history(), judgement).headline == (
        f"Exactly once was not fully put to the test: {reason}"
    )


def test_counts_effects_if_records_have_several(
    small: SimpleNamespace,
) -> None:
    history = dict(small.history())
    row = {"record": "p0-1", "digest": "d", "optional": False}
    keys = {"ledger": ("1", "2"), "elsewhere": ("1",)}
    history["expected"] = small.arrow(
        "expected",
        [row | {"sink": sink, "effect_key": key} for sink, ks in keys.items() for key in ks],
    )
    headline = build(small.record(), history, small.judgement(history)).headline
    assert "1 effect of payments appears more than once in ledger;" in headline
    history["expected"] = history["expected"].slice(1)
    headline = build(small.record(), history, small.judgement(history)).headline
    assert "1 record of payments appears more than once in ledger;" in headline


def test_braces_in_names_are_not_formatted(small: SimpleNamespace) -> None:
    history = small.history("{record}{0}")
    report = build(small.record(), history, small.judgement(history, "{record}{0}"))
    assert report.findings[0].shown[0].sentence == "Record {record}{0} appears twice in ledger."


def test_an_atomic_claim_names_all_its_outputs(small: SimpleNamespace) -> None:
    held = small.judged("atomic", Verdict.HOLDS)
    scope = replace(held.claim.scope, others=(("events", "read-committed"),))
    held = replace(held, claim=replace(held.claim, scope=scope))
    judgement = Judgement(claims=(held,), findings=(), mutation_check=())
    assert build(small.record(), small.history(), judgement).headline.endswith(
        "nothing was torn on the way from payments to ledger + events."
    )
