"""Contract tests of pausing and stopping brokers, which every backend must pass.

A backend's test file imports these tests, and defines the fixtures `staging` and `topic`.
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
    """A running stage, and an independent view of it."""

    still: str
    """What the stage reports as evidence of a pause."""

    @property
    def stage(self) -> Stage: ...

    def instance(self, node: str) -> str:
        """The newest instance of a node."""

    def ended(self, instance: str) -> str | None:
        """How an instance ended, as recorded; None while it runs."""

    def stands_still(self, node: str) -> bool:
        """Whether kernel or container engine report a node as paused."""


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
            # Connections stay open and new ones are accepted, but no request is answered.
            talk.ask()
            assert not talk.answered(2)
            with Talk(stage.bootstrap(AUDITOR, node)) as newcomer:
                newcomer.ask()
                assert not newcomer.answered(1)
            eventually(
                lambda: _dropped_by(stage, node, others, name),
                f"the others to do without {node}",
                lambda: [told_by(stage, n, name) for n in others],
            )
        finally:
            stage.resume(node)
        # The request that was sent during the pause is answered now.
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
    # A JVM exits with 143 after SIGTERM.
    assert stage.shut_down(node, "a test") == f"{instance} ended with status 143"
    try:
        # At once: the others would miss a killed broker only after seconds.
        assert _dropped_by(stage, node, others, name)
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


def _dropped_by(stage: Stage, node: str, others: list[str], topic: str) -> bool:
    """Whether the others report a broker as neither leader nor in-sync replica."""
    return all(
        int(node[-1]) not in {partition.leader, *partition.in_sync}
        for other in others
        for partition in told_by(stage, other, topic).values()
    )


def _serves_any(stage: Stage, node: str) -> bool:
    return any(serves(stage.bootstrap(audience, node)) for audience in ("producer", AUDITOR))
