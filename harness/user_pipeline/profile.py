"""What a dry run learns about a pipeline: protocols, where it commits offsets, its pauses.

The hazard plan is derived from it, so it holds only what was *seen*; anything else is None or
empty, and the sentences say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

ABORTED: Final = "aborted-input"
NULL: Final = "null-values"
OVERSIZE: Final = "oversize"
KEYS: Final = "odd-keys"
EMPTY: Final = "empty-partition"
"""Generated orders leave a partition empty for a while; none of them is odd by itself."""
ODD: Final[Mapping[str, str]] = {
    ABORTED: "records of an aborted transaction",
    NULL: "records with a null value",
    OVERSIZE: "records larger than brokers accept by default",
    KEYS: "records with an empty key, and with several headers of one name",
}
"""Kinds of odd records in an input, as hazards name them → description."""
PROBED: Final = (ABORTED, NULL, OVERSIZE)
"""Kinds that a dry run tries at its end, because not every pipeline continues after them."""
_LISTS: Final = (
    *("commits", "groups", "topics", "rarely_written", "tables", "http_methods"),
    *("survives", "ends_at"),
)
SHARE_FETCH: Final = "ShareFetch"
"""The API by which share group members fetch records."""
GROUP: Final = "group"
"""Offsets are committed to a consumer group by OffsetCommit."""
TRANSACTION: Final = "transaction"
"""Offsets are committed in a Kafka transaction, by TxnOffsetCommit."""
DATABASE: Final = "database"
CHECKPOINT: Final = "checkpoint"
CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
"""The new group protocol (KIP-848)."""


@dataclass(frozen=True, kw_only=True)
class GroupProfile:
    """A consumer group that reads the input.

    Attributes:
        members: number of members that were active.
        protocol: `classic` or `consumer` (KIP-848).
        protocol_type: `consumer`, `connect` …
        assignors: as its members list them in JoinGroup.
        session_ms: session timeout in milliseconds.
        max_poll_ms: rebalance timeout in milliseconds: how long a member may take to rejoin.
        static: whether its members have a `group.instance.id`.
        topics: inputs of which its members were assigned partitions.
    """

    name: str
    members: int = 0
    protocol: str = CLASSIC
    protocol_type: str | None = None
    assignors: tuple[str, ...] = ()
    session_ms: int | None = None
    max_poll_ms: int | None = None
    static: bool = False
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What was learned about one pipeline.

    Attributes:
        watched: whether its messages to brokers could be seen at all.
        commits: where it commits offsets: `GROUP`, `TRANSACTION`, `DATABASE`, `CHECKPOINT`.
        groups: groups that it commits offsets to, as a member or not.
        commit_seconds: approximate interval of its offset commits; None: it made too few.
        group: the group that reads the input, if there is one.
        shares: whether it reads as a member of a share group (KIP-932).
        transactional_ids: number of transactional ids that it used.
        transaction_ms: transaction timeout in milliseconds.
        transaction_version: 2 if it uses EndTxn as of KIP-890, else 1; None without transactions.
        idempotent: whether a producer without transactions requested a producer id.
        acks: of its produce requests: -1, 1 or 0.
        topics: topics that it produces to.
        rarely_written: topics that it hardly wrote to, such as only at its start.
        read_committed: whether its consumers use this isolation level; None if none was seen.
        tables: database tables that it wrote to.
        position_table: the table that holds its offsets.
        statements: `simple`, `extended` or `prepared`.
        http_methods: of the requests that the HTTP service carried out for it.
        processes: number of its processes with connections to brokers.
        pause: longest pause in seconds between two writes while inputs waited.
        speed: inputs per second, if it did not keep up with the dry run's producers; else None.
        rest: seconds without a change after which its outputs are considered idle.
        survives, ends_at: kinds of odd records (names of `ODD`) after which it continued or ended.
    """

    watched: bool = True
    commits: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    commit_seconds: float | None = None
    group: GroupProfile | None = None
    shares: bool = False
    transactional_ids: int = 0
    transaction_ms: int | None = None
    transaction_version: int | None = None
    idempotent: bool = False
    acks: int | None = None
    topics: tuple[str, ...] = ()
    rarely_written: tuple[str, ...] = ()
    read_committed: bool | None = None
    tables: tuple[str, ...] = ()
    position_table: str | None = None
    statements: str | None = None
    http_methods: tuple[str, ...] = ()
    processes: int = 1
    pause: float = 0.0
    speed: float | None = None
    rest: float = 5.0
    survives: tuple[str, ...] = ()
    ends_at: tuple[str, ...] = ()

    @property
    def fetch(self) -> str:
        """The API by which it fetches records."""
        return SHARE_FETCH if self.shares else "Fetch"

    @property
    def prepares(self) -> bool:
        """Whether its next process may commit transactions of this one.

        That is possible if offsets are neither in them nor committed by a group member: a Flink job
        prepares a transaction, and its checkpoint says that it must be committed.
        """
        transactional = self.transactional_ids > 0
        return transactional and self.group is None and TRANSACTION not in self.commits

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Profile:
        """Reverse `as_json`.

        Raises:
            KeyError, TypeError, ValueError: it is not a profile of this version.
        """
        group = data["group"]
        lists = {name: tuple(data[name]) for name in _LISTS}
        if group is not None:
            listed = {name: tuple(group[name]) for name in ("assignors", "topics")}
            group = GroupProfile(**{**group, **listed})
        return cls(**{**data, **lists, "group": group})

    def sentences(self) -> str:
        """Describe the profile in a paragraph."""
        sentences = [
            self._reads(),
            self._commits(),
            self._produces(),
            self._stores(),
            self._calls(),
            self._odd(),
            f"It processes {self.speed:g} inputs per second." if self.speed else "",
            f"Its outputs count as idle after {self.rest:g} s without a change.",
        ]
        return " ".join(sentence for sentence in sentences if sentence)

    def _reads(self) -> str:
        level = "an unknown isolation level"
        if self.read_committed is not None:
            level = "read_committed" if self.read_committed else "read_uncommitted"
        group = self.group
        if self.shares:
            return "It reads as a member of a share group."
        if group is None and self.read_committed is None and self.watched:
            return "It was not observed to read a topic."
        if group is None:
            return f"It reads with {level}, outside any consumer group."
        session = f", session time-out {group.session_ms} ms" if group.session_ms else ""
        several = f" {' and '.join(group.topics)}" if len(group.topics) > 1 else ""
        members = f"{group.members} member{'s' if group.members != 1 else ''}"
        static = ", static membership" if group.static else ""
        return (
            f"It reads{several} with {level}, as {members} of group {group.name} ({group.protocol} "
            f"protocol{session}{static})."
        )

    def _commits(self) -> str:
        where = {
            GROUP: "to its group with OffsetCommit",
            TRANSACTION: "in Kafka transactions with TxnOffsetCommit",
            DATABASE: f"to table {self.position_table} in the database",
            CHECKPOINT: "to its Spark checkpoint",
        }
        if self.shares and not self.commits:
            return "It acknowledges each record to its share group."
        if not self.commits:
            return "Where it stores its offsets is unknown."
        every = f", about every {self.commit_seconds:g} s" if self.commit_seconds else ""
        return f"It commits offsets {' and '.join(where[each] for each in self.commits)}{every}."

    def _produces(self) -> str:
        if not self.topics:
            return "" if not self.watched else "It produces to no topic."
        kind = "plain"
        if self.transactional_ids:
            version = self.transaction_version or 1
            kind = f"transactional (version {version}, time-out {self.transaction_ms} ms)"
        elif self.idempotent:
            kind = "idempotent"
        acks = {-1: "all", 1: "1", 0: "0"}.get(self.acks if self.acks is not None else 9, "?")
        return f"It produces to {', '.join(self.topics)}: {kind}, acks={acks}."

    def _stores(self) -> str:
        if not self.tables:
            return ""
        how = f" with {self.statements} statements" if self.statements else ""
        return f"It writes to {', '.join(self.tables)} in the database{how}."

    def _calls(self) -> str:
        if not self.http_methods:
            return ""
        return f"It sends {' and '.join(self.http_methods)} requests to the HTTP service."

    def _odd(self) -> str:
        at = " and ".join(ODD[kind] for kind in self.ends_at)
        return f"It ends when its input contains {at}." if at else ""
