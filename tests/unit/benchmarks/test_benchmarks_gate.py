"""The summary of rounds with and without a gate."""

from __future__ import annotations

from benchmarks.gate import Round, summary


def rounds(*seconds: tuple[float, float]) -> list[tuple[Round, Round]]:
    return [
        (
            Round(wall=alone, records=10_000, toxiproxy=0.4, gate=0),
            Round(wall=gated, records=10_000, toxiproxy=0.5, gate=0.1),
        )
        for alone, gated in seconds
    ]


def test_rounds_are_compared_in_pairs() -> None:
    """The machine slows down, but the relative cost of the gate is constant."""
    medians, ratio = summary(rounds((1, 1.1), (2, 2.2), (8, 8.8)))
    assert medians.startswith("medians: 5.1 MB/s alone, 4.7 MB/s with a gate, which takes 0.20 of")
    assert ratio == "ratio: 0.91 in the median round, at least 0.80 is aimed at: reached"


def test_ratio_below_the_target_is_missed() -> None:
    assert summary(rounds((1, 1), (1, 1.3), (1, 1.3)))[1].endswith("MISSED")
