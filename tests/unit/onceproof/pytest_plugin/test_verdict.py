"""A report in the words of an assertion."""

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


def test_all_as_expected_says_nothing() -> None:
    good = report(claim("violated", expected=True, wanted="violated"))
    assert wrong(good, HTML, 0, wanted="expected") == ""
    assert wrong(report(claim("holds", expected=None)), HTML, 0, wanted="holds") == ""


def test_a_violated_claim_shows_reason_witness_fault_report_and_the_way_back() -> None:
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
def test_of_a_pipeline_nothing_but_holds_is_enough(verdict: str) -> None:
    told = report(claim("holds", expected=None), claim(verdict, expected=None))
    assert f"exactly-once a → b: {verdict}" in wrong(told, HTML, 5, wanted="holds")


def test_nothing_judged_is_not_well() -> None:
    assert "no claim was judged" in wrong(report(), HTML, 0, wanted="expected")


def test_an_exit_code_alone_is_believed() -> None:
    told = report(claim("holds", expected=True))
    assert "Run it again" in wrong(told, HTML, 3, wanted="expected")


def test_no_expectation_is_not_as_expected() -> None:
    told = report(claim("violated", expected=None))
    assert wrong(told, HTML, 1, wanted="expected")
