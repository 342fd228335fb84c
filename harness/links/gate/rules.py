"""Rules of a gate: which messages they match and what they do.

A rule counts its matches from 1 and fires from the `nth` on, at most `times` times. A response
matches by the contents of its request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, get_args

from onceproof.harness.links.gate.contents import Contents
from onceproof.harness.links.gate.messages import api_key, decodable, error_code

Direction = Literal["request", "response"]
Action = Literal["hold", "drop", "close-before", "close-after", "error", "duplicate", "report"]

_CONTENTS: Final = ("topic", "transactional_id", "group", "commits", "partitions", "records")
POSITIONS: Final = ("OffsetCommit", "TxnOffsetCommit")
"""The APIs that commit offsets, outside and inside a transaction."""
FETCHED: Final = ("response", "Fetch")
"""Direction and API of the messages that bring records."""
_REPORTED: Final = ("EndTxn", "OffsetCommit")
"""APIs whose contents are always reported, for transaction ends and committed offsets."""


def _is_named(client_id: str | None, wanted: str) -> bool:
    if wanted.endswith("*"):
        return client_id is not None and client_id.startswith(wanted[:-1])
    return client_id == wanted


@dataclass(frozen=True, kw_only=True)
class MessageMatch:
    """Match the n-th request or response of an API, by its contents."""

    direction: Direction
    api: str
    nth: int = 1
    topic: str | None = None
    transactional_id: str | None = None
    group: str | None = None
    client_id: str | None = None
    """A client id, or with `*` at its end how it begins."""
    commits: bool | None = None
    """EndTxn only: True matches commits, False aborts."""
    partitions: int | None = None
    """OffsetCommit and TxnOffsetCommit only: the minimum number of partitions."""
    records: bool | None = None
    """Responses to Fetch only: True matches those with records, False those without."""
    refused: bool | None = None
    """Responses only: True matches those with an error, False those without."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for what a gate cannot match."""
        Rule(message=self, action="report")

    @property
    def key(self) -> int:
        return api_key(self.api)

    @property
    def reads_request(self) -> bool:
        """Whether it matches by a request's contents, beyond the header."""
        return any(getattr(self, name) is not None for name in _CONTENTS)

    def matches(
        self, client_id: str | None, contents: Contents | None, refused: bool | None
    ) -> bool:
        """Return whether a request, or the response to it, matches.

        `contents` is None if unreadable; `refused` is None for a request or if unknown.
        """
        if self.client_id is not None and not _is_named(client_id, self.client_id):
            return False
        if self.refused is not None and refused is not self.refused:
            return False
        if not self.reads_request:
            return True
        if contents is None or self.commits not in (None, contents.commits):
            return False
        if self.records not in (None, contents.records):
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
        # Subclasses add fields that name a link; a gate's rule must not have them.
        same = {f.name: getattr(self, f.name) for f in fields(MessageMatch)}
        return Rule(message=MessageMatch(**same), action=action, times=times, error=error)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Which message, and what to do with it.

    `hold` keeps the message, and everything after it, until its release. `drop` loses the message
    and everything after it on its connection, which stays open. `close-before` and `close-after`
    close the connection before or after the message is forwarded. `error` answers with `error`: a
    request is not forwarded, a response is changed. `duplicate` sends a request twice and discards
    the second answer. `report` only reports the message, before it is forwarded.
    """

    message: MessageMatch
    action: Action
    times: int | None = 1
    """Maximum number of firings; None: unlimited."""
    error: str | None = None
    """Kafka's name of the error to answer with."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for an impossible rule."""
        message = self.message
        for name, value, choices in (
            ("direction", message.direction, get_args(Direction)),
            ("action", self.action, get_args(Action)),
        ):
            if value not in choices:
                raise ValueError(f"invalid {name} {value!r}: expected one of {', '.join(choices)}")
        if message.nth < 1 or (self.times is not None and self.times < 1):
            raise ValueError(
                f"invalid nth or times: expected integers ≥ 1, found {message.nth} and {self.times}"
            )
        if self.action == "error" and self.error is None:
            raise ValueError("the action error requires the name of an error")
        if self.action != "error" and self.error is not None:
            raise ValueError(f"the action {self.action} takes no error, found {self.error}")
        if message.commits is not None and message.api != "EndTxn":
            raise ValueError(f"commits requires EndTxn, not {message.api}")
        if message.partitions is not None and message.api not in POSITIONS:
            raise ValueError(f"partitions requires {' or '.join(POSITIONS)}, not {message.api}")
        if message.records is not None and (message.direction, message.api) != FETCHED:
            raise ValueError("records requires a response to Fetch")
        if message.refused is not None and message.direction == "request":
            raise ValueError("refused requires a response, not a request")
        if self.action == "duplicate" and message.direction == "response":
            raise ValueError("the action duplicate requires a request, not a response")
        if not decodable(message.key) and (
            self._needs_request or self.error or message.refused is not None
        ):
            raise ValueError(
                f"{message.api} cannot be decoded: a rule for it can match the client id only, "
                "and can neither send an error nor match one"
            )
        if self.error is not None:
            error_code(self.error)

    @property
    def reads_request(self) -> bool:
        """Whether it uses a decoded request: to match, to build an answer, or to report."""
        reports = self.action == "report" and decodable(self.message.key)
        return self._needs_request or self.message.api in _REPORTED or reports

    @property
    def _needs_request(self) -> bool:
        """Whether it cannot act on a request that is not decodable."""
        refuses = self.action == "error" and self.message.direction == "request"
        return refuses or self.message.reads_request

    def matches(
        self, client_id: str | None, contents: Contents | None, refused: bool | None = None
    ) -> bool:
        if self._needs_request and contents is None:
            return False
        return self.message.matches(client_id, contents, refused)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rule:
        """Reverse `as_json`; raise `ValueError` if the data is not a rule."""
        try:
            return cls(**{**data, "message": MessageMatch(**data["message"])})
        except (KeyError, TypeError) as error:
            raise ValueError(f"invalid rule: {error}") from None
