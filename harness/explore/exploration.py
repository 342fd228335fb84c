"""Explore: learn the points, try the singles and pairs, confirm and shrink the violations.

Every trial runs beside a quiet one, which must hold, and a broken twin, which must be caught. If
one of them comes out wrong, the batch does not count, and the stage is started again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol, get_args

from onceproof.harness.explore.acts import Single
from onceproof.harness.explore.funnel import Funnel, funnel, new_are_rare, singles_in
from onceproof.harness.explore.journal import Confirmed, Entry, Journal, Known, Shrunk
from onceproof.harness.explore.pairs import Pairs, in_turn, pairs
from onceproof.harness.explore.points import Passed, learn, place_of
from onceproof.harness.explore.shrinking import Shrinker, smallest, tries_for
from onceproof.harness.explore.singles import TRIES, Singles
from onceproof.harness.explore.trials import Aimed, Outcome, Trial, key_of, parse_key, together

PASSES: Final = 6
"""Quiet trials from which the points are learned."""
CONFIRMATIONS: Final = 5
_UNSOUND: Final = 3
"""Batches in a row that may not count."""


class NotSound(RuntimeError):
    """Quiet trials or broken twins came out wrong, several times in a row."""


Aborted = Literal["empty", "compressed"]


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a client sends in a trial.

    Attributes:
        transactions: number of transactions, or of records without transactions.
        records: number of records in each.
        aborted: kinds of aborted transactions before the inputs of a client that reads.
    """

    transactions: int = 5
    records: int = 3
    aborted: frozenset[Aborted] = frozenset(get_args(Aborted))


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The outcomes of some trials that ran side by side.

    Attributes:
        unsound: why they do not count; None if they do.
    """

    outcomes: tuple[Outcome, ...]
    unsound: str | None = None


class Bench(Protocol):
    """Makes trials."""

    size: int
    """Number of trials that are judged together."""

    def quiet(self, count: int, load: Load) -> list[tuple[Passed, ...]]:
        """Make trials without faults and return what each passed."""

    def attempt(self, trials: Sequence[Trial], load: Load) -> Batch:
        """Make some trials, side by side, beside a quiet one and a broken twin.

        Either a broker fails in the same way in all of them, or in none.
        """

    def renew(self) -> None:
        """Start the stage again, with no data, and let a first client use it."""


@dataclass(kw_only=True)
class Limits:
    """When to stop.

    Attributes:
        trials: number of trials, those of earlier sittings included; None: no limit.
        over: returns whether the time is over, or the user has asked to stop.
    """

    trials: int | None = None
    over: Callable[[], bool] = lambda: False


@dataclass(kw_only=True)
class Exploration:
    """One exploration.

    Attributes:
        seed: decides which independent pairs are drawn.
        shard: (number from 1, of how many): the share that is tried here.
        with_pairs: whether pairs are tried after the singles.
        told: called after each batch.
    """

    bench: Bench
    journal: Journal
    limits: Limits
    load: Load = field(default_factory=Load)
    seed: int = 1
    shard: tuple[int, int] = (1, 1)
    with_pairs: bool = True
    told: Callable[[], None] = lambda: None
    _pairs: Pairs | None = field(default=None, init=False)
    _loads: dict[Load, tuple[Passed, ...]] = field(default_factory=dict, init=False)

    def run(self) -> Funnel:
        """Explore until everything is tried, or a limit is reached; return the figures.

        Raises:
            NotSound: quiet trials or broken twins came out wrong.
        """
        while (missing := PASSES - len(self.journal.known.quiet)) > 0:
            # In two batches: what depends on the load of the machine is not stable.
            for trace in self.bench.quiet(min(missing, PASSES // 2), self.load):
                self.journal.quiet(trace)
        self._loads[self.load] = self.journal.known.quiet[0]
        singles = self._known_singles()
        while (trials := singles.next(self._room())) and not self._over:
            for trial, outcome in self._attempt(trials):
                singles.take(trial.faults[0], outcome)
        self._confirm_and_shrink()
        if self.with_pairs and not singles.left:
            self._try_pairs(singles)
            self._confirm_and_shrink()
        return self.figures

    def repeat(
        self, faults: Sequence[Single], tries: int, load: Load | None = None
    ) -> list[Outcome]:
        """Make a trial several times, side by side, and return the outcomes.

        Args:
            load: what the client sends; None: the load of the exploration.

        Raises:
            NotSound: quiet trials or broken twins came out wrong.
            ValueError: a message does not come, so its fault cannot be injected.
        """
        load = load or self.load
        trial = self._placed(faults, load)
        if trial is None:
            raise ValueError(f"a message of «{key_of(faults)}» does not come with this load")
        return list(self._sound([trial] * tries, load))

    @property
    def figures(self) -> Funnel:
        return funnel(self.journal.known, self._pairs)

    @property
    def _over(self) -> bool:
        limit = self.limits.trials
        return self.limits.over() or (limit is not None and len(self.journal.known.trials) >= limit)

    def _known_singles(self) -> Singles:
        quiet = self.journal.known.quiet
        singles = Singles(protocol=learn(quiet), quiet=quiet[0], shard=self.shard)
        for entry in self.journal.known.trials:
            faults = parse_key(entry.key)
            if len(faults) == 1:
                singles.take(faults[0], entry.outcome)
        return singles

    def _room(self) -> int:
        limit = self.limits.trials
        left = self.bench.size if limit is None else limit - len(self.journal.known.trials)
        return max(min(self.bench.size, left), 0)

    def _try_pairs(self, singles: Singles) -> None:
        # A shard has the outcomes of its own singles only, so it tries the pairs that begin with
        # one of them.
        self._pairs = found = pairs(singles.quiet, singles.hit, seed=self.seed)
        waiting = in_turn([*found.chosen, *found.drawn])
        tried: dict[str, int] = {}
        done: set[str] = set()
        for entry in self.journal.known.trials:
            tried[entry.key] = tried.get(entry.key, 0) + 1
            if entry.outcome.hit:
                done.add(entry.key)
        while not self._over:
            waiting = [t for t in waiting if t.key not in done and tried.get(t.key, 0) < TRIES]
            if not waiting or new_are_rare(self.journal.known):
                return
            for trial, outcome in self._attempt(together(waiting)[: self._room()]):
                tried[trial.key] = tried.get(trial.key, 0) + 1
                if outcome.hit:
                    done.add(trial.key)

    def _attempt(self, trials: Sequence[Trial]) -> list[tuple[Trial, Outcome]]:
        """Make trials until they count, write them down, and return them."""
        outcomes = self._sound(trials, self.load)
        made = list(zip(trials, outcomes, strict=True))
        self.journal.trials([Entry(key=trial.key, outcome=outcome) for trial, outcome in made])
        self.told()
        return made

    def _sound(self, trials: Sequence[Trial], load: Load) -> tuple[Outcome, ...]:
        why = ""
        for _ in range(_UNSOUND):
            batch = self.bench.attempt(trials, load)
            if batch.unsound is None:
                return batch.outcomes
            why = batch.unsound
            self.journal.unsound(why)
            self.bench.renew()
        raise NotSound(f"{_UNSOUND} batches in a row did not count; the last one because {why}")

    # Violations.

    def _confirm_and_shrink(self) -> None:
        known = self.journal.known
        for entry in list(known.trials):
            if self.limits.over():
                return
            if not entry.outcome.violated:
                continue
            found = known.confirmed.get(entry.key) or self._confirm(entry)
            if found.failed and entry.key not in known.shrunk and known.like(entry) is None:
                self._shrink(entry.key, entry.outcome, found.failed / found.tries)
            self.told()

    def _confirm(self, entry: Entry) -> Confirmed:
        self.bench.renew()
        trial = self._placed(parse_key(entry.key), self.load)
        failed = self._failures(trial, self.load, entry.outcome, CONFIRMATIONS)
        found = Confirmed(key=entry.key, failed=failed, tries=CONFIRMATIONS)
        self.journal.confirmed(found)
        return found

    def _shrink(self, key: str, outcome: Outcome, rate: float) -> None:
        tries = tries_for(rate)

        def fails(faults: Sequence[Single], load: Load) -> bool:
            trial = self._placed(faults, load)
            return self._failures(trial, load, outcome, tries) > 0

        whole = parse_key(key)
        least = Shrinker[Single](lambda faults: fails(faults, self.load), 1).shrink(whole)
        load = self.load

        def still(load: Load) -> bool:
            return fails(least, load)

        transactions = smallest(
            load.transactions, 1, lambda n: still(replace(load, transactions=n))
        )
        records = smallest(
            load.records, 1, lambda n: still(replace(load, transactions=transactions, records=n))
        )
        smaller = replace(load, transactions=transactions, records=records)
        trial = self._placed(least, smaller)
        self.journal.shrunk(
            Shrunk(
                key=key,
                to=key_of(least),
                transactions=transactions,
                records=records,
                # It may fail more rarely than the whole.
                failed=self._failures(trial, smaller, outcome, CONFIRMATIONS),
                tries=CONFIRMATIONS,
            )
        )

    def _failures(self, trial: Trial | None, load: Load, outcome: Outcome, tries: int) -> int:
        """Make a trial several times, side by side; return how often it failed like an outcome.

        What misses is made again, since it proves nothing.
        """
        failed, left = 0, 0 if trial is None else tries
        for _ in range(TRIES):
            if trial is None or not left:
                break
            hit = [again for again in self._sound([trial] * left, load) if again.hit]
            failed += sum(again.same_failure(outcome) for again in hit)
            left -= len(hit)
        return failed

    def _placed(self, faults: Sequence[Single], load: Load) -> Trial | None:
        """Return a trial of some faults under a load; None if a message does not come there."""
        if load not in self._loads:
            (self._loads[load],) = self.bench.quiet(1, load)
        trace, after = self._loads[load], None
        aimed: list[Aimed] = []
        for single in faults:
            if aimed:
                # The messages behind a fault are known only from a trial with it.
                (outcome,) = self._sound([Trial(aimed=tuple(aimed))], load)
                if not outcome.hit:
                    return None
                trace, after = outcome.trace, outcome.hits[-1]
            place = place_of(single.point, trace, after=after)
            if place is None:
                return None
            aimed.append(Aimed(single=single, place=place))
        return Trial(aimed=tuple(aimed))


def pairs_in(known: Known) -> Pairs | None:
    """Return the pairs that were planned for a journal; None if none of them was tried."""
    if not any(" + " in entry.key for entry in known.trials):
        return None
    return pairs(known.quiet[0], singles_in(known)[0], seed=int(known.about["seed"]))
