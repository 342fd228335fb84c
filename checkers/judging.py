"""Judge a history: findings, the mutation self-check and a verdict for every claim.

All trials share queries, and claims on the same stretch share findings. An anomaly that scans every
record is only looked for where a claim depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.belonging import belonging
from onceproof.checkers.circumstances import Circumstances, OutOfScope
from onceproof.checkers.controls import Control, controls
from onceproof.checkers.engines import Layer, Settings, open_history
from onceproof.checkers.engines.overlay import answer_name, of_the_run
from onceproof.checkers.engines.parallel import Workers, run_interruptibly, workers
from onceproof.checkers.history import History
from onceproof.checkers.late_inputs import late_inputs
from onceproof.checkers.model import (
    Claim,
    ClaimJudgement,
    Evidence,
    Findings,
    Hop,
    Judgement,
    Mutation,
)
from onceproof.checkers.mutation_check import Proof, prove
from onceproof.checkers.promised import NOTHING, RequiredHistory
from onceproof.checkers.refutations import refutations, shown_with
from onceproof.checkers.sample import choose, taken_out
from onceproof.checkers.trials import Input, Trials, outputs_of
from onceproof.checkers.verdict import judge_claim

Stretch = tuple[Hop, int]


def check(
    history: History,
    claims: Iterable[Claim],
    settings: Settings | None = None,
    *,
    promised: RequiredHistory = NOTHING,
    rows: Callable[[str, pa.Table], None] | None = None,
    alike: bool = False,
) -> Judgement:
    """Judge a history against claims.

    Args:
        alike: whether the claims are about trials that are alike. Then hops on which the same
            anomalies are looked for share one self-check, on the first of them.
        promised: what is known independently to be in the history.
        rows: called for each anomaly found, with its name and all rows that prove it.

    Raises:
        BadHistory: the contents of a column do not fit the contract.
    """
    claims = tuple(claims)
    with open_history(history, settings or Settings()) as bottom:
        return run_interruptibly(
            bottom.database, lambda: _judged(bottom, history, claims, promised, rows, alike)
        )


def _judged(
    bottom: Layer,
    history: History,
    claims: Sequence[Claim],
    promised: RequiredHistory,
    rows: Callable[[str, pa.Table], None] | None,
    alike: bool,
) -> Judgement:
    circumstances = Circumstances.of(history, promised)
    missing = belonging(bottom, history, promised)
    trials = trials_of(history, claims, circumstances)
    with (
        bottom.above(trials.tables()) as first,
        first.above({"sampled": choose(first, trials)}) as layer,
    ):
        trial = _Trial(layer, claims, trials, circumstances, alike)
        judged = tuple(trial.judge(claim, missing) for claim in claims)
        relations = {**bottom.counts(), **first.counts(), **layer.counts()}
        late = late_inputs(layer)
        findings = trial.in_order()
        for name in dict.fromkeys(found.anomaly for found in findings if found.count):
            if rows is not None:
                rows(name, layer.arrow(f"SELECT * FROM {answer_name(anomalies()[name])}"))
    return Judgement(
        claims=judged,
        findings=_merged(findings, circumstances.complete),
        mutation_check=tuple(
            # Hops that are alike have the same ones.
            mutation
            for mutations in dict.fromkeys(trial.mutations.values())
            for mutation in mutations
        ),
        notes=(*_notes(history, circumstances, findings), *late),
        counts={name: history.rows(name) for name in history} | relations,
    )


def find(
    history: History,
    claims: Claim | Iterable[Claim],
    settings: Settings | None = None,
    *,
    only: Collection[str] | None = None,
) -> tuple[Findings, ...]:
    """Return all findings on the claims' hops, without a verdict or mutation self-check.

    Args:
        only: names of the anomalies to look for; None: all.

    Raises:
        BadHistory: the contents of a column do not fit the contract.
    """
    claims = (claims,) if isinstance(claims, Claim) else tuple(claims)
    circumstances = Circumstances.of(history)
    with open_history(history, settings or Settings()) as bottom:
        trials = trials_of(history, claims, circumstances)
        with bottom.above(trials.tables()) as layer:
            hops = {hop for claim in claims for hop in claim.hop.parts}
            found = [
                f
                for anomaly in anomalies().values()
                if anomaly.hop in hops and (only is None or anomaly.name in only)
                for f in layer.findings(anomaly, circumstances.hazards).values()
            ]
    return _merged(found, circumstances.complete)


class _Trial:
    def __init__(
        self,
        layer: Layer,
        claims: Iterable[Claim],
        trials: Trials,
        circumstances: Circumstances,
        alike: bool,
    ) -> None:
        self._layer, self._alike = layer, alike
        self._trials = trials
        self._circumstances = circumstances
        self._claims: dict[Stretch, list[Claim]] = {}
        for claim in claims:
            # The produce hop is checked even if no claim covers it: its findings explain others.
            self._claims.setdefault((Hop.PRODUCE, trials.input(claim)), [])
            for hop in claim.hop.parts:
                self._claims.setdefault(self._stretch(hop, claim), []).append(claim)
        self.found: dict[Stretch, list[Findings]] = {s: [] for s in self._claims}
        self.run: list[Findings] = []
        self.cut_off: dict[Stretch, list[str]] = {s: [] for s in self._claims}
        wanted = {stretch: self._wanted(stretch) for stretch in self._claims}
        with workers(layer.database) as pool:
            proven = pool.submit(lambda: self._prove(wanted, pool))
            self._collect_findings(wanted)
            self.mutations = proven.result()

    def _collect_findings(self, wanted: Mapping[Stretch, Collection[str]]) -> None:
        hazards = self._circumstances.hazards
        for name, anomaly in anomalies().items():
            if of_the_run(anomaly):
                self.run += self._layer.findings(anomaly, hazards).values()
                continue
            stretches = [s for s, names in wanted.items() if name in names]
            if not stretches:
                continue
            by_trial = self._layer.findings(anomaly, hazards)
            undecided = self._layer.undecided(anomaly)
            for stretch in stretches:
                if stretch[1] in by_trial:
                    self.found[stretch].append(by_trial[stretch[1]])
                if stretch[1] in undecided:
                    self.cut_off[stretch].append(name)

    def _prove(
        self, wanted: Mapping[Stretch, frozenset[str]], pool: Workers
    ) -> dict[Stretch, tuple[Mutation, ...]]:
        tested = {
            stretch: (stretch[0], names) if self._alike else stretch
            for stretch, names in wanted.items()
        }
        firsts = {test: stretch for stretch, test in reversed(tested.items())}
        proofs = prove(
            self._layer,
            taken_out(self._layer),
            [
                Proof(hop=at[0], trial=at[1], wanted=wanted[at], where=self._where(at))
                for at in firsts.values()
            ],
            pool,
        )
        of_test = dict(zip(firsts, proofs, strict=True))
        return {stretch: of_test[test] for stretch, test in tested.items()}

    def judge(self, claim: Claim, missing: Sequence[Control]) -> ClaimJudgement:
        stretches = [self._stretch(hop, claim) for hop in claim.hop.parts]
        return judge_claim(
            claim,
            findings=self.run + [f for s in stretches for f in self.found[s]],
            circumstances=self._circumstances,
            mutations=[w for s in stretches for w in self.mutations[s]],
            controls=controls(self._layer, claim, self._trials),
            missing=missing,
            cut_off=[name for s in stretches for name in self.cut_off[s]],
            elsewhere=OutOfScope(
                owners=self._foreign_owners(claim), attempts=self._attempts_elsewhere(claim)
            ),
        )

    def _attempts_elsewhere(self, claim: Claim) -> frozenset[object]:
        """Return the attempts of hazards that sent to topics other than the claim's."""
        rows = self._layer.rows(
            "SELECT s.attempt FROM hazards h JOIN sends s ON s.attempt = h.attempt "
            f"JOIN inputs i ON i.trial = {self._trials.input(claim)} WHERE s.topic <> i.topic"
        )
        return frozenset(row["attempt"] for row in rows)

    def _foreign_owners(self, claim: Claim) -> frozenset[object]:
        """Return owners that write only to other sinks than the claim's, where this is known."""
        if claim.hop is Hop.PRODUCE:
            return frozenset()
        trials = [self._trials.number(output) for output in outputs_of(claim)]
        rows = self._layer.rows(
            "SELECT f.owner FROM foreign_owners f JOIN outputs k ON k.trial = f.trial "
            f"WHERE f.trial IN ({', '.join(map(str, trials))}) "
            "AND k.sink IN (SELECT sink FROM sink_owners) "
            f"GROUP BY f.owner HAVING count(DISTINCT f.trial) = {len(trials)}"
        )
        return frozenset(row["owner"] for row in rows)

    def in_order(self) -> list[Findings]:
        return self.run + [f for found in self.found.values() for f in found]

    def _stretch(self, hop: Hop, claim: Claim) -> Stretch:
        number = self._trials.input if hop is Hop.PRODUCE else self._trials.output
        return (hop, number(claim))

    def _wanted(self, stretch: Stretch) -> frozenset[str]:
        hop = stretch[0]
        guarantees = {claim.guarantee for claim in self._claims[stretch]} or {"exactly-once"}
        asked = {name for g in guarantees for name in refutations(g, hop) | shown_with(g)}
        return frozenset(
            name
            for name, anomaly in anomalies().items()
            if anomaly.hop is hop and not of_the_run(anomaly) and name in asked
        )

    def _where(self, stretch: Stretch) -> str:
        hop, number = stretch
        if hop is Hop.PRODUCE:
            return self._trials.inputs[number - 1].topic
        output = self._trials.outputs[number - 1]
        return f"{output.sink} ({output.view})"


