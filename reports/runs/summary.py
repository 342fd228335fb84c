"""Summarise a matrix in a sentence and a few figures."""

from __future__ import annotations

from collections.abc import Iterable

from onceproof.checkers.model import Verdict
from onceproof.reports.html.facts import Tile
from onceproof.reports.runs.trial import Matrix, State, Trial
from onceproof.reports.text import number, plural, seconds


def headline(matrix: Matrix) -> str:
    wanted, waiting = len(matrix.wanted), len(matrix.all_of(State.WAITING))
    expected = sum(trial.expected for trial in matrix.wanted)
    if not wanted:
        return "Nothing could be run"
    if expected == wanted:
        return f"All {plural(wanted, 'run')} as expected" if wanted > 1 else "One run, as expected"
    text = f"{number(expected)} of {plural(wanted, 'run')} as expected"
    return f"{text}, {number(waiting)} not run" if waiting else text


def tone(matrix: Matrix) -> str:
    """Return the verdict whose colour the head of the page gets."""
    if unexpected(matrix.trials):
        return Verdict.VIOLATED
    return Verdict.UNKNOWN if matrix.all_of(State.WAITING) or not matrix.wanted else Verdict.HOLDS


def tiles(matrix: Matrix) -> tuple[Tile, ...]:
    claims = [claim for trial in matrix.trials if trial.judged for claim in trial.claims]
    of = {
        verdict: [claim for claim in claims if claim.verdict is verdict]
        for verdict in (Verdict.INVALID, Verdict.UNKNOWN)
    }
    return (
        Tile(
            value=f"{sum(trial.expected for trial in matrix.wanted)} of {len(matrix.wanted)}",
            label="runs as expected",
        ),
        Tile(
            value=f"{number(sum(claim.expected for claim in claims))} of {number(len(claims))}",
            label="claims as expected",
        ),
        *(
            Tile(
                value=number(len(found)),
                label=f"claims {verdict}, {sum(not claim.expected for claim in found)} of them "
                "unexpectedly",
            )
            for verdict, found in of.items()
        ),
        Tile(
            value=number(len(matrix.all_of(State.REUSED))),
            label="runs reused",
        ),
        Tile(value=seconds(matrix.seconds), label=f"total time, {matrix.at_once} at a time"),
    )


def unexpected(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Return the trials that were run and are not as expected."""
    return tuple(
        trial
        for trial in trials
        if trial.state is State.FAILED or (trial.judged and not trial.expected)
    )
