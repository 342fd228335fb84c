"""What a dry run learns of a pipeline: what it speaks, where its commits go, how long it pauses.

A hazard plan follows from it, so everything here is what was *seen*; what could not be seen is None
or empty, and the sentences say so.
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
"""Made-up orders leave a partition empty for a while; no record of theirs is odd by that."""
ODD: Final[Mapping[str, str]] = {
    ABORTED: "records of an aborted transaction",
    NULL: "records with a null value",
    OVERSIZE: "records larger than brokers take by default",
    KEYS: "records with an empty key, and with several headers of one name",
}
"""Kinds of odd records that an input may hold, as hazards have them → in words."""
PROBED: Final = (ABORTED, NULL, OVERSIZE)
"""Those that a dry run tries at its end, for not every pipeline goes on behind them."""
_LISTS: Final = (
    *("commits", "groups", "topics", "rarely_written", "tables", "http_methods"),
    *("survives", "ends_at"),
)
SHARE_FETCH: Final = "ShareFetch"
"""The API by which members of share groups ask for records."""
GROUP: Final = "group"
"""Offsets are committed to a consumer group by OffsetCommit."""
TRANSACTION: Final = "transaction"
"""Offsets are committed in a Kafka transaction, by TxnOffsetCommit."""
DATABASE: Final = "database"
"""Offsets are in a table of the database."""
CHECKPOINT: Final = "checkpoint"
"""Offsets are in a Spark checkpoint."""
CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
"""The newer group protocol, of KIP-848."""


@dataclass(frozen=True, kw_only=True)
class GroupProfile:
    """One consumer group that reads the input.

    Attributes:
        name: its group id.
        members: how many it had at work.
        protocol: `classic` or `consumer` (KIP-848).
        protocol_type: what kind of group it is: `consumer`, `connect` …
        assignors: names that its members offer, as JoinGroup lists them.
        session_ms: the session time-out of its members in milliseconds.
        max_poll_ms: the longest that a member may take to rejoin, in milliseconds.
        static: whether its members have a `group.instance.id`.
        topics: the inputs that its members were assigned partitions of.
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
    """What one pipeline speaks.

    Attributes:
        watched: whether its messages to the brokers were seen at all.
        commits: where it commits offsets: `GROUP`, `TRANSACTION`, `DATABASE`, `CHECKPOINT`.
        groups: those that it commits offsets to, as a member or not.
        commit_seconds: about how far apart its offset commits are; None: it made too few.
        group: the group that reads the input, if there is one.
        shares: whether it reads as a member of a share group (KIP-932).
        transactional_ids: how many it used.
        transaction_ms: its transaction time-out in milliseconds.
        transaction_version: 2 where it speaks EndTxn as of KIP-890, else 1; None without any.
        idempotent: whether a producer without transactions asked for a producer id.
        acks: of its produce requests: -1, 1 or 0.
        topics: that it produces to.
        rarely_written: those of them that it hardly wrote to, as at its start only.
        read_committed: whether its consumers do; None if nobody saw one.
        tables: of the database that it wrote to.
        position_table: the one of them that holds its offsets.
        statements: how it speaks to the database: `simple`, `extended` or `prepared`.
        http_methods: of the requests that the HTTP service has carried out for it.
        processes: how many of its processes are connected to brokers.
        pause: the longest in seconds that it paused between two writes while inputs waited.
        rest: seconds for which its outputs may stand still while it goes on.
        survives: kinds of odd records behind which it went on, names of `ODD`.
        ends_at: kinds at which it ended.
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
    rest: float = 5.0
    survives: tuple[str, ...] = ()
    ends_at: tuple[str, ...] = ()

    @property
    def fetch(self) -> str:
        """The API by which it asks for records."""
        return SHARE_FETCH if self.shares else "Fetch"

    @property
    def prepares(self) -> bool:
        """Whether its next life may have to commit transactions of this one.

        It may if offsets are neither in them nor committed by a member of a group: a Flink job
        prepares a transaction, and its checkpoint says that it is to be committed.
        """
        transactional = self.transactional_ids > 0
        return transactional and self.group is None and TRANSACTION not in self.commits

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Profile:
        """The reverse of `as_json`.

        Raises:
            KeyError, TypeError, ValueError: it is no profile of this version.
        """
        group = data["group"]
        lists = {name: tuple(data[name]) for name in _LISTS}
        if group is not None:
            listed = {name: tuple(group[name]) for name in ("assignors", "topics")}
            group = GroupProfile(**{**group, **listed})
        return cls(**{**data, **lists, "group": group})

    def sentences(self) -> str:
        """What was learned, as a paragraph."""
        sentences = [
            self._reads(),
            self._commits(),
            self._produces(),
            self._stores(),
            self._calls(),
            self._odd(),
            f"Its outputs count as still when nothing has changed in them for {self.rest:g} s.",
        ]
        return " ".join(sentence for sentence in sentences if sentence)

    def _reads(self) -> str:
        level = "an isolation level that was not seen"
        if self.read_committed is not None:
            level = "read_committed" if self.read_committed else "read_uncommitted"
        group = self.group
        if self.shares:
            return "It reads as a member of a share group."
        if group is None and self.read_committed is None and self.watched:
            return "It was not seen to read a topic."
        if group is None:
            return f"It reads with {level}, as a member of no group."
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
            GROUP: "to its group by OffsetCommit",
            TRANSACTION: "in Kafka transactions by TxnOffsetCommit",
            DATABASE: f"to table {self.position_table} of the database",
            CHECKPOINT: "to its Spark checkpoint",
        }
        if self.shares and not self.commits:
            return "It acknowledges each record to its share group."
        if not self.commits:
            return "Where it keeps its offsets was not seen."
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
        how = f" by {self.statements} statements" if self.statements else ""
        return f"It writes to {', '.join(self.tables)} of the database{how}."

    def _calls(self) -> str:
        if not self.http_methods:
            return ""
        return f"It sends {' and '.join(self.http_methods)} requests to the HTTP service."

    def _odd(self) -> str:
        at = " and ".join(ODD[kind] for kind in self.ends_at)
        return f"It ended at {at} in its input." if at else ""
