"""Waiting until a broker that was disturbed takes part again.

The one thing to know: other faults may be at work on other brokers meanwhile, so not everybody has
to be in sync. One that was cut off goes on believing what it last knew, so its own word is not
enough; and most brokers may be quicker than it, so theirs is not enough either.
"""

from __future__ import annotations

from contextlib import ExitStack

from harness.bench import Bench, addresses
from harness.stage.topology import node_id
from harness.wait import wait_until


def wait_back(bench: Bench, node: str) -> None:
    """Wait until a broker is in sync wherever it has a replica, as it and most brokers say.

    Raises:
        Overdue: it is not in time.
    """
    number = node_id(node)
    with ExitStack() as closing:
        views = dict(zip(addresses(bench.stage), bench.views(), strict=True))
        for view in views.values():
            closing.callback(view.close)

        def back() -> bool:
            agree = {asked for asked, view in views.items() if view.has_in_sync(number)}
            return number in agree and 2 * len(agree) > len(views)

        wait_until(
            back,
            what=f"{node} to be in sync wherever it has a replica",
            seconds=40,
            every=0.1,
            stop=bench.stop,
            seen=lambda: {asked: view.out_of_sync() for asked, view in views.items()},
        )