def trials_of(history: History, claims: Iterable[Claim], circumstances: Circumstances) -> Trials:
    collection = circumstances.collection
    started = collection["started_at"] if collection else None
    clock = collection["clock"] if collection else None
    assert started is None or isinstance(started, int)
    made = Input(
        topic="",
        complete=circumstances.complete,
        collected=collection is not None,
        collect_started=started,
        collect_clock=None if clock is None else str(clock),
    )
    topics = dict.fromkeys(history["partitions"]["topic"].to_pylist())
    return Trials.of(claims, made, tuple(topics) if circumstances.settled else ())


def _merged(findings: Iterable[Findings], complete: bool) -> tuple[Findings, ...]:
    """Merge findings per anomaly over all trials, without absences where they prove nothing."""
    found: dict[str, Findings] = {}
    for f in findings:
        if f.count and (complete or f.evidence is not Evidence.ABSENCE):
            had = found.get(f.anomaly)
            found[f.anomaly] = (
                replace(f, count=had.count + f.count, shown=had.shown + f.shown) if had else f
            )
    return tuple(found[name] for name in anomalies() if name in found)


def _notes(
    history: History, circumstances: Circumstances, findings: Iterable[Findings]
) -> tuple[str, ...]:
    notes = []
    if history.missing:
        notes.append(f"missing tables, treated as empty: {', '.join(history.missing)}")
    if circumstances.interruption:
        notes.append(circumstances.interruption)
    if not circumstances.complete:
        notes += [
            f"{f.anomaly}: {f.count} findings are undecided and not shown, because the history is "
            "incomplete"
            for f in findings
            if f.count and f.evidence is Evidence.ABSENCE
        ]
    return tuple(notes)
