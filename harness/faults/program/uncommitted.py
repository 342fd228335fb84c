"""Count what a program had read but not committed when a rebalance revoked its partitions.

A program that commits between rejoining and its new assignment has nothing in hand by then, however
it handles a rebalance. Such a rebalance shows nothing, and is the usual one on a busy machine. A
program that commits before it rejoins has handled the rebalance.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from onceproof.harness.context.pipeline import Positions
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.messages.message import Message, MessageReports, positions_in
from onceproof.harness.faults.program.programs import program
from onceproof.harness.links.gate.client import Event
from onceproof.harness.links.gate.rules import POSITIONS
from onceproof.harness.wait import Overdue, Stop, wait_until

_JOIN, _SYNC, _HEARD = "JoinGroup", "SyncGroup", "Heartbeat"
_PENDING, _END = "TxnOffsetCommit", "EndTxn"
_GIVEN: Final = ("OffsetFetch", _SYNC)
"""What shows its new assignment: it fetches its committed offsets, or else its SyncGroup."""
_SETTLE_SECONDS: Final = 60.0
_GIVEN_SECONDS: Final = 1.5
"""Time in which a member gets its assignment once the group appears settled."""


def heard(group: str) -> Message:
    """Return the message by which a member learns of a rebalance."""
    return Message(source="pipeline", direction="response", api=_HEARD, group=group, refused=True)


class Uncommitted:
    """Observe the rebalances of a group whose only member is the program, until `remove`."""

    def __init__(self, context: RunContext, group: str) -> None:
        """Place the rules; raise `StageTrouble` if a link of the pipeline cannot have a gate."""
        look = program(context).look
        self._topics, self._committed = look.topics, look.groups.newest()
        asked = [_message(api, group=group) for api in (_JOIN, *_GIVEN, *POSITIONS)]
        fetches = [_message("Fetch", topic=topic) for topic in self._topics]
        ended = _message(_END, commits=True)
        self._passing = MessageReports(context, (*asked, ended, heard(group), *fetches))

    def most(self) -> int:
        """Return the most offsets that were uncommitted at a rebalance; see `most_in_hand`."""
        return most_in_hand(self._passing.fired(), self._topics, self._committed)

    def remove(self) -> None:
        self._passing.remove()


def most_by_the_end(most: Callable[[], int], settled: Callable[[], bool], stop: Stop) -> int:
    """Return `most()` once it is positive, or shortly after the group is `settled`.

    Many clients rebalance only when their program polls, long after its held writes were released.
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
    """Return the most uncommitted offsets at a rebalance that were not committed during it.

    Args:
        events: in order, the requests JoinGroup, SyncGroup, OffsetFetch, offset commits, EndTxn and
            Fetch, and the heartbeat responses that announce a rebalance.
        committed: offsets of the input `topics` committed before.
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
            # Committed only with its transaction, which may wait for what was produced.
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
                # It keeps its partitions, and does not fetch committed offsets.
                most, round_ = max(most, round_.in_hand), _Round()
            round_.announced(_beyond(read, done), joins=api == _JOIN)
        elif round_.joined and api == given:
            most, round_ = max(most, round_.in_hand), _Round()
        elif round_.joined and api == _SYNC:
            round_.synced = True
    return most


@dataclass
class _Round:
    """One rebalance, from its announcement to a member until that member has its partitions."""

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
            # Many clients fetch only after this commit, so these offsets were not seen as read.
            self.in_hand = max(self.in_hand, count)


def _beyond(reached: Mapping[tuple[str, int], int], done: Mapping[tuple[str, int], int]) -> int:
    """Return how many offsets `reached` is beyond `done`, where both are known."""
    return sum(max(0, at - done.get(partition, at)) for partition, at in reached.items())


def _message(
    api: str, *, group: str | None = None, topic: str | None = None, commits: bool | None = None
) -> Message:
    return Message(
        source="pipeline", direction="request", api=api, group=group, topic=topic, commits=commits
    )
