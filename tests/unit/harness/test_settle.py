"""A run settles when its pipeline has committed past the last record of every topic."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble, WatchTrouble
from onceproof.harness.context.recorder import MayStillWrite, Stalled
from onceproof.harness.kafka.log_reader import PartitionLog
from onceproof.harness.settle import settle
from onceproof.harness.workload.payments import Payments
from tests.unit.fakes.logs import FakeReader, entry, log
from tests.unit.fakes.run_context import FakeContext, FakePipeline, FakeProducers, FakeSubject

REFUNDED = Payments(
    records=40, producers=1, partitions=1, event_step_ms=1_000, other_topic="refunds", refunds=True
)


def log_of(topic: str) -> PartitionLog:
    """Three records and their commit marker."""
    kinds = ("data", "data", "data", "commit")
    return log(*(entry(n, topic=topic, kind=kind) for n, kind in enumerate(kinds)), topic=topic)


class Pipeline(FakePipeline):
    """Has read all payments; its committed offset in the refunds advances with each look."""

    def __init__(self, *refunds: int) -> None:
        super().__init__()
        self._refunds = list(refunds)
        self.looks = 0

    def positions(self) -> dict[tuple[str, int], int]:
        self.looks += 1
        at = self._refunds.pop(0) if len(self._refunds) > 1 else self._refunds[0]
        return {("payments", 0): 3, ("refunds", 0): at}

    def shortly(self) -> str:
        return "micro-batch 2"


def context(pipeline: Pipeline) -> FakeContext:
    return FakeContext(
        pipeline=pipeline,
        subject=FakeSubject(sink="matches"),
        producers=CountingProducers(pipeline),
        topics=("payments", "refunds"),
        logs=FakeReader(map(log_of, ("payments", "refunds"))),
    )


class CountingProducers(FakeProducers):
    """Records how often the pipeline had been looked at when sentinels were sent."""

    def __init__(self, pipeline: Pipeline) -> None:
        super().__init__(workload=REFUNDED)
        self._pipeline = pipeline

    def send_sentinels(self) -> None:
        super().send_sentinels()
        self.story[-1] = f"sentinels after {getattr(self._pipeline, 'looked', 0)} looks"


def test_settle_waits_for_every_topic() -> None:
    pipeline = Pipeline(1, 2, 2, 3)
    settle(context(pipeline))
    assert pipeline.looks > 4


def test_topic_not_read_to_its_end_stalls() -> None:
    with pytest.raises(Stalled, match=r"positions not past them .*'refunds', 0\): 2"):
        settle(context(Pipeline(2)))


class Resting(Pipeline):
    """A pipeline whose outputs alone show whether it is idle."""

    rest = 0.0

    def __init__(
        self, *refunds: int, rests: int = 2, held: str | None = None, works: bool = False
    ) -> None:
        super().__init__(*refunds)
        self.looked, self._rests, self._held, self._works = 0, rests, held, works

    def reached(self) -> int:
        return self.looked if self._works else 0

    def rests(self) -> bool:
        self.looked += 1
        return self.looked > self._rests

    def holds_back(self) -> str | None:
        return self._held


def with_sentinels(pipeline: Pipeline) -> tuple[FakeContext, list[str]]:
    """A context whose producers keep sentinels, and the calls that they got."""
    made = context(pipeline)
    made.producers.keeps_sentinels = True
    return made, made.producers.story


def test_sentinels_are_sent_once_the_pipeline_is_idle() -> None:
    made, story = with_sentinels(Resting(3, rests=2))
    settle(made)
    assert story == ["hurry", "finished", "sentinels after 3 looks", "finished"]


@pytest.mark.parametrize(
    ("pipeline", "looks"), [(Resting(3, rests=2), (3, 4)), (Pipeline(3, 3), (0, 0))]
)
def test_each_sentinel_round_waits_for_the_one_before(
    pipeline: Pipeline, looks: tuple[int, int]
) -> None:
    made, story = with_sentinels(pipeline)
    made.producers.rounds = 2
    settle(made)
    assert story == [
        "hurry",
        "finished",
        *(each for n in looks for each in (f"sentinels after {n} looks", "finished")),
    ]


def test_uncommitted_sentinel_round_stalls() -> None:
    made, story = with_sentinels(Pipeline(2))
    made.producers.rounds = 2
    with pytest.raises(Stalled, match="commit past the last record"):
        settle(made)
    assert story == ["hurry", "finished", "sentinels after 0 looks", "finished"]


def test_pipeline_with_committed_offsets_need_not_be_idle() -> None:
    made, story = with_sentinels(Pipeline(3))
    settle(made)
    assert story == ["hurry", "finished", "sentinels after 0 looks", "finished"]


def test_pipeline_that_makes_progress_is_waited_for() -> None:
    made, story = with_sentinels(Resting(3, rests=10_000, works=True))
    settle(made)
    assert story == ["hurry", "finished", "sentinels after 10001 looks", "finished"]


def test_pipeline_that_is_never_idle_stalls() -> None:
    made, story = with_sentinels(Resting(3, rests=10_000))
    with pytest.raises(Stalled, match="the pipeline to become idle"):
        settle(made)
    assert story == ["hurry", "finished"]


@pytest.mark.parametrize(
    ("held", "error_type", "message"),
    [
        ("3 of 9 inputs wait", MayStillWrite, "^3 of 9 inputs wait$"),
        (None, Stalled, "commit past the last record"),
    ],
)
def test_pipeline_that_holds_inputs_back_is_not_stalled(
    held: str | None, error_type: type[Exception], message: str
) -> None:
    made, _ = with_sentinels(Resting(2, rests=0, held=held))
    with pytest.raises(error_type, match=message):
        settle(made)


@pytest.mark.parametrize(
    ("trouble", "error_type"),
    [
        (PipelineTrouble("driver#2 ended by itself"), Stalled),
        (WatchTrouble(Path("checkpoint"), OSError("no room")), WatchTrouble),
    ],
)
def test_only_pipeline_trouble_is_a_stall(trouble: Exception, error_type: type[Exception]) -> None:
    class Troubled(Pipeline):
        def check(self) -> None:
            raise trouble

    with pytest.raises(error_type, match=str(trouble)):
        settle(context(Troubled(3)))
