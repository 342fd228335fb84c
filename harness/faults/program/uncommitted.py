"""What a program had read and not committed when a rebalance took its partitions.

A program that commits between joining anew and being given its partitions has nothing in hand by
then, whatever it does about a rebalance. Such a rebalance shows nothing, and is the usual one on a
busy machine. Who commits first and joins then has handled it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Final

from onceproof.harness.context.pipeline import Positions
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.messages.message import Message, Reports, positions_in
from onceproof.harness.faults.program.programs import program
from onceproof.harness.links.gate.client import Event
from onceproof.harness.links.gate.rules import POSITIONS
from onceproof.harness.wait import Overdue, Stop, wait_until

_JOIN, _HEARD = "JoinGroup", "Heartbeat"
_PENDING, _END = "TxnOffsetCommit", "EndTxn"
_GIVEN: Final = ("OffsetFetch", "SyncGroup")
"""What shows that it has been given partitions: it asks where to go on, or else that it joined."""
_SETTLE_SECONDS: Final = 60.0
_GIVEN_SECONDS: Final = 1.5
"""In which a member is given its partitions once the group has settled, as far as we see it."""


def heard(group: str) -> Message:
    """How a member hears of a rebalance."""
    return Message(source="pipeline", direction="response", api=_HEARD, group=group, refused=True)


class Uncommitted:
    """Watches the rebalances of a group whose only member a program is, until it is removed."""

    def __init__(self, context: RunContext, group: str) -> None:
        """Place the rules that report.

        Raises:
            StageTrouble: a link of the pipeline cannot have a gate.
        """
        look = program(context).look
        self._topics, self._committed = look.topics, look.groups.newest()
        asked = [_message(api, group=group) for api in (_JOIN, *_GIVEN, *POSITIONS)]
        fetches = [_message("Fetch", topic=topic) for topic in self._topics]
        ended = _message(_END, commits=True)
        self._passing = Reports(context, (*asked, ended, heard(group), *fetches))

    def most(self) -> int:
        """The most offsets that a rebalance found read and not committed; see `most_in_hand`."""
        return most_in_hand(self._passing.fired(), self._topics, self._committed)

    def remove(self) -> None:
        """Report no more."""
        self._passing.remove()


def most_by_the_end(most: Callable[[], int], settled: Callable[[], bool], stop: Stop) -> int:
    """What `most` says, once a rebalance is over.

    Many clients take part in a rebalance only when their program asks for more, long after what it
    wrote was let go.

    Args:
        settled: whether the group's members have shared the partitions out.
    """
    with suppress(Overdue):
        wait_until(
            lambda: most() > 0 or settled(),
            what="", seconds=_SETTLE_SECONDS, every=0.05, stop=stop,
        )  # fmt: skip
    with suppress(Overdue):
        wait_until(lambda: most() > 0, what="", seconds=_GIVEN_SECONDS, every=0.05, stop=stop)
    return most()


def most_in_hand(events: Iterable[Event], topics: Collection[str], committed: Positions) -> int:
    """The most that was in hand at a rebalance behind which nothing was committed.

    Args:
        events: requests to join, to be given partitions, to commit offsets and transactions and to
            fetch, and answers to heartbeats that say that there is a rebalance, in order.
        topics: the inputs; `committed`: what was committed of them before.
    """
    found = list(events)
    given = next((api for api in _GIVEN if any(event["api"] == api for event in found)), None)
    read: dict[tuple[str, int], int] = {}
    done = dict(committed)
    pending: dict[str, dict[tuple[str, int], int]] = {}
    most, in_hand, joined = 0, 0, False
    for event in found:
        api = event["api"]
        if api == "Fetch":
            read.update(positions_in(event, topics))
        elif api == _PENDING:
            # Not committed before its transaction is, which may wait for what was produced.
            for of in event["transactional_ids"]:
                pending.setdefault(of, {}).update(positions_in(event, topics))
        elif api in (*POSITIONS, _END):
            done.update(positions_in(event, topics))
            for of in event["transactional_ids"]:
                done.update(pending.pop(of, {}))
            if joined:
                in_hand = 0
        elif api in (_HEARD, _JOIN) and not joined:
            in_hand = max(in_hand, sum(max(0, at - done.get(p, at)) for p, at in read.items()))
            joined = api == _JOIN
        elif api == given and joined:
            most, in_hand, joined = max(most, in_hand), 0, False
    return most


def _message(
    api: str, *, group: str | None = None, topic: str | None = None, commits: bool | None = None
) -> Message:
    return Message(
        source="pipeline", direction="request", api=api, group=group, topic=topic, commits=commits
    )
