"""A pipeline meets its end, or its fencing, while its writes and commits are under way."""

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
from tests.integration.programs import Own, running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


def lives(own: Own) -> list[str | None]:
    """How each of its lives ended."""
    name = own.program.supervisor.names[0]
    return [process.how for process in own.staging.processes.all if process.name == name]


def commits(proof: str) -> int:
    """How often it had committed offsets while its writes were withheld, as the proof says."""
    found = re.search(
        r"of its Produce requests to \S+ were withheld; .* offsets (\d+) times", proof
    )
    assert found is not None, proof
    return int(found[1])


def test_what_commits_before_its_writes_arrive_loses_them(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "careless") as own:
        with own.flowing(), own.struck(WithholdWrites(topic=own.output.place)) as (
            injection, proof,
        ):  # fmt: skip
            assert commits(proof) > 0
            assert injection.target == proof.split()[0]
            assert not own.program.alive()
        assert "SIGKILL by fault «x»" in str(lives(own)[0])
        own.send()
        last = {f"r-{n}" for n in range(own.sent - 9, own.sent)}
        eventually(lambda: not last & own.missing(), "it to have read everything", own.said)
        assert own.missing(), "what was withheld is gone"


def test_what_commits_behind_its_writes_loses_nothing(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as own:
        with own.flowing(), own.struck(WithholdWrites(topic=own.output.place, seconds=1)) as (
            _, proof,
        ):  # fmt: skip
            assert commits(proof) == 0, "it waits for its writes"
        eventually(lambda: not own.missing(), "an effect of each", own.said)


@pytest.mark.parametrize("form", ["copy", "transactional", "booked"])
def test_it_is_asked_to_end_with_inputs_in_hand(
    staging: Staged, topic: Callable[..., str], form: str
) -> None:
    with running(staging, topic, form) as own:
        with (
            own.flowing(),
            own.struck(Stop(Program(phase=0.4), at="in-hand")) as (injection, proof),
        ):
            assert re.search(r"it had read \d+ offsets of its input|it writes as it reads", proof)
            assert injection.target == proof.split()[0]
            assert "SIGTERM by fault «x»" in str(lives(own)[0])
        eventually(lambda: not own.missing(), "an effect of each", own.said)


def test_one_that_is_asked_to_end_may_flush(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "careless") as own:
        fault = WithholdWrites(topic=own.output.place, ending="stop", seconds=1)
        with own.flowing(), own.struck(fault) as (_, proof):
            assert commits(proof) > 0
            assert "flushed" in own.said(0)
            assert "SIGTERM by fault «x»" in str(lives(own)[0])
        eventually(lambda: not own.missing(), "an effect of each", own.said)


def test_a_topic_that_it_does_not_write_to_is_not_withheld(
    staging: Staged, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onceproof.harness.faults.program.withhold_writes._WRITE_SECONDS", 0.5)
    other = topic(1)
    with running(staging, topic, "copy") as own:
        with own.flowing(), pytest.raises(Exception, match=f"a write of the pipeline to {other}"):
            WithholdWrites(topic=other).inject(own.context, "x")
        assert own.program.alive()
        assert staging.stage.disturbed() == {}
        eventually(lambda: not own.missing(), "an effect of each", own.said)


def test_what_a_killed_one_left_open_is_undone_before_it_starts_again(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "transactional") as own:
        with own.flowing(), own.struck(Kill(Program(), at="before-commit")) as (_, proof):
            assert "ended by signal 9" in proof
            assert "EndTxn request" in proof or "TxnOffsetCommit request" in proof
            assert "killed-before-commit" in own.hazards
        eventually(lambda: not own.missing(), "an effect of each", own.said)
        assert set(own.effects().values()) == {1}


def test_it_is_fenced_just_before_a_commit(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "transactional") as own:
        with own.flowing(), own.struck(FenceProgram()) as (injection, proof):
            assert injection.target.startswith(f"transactional id {own.group}-")
            assert re.search(r"EndTxn request .* was refused with \w+", proof)
            own.heard("failed")
        eventually(lambda: not own.missing(), "an effect of each", own.said)
        assert set(own.effects().values()) == {1}, "its transaction was undone, and done again"


def test_it_is_cut_off_from_all_brokers(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy") as own:
        context = own.context
        ways = staging.stage.bootstrap("pipeline").split(",")
        assert own.program.clients(ways), "it is connected"
        with own.flowing():
            injection = CutProgram(seconds=0.5).inject(context, "x")
            context.producers.acknowledged += 7  # type: ignore[misc]
            proof = eventually(injection.evidence, "it to be cut off")
            assert "closed, new ones refused; meanwhile 7 records were acknowledged" in proof
            assert own.program.clients(ways) == {}
            injection.heal()
        eventually(lambda: not own.missing(), "an effect of each", own.said)
