"""`onceproof lab`: its options, checked before anything is started."""

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


def test_lab_with_pipeline_uses_requested_workload() -> None:
    request = with_pipeline(None, records=7, rate=3, seed=5)
    assert (request.scenario.workload.records, request.scenario.workload.rate) == (7, 3)
    assert request.scenario.claims
    assert request.run is Run
    assert request.words == ("spark-foreachbatch-postgres", "--seed", "5")


def test_failed_start_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run, "RunAssembly", fail)
    request = stage_alone(["orders"])
    failing = Run(
        request.scenario,
        seed=1,
        runs=tmp_path,
        tools=cast("Any", None),
        handlers=(),
        stop=Stop(),
        repeat="",
    )
    with pytest.raises(OSError, match="No space"):
        failing.execute()
    assert list(tmp_path.iterdir()) == []


def test_bare_lab_has_the_requested_topics() -> None:
    request = stage_alone(["orders:3", "shipped"])
    assert [t.name for t in request.scenario.all_topics] == ["orders", "shipped"]
    assert request.run is BareRun
    assert request.words == ("--bare", "--topic", "orders:3", "--topic", "shipped")


@pytest.mark.parametrize(
    ("topics", "error"), [(["orders:0"], BadTopic), (["orders", "orders:3"], BadLabOptions)]
)
def test_invalid_topics_are_refused(topics: list[str], error: type[Exception]) -> None:
    with pytest.raises(error):
        stage_alone(topics)


@pytest.mark.parametrize(
    ("scenario", "alone", "topics", "message"),
    [
        ("spark-kafka-sink", True, [], "omit «spark-kafka-sink» or --bare"),
        (None, False, ["orders"], "--topic works only with --bare"),
        (None, True, ["a b"], "invalid topic 'a b'"),
        ("spark-kafka-sing", False, [], "Did you mean spark-kafka-sink"),
    ],
)
def test_conflicting_options_are_refused(
    scenario: str | None,
    alone: bool,
    topics: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = lab(
        scenario, alone=alone, topics=topics, name="lab", records=1, rate=1, seed=1, out=tmp_path
    )
    assert code == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
