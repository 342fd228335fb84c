"""Disturb several links, all or none.

Release attempts all of them even if one fails, and can be retried.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack

from onceproof.harness.links.disturbances import Disturbance, Hold
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.base import Stage


def disturb(stage: Stage, acts: Iterable[tuple[Link, Disturbance]]) -> Hold:
    """Disturb links until the hold is released.

    Raises:
        StageTrouble: one cannot be disturbed; the others are undone as far as possible.
    """
    holds: list[Hold] = []
    with ExitStack() as undo:
        for link, how in acts:
            holds.append(undo.enter_context(stage.disturb(link, how)))
        undo.pop_all()  # from here on, the hold undoes it
    return Hold(lambda: _release(holds))


def _release(holds: Iterable[Hold]) -> None:
    failures = []
    for hold in holds:
        try:
            hold.release()
        except StageTrouble as error:
            failures.append(str(error))
    if failures:
        raise StageTrouble("; ".join(failures))
