"""The section `onceproof` at the end of a test run.

It is made from the properties that tests recorded. xdist transfers them from its workers, and JUnit
files contain them, so that all three agree.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from onceproof.pytest_plugin import PREFIX


def lines(reports: Iterable[pytest.TestReport]) -> list[str]:
    """Return lines for each test that used onceproof, sorted by test."""
    properties: dict[str, dict[str, str]] = {}
    for report in reports:
        own = {
            name.removeprefix(PREFIX): str(value)
            for name, value in report.user_properties
            if name.startswith(PREFIX)
        }
        if own:
            properties.setdefault(report.nodeid, {}).update(own)
    return [_line(test, own) for test, own in sorted(properties.items())]


def _line(test: str, own: dict[str, str]) -> str:
    if "verdict" in own:
        as_expected = "" if own["expected"] == "True" else ", not as expected"
        what = f"{own['scenario']}, seed {own['seed']}: {own['verdict']}{as_expected}"
        return f"{test}: {what}\n  {own['report']}"
    what = own.get("faults", "no fault")
    return f"{test}: {what}\n  {own['run']}"
