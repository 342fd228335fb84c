"""Brokers paused and stopped: what is seen of them, and what the others say meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.stage.base import StageTrouble
from harness.stage.topology import AUDITOR
from tests.integration.staging import (
    Staged,
    Talk,
    eventually,
    refuses,
    serves,
    told_by,
    whole_everywhere,
)

pytestmark = pytest.mark.integration


def led_by(staging: Staged, topic: str) -> tuple[str, int, list[str]]:
    """A broker that leads a partition of a topic, its id, and the others."""
    number = told_by(staging.stage, "broker-1", topic)[0].leader
    node = f"broker-{number}"
    return node, number, [n for n in staging.stage.brokers if n != node]


def without(staging: Staged, number: int, others: list[str], topic: str) -> bool:
    """Whether the others say that a broker leads nothing and is in sync with nobody."""
    return all(
        number not in {told.leader, *told.in_sync}
        for other in others
        for told in told_by(staging.stage, other, topic).values()
    )


def states(session: int) -> set[str]:
    """States of the threads of a process, as the kernel tells."""
    stats = Path(f"/proc/{session}/task").glob("*/stat")
    return {stat.read_text().rpartition(") ")[2].split()[0] for stat in stats}


def test_a_paused_broker(staging: Staged, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(3)
    node, number, others = led_by(staging, name)
    life = next(p for p in reversed(staging.processes.all) if p.name == node)
    with Talk(stage.bootstrap("producer", node)) as talk:
        talk.ask()
        assert talk.answered()
        assert stage.pause(node) == f"{life.instance} stands still: state T of its process"
        try:
            assert states(life.session) == {"T"}
            assert stage.paused(node)
            assert stage.alive(node)
            assert stage.disturbed() == {node: "paused"}
            with pytest.raises(StageTrouble, match=f"{node} cannot be paused: it is"):
                stage.pause(node)
            with pytest.raises(StageTrouble, match=f"{node} cannot be restarted: it runs"):
                stage.restart(node)
            # Who has a connection keeps it, who comes gets one, and nobody gets an answer.
            talk.ask()
            assert not talk.answered(2)
            with Talk(stage.bootstrap(AUDITOR, node)) as newcomer:
                newcomer.ask()
                assert not newcomer.answered(1)
            eventually(
                lambda: without(staging, number, others, name),
                f"the others to do without {node}",
                lambda: [told_by(stage, n, name) for n in others],
            )
        finally:
            stage.resume(node)
        # It goes on where it stood: the question of that time is answered now.
        assert talk.answered()
    assert not stage.paused(node)
    assert stage.disturbed() == {}
    assert life.ended_at is None
    with pytest.raises(StageTrouble, match=f"{node} cannot be resumed: it is not paused"):
        stage.resume(node)
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")


def test_a_paused_broker_can_be_killed(staging: Staged, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(1)
    stage.pause("broker-2")
    try:
        assert stage.kill("broker-2", "a test").endswith(" ended by signal 9")
        assert not stage.paused("broker-2")
        assert stage.disturbed()["broker-2"] == "not running"
        with pytest.raises(StageTrouble, match="broker-2 cannot be resumed: it does not run"):
            stage.resume("broker-2")
    finally:
        stage.restart("broker-2")
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")


def test_a_stopped_broker_hands_over_first(staging: Staged, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(3)
    node, number, others = led_by(staging, name)
    life = next(p for p in reversed(staging.processes.all) if p.name == node)
    # What a JVM ends with that was asked to by SIGTERM.
    assert stage.shut_down(node, "a test") == f"{life.instance} ended with status 143"
    try:
        # At once, without waiting: a killed broker is missed only after seconds.
        assert without(staging, number, others, name)
        assert (life.how, stage.alive(node)) == ("a test", False)
        assert refuses(stage.bootstrap("producer", node))
        assert stage.disturbed()[node] == "not running"
        with pytest.raises(StageTrouble, match=f"{node} cannot be stopped: it does not run"):
            stage.shut_down(node, "again")
    finally:
        stage.restart(node)
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")
    assert serves(stage.bootstrap("producer", node))
