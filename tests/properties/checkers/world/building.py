"""Builds a world: records are sent and read, processed, aggregated and collected.

Nothing goes wrong. Any finding in its history is either legal and merely reported, or an error of
the judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from tests.properties.checkers.world import ageing, ending
from tests.properties.checkers.world.aggregating import aggregate
from tests.properties.checkers.world.processing import Output, Pipeline
from tests.properties.checkers.world.producing import producers
from tests.properties.checkers.world.reading import concurrent_reader
from tests.properties.checkers.world.rows import Rows
from tests.properties.checkers.world.shape import Shape
from tests.properties.checkers.world.sinks import DEAD_LETTERS, Sink
from tests.properties.checkers.world.stage import INPUT, Stage
from tests.properties.checkers.world.transforming import transformation
from tests.properties.checkers.world.trial import Trial, World

_OTHER: Final = {"ledger": "archive", "archive": "ledger"}


def build(shape: Shape, seed: int) -> World:
    """A correct world of this shape, the same for the same seed."""
    stage = Stage(shape, Random(seed))
    produce(stage)
    trials = process(stage)
    ageing.age_logs(stage)
    ending.end(stage)
    return World(rows=stage.rows, trials=tuple(trials))


def produce(stage: Stage) -> None:
    """Run producers and readers alternately, in random order, until all producers are done."""
    working = producers(stage)
    readers = [concurrent_reader(stage, n) for n in range(stage.shape.readers)]
    if stage.shape.unreadable:
        readers.append(unreadable_writer(stage))
    while working:
        actors = [*working, *readers]
        actor = stage.pick(actors)
        if next(actor, actor) is actor:
            (working if actor in working else readers).remove(actor)
        if stage.shape.ending != "complete" and stage.maybe(0.02):
            stage.settled = False
            break  # the run was interrupted
    for txn in stage.broker.open if stage.settled else ():
        stage.broker.finish(txn, committed=False)
    stage.produced = True
    for reader in readers:
        for _ in reader:
            pass


def unreadable_writer(stage: Stage) -> Iterator[None]:
    """Append entries whose record cannot be identified."""
    for _ in range(2):
        stage.broker.append(stage.pick(stage.broker.places), None, digest="?")
        yield


def process(stage: Stage) -> list[Trial]:
    """Process the committed entries with all pipelines; returns the trials."""
    shape = stage.shape
    trials: list[Trial] = []
    outputs = [_ledger(stage, trials)]
    if shape.second_sink:
        outputs.append(_archive(stage, trials))
    if shape.upserts and _upserts_are_distinct(stage):
        outputs.append(_profiles(stage, trials))
    single_pipeline = shape.atomic or stage.maybe()
    groups = [outputs] if single_pipeline else [[o] for o in outputs]
    pipelines = [
        Pipeline(stage=stage, owner=f"query-{n}", outputs=group, places=stage.broker.places)
        for n, group in enumerate(groups)
    ]
    for pipeline in pipelines:
        pipeline.run(to_the_end=shape.ending == "complete")
    if shape.state:
        _state(stage, pipelines[0], trials)
    return trials


def _trials(stage: Stage, sink: Sink, dead_letters: str | None = None) -> Iterator[Trial]:
    views = [*sink.views, *(["journal"] if stage.shape.journal else [])]
    pair = stage.shape.second_sink and stage.shape.atomic
    for topic in stage.topics:
        for view in views:
            yield Trial(topic=topic, sink=sink.name, view=view, dead_letters=dead_letters,
                        deduplicates=stage.shape.deduplicates,
                        others=((_OTHER[sink.name], view),) if pair else ())  # fmt: skip


def _ledger(stage: Stage, trials: list[Trial]) -> Output:
    sink, dead_letters = Sink(stage, "ledger"), stage.shape.dead_letters
    trials += _trials(stage, sink, DEAD_LETTERS if dead_letters else None)
    yields = transformation(stage, sink.name)
    return Output(sink=sink, yields=yields, dead_letters=dead_letters)


def _archive(stage: Stage, trials: list[Trial]) -> Output:
    sink = Sink(stage, "archive")
    dead_letters = stage.shape.dead_letters and stage.shape.atomic
    trials += _trials(stage, sink, DEAD_LETTERS if dead_letters else None)
    yields = transformation(stage, sink.name)
    return Output(sink=sink, yields=yields, dead_letters=dead_letters)


def _profiles(stage: Stage, trials: list[Trial]) -> Output:
    sink = Sink.of_upserts(stage, "profiles")
    trials += [
        Trial(topic=topic, sink=sink.name, view="journal", deduplicates=stage.shape.deduplicates)
        for topic in stage.topics
    ]
    return Output(sink=sink, yields=transformation(stage, sink.name, distinct=True))


def _upserts_are_distinct(stage: Stage) -> bool:
    """Whether equal upserts of different positions cannot occur or be confused."""
    records = [e["record"] for e in stage.rows["log"] if e["committed"] and e["record"]]
    distinguishable = stage.shape.deduplicates or stage.shape.sources == "all"
    return distinguishable or len(set(records)) == len(records)


def _state(stage: Stage, pipeline: Pipeline, trials: list[Trial]) -> None:
    """An aggregating sink, in which single records leave no trace."""
    processed = [e for e in pipeline.processed if e["topic"] == INPUT]
    aggregate(stage, "balances", ("table",), processed)
    if stage.maybe() or not stage.rows["contributions"]:
        stage.add("expected", sink="balances", record="never sent", effect_key="", digest="x")
    trials.append(
        Trial(topic=INPUT, sink="balances", view="table", deduplicates=stage.shape.deduplicates)
    )


__all__ = ["Rows", "build"]
