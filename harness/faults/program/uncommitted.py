"""What a program had read and not committed when a rebalance took its partitions.

A program that commits between joining anew and being given its partitions has nothing in hand by
then, whatever it does about a rebalance. Such a rebalance shows nothing, and is the usual one on a
busy machine. Who commits first and joins then has handled it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from onceproof.harness.context.pipeline import Positions
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.messages.message import Message, Reports, positions_in
from onceproof.harness.faults.program.programs import program
from onceproof.harness.links.gate.client import Event
from onceproof.harness.links.gate.rules import POSITIONS
from onceproof.harness.wait import Overdue, Stop, wait_until

_JOIN, _SYNC, _HEARD = "JoinGroup", "SyncGroup", "Heartbeat"
_PENDING, _END = "TxnOffsetCommit", "EndTxn"
_GIVEN: Final = ("OffsetFetch", _SYNC)
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
    most = 0
    round_ = _Round()
    for event in found:
        api = event["api"]
        if api == "Fetch":
            read.update(positions_in(event, topics))
        elif api == _PENDING:
            # Not committed before its transaction is, which may wait for what was produced.
            for of in event["transactional_ids"]:
                pending.setdefault(of, {}).update(positions_in(event, topics))
        elif api in (*POSITIONS, _END):
            ended = positions_in(event, topics)
            for of in event["transactional_ids"]:
                ended |= pending.pop(of, {})
            round_.committed(_beyond(ended, done))
            done |= ended
        elif api in (_HEARD, _JOIN):
            if round_.synced:
                # It keeps its partitions, and does not ask where to go on.
                most, round_ = max(most, round_.in_hand), _Round()
            round_.announced(_beyond(read, done), joins=api == _JOIN)
        elif round_.joined and api == given:
            most, round_ = max(most, round_.in_hand), _Round()
        elif round_.joined and api == _SYNC:
            round_.synced = True
    return most


@dataclass
class _Round:
    """One rebalance, from when a member hears of it until it has its partitions."""

    in_hand: int = 0
    heard: bool = False
    joined: bool = False
    synced: bool = False

    def announced(self, in_hand: int, *, joins: bool) -> None:
        if not self.joined:
            self.in_hand = max(self.in_hand, in_hand)
            self.heard, self.joined = True, joins

    def committed(self, count: int) -> None:
        if self.joined:
            self.in_hand = 0
        elif self.heard:
            # Many clients ask for more only when this is done, so it was not seen as read.
            self.in_hand = max(self.in_hand, count)


def _beyond(reached: Mapping[tuple[str, int], int], done: Mapping[tuple[str, int], int]) -> int:
    """How many offsets some positions are beyond others, as far as both are known."""
    return sum(max(0, at - done.get(partition, at)) for partition, at in reached.items())


def _message(
    api: str, *, group: str | None = None, topic: str | None = None, commits: bool | None = None
) -> Message:
    return Message(
        source="pipeline", direction="request", api=api, group=group, topic=topic, commits=commits
    )
