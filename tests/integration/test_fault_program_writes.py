"""A pipeline is killed, stopped, fenced or cut off during writes and commits."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.program.cut_program import CutProgram
from onceproof.harness.faults.program.fence_program import FenceProgram
from onceproof.harness.faults.program.withhold_writes import WithholdWrites
from onceproof.harness.faults.stop import Stop
from onceproof.harness.faults.targets.program import Program
from tests.end_to_end.catalogue import LATER
from tests.integration.programs import RunningPipeline, running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


def endings(pipeline: RunningPipeline) -> list[str | None]:
    """How each life of the program ended; None for one that runs."""
    name = pipeline.program.supervisor.names[0]
    return [process.how for process in pipeline.staging.processes.all if process.name == name]


def commit_count(proof: str) -> int:
    """The number of offset commits during withheld writes, parsed from the evidence."""
    found = re.search(
        r"of its Produce requests to \S+ were withheld; .* offsets (\d+) times", proof
    )
    assert found is not None, proof
    return int(found[1])


def test_commit_before_delivery_loses_withheld_writes(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "careless") as pipeline:
        with pipeline.flowing(), pipeline.injected(WithholdWrites(topic=pipeline.output.place)) as (
            injection, proof,
        ):  # fmt: skip
            assert commit_count(proof) > 0
            assert injection.target == proof.split()[0]
            assert not pipeline.program.alive()
        assert "SIGKILL by fault «x»" in str(endings(pipeline)[0])
        pipeline.send()
        last = {f"r-{n}" for n in range(pipeline.sent - 9, pipeline.sent)}
        eventually(
            lambda: not last & pipeline.missing(), "it to have read everything", pipeline.stdout
        )
        assert pipeline.missing(), "what was withheld is gone"


def test_commit_after_delivery_loses_nothing(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy") as pipeline:
        with (
            pipeline.flowing(),
            pipeline.injected(WithholdWrites(topic=pipeline.output.place, seconds=1)) as (_, proof),
        ):
            assert commit_count(proof) == 0, "it waits for its writes"
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)


@pytest.mark.parametrize("form", ["copy", "transactional", pytest.param("booked", marks=LATER)])
def test_stop_with_inputs_in_hand_loses_nothing(
    staging: Staged, topic: Callable[..., str], form: str
) -> None:
    with running(staging, topic, form) as pipeline:
        with (
            pipeline.flowing(),
            pipeline.injected(Stop(Program(phase=0.4), at="in-hand")) as (injection, proof),
        ):
            assert re.search(r"it had read \d+ offsets of its input|it writes as it reads", proof)
            assert injection.target == proof.split()[0]
            assert "SIGTERM by fault «x»" in str(endings(pipeline)[0])
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)


def test_stopped_program_may_flush_withheld_writes(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "careless") as pipeline:
        fault = WithholdWrites(topic=pipeline.output.place, ending="stop", seconds=1)
        with pipeline.flowing(), pipeline.injected(fault) as (_, proof):
            assert commit_count(proof) > 0
            assert "flushed" in pipeline.stdout(0)
            assert "SIGTERM by fault «x»" in str(endings(pipeline)[0])
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)


def test_withhold_writes_fails_without_writes_to_the_topic(
    staging: Staged, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onceproof.harness.faults.program.withhold_writes._WRITE_SECONDS", 0.5)
    other = topic(1)
    with running(staging, topic, "copy") as pipeline:
        with (
            pipeline.flowing(),
            pytest.raises(Exception, match=f"a write of the pipeline to {other}"),
        ):
            WithholdWrites(topic=other).inject(pipeline.context, "x")
        assert pipeline.program.alive()
        assert staging.stage.disturbed() == {}
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)


def test_kill_before_commit_keeps_effects_exactly_once(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "transactional") as pipeline:
        with (
            pipeline.flowing(),
            pipeline.injected(Kill(Program(), at="before-commit")) as (_, proof),
        ):
            assert "ended by signal 9" in proof
            assert "EndTxn request" in proof or "TxnOffsetCommit request" in proof
            assert "killed-before-commit" in pipeline.hazards
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
        assert set(pipeline.effects().values()) == {1}


def test_fencing_before_commit_keeps_effects_exactly_once(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "transactional") as pipeline:
        with pipeline.flowing(), pipeline.injected(FenceProgram()) as (injection, proof):
            assert injection.target.startswith(f"transactional id {pipeline.group}-")
            assert re.search(r"EndTxn request .* was refused with \w+", proof)
            pipeline.wait_for_line("failed")
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
        assert set(pipeline.effects().values()) == {1}, "its transaction was undone, and done again"


def test_cut_program_closes_all_its_connections(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy") as pipeline:
        context = pipeline.context
        addresses = staging.stage.bootstrap("pipeline").split(",")
        assert pipeline.program.clients(addresses), "it is connected"
        with pipeline.flowing():
            injection = CutProgram(seconds=0.5).inject(context, "x")
            context.producers.acknowledged += 7  # type: ignore[misc]
            proof = eventually(injection.evidence, "it to be cut off")
            assert "closed, new ones refused; meanwhile 7 records were acknowledged" in proof
            assert pipeline.program.clients(addresses) == {}
            injection.heal()
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
