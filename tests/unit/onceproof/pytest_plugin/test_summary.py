"""The section at the end of a test run."""

from __future__ import annotations

import pytest

from onceproof.pytest_plugin.summary import lines


def told(test: str, **properties: str) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=test,
        location=(test, 0, test),
        keywords={},
        outcome="passed",
        longrepr=None,
        when="teardown",
        user_properties=list(properties.items()),
    )


def test_tests_that_did_not_use_it_are_not_named() -> None:
    assert lines([told("a.py::one"), told("a.py::two", other="1")]) == []


def test_a_cluster_and_a_verdict() -> None:
    verdict = {
        "onceproof_scenario": "idempotent",
        "onceproof_seed": "5",
        "onceproof_verdict": "holds",
        "onceproof_expected": "True",
        "onceproof_report": "runs/x/report.html",
    }
    cluster = {"onceproof_seed": "4", "onceproof_run": "runs/y", "onceproof_faults": "kill-1: so"}
    both = [told("b.py::two", **verdict), told("a.py::one", **cluster)]
    assert lines([*both, *both]) == [
        "a.py::one: kill-1: so\n  runs/y",
        "b.py::two: idempotent, seed 5: holds\n  runs/x/report.html",
    ]
    assert "violated, not as expected" in "".join(
        lines([
            told("b.py", **{
                **verdict, "onceproof_verdict": "violated", "onceproof_expected": "False",
            })
        ])
    )  # fmt: skip
