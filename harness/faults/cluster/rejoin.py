"""Bringing back a broker that was disturbed, and waiting until it takes part again.

Other faults may be at work on other brokers meanwhile, so not everybody has
to be in sync. One that was cut off goes on believing what it last knew, so its own word is not
enough; and most brokers may be quicker than it, so theirs is not enough either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.topology import Link, node_id
from onceproof.harness.wait import wait_until


class Restart:
    """A broker that ended for a fault's sake is brought back; once, however often it is tried."""

    def __init__(self, context: RunContext, node: str) -> None:
        self._context = context
        self._node = node
        self._done = False

    def __call__(self) -> None:
        """Start it and wait until it takes part again.

        Raises:
            Overdue: it does not in time.
            StageTrouble: it ended again.
        """
        if not self._done:
            if self._context.stage.alive(self._node):
                self._context.stage.kill(self._node, "came up only half-way")
            self._context.stage.restart(self._node)
            self._done = True
        wait_back(self._context, self._node)


def wait_back(context: RunContext, node: str) -> None:
    """Wait until a broker is in sync wherever it has a replica, as it and most brokers say.

    Where another fault keeps it out there is nothing to wait for: that one's healing does.

    Raises:
        Overdue: it is not in time.
    """
    number = node_id(node)

    def back(views: Mapping[int, ClusterView]) -> bool:
        if _kept_out(context, node):
            return True
        agree = {asked for asked, view in views.items() if view.has_in_sync(number)}
        return number in agree and 2 * len(agree) > len(views)

    _wait(context, back, f"{node} to be in sync wherever it has a replica")


def _kept_out(context: RunContext, node: str) -> bool:
    """Whether a broker is down or paused, or a link between it and another broker is disturbed."""
    disturbed, brokers = context.stage.disturbed(), context.stage.brokers
    ways = [str(Link(a, b)) for other in brokers for a, b in ((node, other), (other, node))]
    return not disturbed.keys().isdisjoint([node, *ways])


def wait_in_sync(context: RunContext) -> None:
    """Wait until every broker sees all replicas of every partition in sync.

    An isolated broker believes what it last knew, so every broker is asked by itself.

    Raises:
        Overdue: they are not in time.
    """

    def whole(views: Mapping[int, ClusterView]) -> bool:
        return all(view.in_sync_everywhere() for view in views.values())

    _wait(context, whole, "all replicas to be in sync")


def _wait(
    context: RunContext, agreed: Callable[[Mapping[int, ClusterView]], bool], what: str
) -> None:
    with ExitStack() as closing:
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
