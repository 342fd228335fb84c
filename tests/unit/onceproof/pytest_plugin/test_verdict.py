"""The failure message of a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onceproof.pytest_plugin.verdict import wrong

HTML = Path("runs/one/report.html")


def report(*claims: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "headline": "It is violated.",
        "run": {"repeat": "onceproof run one --seed 4"},
        "claims": list(claims),
        "findings": [
            {
                "anomaly": "lost-output",
                "count": 3,
                "shown": [{"sentence": f"p0-{n} has 0 of 1 effects"} for n in range(3)],
            }
        ],
        "faults": [
            {"fault": "kill-1", "took_effect": True, "description": "SIGKILL broker-1"},
            {"fault": "cut-1", "took_effect": False, "description": "cut a link"},
        ],
        **more,
    }


def claim(verdict: str, *, expected: bool | None, wanted: str = "holds") -> dict[str, Any]:
    return {
        "name": "exactly-once a → b",
        "verdict": verdict,
        "reason": "Because of that.",
        "expected": expected,
        "expectation": {"verdict": wanted, "anomalies": ["lost-output"]},
    }


def test_expected_report_has_no_message() -> None:
    good = report(claim("violated", expected=True, wanted="violated"))
    assert wrong(good, HTML, 0, wanted="expected") == ""
    assert wrong(report(claim("holds", expected=None)), HTML, 0, wanted="holds") == ""


def test_message_for_violated_claim_has_evidence_and_repeat_command() -> None:
    text = wrong(report(claim("violated", expected=False)), HTML, 1, wanted="expected")
    assert text.splitlines() == [
        "It is violated.",
        "  exactly-once a → b: violated (expected holds by lost-output). Because of that.",
        "  lost-output: 3 findings",
        "    p0-0 has 0 of 1 effects",
        "    p0-1 has 0 of 1 effects",
        "  under kill-1: SIGKILL broker-1",
        "report: runs/one/report.html",
        "again:  onceproof run one --seed 4",
    ]


@pytest.mark.parametrize("verdict", ["violated", "unknown", "invalid", "unexercised", "stalled"])
def test_pipeline_fails_unless_every_claim_holds(verdict: str) -> None:
    content = report(claim("holds", expected=None), claim(verdict, expected=None))
    assert f"exactly-once a → b: {verdict}" in wrong(content, HTML, 5, wanted="holds")


def test_report_without_claims_fails() -> None:
    assert "no claim was judged" in wrong(report(), HTML, 0, wanted="expected")


def test_exit_code_alone_fails_an_expected_report() -> None:
    content = report(claim("holds", expected=True))
    assert "Run it again" in wrong(content, HTML, 3, wanted="expected")


def test_claim_without_expectation_fails() -> None:
    content = report(claim("violated", expected=None))
    assert wrong(content, HTML, 1, wanted="expected")
