"""Judges: the oracle and the engines, with findings in a common form.

A judge reports anomalies with keys and witnesses for each stretch of a world: its topics, its
trials and the whole run.
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
"""A topic, a trial, or the whole run."""
Found = dict[Stretch, Findings]
"""Findings by stretch; stretches without findings are omitted."""


def ask_oracle(world: World) -> Found:
    """The oracle's findings in a world."""
    found: Found = {topic: oracle.of_topic(world.rows, topic) for topic in world.topics}
    found |= {trial: oracle.of_trial(world.rows, trial) for trial in world.trials}
    found[RUN] = oracle.of_run(world.rows)
    return {stretch: findings for stretch, findings in found.items() if findings}


def ask_engine(worlds: Sequence[World], settings: Settings) -> list[Found]:
    """An engine's findings in each world; all worlds are judged as one history."""
    stretches = Stretches.of(worlds)
    found: list[dict[Stretch, dict[str, dict[oracle.Key, oracle.Witness]]]] = [{} for _ in worlds]
    with open_engine(combined(worlds), trials(worlds, stretches), settings) as layer:
        for anomaly in anomalies().values():
            for row in layer.answer(anomaly):
                number, stretch = _scope_of(anomaly, row, stretches)
                if anomaly.evidence is Evidence.ABSENCE and not complete(worlds[number]):
                    continue
                key = tuple(bare(row[column]) for column in anomaly.key)
                witness = tuple(bare(row[column]) for column in oracle.WITNESS[anomaly.name])
                findings = found[number].setdefault(stretch, {}).setdefault(anomaly.name, {})
                findings.setdefault(key, Counter())[witness] += 1
    return list(found)


def _scope_of(anomaly: Anomaly, row: Row, stretches: Stretches) -> tuple[int, Stretch]:
    """World number and stretch of a row that an engine returned."""
    if anomaly.evidence is Evidence.LIVENESS:
        return world_of(row), RUN
    if anomaly.hop is Hop.PRODUCE:
        return stretches.topics[int(row["trial"]) - 1]
    return stretches.trials[int(row["trial"]) - 1]


def trials(worlds: Sequence[World], stretches: Stretches) -> Trials:
    """The engine's description of inputs and outputs, with prefixed names."""
    inputs = []
    for number, topic in stretches.topics:
        collection = phase(worlds[number], "collect")
        collected = phase_succeeded(worlds[number], "collect")
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
        (
            output,
            *(replace(output, sink=prefix(number) + sink, view=view) for sink, view in t.others),
        )
        for output, (number, t) in zip(outputs, stretches.trials, strict=True)
        if t.others
    )
    settled = {
        prefix(number) + row["topic"]
        for number, world in enumerate(worlds)
        if is_quiescent(world)
        for row in world.rows["partitions"]
    }
    return Trials(
        inputs=tuple(inputs),
        outputs=outputs,
        together=together,
        settled=tuple(sorted(settled)),
    )


def phase(world: World, name: str) -> Row | None:
    """The last row of a phase, or None if it was not reached."""
    rows = [row for row in world.rows["phases"] if row["phase"] == name]
    return rows[-1] if rows else None


def phase_succeeded(world: World, name: str) -> bool:
    """Whether every row of the phase has outcome `ok`."""
    return {row["outcome"] for row in world.rows["phases"] if row["phase"] == name} == {"ok"}


def complete(world: World) -> bool:
    """Whether the run settled and was collected to the end."""
    return phase_succeeded(world, "settle") and phase_succeeded(world, "collect")


def is_quiescent(world: World) -> bool:
    """Whether transactions should have ended; also true without recorded phases."""
    outcomes = {p["outcome"] for p in world.rows["phases"] if p["phase"] == "settle"}
    return not world.rows["phases"] or bool(outcomes & {"ok", "stalled"})


def disagreements(names: Sequence[str], found: dict[str, Found]) -> Iterator[str]:
    """Descriptions of the differences between the first judge and each other one."""
    first, *others = names
    for name in others:
        for stretch in found[first].keys() | found[name].keys():
            expected, actual = found[first].get(stretch, {}), found[name].get(stretch, {})
            for anomaly in sorted(expected.keys() | actual.keys()):
                if expected.get(anomaly) != actual.get(anomaly):
                    yield (
                        f"{anomaly} on {stretch}:\n"
                        f"    {first}: {_described(expected.get(anomaly))}\n"
                        f"    {name}: {_described(actual.get(anomaly))}"
                    )


def _described(findings: dict[oracle.Key, oracle.Witness] | None) -> str:
    if not findings:
        return "nothing"
    return "; ".join(
        f"{key} by {dict(witness)}" for key, witness in sorted(findings.items(), key=repr)
    )
