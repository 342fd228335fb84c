"""Reducing a schedule to the faults that a stage supports."""

from __future__ import annotations

from onceproof.harness.schedule.supported_faults import with_supported_faults
from onceproof.scenarios import flagship

WHOLE = flagship()[0]


def names(schedule: tuple) -> list[str]:  # type: ignore[type-arg]
    return [at.name for at in schedule]


def test_full_support_leaves_the_scenario_unchanged() -> None:
    assert with_supported_faults(WHOLE, {"kill", "cut", "links"}) == (WHOLE, ())


def test_unsupported_faults_are_skipped_in_dependencies() -> None:
    scenario, left_out = with_supported_faults(WHOLE, {"kill", "cut"})
    assert names(left_out) == ["responses lost", "broker isolated"]
    assert {at.name: at.after for at in scenario.schedule} == {
        "leader killed": (),
        "driver killed": ("leader killed",),
        "pipeline cut": ("driver killed", "leader killed"),
    }
    assert scenario.claims == WHOLE.claims


def test_driver_kill_is_always_supported() -> None:
    scenario, left_out = with_supported_faults(WHOLE, set())
    assert names(scenario.schedule) == ["driver killed"]
    assert scenario.schedule[0].after == ()
    assert len(left_out) == 4
