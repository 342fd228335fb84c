"""The mutation self-check: every mutation of a copy of this history must be found.

It takes a sample of the history's records with all their rows. Each mutation changes one or two
rows of a clean record in one table, which must add the expected finding for that record. Mutations
of different records share one copy.

Records are compared one by one, so what is found in the sample would be found in the whole history,
at a cost that does not depend on its size. Facts about the whole history keep their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import pyarrow as pa

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.engines.everything import without_screen
from onceproof.checkers.engines.overlay import Layer, answer_name
from onceproof.checkers.engines.parallel import Workers
from onceproof.checkers.model import Anomaly, Hop, Mutation, Value
from onceproof.checkers.mutations.mutator import Mutator, Row
from onceproof.checkers.trials import no_records

_CANDIDATES: Final = 12
_OF_WHOLE_HISTORY: Final = (
    "by_state", "judging_mode", "log_traits", "send_counts", "sink_owners", "sink_traits", "stated",
)  # fmt: skip
"""Relations with facts about the whole history."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A hop of one trial, and the names of the anomalies that are looked for there."""

    hop: Hop
    trial: int
    wanted: frozenset[str]
    where: str

    @property
    def probes(self) -> list[_Probe]:
        return [
            _Probe(anomaly=anomaly, mutator=mutator)
            for anomaly in anomalies().values()
            if anomaly.hop is self.hop and anomaly.name in self.wanted
            for mutator in anomaly.mutations
        ]


@dataclass(frozen=True, kw_only=True)
class _Probe:
    anomaly: Anomaly
    mutator: Mutator

    def applies(self, layer: Layer, trial: int) -> bool:
        needs = self.mutator.needs
        return needs is None or bool(
            layer.rows(f"SELECT 1 AS one FROM ({needs}) n WHERE n.trial = {trial} LIMIT 1")
        )


@dataclass(frozen=True, kw_only=True)
class _Target:
    """A place for a mutation, and the key that its finding must have."""

    row: Row
    key: Mapping[str, Value]

    @property
    def touches(self) -> frozenset[tuple[str, Value]]:
        """The record that the mutation affects, or the partition whose progress it affects."""
        if self.row.get("record") is not None:
            return frozenset({("record", self.row["record"])})
        return frozenset({("partition", self.row["partition"])})


@dataclass(frozen=True, kw_only=True)
class _Cut:
    stretch: Proof
    probe: _Probe
    target: _Target

    @property
    def mutator(self) -> Mutator:
        return self.probe.mutator

    def independent_of(self, other: _Cut) -> bool:
        """Whether both mutations can share a copy and still be distinguished."""
        return (
            self.stretch is other.stretch
            and self.mutator.kind == other.mutator.kind
            and not (self.target.touches & other.target.touches)
        )


@dataclass(kw_only=True)
class _Copy:
    tables: dict[str, pa.Table] = field(default_factory=dict)
    cuts: list[_Cut] = field(default_factory=list)


@dataclass(kw_only=True)
class _Plan:
    """A stretch's mutations: the results by name, and places for those not yet made."""

    made: dict[str, Mutation] = field(default_factory=dict)
    cuts: list[list[_Cut]] = field(default_factory=list)


def prove(
    layer: Layer, sample: Mapping[str, pa.Table], stretches: Sequence[Proof], pool: Workers
) -> list[tuple[Mutation, ...]]:
    """Mutate copies of the history in every way that applies, and look for each mutation.

    Args:
        sample: what `onceproof.checkers.sample.taken_out` returned.

    Returns:
        The mutations of each stretch, in the order of the stretches.
    """
    with (
        # Sampled records must not be suspects for being sampled: the screen is tested as well.
        layer.above({**sample, "sampled": no_records()}, None, _OF_WHOLE_HISTORY) as extract,
        extract.above({}, without_screen(layer.queries)) as unscreened,
    ):
        planning = [
            pool.submit(partial(_plan, layer, unscreened, stretch)) for stretch in stretches
        ]
        plans = [plan.result() for plan in planning]
        copies = _copies(extract, [cuts for plan in plans for cuts in plan.cuts])
        searching = [pool.submit(partial(_search_all, extract, copy)) for copy in copies]
        for copy, searched in zip(copies, searching, strict=True):
            for cut, mutation in zip(copy.cuts, searched.result(), strict=True):
                plans[stretches.index(cut.stretch)].made[cut.mutator.name] = mutation
    return [
        tuple(
            plan.made[probe.mutator.name]
            for probe in stretch.probes
            if probe.mutator.name in plan.made
        )
        for stretch, plan in zip(stretches, plans, strict=True)
    ]


