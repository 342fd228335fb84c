"""Decide whether a scenario is flaky: the same setup gave different results.

Only complete runs with the same code, versions, settings and workload are compared. A user pipeline
may have been edited between runs, so it is never called flaky.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from onceproof.reports.runs.claims import ClaimResult
from onceproof.reports.runs.run import Run
from onceproof.reports.text import listed, plural

DEFINITION: Final = (
    "A scenario is flaky if two of its complete runs, with the same code, versions, settings, "
    "workload and backend, differ on a claim: another verdict, or other refuting anomalies. "
    "The page says whether they had the same seed. With another seed, other records are sent "
    "and another schedule is drawn. Your own pipeline is never called flaky, because it may "
    "have been edited in between. Neither are runs that do not record their code."
)
Answer = tuple[str, tuple[str, ...]]
"""Verdict and refuting anomalies."""


@dataclass(frozen=True, kw_only=True)
class Flaky:
    """Different results of the same setup.

    Attributes:
        same_seed: whether runs with one seed differed.
        says: the claims that differ, and how often each result occurred.
    """

    same_seed: bool
    says: tuple[str, ...]


def flaky(runs: Iterable[Run]) -> Flaky | None:
    """Return the differing results of one scenario's runs, newest first; None if there are none."""
    alike: dict[str, list[Run]] = {}
    for run in runs:
        if run.finished and run.claims and run.code is not None and run.own is None:
            alike.setdefault(run.setup, []).append(run)
    found = [lines for same in alike.values() if (lines := _differences(same))]
    if not found:
        return None
    return Flaky(
        same_seed=any(_differ_with_one_seed(same) for same in alike.values()),
        says=tuple(dict.fromkeys(line for lines in found for line in lines)),
    )


def answers(run: Run) -> dict[str, Answer]:
    """Return the result of each claim of a run, by a name that is unique within it."""
    times: Counter[str] = Counter()
    found: dict[str, Answer] = {}
    for claim in run.claims:
        times[claim.name] += 1
        found[_named(claim, times[claim.name])] = (claim.verdict, claim.refuted_by)
    return found


def _named(claim: ClaimResult, number: int) -> str:
    return claim.name if number == 1 else f"{claim.name} ({number})"


def _differ_with_one_seed(runs: Sequence[Run]) -> bool:
    seeds = {run.seed for run in runs}
    return any(_differences([run for run in runs if run.seed == seed]) for seed in seeds)


def _differences(runs: Sequence[Run]) -> list[str]:
    counts: dict[str, Counter[Answer | None]] = {}
    all_answers = [answers(run) for run in runs]
    for name in dict.fromkeys(name for found in all_answers for name in found):
        counts[name] = Counter(found.get(name) for found in all_answers)
    return [
        f"{name}: {listed(_counted(answer, count) for answer, count in counted.most_common())}"
        for name, counted in counts.items()
        if len(counted) > 1
    ]


def _counted(answer: Answer | None, count: int) -> str:
    if answer is None:
        return f"not claimed in {plural(count, 'run')}"
    verdict, by = answer
    return f"{verdict}{f' by {listed(by)}' if by else ''} in {plural(count, 'run')}"
