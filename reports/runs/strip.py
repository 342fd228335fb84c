"""The trend of a scenario: a strip of its runs, oldest first, as a picture and in words.

Nothing is shown by colour alone: each run has its verdict's sign, and an unexpected one has a bar
below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

from onceproof.reports.runs.run import Run, RunState
from onceproof.reports.text import plural

SHOWN: Final = 27
"""Maximum number of runs in a strip."""
LINE: Final = 9
"""Runs per line: as many as fit into a column of a wide table."""
STEP: Final = 19
HIGH: Final = 28
_SIGNS: Final = {
    RunState.EXPECTED: ".",
    RunState.UNEXPECTED: "!",
    RunState.UNFINISHED: "~",
    RunState.UNJUDGED: "-",
}
LEGEND: Final = ", ".join(f"{sign} {state}" for state, sign in _SIGNS.items())


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One run in the strip, at `x` and `y` in pixels.

    Attributes:
        verdict: determines its sign.
        wrong: whether the run is not as expected.
        open: whether the run is unfinished or unjudged.
        changed: whether its code differs from that of the previous run.
    """

    x: int
    y: int
    run: Run
    verdict: str
    wrong: bool
    open: bool
    changed: bool


@dataclass(frozen=True, kw_only=True)
class Strip:
    """The picture of a trend."""

    width: int
    height: int
    cells: tuple[Cell, ...]
    says: str
    left_out: int


def strip(newest_first: Sequence[Run]) -> Strip:
    shown = list(reversed(newest_first[:SHOWN]))
    changed = [False, *(a.code != b.code for a, b in pairwise(shown))]
    return Strip(
        width=STEP * min(len(shown), LINE),
        height=HIGH * -(-len(shown) // LINE),
        cells=tuple(
            Cell(
                x=STEP * (place % LINE),
                y=HIGH * (place // LINE),
                run=run,
                verdict=run.verdict or "unknown",
                wrong=run.state is RunState.UNEXPECTED,
                open=run.state in (RunState.UNFINISHED, RunState.UNJUDGED),
                changed=changed[place],
            )
            for place, run in enumerate(shown)
        ),
        says=f"{plural(len(shown), 'run')}, oldest first: {', '.join(_states(shown))}.",
        left_out=len(newest_first) - len(shown),
    )


def signs(newest_first: Sequence[Run]) -> str:
    """Return the strip for a terminal: one character per run."""
    shown = "".join(_SIGNS[run.state] for run in reversed(newest_first[:SHOWN]))
    return f"…{shown}" if len(newest_first) > SHOWN else shown


def _states(runs: Sequence[Run]) -> Iterator[str]:
    """Describe the runs; consecutive equal results are joined."""
    for (verdict, state), same in groupby(runs, key=lambda run: (run.verdict, run.state)):
        count = len(list(same))
        times = f" {count} times" if count > 1 else ""
        judged = f"{verdict}, {state}" if verdict is not None else str(state)
        yield f"{judged}{times}"
