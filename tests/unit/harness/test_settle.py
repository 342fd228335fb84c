"""A run has settled when its pipeline is past the last record of every topic that it gets."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness import settle as settling
from onceproof.harness.context.pipeline import PipelineTrouble, WatchTrouble
from onceproof.harness.context.recorder import HeldBack, Stalled
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.kafka.log_reader import Entry, PartitionLog
from onceproof.harness.settle import settle
from onceproof.harness.wait import Stop
from onceproof.harness.workload.payments import Payments

REFUNDED = Payments(
    records=40, producers=1, partitions=1, event_step_ms=1_000, other_topic="refunds", refunds=True
)


def log(topic: str) -> PartitionLog:
    """Three records, and the marker behind them."""
    kinds = ("data", "data", "data", "commit")
    return PartitionLog(
        topic=topic,
        partition=0,
        log_start=0,
        last_stable_offset=4,
        high_watermark=4,
        entries=[
            Entry(
                topic=topic,
                partition=0,
                offset=offset,
                kind=kind,
                key=b"",
                value=b"",
                headers={},
                producer_id=1,
                epoch=0,
                sequence=0,
                transactional=True,
            )
            for offset, kind in enumerate(kinds)
        ],
    )


class Pipeline:
    """It is past the payments; its position in the refunds moves with each look."""

    def __init__(self, *refunds: int) -> None:
        self._refunds = list(refunds)
        self.looks = 0

    def positions(self) -> dict[tuple[str, int], int]:
        self.looks += 1
        at = self._refunds.pop(0) if len(self._refunds) > 1 else self._refunds[0]
        return {("payments", 0): 3, ("refunds", 0): at}

    def idle(self) -> bool:
        return True

    def check(self) -> None:
        """Nothing is wrong."""

    def shortly(self) -> str:
        return "micro-batch 2"


def context(pipeline: Pipeline) -> Any:
    reader = SimpleNamespace(read_topic=lambda topic: [log(topic)], ends=lambda topic: {0: (4, 4)})
    made = RunContext(
        stage=SimpleNamespace(connected=lambda link: 0),
        subject=SimpleNamespace(sends=False, sink="matches"),
        pipeline=pipeline,
        producers=SimpleNamespace(
            hurry=lambda: None,
            wait_finished=lambda seconds, still: None,
            workload=REFUNDED,
            keeps_sentinels=False,
        ),
        recorder=None,
        stop=Stop(),
        topic="payments",
        topics=("payments", "refunds"),
        work=None,
    )  # type: ignore[arg-type]
    sink = SimpleNamespace(hanging=lambda: False, size=lambda: 1, effects=list)
    object.__setattr__(made, "reader", lambda: nullcontext(reader))
    object.__setattr__(made, "open_sink", lambda reader: sink)
    return made


def test_every_topic_is_waited_for() -> None:
    pipeline = Pipeline(1, 2, 2, 3)
    settle(context(pipeline))
    assert pipeline.looks > 4


def test_a_topic_that_is_not_read_to_its_end_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "SECONDS", 0.2)
    with pytest.raises(Stalled, match=r"positions before them .*'refunds', 0\): 2"):
        settle(context(Pipeline(2)))


class Resting(Pipeline):
    """It shows by its outputs alone whether it has come to rest."""

    rest = 0.0

    def __init__(self, *refunds: int, rests: int = 2, held: str | None = None) -> None:
        super().__init__(*refunds)
        self.looked, self._rests, self._held = 0, rests, held

    def rests(self) -> bool:
        self.looked += 1
        return self.looked > self._rests

    def holds_back(self) -> str | None:
        return self._held


def with_sentinels(pipeline: Pipeline) -> tuple[Any, list[str]]:
    """A context whose producers keep sentinels, and what they were asked for."""
    made, story = context(pipeline), list[str]()
    producers = made.producers
    producers.keeps_sentinels = True
    producers.hurry = lambda: story.append("hurry")
    producers.wait_finished = lambda seconds, still: story.append("finished")

    def send() -> None:
        looked = getattr(pipeline, "looked", 0)
        story.append(f"sentinels after {looked} looks")

    producers.send_sentinels = send
    return made, story


def test_sentinels_are_sent_when_all_else_has_come_to_rest() -> None:
    made, story = with_sentinels(Resting(3, rests=2))
    settle(made)
    assert story == ["hurry", "finished", "sentinels after 3 looks", "finished"]


def test_a_pipeline_that_says_itself_how_far_it_is_is_not_waited_for() -> None:
    made, story = with_sentinels(Pipeline(3))
    settle(made)
    assert story == ["hurry", "finished", "sentinels after 0 looks", "finished"]


def test_one_that_never_rests_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "SECONDS", 0.2)
    made, story = with_sentinels(Resting(3, rests=10_000))
    with pytest.raises(Stalled, match="the pipeline to come to rest"):
        settle(made)
    assert story == ["hurry", "finished"]


@pytest.mark.parametrize(
    ("held", "comes_to", "says"),
    [
        ("3 of 9 inputs wait", HeldBack, "^3 of 9 inputs wait$"),
        (None, Stalled, "commit past the last record"),
    ],
)
def test_what_may_hold_back_is_not_stalled(
    monkeypatch: pytest.MonkeyPatch, held: str | None, comes_to: type[Exception], says: str
) -> None:
    monkeypatch.setattr(settling, "SECONDS", 0.2)
    made, _ = with_sentinels(Resting(2, rests=0, held=held))
    with pytest.raises(comes_to, match=says):
        settle(made)


@pytest.mark.parametrize(
    ("trouble", "comes_to"),
    [
        (PipelineTrouble("driver#2 ended by itself"), Stalled),
        (WatchTrouble(Path("checkpoint"), OSError("no room")), WatchTrouble),
    ],
)
def test_only_a_trouble_of_the_pipeline_is_a_stall(
    monkeypatch: pytest.MonkeyPatch, trouble: Exception, comes_to: type[Exception]
) -> None:
    def check(_: Pipeline) -> None:
        raise trouble

    monkeypatch.setattr(Pipeline, "check", check)
    with pytest.raises(comes_to, match=str(trouble)):
        settle(context(Pipeline(3)))
