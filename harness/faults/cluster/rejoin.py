"""Bring back a disturbed broker and wait until it is in sync.

Other brokers may still be under other faults, so only this broker's replicas count. Both it and
most brokers must agree: its own metadata may be stale, and others may be ahead of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.topology import Link, node_id
from onceproof.harness.wait import wait_until


class Restart:
    """Restart a broker that a fault ended. Retries do not restart it twice."""

    def __init__(self, context: RunContext, node: str) -> None:
        self._context = context
        self._node = node
        self._done = False

    def __call__(self) -> None:
        """Start the broker and wait until it is in sync; raise `Overdue` or `StageTrouble`."""
        if not self._done:
            if self._context.stage.alive(self._node):
                self._context.stage.kill(self._node, "did not finish its restart")
            self._context.stage.restart(self._node)
            self._done = True
        wait_back(self._context, self._node)


def wait_back(context: RunContext, node: str) -> None:
    """Wait until a broker and most brokers report all its replicas in sync, or raise `Overdue`.

    Do not wait if another fault keeps it out; healing that fault waits instead.
    """
    number = node_id(node)

    def back(views: Mapping[int, ClusterView]) -> bool:
        if _is_isolated(context, node):
            return True
        agree = {asked for asked, view in views.items() if view.has_in_sync(number)}
        return number in agree and 2 * len(agree) > len(views)

    _wait(context, back, f"{node} to be in sync in all its partitions")


def _is_isolated(context: RunContext, node: str) -> bool:
    """Whether a broker is down or paused, or a link between it and another broker is disturbed."""
    disturbed, brokers = context.stage.disturbed(), context.stage.brokers
    links = [str(Link(a, b)) for other in brokers for a, b in ((node, other), (other, node))]
    return not disturbed.keys().isdisjoint([node, *links])


def wait_in_sync(context: RunContext) -> None:
    """Wait until every broker sees all replicas in sync; raise `Overdue` if it takes too long."""

    def in_sync(views: Mapping[int, ClusterView]) -> bool:
        return all(view.in_sync_everywhere() for view in views.values())

    _wait(context, in_sync, "all replicas to be in sync")


def _wait(
    context: RunContext, agreed: Callable[[Mapping[int, ClusterView]], bool], what: str
) -> None:
    with ExitStack() as closing:
        # Each broker is asked, because an isolated one has stale metadata.
        views = context.views()
        for view in views.values():
            closing.callback(view.close)
        wait_until(
            lambda: agreed(views),
            what=what,
            seconds=40,
            every=0.1,
            stop=context.stop,
            seen=lambda: {asked: view.out_of_sync() for asked, view in views.items()},
        )
