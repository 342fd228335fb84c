"""The table of an index: a row for each scenario, with what all of its runs said.

What needs a look comes first: what the newest run of a scenario says against
what is expected, then what is flaky, then everything else by name.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onceproof.checkers.model import Verdict
from onceproof.reports.index.flaky import Flaky, flaky
from onceproof.reports.index.model import Run, State
from onceproof.reports.matrix.table import together
from onceproof.reports.text import listed, number, plural, seconds

_ORDER = list(Verdict)
_SEEDS = 6


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a claim came out, and how often.

    Attributes:
        verdict: its verdict.
        by: the anomalies that refuted it.
        expected: whether that is as it should be.
        should_be: what it should be, in words.
        count: in how many runs.
    """

    verdict: Verdict
    by: tuple[str, ...]
    expected: bool
    should_be: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Same:
    """Claims that came out the same way the same number of times."""

    outcomes: tuple[Outcome, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One scenario on one backend.

    Attributes:
        runs: the newest first; never empty.
        claims: what they say of each claim.
        flaky: what came out differently although it was the same.
    """

    runs: tuple[Run, ...]
    claims: tuple[Same, ...]
    flaky: Flaky | None

    @property
    def newest(self) -> Run:
        """The run that says what the scenario is called and what it is."""
        return self.runs[0]

    @property
    def kinds(self) -> tuple[str, ...]:
        """Of the faults of all runs."""
        return tuple(dict.fromkeys(kind for run in self.runs for kind in run.kinds))

    @property
    def faults(self) -> tuple[str, ...]:
        """Names of the faults of all runs."""
        return tuple(dict.fromkeys(name for run in self.runs for name in run.faults))

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every verdict that any run gave any claim."""
        found = {claim.verdict for run in self.runs for claim in run.claims}
        return tuple(sorted(found, key=_ORDER.index))

    @property
    def states(self) -> Counter[State]:
        """How many runs there are of each state."""
        return Counter(run.state for run in self.runs)

    @property
    def seeds(self) -> str:
        """The seeds, in words."""
        found = sorted({run.seed for run in self.runs})
        if len(found) == 1:
            return f"seed {found[0]}"
        if len(found) > _SEEDS:
            return f"{len(found)} seeds, {found[0]} to {found[-1]}"
        return f"seeds {listed(str(seed) for seed in found)}"

    @property
    def took(self) -> str:
        """How long its runs take: the median, and from what to what."""
        known = [run.seconds for run in self.runs if run.seconds is not None and run.finished]
        if not known:
            return "–"
        middle = seconds(statistics.median(known))
        if len(known) == 1:
            return middle
        return f"{middle} ({seconds(min(known))} to {seconds(max(known))})"

    @property
    def expected(self) -> str:
        """How many of the runs that say anything are as expected."""
        states = self.states
        telling = states[State.EXPECTED] + states[State.UNEXPECTED]
        rest = [f"{number(states[s])} {s}" for s in (State.UNFINISHED, State.UNJUDGED) if states[s]]
        said = [f"{number(states[State.EXPECTED])} of {number(telling)}"] if telling else []
        return ", ".join([*said, *rest])


def rows(runs: Iterable[Run]) -> tuple[Row, ...]:
    """A row for each scenario and backend; what needs a look first."""
    same: dict[tuple[str, ...], list[Run]] = {}
    for run in sorted(runs, key=lambda r: (r.started_at, r.folder.name), reverse=True):
        key = (run.scenario, run.subject, run.backend, run.own or "")
        same.setdefault(key, []).append(run)
    made = [
        Row(runs=tuple(runs), claims=_claims(runs), flaky=flaky(runs)) for runs in same.values()
    ]
    return tuple(sorted(made, key=_urgency))


def headline(found: Sequence[Row], unread: int) -> str:
    """All of it in a sentence."""
    runs = [run for row in found for run in row.runs]
    states = Counter(run.state for run in runs)
    parts = [f"{number(states[state])} {state}" for state in State if states[state]]
    if many := sum(row.flaky is not None for row in found):
        parts.append(f"{plural(many, 'scenario')} flaky")
    if unread:
        parts.append(f"{plural(unread, 'folder that tells', 'folders that tell')} nothing")
    said = f"{plural(len(runs), 'run')} of {plural(len(found), 'scenario')}"
    return f"{said}: {', '.join(parts)}" if parts else said


def _urgency(row: Row) -> tuple[bool, bool, str, str, str]:
    wrong = row.newest.state is State.UNEXPECTED
    newest = row.newest
    return (not wrong, row.flaky is None, newest.scenario, newest.own or "", newest.backend)


def _claims(runs: Sequence[Run]) -> tuple[Same, ...]:
    """What the runs that came to their end say of each claim; if none did, what all say."""
    telling = [run for run in runs if run.finished] or runs
    counted: dict[str, Counter[tuple[Verdict, tuple[str, ...], bool, str]]] = {}
    for run in telling:
        for claim in run.claims:
            should_be = "" if claim.expected else claim.should_be
            key = (claim.verdict, claim.refuted_by, claim.expected, should_be)
            counted.setdefault(claim.name, Counter())[key] += 1
    same: dict[tuple[Outcome, ...], list[str]] = {}
    for name, outcomes in counted.items():
        made = [
            Outcome(verdict=verdict, by=by, expected=expected, should_be=should_be, count=count)
            for (verdict, by, expected, should_be), count in outcomes.items()
        ]
        made.sort(key=lambda o: (o.expected, _ORDER.index(o.verdict), o.by, o.should_be))
        same.setdefault(tuple(made), []).append(name)
    found = [Same(outcomes=outcomes, names=together(names)) for outcomes, names in same.items()]
    return tuple(sorted(found, key=lambda s: min(o.expected for o in s.outcomes)))
