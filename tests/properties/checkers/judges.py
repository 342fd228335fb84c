"""Judges: the oracle and the engines, each telling what it finds in the same form.

A world has stretches (its topics, its trials, the run as a whole), and on
each of them a judge finds anomalies, with keys and witnesses; nothing else is compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from onceproof.checkers import anomalies
from onceproof.checkers.engines import open_engine
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.model import Anomaly, Evidence, Hop
from onceproof.checkers.trials import Input, Output, Trials
from tests.properties.checkers import oracle
from tests.properties.checkers.combine import Stretches, bare, combined, prefix, world_of
from tests.properties.checkers.oracle import Findings
from tests.properties.checkers.world import Row, Trial, World

RUN = "run"
Stretch = str | Trial
"""A topic, a trial, or the run."""
Found = dict[Stretch, Findings]
"""What was found in one world; a stretch without findings is left out."""


def ask_oracle(world: World) -> Found:
    """What is found in a world in plain Python."""
    found: Found = {topic: oracle.of_topic(world.rows, topic) for topic in world.topics}
    found |= {trial: oracle.of_trial(world.rows, trial) for trial in world.trials}
    found[RUN] = oracle.of_run(world.rows)
    return {stretch: findings for stretch, findings in found.items() if findings}


def ask_engine(worlds: Sequence[World], settings: Settings) -> list[Found]:
    """What an engine finds in each world, all of them judged at once as one history."""
    stretches = Stretches.of(worlds)
    found: list[dict[Stretch, dict[str, dict[oracle.Key, oracle.Witness]]]] = [{} for _ in worlds]
    with open_engine(combined(worlds), trials(worlds, stretches), settings) as layer:
        for anomaly in anomalies().values():
            for row in layer.answer(anomaly):
                number, stretch = _where(anomaly, row, stretches)
                if anomaly.evidence is Evidence.ABSENCE and not complete(worlds[number]):
                    continue
                key = tuple(bare(row[column]) for column in anomaly.key)
                witness = tuple(bare(row[column]) for column in oracle.WITNESS[anomaly.name])
                findings = found[number].setdefault(stretch, {}).setdefault(anomaly.name, {})
                findings.setdefault(key, Counter())[witness] += 1
    return list(found)


def _where(anomaly: Anomaly, row: Row, stretches: Stretches) -> tuple[int, Stretch]:
    """The world and the stretch that a row of an answer speaks of."""
    if anomaly.evidence is Evidence.LIVENESS:
        return world_of(row), RUN
    if anomaly.hop is Hop.PRODUCE:
        return stretches.topics[int(row["trial"]) - 1]
    return stretches.trials[int(row["trial"]) - 1]


def trials(worlds: Sequence[World], stretches: Stretches) -> Trials:
    """What an engine has to be told of the stretches."""
    inputs = []
    for number, topic in stretches.topics:
        collection = phase(worlds[number], "collect")
        collected = phase_ended(worlds[number], "collect")
        inputs.append(
            Input(
                topic=prefix(number) + topic,
                complete=complete(worlds[number]),
                collected=collected,
                collect_started=collection["started_at"] if collection and collected else None,
                collect_clock=(
                    prefix(number) + collection["clock"] if collection and collected else None
                ),
            )
        )
    outputs = tuple(
        Output(
            topic=prefix(number) + t.topic,
            sink=prefix(number) + t.sink,
            view=t.view,
            dead_letters=None if t.dead_letters is None else prefix(number) + t.dead_letters,
            deduplicates=t.deduplicates,
        )
        for number, t in stretches.trials
    )
    together = tuple(
        (own, *(replace(own, sink=prefix(number) + sink, view=view) for sink, view in t.others))
        for own, (number, t) in zip(outputs, stretches.trials, strict=True)
        if t.others
    )
    settled = {
        prefix(number) + row["topic"]
        for number, world in enumerate(worlds)
        if came_to_rest(world)
        for row in world.rows["partitions"]
    }
    return Trials(
        inputs=tuple(inputs),
        outputs=outputs,
        together=together,
        settled=tuple(sorted(settled)),
    )


def phase(world: World, name: str) -> Row | None:
    """The last row of a phase, if it was reached."""
    rows = [row for row in world.rows["phases"] if row["phase"] == name]
    return rows[-1] if rows else None


def phase_ended(world: World, name: str) -> bool:
    """Whether a phase ended well, each time."""
    return {row["outcome"] for row in world.rows["phases"] if row["phase"] == name} == {"ok"}


def complete(world: World) -> bool:
    """Settled and collected to the end."""
    return phase_ended(world, "settle") and phase_ended(world, "collect")


def came_to_rest(world: World) -> bool:
    """Whether nothing should be under way any more; so too where nobody says how the run went."""
    outcomes = {p["outcome"] for p in world.rows["phases"] if p["phase"] == "settle"}
    return not world.rows["phases"] or bool(outcomes & {"ok", "stalled"})


def disagreements(names: Sequence[str], found: dict[str, Found]) -> Iterator[str]:
    """Where judges of one world differ from the first of them, in words."""
    first, *others = names
    for name in others:
        for stretch in found[first].keys() | found[name].keys():
            here, there = found[first].get(stretch, {}), found[name].get(stretch, {})
            for anomaly in sorted(here.keys() | there.keys()):
                if here.get(anomaly) != there.get(anomaly):
                    yield (
                        f"{anomaly} on {stretch}:\n"
                        f"    {first}: {_told(here.get(anomaly))}\n"
                        f"    {name}: {_told(there.get(anomaly))}"
                    )


def _told(findings: dict[oracle.Key, oracle.Witness] | None) -> str:
    if not findings:
        return "nothing"
    return "; ".join(
        f"{key} by {dict(witness)}" for key, witness in sorted(findings.items(), key=repr)
    )
