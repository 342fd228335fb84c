"""Preparing scenarios that need certain versions."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from onceproof.commands import setup
from onceproof.harness.tools.error import SetupError
from onceproof.scenarios import all_scenarios

SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}
USUAL, EARLIER = SCENARIOS["spark-delta"], SCENARIOS["spark-hudi"]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, str]]:
    """The versions of each preparation."""
    asked: list[Mapping[str, str]] = []

    def prepared(backend: str, versions: Mapping[str, str]) -> object:
        asked.append(versions)
        return versions

    monkeypatch.setattr(setup, "prepared", prepared)
    return asked


def test_each_set_of_versions_is_prepared_once(asked: list[Mapping[str, str]]) -> None:
    of = setup.prepared_for([USUAL, EARLIER, USUAL, EARLIER], "local", {"kafka": "3.9.2"})
    assert asked == [{"kafka": "3.9.2"}, {"kafka": "3.9.2", "spark": "3.5.3"}]
    assert [of(USUAL), of(EARLIER)] == asked


def test_another_version_than_the_needed_one_is_refused(asked: list[Mapping[str, str]]) -> None:
    with pytest.raises(SetupError, match=r"works only with spark 3\.5\.3, not with 4\.0\.1"):
        setup.prepared_for([USUAL, EARLIER], "local", {"spark": "4.0.1"})
    assert not asked
