"""Consumer groups that read, transform and write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from onceproof.harness.explore.bench.lanes.base import Lane, Surroundings
from onceproof.harness.explore.bench.lanes.copier import CopierLane, SharedCopierLane
from onceproof.harness.explore.bench.subjects.base import Subject, Twin, struck
from onceproof.harness.explore.exploration import Load
from onceproof.harness.subjects.group.clients import Client
from onceproof.harness.subjects.group.subject import ConsumerGroup, Missing
from onceproof.harness.subjects.group.task import Commits


@dataclass(frozen=True, kw_only=True)
class GroupSubject(Subject):
    """A consumer group that writes what it reads to another topic.

    Attributes:
        shared: whether it has two members, of which one is under test.
    """

    client: Client
    commits: Commits = "in-transaction"
    without: Missing = "nothing"
    shared: bool = False

    @property
    def runtimes(self) -> frozenset[str]:
        return ConsumerGroup(client=self.client).runtimes

    @property
    def name(self) -> str:
        kind = "group" if self.shared else "consume-transform-produce"
        without = "" if self.without == "nothing" else f"-no-{self.without}"
        if self.commits == "in-transaction":
            return f"{kind}-{self.client}{without}"
        return f"plain-consumer-{self.commits}"

    @property
    def says(self) -> str:
        members = "two members" if self.shared else "one member"
        if self.commits == "in-transaction":
            return f"{self.client}, effects and offsets in one transaction, {members}"
        return f"{self.client}, offsets committed {self.commits} the effects, {members}"

    @property
    def twin(self) -> Twin:
        return NOT_REWOUND

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        kind = SharedCopierLane if self.shared else CopierLane
        return kind(
            name=name,
            load=load,
            around=around,
            client=self.client,
            commits=self.commits,
            without=self.without,
        )


NOT_REWOUND: Final = Twin(
    subject=GroupSubject(client="librdkafka", without="rewind"),
    trial=struck(
        "refused UNKNOWN_MEMBER_ID @ consumer/request/TxnOffsetCommit/work/first/group-coordinator",
        ends=1,
    ),
    load=Load(transactions=3),
)
"""A group that does not rewind after an abort, so that inputs are lost."""
