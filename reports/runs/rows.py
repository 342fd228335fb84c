"""The table of an index: a row for each scenario, with the results of all its runs."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onceproof.checkers.model import Verdict
from onceproof.reports.runs.claims import SameOutcomes, alike
from onceproof.reports.runs.flaky import Flaky, flaky
from onceproof.reports.runs.run import Run, RunState
from onceproof.reports.text import listed, number, plural, seconds

_ORDER = list(Verdict)
_SEEDS = 6


@dataclass(frozen=True, kw_only=True)
class Row:
    """One scenario on one backend.

    Attributes:
        runs: newest first; never empty.
        claims: their results over all runs.
    """

    runs: tuple[Run, ...]
    claims: tuple[SameOutcomes, ...]
    flaky: Flaky | None

    @property
    def newest(self) -> Run:
        """The run from which the row takes the scenario's name and description."""
        return self.runs[0]

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(kind for run in self.runs for kind in run.kinds))

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for run in self.runs for name in run.faults))

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        found = {claim.verdict for run in self.runs for claim in run.claims}
        return tuple(sorted(found, key=_ORDER.index))

    @property
    def states(self) -> Counter[RunState]:
        return Counter(run.state for run in self.runs)

    @property
    def seeds(self) -> str:
        found = sorted({run.seed for run in self.runs})
        if len(found) == 1:
            return f"seed {found[0]}"
        if len(found) > _SEEDS:
            return f"{len(found)} seeds, {found[0]} to {found[-1]}"
        return f"seeds {listed(str(seed) for seed in found)}"

    @property
    def took(self) -> str:
        """The median duration of the complete runs, with minimum and maximum."""
        known = [run.seconds for run in self.runs if run.seconds is not None and run.finished]
        if not known:
            return "–"
        middle = seconds(statistics.median(known))
        if len(known) == 1:
            return middle
        return f"{middle} ({seconds(min(known))} to {seconds(max(known))})"

    @property
    def expected(self) -> str:
        """How many of the judged runs are as expected."""
        states = self.states
        judged = states[RunState.EXPECTED] + states[RunState.UNEXPECTED]
        rest = [
            f"{number(states[s])} {s}"
            for s in (RunState.UNFINISHED, RunState.UNJUDGED)
            if states[s]
        ]
        parts = [f"{number(states[RunState.EXPECTED])} of {number(judged)}"] if judged else []
        return ", ".join([*parts, *rest])


def rows(runs: Iterable[Run]) -> tuple[Row, ...]:
    """Return a row per scenario and backend: newest run unexpected, then flaky, then by name."""
    same: dict[tuple[str, ...], list[Run]] = {}
    for run in sorted(runs, key=lambda r: (r.started_at, r.folder.name), reverse=True):
        key = (run.scenario, run.subject, run.backend, run.own or "")
        same.setdefault(key, []).append(run)
    made = [
        Row(runs=tuple(runs), claims=_claims(runs), flaky=flaky(runs)) for runs in same.values()
    ]
    return tuple(sorted(made, key=_urgency))


def headline(found: Sequence[Row], unread: int) -> str:
    runs = [run for row in found for run in row.runs]
    states = Counter(run.state for run in runs)
    parts = [f"{number(states[state])} {state}" for state in RunState if states[state]]
    if many := sum(row.flaky is not None for row in found):
        parts.append(f"{plural(many, 'scenario')} flaky")
    if unread:
        parts.append(f"{plural(unread, 'folder')} without a readable report")
    total = f"{plural(len(runs), 'run')} of {plural(len(found), 'scenario')}"
    return f"{total}: {', '.join(parts)}" if parts else total


def _urgency(row: Row) -> tuple[bool, bool, str, str, str]:
    wrong = row.newest.state is RunState.UNEXPECTED
    newest = row.newest
    return (not wrong, row.flaky is None, newest.scenario, newest.own or "", newest.backend)


def _claims(runs: Sequence[Run]) -> tuple[SameOutcomes, ...]:
    """Return the results of the complete runs; of all runs if none is complete."""
    finished = [run for run in runs if run.finished] or runs
    return alike(run.claims for run in finished)
