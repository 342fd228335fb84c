"""The summary at the end of a test run."""

from __future__ import annotations

import pytest

from onceproof.pytest_plugin.summary import lines


def passed(test: str, **properties: str) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=test,
        location=(test, 0, test),
        keywords={},
        outcome="passed",
        longrepr=None,
        when="teardown",
        user_properties=list(properties.items()),
    )


def test_tests_without_onceproof_are_omitted() -> None:
    assert lines([passed("a.py::one"), passed("a.py::two", other="1")]) == []


def test_cluster_and_verdict_are_summarized() -> None:
    verdict = {
        "onceproof_scenario": "idempotent",
        "onceproof_seed": "5",
        "onceproof_verdict": "holds",
        "onceproof_expected": "True",
        "onceproof_report": "runs/x/report.html",
    }
    cluster = {"onceproof_seed": "4", "onceproof_run": "runs/y", "onceproof_faults": "kill-1: so"}
    both = [passed("b.py::two", **verdict), passed("a.py::one", **cluster)]
    assert lines([*both, *both]) == [
        "a.py::one: kill-1: so\n  runs/y",
        "b.py::two: idempotent, seed 5: holds\n  runs/x/report.html",
    ]
    assert "violated, not as expected" in "".join(
        lines([
            passed("b.py", **{
                **verdict, "onceproof_verdict": "violated", "onceproof_expected": "False",
            })
        ])
    )  # fmt: skip
