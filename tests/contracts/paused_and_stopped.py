"""A broker paused or stopped, as every backend must show it; the backends' tests are these tests.

A backend's test file imports the tests from here, and its own `staging` and
`topic` are what they get. What only one backend has, it tests by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import pytest

from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.base import Stage
from tests.integration.staging import Talk, eventually, serves, told_by, whole_everywhere


class Staging(Protocol):
    """A stage that is up, and an independent look at it."""

    still: str
    """What the stage sees of a broker that stands still."""

    @property
    def stage(self) -> Stage: ...

    def instance(self, node: str) -> str:
        """The newest life of a node."""

    def ended(self, instance: str) -> str | None:
        """How a life ended, as it was written down; None while it lasts."""

    def stands_still(self, node: str) -> bool:
        """Whether a node stands still, by the word of kernel or engine."""


def test_a_paused_broker(staging: Staging, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(3)
    node, others = _led_by(stage, name)
    instance = staging.instance(node)
    with Talk(stage.bootstrap("producer", node)) as talk:
        talk.ask()
        assert talk.answered()
        assert stage.pause(node) == f"{instance} is paused: {staging.still}"
        try:
            assert staging.stands_still(node)
            assert stage.paused(node)
            assert stage.alive(node)
            assert stage.disturbed() == {node: "paused"}
            with pytest.raises(StageTrouble, match=f"{node} cannot be paused: it is already"):
                stage.pause(node)
            with pytest.raises(StageTrouble, match=f"{node} cannot be restarted: it is running"):
                stage.restart(node)
            # Who has a connection keeps it, who comes gets one, and nobody gets an answer.
            talk.ask()
            assert not talk.answered(2)
            with Talk(stage.bootstrap(AUDITOR, node)) as newcomer:
                newcomer.ask()
                assert not newcomer.answered(1)
            eventually(
                lambda: _without(stage, node, others, name),
                f"the others to do without {node}",
                lambda: [told_by(stage, n, name) for n in others],
            )
        finally:
            stage.resume(node)
        # It goes on where it stood: the question of that time is answered now.
        assert talk.answered()
    assert not stage.paused(node)
    assert not staging.stands_still(node)
    assert stage.disturbed() == {}
    assert staging.instance(node) == instance
    assert staging.ended(instance) is None
    with pytest.raises(StageTrouble, match=f"{node} cannot be resumed: it is not paused"):
        stage.resume(node)
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")


def test_a_paused_broker_can_be_killed(staging: Staging, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(1)
    stage.pause("broker-2")
    try:
        assert stage.kill("broker-2", "a test").endswith(" ended by signal 9")
        assert not stage.paused("broker-2")
        assert stage.disturbed()["broker-2"] == "not running"
        with pytest.raises(StageTrouble, match="broker-2 cannot be resumed: it is not running"):
            stage.resume("broker-2")
    finally:
        stage.restart("broker-2")
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")


def test_a_stopped_broker_hands_over_first(staging: Staging, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(3)
    node, others = _led_by(stage, name)
    instance = staging.instance(node)
    # What a JVM ends with that was asked to by SIGTERM.
    assert stage.shut_down(node, "a test") == f"{instance} ended with status 143"
    try:
        # At once, without waiting: a killed broker is missed only after seconds.
        assert _without(stage, node, others, name)
        assert (staging.ended(instance), stage.alive(node)) == ("a test", False)
        assert not _serves_any(stage, node)
        assert stage.disturbed()[node] == "not running"
        with pytest.raises(StageTrouble, match=f"{node} cannot be stopped: it is not running"):
            stage.shut_down(node, "again")
    finally:
        stage.restart(node)
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")
    assert serves(stage.bootstrap("producer", node))


def _led_by(stage: Stage, topic: str) -> tuple[str, list[str]]:
    """A broker that leads a partition of a topic, and the others."""
    node = f"broker-{told_by(stage, 'broker-1', topic)[0].leader}"
    return node, [n for n in stage.brokers if n != node]


def _without(stage: Stage, node: str, others: list[str], topic: str) -> bool:
    """Whether the others say that a broker leads nothing and is in sync with nobody."""
    return all(
        int(node[-1]) not in {told.leader, *told.in_sync}
        for other in others
        for told in told_by(stage, other, topic).values()
    )


def _serves_any(stage: Stage, node: str) -> bool:
    return any(serves(stage.bootstrap(audience, node)) for audience in ("producer", AUDITOR))
