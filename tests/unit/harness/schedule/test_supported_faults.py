"""What is left of a schedule on a stage that does not offer everything."""

from __future__ import annotations

from onceproof.harness.schedule.supported_faults import with_supported_faults
from onceproof.scenarios import flagship

WHOLE = flagship()[0]


def names(schedule: tuple) -> list[str]:  # type: ignore[type-arg]
    return [at.name for at in schedule]


def test_where_everything_is_offered_nothing_is_left_out() -> None:
    assert with_supported_faults(WHOLE, {"kill", "cut", "links"}) == (WHOLE, ())


def test_what_came_after_what_is_left_out_comes_after_what_that_came_after() -> None:
    scenario, left_out = with_supported_faults(WHOLE, {"kill", "cut"})
    assert names(left_out) == ["responses lost", "broker isolated"]
    assert {at.name: at.after for at in scenario.schedule} == {
        "leader killed": (),
        "driver killed": ("leader killed",),
        "pipeline cut": ("driver killed", "leader killed"),
    }
    assert scenario.claims == WHOLE.claims


def test_our_own_pipeline_can_be_killed_everywhere() -> None:
    scenario, left_out = with_supported_faults(WHOLE, set())
    assert names(scenario.schedule) == ["driver killed"]
    assert scenario.schedule[0].after == ()
    assert len(left_out) == 4
