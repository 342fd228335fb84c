"""Hunt a bug: explore a subject in some versions until a trial convicts it, or all were tried."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from onceproof.harness.explore.acts import Single, singles
from onceproof.harness.explore.bench.stage_bench import StageBench
from onceproof.harness.explore.bench.subjects.every import SUBJECTS
from onceproof.harness.explore.points import Passed, learn, place_of
from onceproof.harness.explore.trials import Aimed, Outcome, Trial, together
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop
from tests.known_bugs.catalogue import Bug

_PASSES: Final = 3
_TRIES: Final = 3
"""Tries of a trial whose fault missed its message."""
_BATCH: Final = 12
"""Small, so that little is tried after a conviction."""
_UNSOUND: Final = 3


class CannotHunt(RuntimeError):
    """The subject fails without faults, or its trials do not count."""


@dataclass(kw_only=True)
class Hunted:
    """What a hunt found.

    Attributes:
        seconds: until the conviction, or until all was tried; without the start of brokers.
        trials: number of trials that hit.
        by: the faults of the trial that convicted it; None: it was not found.
        others: anomalies of other kinds, with the number of trials that showed them.
        missed: number of single faults that did not hit in any try, if it was not found.
    """

    seconds: float = 0.0
    trials: int = 0
    by: str | None = None
    others: dict[str, int] = field(default_factory=dict)
    missed: int = 0


class Hunt:
    """A stage on which one subject is explored in some versions."""

    def __init__(self, bug: Bug, subject: str, *, tools: Tools, folder: Path, stop: Stop) -> None:
        self._bug = bug
        self._load = bug.load
        self.bench = StageBench(
            SUBJECTS[subject], tools=tools, folder=folder, stop=stop, lanes=6, size=_BATCH
        )

    def run(self, seed: int) -> Hunted:
        """Try what the bug names in an order that depends on the seed.

        Raises:
            CannotHunt: trials without faults fail, or broken twins are not caught.
        """
        began, found = time.monotonic(), Hunted()
        try:
            quiet = self.bench.quiet(_PASSES, self._load)
        except ValueError as error:
            if f"Found {self._bug.anomaly}" not in str(error):
                raise CannotHunt(str(error)) from error
            return Hunted(seconds=time.monotonic() - began, trials=_PASSES, by="no fault")
        hit: dict[Single, Outcome] = {}
        first = self._singles(quiet, random.Random(seed))
        for _ in range(self._bug.rounds):
            for trial, outcome in self._attempt(first, found):
                hit[trial.faults[0]] = outcome
        if found.by is None:
            found.missed = len(first) - len(hit)
        if found.by is None and self._bug.then:
            second = [t for t in _pairs(quiet[0], hit) if _is_named(t.faults[1].id, self._bug.then)]
            random.Random(seed).shuffle(second)
            for _ in self._attempt(second, found):
                pass
        found.seconds = time.monotonic() - began
        return found

    def _singles(self, quiet: Sequence[tuple[Passed, ...]], order: random.Random) -> list[Trial]:
        found = []
        for single in singles(learn(quiet).stable):
            place = place_of(single.point, quiet[0])
            if place is not None and _is_named(single.id, self._bug.faults):
                found.append(Trial(aimed=(Aimed(single=single, place=place),)))
        for text in self._bug.faults:
            if not any(_is_named(trial.key, [text]) for trial in found):
                raise CannotHunt(f"no fault of the subject is «{text}»")
        order.shuffle(found)
        return found

    def _attempt(self, trials: Iterable[Trial], found: Hunted) -> Iterator[tuple[Trial, Outcome]]:
        """Make trials until one convicts the bug; yield those that hit."""
        left: Mapping[Trial, int] = dict.fromkeys(trials, 0)
        while left and found.by is None:
            batch = together(left)[:_BATCH]
            outcomes = self._sound(batch)
            tried = {trial: left[trial] + 1 for trial in batch}
            left = {trial: count for trial, count in left.items() if trial not in tried}
            for trial, outcome in zip(batch, outcomes, strict=True):
                if outcome.missed is not None:
                    if tried[trial] < _TRIES:
                        left = {**left, trial: tried[trial]}
                    continue
                found.trials += 1
                if self._bug.anomaly in {*outcome.anomalies, outcome.verdict}:
                    found.by = found.by or trial.key
                elif outcome.verdict != "holds":
                    for anomaly in outcome.anomalies or {outcome.verdict}:
                        found.others[anomaly] = found.others.get(anomaly, 0) + 1
                yield trial, outcome

    def _sound(self, trials: Sequence[Trial]) -> tuple[Outcome, ...]:
        why = ""
        for _ in range(_UNSOUND):
            batch = self.bench.attempt(trials, self._load)
            if batch.unsound is None:
                return batch.outcomes
            why = batch.unsound
            self.bench.renew()
        raise CannotHunt(why)


def _pairs(quiet: Sequence[Passed], hit: Mapping[Single, Outcome]) -> Iterator[Trial]:
    """Yield pairs of a single that was hit and every single at a message behind it."""
    for first, outcome in hit.items():
        (at,), start = outcome.hits, place_of(first.point, quiet)
        for second in singles(dict.fromkeys(p.point for p in outcome.trace[at + 1 :])):
            place = place_of(second.point, outcome.trace, after=at)
            if start is not None and place is not None and not second.act.breaks:
                aimed = (Aimed(single=first, place=start), Aimed(single=second, place=place))
                yield Trial(aimed=aimed)


def _is_named(name: str, texts: Iterable[str]) -> bool:
    """Whether a name has all words of one of the texts."""
    return any(all(word in name for word in text.split()) for text in texts)
