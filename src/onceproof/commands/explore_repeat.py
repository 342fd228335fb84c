"""Repeat trials of an exploration: one by its name, or all of a file of cases."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from onceproof.harness.explore.acts import Single
from onceproof.harness.explore.cases import Case
from onceproof.harness.explore.exploration import CONFIRMATIONS, Exploration
from onceproof.harness.explore.shrinking import tries_for
from onceproof.harness.explore.trials import Outcome

HOLDS, VIOLATED, UNEXERCISED = 0, 1, 5


def repeat_only(exploration: Exploration, faults: Sequence[Single]) -> int:
    """Repeat one trial; print a line for each try, and return the exit code."""
    outcomes = exploration.repeat(faults, CONFIRMATIONS)
    for outcome in outcomes:
        print(f"missed: {outcome.missed}" if outcome.missed else _told(outcome))
    if any(outcome.violated for outcome in outcomes):
        return VIOLATED
    return HOLDS if any(outcome.hit for outcome in outcomes) else UNEXERCISED


def repeat_cases(exploration: Exploration, cases: Sequence[Case]) -> int:
    """Repeat each case; print a line for it, and return the exit code.

    A case is gone only if all its tries were hit and hold. The less often it failed before, the
    more tries it has.
    """
    codes = []
    for case in cases:
        tries = max(CONFIRMATIONS, tries_for(case.failed / case.tries))
        try:
            outcomes = exploration.repeat(case.faults, tries, case.load)
        except ValueError as error:
            print(f"unknown  {case.key}: {error}")
            codes.append(UNEXERCISED)
            continue
        codes.append(_said(case, outcomes))
    return VIOLATED if VIOLATED in codes else max(codes)


def _said(case: Case, outcomes: Sequence[Outcome]) -> int:
    """Print what became of a case, and return the exit code."""
    of, before = len(outcomes), f"before {case.failed} of {case.tries}"
    violated = [outcome for outcome in outcomes if outcome.violated]
    alike = [outcome for outcome in violated if case.fails(outcome)]
    if violated:
        shown = alike or violated
        names = ", ".join(sorted(frozenset().union(*(outcome.anomalies for outcome in shown))))
        word = "there" if alike else "differs"
        print(f"{word:8} {case.key}: {len(shown)} of {of} violated ({names}); {before}")
        return VIOLATED
    whys = [o.missed or f"{o.verdict}, {o.reason}" for o in outcomes if not o.held]
    if whys:
        print(f"unknown  {case.key}: {of - len(whys)} of {of} hold; {whys[0]}; {before}")
        return UNEXERCISED
    print(f"gone     {case.key}: {of} of {of} hold; {before}")
    return HOLDS


def _told(outcome: Outcome) -> str:
    why = ", ".join(sorted(outcome.anomalies)) or outcome.reason
    check = f"; onceproof check FOLDER/{shlex.join(outcome.kept)}" if outcome.kept else ""
    return (f"{outcome.verdict}: {why}" if why else outcome.verdict) + check
