"""`onceproof lab` before anything is brought up: what is asked for, and what makes no sense."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from onceproof.commands.lab import BadLabOptions, lab, stage_alone, with_pipeline
from onceproof.harness.kafka.topic import BadTopic
from onceproof.harness.lab.bare import BareRun
from onceproof.harness.run import phases as run
from onceproof.harness.run.phases import Run
from onceproof.harness.wait import Stop


def test_a_scenario_with_more_of_its_payments() -> None:
    wanted = with_pipeline(None, records=7, rate=3, seed=5)
    assert (wanted.scenario.workload.records, wanted.scenario.workload.rate) == (7, 3)
    assert wanted.scenario.claims
    assert wanted.run is Run
    assert wanted.words == ("spark-foreachbatch-postgres", "--seed", "5")


def test_a_run_that_cannot_begin_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run, "RunAssembly", full)
    wanted = stage_alone(["orders"])
    begun = Run(
        wanted.scenario,
        seed=1,
        runs=tmp_path,
        tools=cast("Any", None),
        handlers=(),
        stop=Stop(),
        repeat="",
    )
    with pytest.raises(OSError, match="No space"):
        begun.execute()
    assert list(tmp_path.iterdir()) == []


def test_a_stage_alone() -> None:
    wanted = stage_alone(["orders:3", "shipped"])
    assert [t.name for t in wanted.scenario.all_topics] == ["orders", "shipped"]
    assert wanted.run is BareRun
    assert wanted.words == ("--bare", "--topic", "orders:3", "--topic", "shipped")


@pytest.mark.parametrize(
    ("topics", "error"), [(["orders:0"], BadTopic), (["orders", "orders:3"], BadLabOptions)]
)
def test_topics_that_are_none(topics: list[str], error: type[Exception]) -> None:
    with pytest.raises(error):
        stage_alone(topics)


@pytest.mark.parametrize(
    ("scenario", "alone", "topics", "said"),
    [
        ("spark-kafka-sink", True, [], "omit «spark-kafka-sink» or --bare"),
        (None, False, ["orders"], "--topic works only with --bare"),
        (None, True, ["a b"], "invalid topic 'a b'"),
        ("spark-kafka-sing", False, [], "Did you mean spark-kafka-sink"),
    ],
)
def test_what_makes_no_sense_is_told(
    scenario: str | None,
    alone: bool,
    topics: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = lab(
        scenario, alone=alone, topics=topics, name="lab", records=1, rate=1, seed=1, out=tmp_path
    )
    assert code == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