def _plan(layer: Layer, unscreened: Layer, stretch: Proof) -> _Plan:
    plan = _Plan()
    for probe in stretch.probes:
        mutator = probe.mutator
        whole = layer if mutator.of_the_whole else unscreened
        if not probe.applies(whole, stretch.trial):
            continue
        cuts = _cuts(whole, probe, stretch)
        if not cuts:
            plan.made[mutator.name] = _without_target(whole, probe, stretch)
        elif mutator.of_the_whole:
            changed = {mutator.table: _mutated_table(layer, cuts[0], {})}
            with layer.above(changed) as mutated:
                plan.made[mutator.name] = _search(mutated, cuts[0])
        else:
            plan.cuts.append(cuts)
    return plan


def _copies(extract: Layer, choices: Iterable[Sequence[_Cut]]) -> list[_Copy]:
    copies: list[_Copy] = []
    for cuts in choices:
        copy, cut = _place(copies, cuts)
        copy.tables[cut.mutator.table] = _mutated_table(extract, cut, copy.tables)
        copy.cuts.append(cut)
    return copies


def _mutated_table(layer: Layer, cut: _Cut, tables: Mapping[str, pa.Table]) -> pa.Table:
    name = cut.mutator.table
    table = tables[name] if name in tables else layer.arrow(f"SELECT * FROM {name}")
    return cut.mutator.change(table, cut.target.row)


def _place(copies: list[_Copy], cuts: Sequence[_Cut]) -> tuple[_Copy, _Cut]:
    for copy in copies:
        for cut in cuts:
            if all(cut.independent_of(other) for other in copy.cuts):
                return copy, cut
    copies.append(_Copy())
    return copies[-1], cuts[0]


def _cuts(layer: Layer, probe: _Probe, stretch: Proof) -> list[_Cut]:
    """Return places for a mutation: rows without its finding, of clean records if there are any."""
    mutator, answer = probe.mutator, answer_name(probe.anomaly)
    same = " AND ".join(f'f."{column}" = t."{column}"' for column in mutator.key)
    dirty = _dirty(stretch)
    is_dirty = (
        f"t.record IN (SELECT record FROM ({dirty}) d WHERE d.trial = {stretch.trial})"
        if mutator.of_records and dirty
        else "FALSE"
    )
    order = ", ".join(["dirty", *(f't."{column}"' for column in mutator.order)])
    rows = layer.rows(
        f"SELECT t.*, {is_dirty} AS dirty FROM ({mutator.targets}) t "
        f"WHERE t.trial = {stretch.trial} "
        f"AND NOT EXISTS (SELECT 1 FROM {answer} f WHERE f.trial = {stretch.trial} AND {same}) "
        f"ORDER BY {order} LIMIT {_CANDIDATES}"
    )
    clean = [row for row in rows if not row["dirty"]]
    return [
        _Cut(
            stretch=stretch,
            probe=probe,
            target=_Target(row=row, key={c: row[c] for c in mutator.key}),
        )
        for row in clean or rows
    ]


def _dirty(stretch: Proof) -> str:
    return " UNION ".join(
        f"SELECT trial, record FROM {answer_name(anomaly)}"
        for anomaly in anomalies().values()
        if anomaly.hop is stretch.hop and anomaly.name in stretch.wanted and "record" in anomaly.key
    )


def _without_target(layer: Layer, probe: _Probe, stretch: Proof) -> Mutation:
    """Report a mutation without a place; it counts as found if every place has the finding."""
    mutator, answer = probe.mutator, answer_name(probe.anomaly)
    already = bool(
        layer.rows(f"SELECT 1 AS one FROM {answer} WHERE trial = {stretch.trial} LIMIT 1")
    )
    return Mutation(
        name=mutator.name,
        target=stretch.where,
        must_find=probe.anomaly.name,
        found=already,
        placed=already,
        detail=(
            "found without a mutation: every record that could be mutated already has this finding"
        )
        if already
        else f"there is nothing to mutate in {mutator.table}",
    )


def _search_all(extract: Layer, copy: _Copy) -> list[Mutation]:
    with extract.above(copy.tables) as mutated:
        return [_search(mutated, cut) for cut in copy.cuts]


def _search(mutated: Layer, cut: _Cut) -> Mutation:
    name = cut.probe.anomaly.name
    found = mutated.has(cut.probe.anomaly, cut.stretch.trial, cut.target.key)
    named = _shown_key(cut.target.key)
    return Mutation(
        name=cut.mutator.name,
        target=f"{named} in {cut.stretch.where}",
        must_find=name,
        found=found,
        detail=f"{name} was {'found' if found else 'not found'} for {named}",
    )


def _shown_key(key: Mapping[str, Value]) -> str:
    hidden = ("sink", "view")
    return ", ".join(f"{n} {v}" for n, v in key.items() if n not in hidden and v != "")
