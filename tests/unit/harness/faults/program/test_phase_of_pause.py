"""The part of a pause that is waited for is of the pauses that a program makes now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.faults.program.phase_of_pause import PhaseOfPause


def first(far: PhaseOfPause, looks: list[float]) -> float | None:
    """How long it had been quiet when it was first far enough into its pause."""
    return next((quiet for quiet in looks if far.reached(quiet)), None)


def looks(*pauses: float, every: float = 0.02) -> list[float]:
    return [n * every for pause in pauses for n in range(round(pause / every))]


def test_a_program_that_pauses_as_before_is_met_in_its_first_pause() -> None:
    assert first(PhaseOfPause(0.8, 1.0), looks(1.0)) == pytest.approx(0.8)


def test_one_that_pauses_for_less_is_met_once_its_pauses_are_known() -> None:
    assert first(PhaseOfPause(0.8, 1.0), looks(0.3, 0.5, 0.5, 0.5)) == pytest.approx(0.4, abs=0.03)


def test_a_longer_pause_is_not_waited_for() -> None:
    assert first(PhaseOfPause(0.5, 1.0), looks(0.4, 0.4, 0.4, 9.0)) == pytest.approx(0.2, abs=0.03)


@given(st.floats(0.1, 1.0), st.floats(0.1, 5.0), st.lists(st.floats(0.05, 5.0), max_size=8))
def test_it_is_never_beyond_the_phase_of_the_usual_pause(
    phase: float, pause: float, pauses: list[float]
) -> None:
    far = PhaseOfPause(phase, pause)
    for quiet in looks(*pauses):
        assert far.reached(quiet) or quiet < phase * pause


def test_phase_zero_is_at_once() -> None:
    assert PhaseOfPause(0.0, 1.0).reached(0.0)
