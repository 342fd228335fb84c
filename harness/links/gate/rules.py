"""A rule: a message, and what happens to it. Plain data.

A rule counts what it matches, from 1, and acts on the `nth` match and those
after it, `times` in all. Answers are matched by what their requests carry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, get_args

from onceproof.harness.links.gate.contents import Contents
from onceproof.harness.links.gate.messages import api_key, decodable, error_code

Direction = Literal["request", "response"]
Action = Literal["hold", "drop", "close-before", "close-after", "error", "duplicate", "report"]

_CONTENTS: Final = ("topic", "transactional_id", "group", "commits", "partitions")
POSITIONS: Final = ("OffsetCommit", "TxnOffsetCommit")
"""What commits offsets of a group, outside a transaction and in one."""
_REPORTED: Final = ("EndTxn", "OffsetCommit")
"""Whose contents are reported whatever a rule asks: transaction ends, and what is committed."""


@dataclass(frozen=True, kw_only=True)
class MessageMatch:
    """Which message on a link: the n-th request or response of an API, by what it carries."""

    direction: Direction
    api: str
    nth: int = 1
    topic: str | None = None
    transactional_id: str | None = None
    group: str | None = None
    client_id: str | None = None
    commits: bool | None = None
    """Of EndTxn: only one that commits, or only one that aborts."""
    partitions: int | None = None
    """Of OffsetCommit and TxnOffsetCommit: only one with the positions of at least so many."""
    refused: bool | None = None
    """Of a response: only one with an error in it, or only one without any."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for what no gate can look for."""
        Rule(message=self, action="report")

    @property
    def key(self) -> int:
        return api_key(self.api)

    @property
    def reads_request(self) -> bool:
        """Whether it goes by what a request carries beside its header."""
        return any(getattr(self, name) is not None for name in _CONTENTS)

    def matches(
        self, client_id: str | None, contents: Contents | None, refused: bool | None
    ) -> bool:
        """Whether this is such a request, or its answer.

        `contents` is None if unreadable, `refused` if it is no answer or nobody can tell.
        """
        if self.client_id is not None and client_id != self.client_id:
            return False
        if self.refused is not None and refused is not self.refused:
            return False
        if not self.reads_request:
            return True
        if contents is None or self.commits not in (None, contents.commits):
            return False
        if self.partitions is not None and len(contents.positions) < self.partitions:
            return False
        return all(
            wanted is None or wanted in found
            for wanted, found in (
                (self.topic, contents.topics),
                (self.transactional_id, contents.transactional_ids),
                (self.group, contents.groups),
            )
        )

    def rule(self, action: Action, *, times: int | None = 1, error: str | None = None) -> Rule:
        """What a gate has to do with it."""
        # A gate knows its link: what others add to say where it is stays with them.
        same = {f.name: getattr(self, f.name) for f in fields(MessageMatch)}
        return Rule(message=MessageMatch(**same), action=action, times=times, error=error)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Which message, and what happens to it.

    `hold` keeps it until it is released, and what follows it; `drop` loses it, and what follows it
    on its connection, which stays open; `close-before` and `close-after` end the connection before
    it is passed on, or after; `error` answers with `error`: a request is not passed on, a response
    is changed; `duplicate` sends a request twice and swallows the second answer; `report` only
    tells of it, before it is passed on.
    """

    message: MessageMatch
    action: Action
    times: int | None = 1
    """How often it acts; None: always."""
    error: str | None = None
    """Kafka's name of the error that is answered."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for what cannot be done."""
        sought = self.message
        for name, value, choices in (
            ("direction", sought.direction, get_args(Direction)),
            ("action", self.action, get_args(Action)),
        ):
            if value not in choices:
                raise ValueError(f"{name}: {value!r}; expected one of {', '.join(choices)}")
        if sought.nth < 1 or (self.times is not None and self.times < 1):
            raise ValueError(f"nth and times count from 1, not {sought.nth} and {self.times}")
        if (self.action == "error") is not (self.error is not None):
            raise ValueError("the action error, and no other, needs the name of an error")
        if sought.commits is not None and sought.api != "EndTxn":
            raise ValueError(f"only EndTxn commits or aborts, {sought.api} does not")
        if sought.partitions is not None and sought.api not in POSITIONS:
            raise ValueError(f"only {' and '.join(POSITIONS)} have positions, {sought.api} has not")
        if sought.refused is not None and sought.direction == "request":
            raise ValueError("a response can be a refusal, a request cannot")
        if self.action == "duplicate" and sought.direction == "response":
            raise ValueError("a request can be duplicated, a response cannot")
        if not decodable(sought.key) and (
            self._needs_request or self.error or sought.refused is not None
        ):
            raise ValueError(
                f"{sought.api} cannot be decoded: a rule for it can only go by client id, "
                "and can neither answer with an error nor ask for one"
            )
        if self.error is not None:
            error_code(self.error)

    @property
    def reads_request(self) -> bool:
        """Whether it wants a request decoded: to match it, to make up its answer, or to tell it."""
        reports = self.action == "report" and decodable(self.message.key)
        return self._needs_request or self.message.api in _REPORTED or reports

    @property
    def _needs_request(self) -> bool:
        """Whether it can do nothing with a request that cannot be decoded."""
        refuses = self.action == "error" and self.message.direction == "request"
        return refuses or self.message.reads_request

    def matches(
        self, client_id: str | None, contents: Contents | None, refused: bool | None = None
    ) -> bool:
        """Whether it acts on such a request, or its answer; see `MessageMatch.matches`."""
        if self._needs_request and contents is None:
            return False
        return self.message.matches(client_id, contents, refused)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rule:
        """The reverse of `as_json`.

        Raises:
            ValueError: it is no rule.
        """
        try:
            return cls(**{**data, "message": MessageMatch(**data["message"])})
        except (KeyError, TypeError) as error:
            raise ValueError(f"no rule: {error}") from None
