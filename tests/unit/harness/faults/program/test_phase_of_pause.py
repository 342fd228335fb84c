"""The phase of a pause adapts to the pauses that a program currently makes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.faults.program.phase_of_pause import PhaseOfPause


def first_reached(phase_of_pause: PhaseOfPause, looks: list[float]) -> float | None:
    """The quiet time of the first look that reaches the phase."""
    return next((quiet for quiet in looks if phase_of_pause.reached(quiet)), None)


def looks(*pauses: float, every: float = 0.02) -> list[float]:
    return [n * every for pause in pauses for n in range(round(pause / every))]


def test_reaches_the_phase_of_the_first_usual_pause() -> None:
    assert first_reached(PhaseOfPause(0.8, 1.0), looks(1.0)) == pytest.approx(0.8)


def test_adapts_to_shorter_pauses() -> None:
    assert first_reached(PhaseOfPause(0.8, 1.0), looks(0.3, 0.5, 0.5, 0.5)) == pytest.approx(
        0.4, abs=0.03
    )


def test_does_not_wait_for_a_longer_pause() -> None:
    assert first_reached(PhaseOfPause(0.5, 1.0), looks(0.4, 0.4, 0.4, 9.0)) == pytest.approx(
        0.2, abs=0.03
    )


@given(st.floats(0.1, 1.0), st.floats(0.1, 5.0), st.lists(st.floats(0.05, 5.0), max_size=8))
def test_never_waits_beyond_the_phase_of_the_usual_pause(
    phase: float, pause: float, pauses: list[float]
) -> None:
    phase_of_pause = PhaseOfPause(phase, pause)
    for quiet in looks(*pauses):
        assert phase_of_pause.reached(quiet) or quiet < phase * pause


def test_phase_zero_is_reached_at_once() -> None:
    assert PhaseOfPause(0.0, 1.0).reached(0.0)
