"""Apply a link's rules to the requests and responses of one connection.

A firing is reported before its frame is forwarded, so that a waiting fault is never late. A rule
applies to requests that arrive after it was added, and to their responses. After a dropped frame,
everything in its direction is lost too and matches no rule, since a network never loses a frame and
delivers the next one of the same connection.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from onceproof.harness.kafka.errors import error_name
from onceproof.harness.links.gate.answers import errors, refusal, set_errors
from onceproof.harness.links.gate.contents import Contents, contents_of, read_by
from onceproof.harness.links.gate.counters import Counters
from onceproof.harness.links.gate.messages import (
    FETCH,
    METADATA,
    api_name,
    client_id,
    decode_request,
    decode_response,
    encode,
    error_code,
)
from onceproof.harness.links.gate.outlet import DiscardRest, End, HeldFrame, Item
from onceproof.harness.links.gate.pending import Pending, PendingRequest, Request
from onceproof.harness.links.gate.rulebook import Rulebook, RuleCounter
from onceproof.harness.links.gate.rules import Direction
from onceproof.harness.links.gate.topics import Topics

REQUEST_HEAD: Final = struct.Struct(">ihhi")
"""Size, API key, version, correlation id."""
RESPONSE_HEAD: Final = struct.Struct(">ii")
"""Size, correlation id."""


class EventReporter(Protocol):
    """Report an event immediately."""

    def __call__(self, event: str, **details: Any) -> None: ...


@dataclass(kw_only=True)
class Exchange:
    """One connection's requests and responses."""

    rules: Rulebook
    counters: Counters
    topics: Topics
    report: EventReporter
    keep: Callable[[RuleCounter, HeldFrame], None]
    """Remember a frame that a rule holds until it is released."""
    leave: Callable[[], None]
    """Close the client's connection."""
    pending: Pending = field(default_factory=Pending)
    _answering: PendingRequest | None = None
    _lost: set[Direction] = field(default_factory=set)
    """Directions in which a frame was dropped, so that no later frame is forwarded."""

    def wants_request(self, chunk: memoryview, at: int) -> bool:
        """Record a request by its header; return whether a rule needs the whole frame."""
        size, key, version, correlation_id = REQUEST_HEAD.unpack_from(chunk, at)
        self.counters.frame("request", key, size + 4)
        if "request" in self._lost:
            return False
        if key in self.rules.watched:
            return True
        self.pending.add(PendingRequest(correlation_id, key, version))
        return False

    def wants_response(self, chunk: memoryview, at: int) -> bool:
        """Find a response's request by its header; return whether the whole frame is needed."""
        size, correlation_id = RESPONSE_HEAD.unpack_from(chunk, at)
        self._answering = asked = self.pending.answered(correlation_id)
        if asked is None:
            return self.pending.overdue
        self.counters.frame("response", asked.key, size + 4)
        return "response" not in self._lost and (
            asked.swallowed
            or asked.request is not None
            or self.pending.overdue
            or (asked.key == METADATA and self.rules.learns_topics)
        )

    def strange(self, direction: Direction, size: int) -> None:
        """Report a frame size that the Kafka protocol does not allow."""
        self.report("strange", direction=direction, size=size)

    def due(self) -> list[bytes]:
        """Return the gate's own answers to send between this response and the next."""
        return self.pending.due()

    def request(self, frame: bytes) -> list[Item]:
        _, key, version, correlation_id = REQUEST_HEAD.unpack_from(frame)
        asked = PendingRequest(correlation_id, key, version)
        message = self._read(frame, asked)
        fired = self._match("request", asked)
        match fired.rule.action if fired else None:
            case "hold":
                assert fired is not None
                self.pending.add(asked)
                return [self._hold(fired, "request", frame, asked)]
            case "drop":
                return [self._drop("request")]
            case "close-before":
                return [End(self.leave)]
            case "close-after":
                return [frame, End(self.leave)]
            case "duplicate":
                self.pending.add(asked)
                self.pending.add(replace(asked, request=None, swallowed=True))
                return [frame, frame]
            case "error":
                assert fired is not None
                asked.answer = self._error_response(
                    message, asked, error_code(str(fired.rule.error))
                )
                self.pending.add(asked)
                return [] if asked.answer else [frame]
        self.pending.add(asked)
        return [frame]

    def response(self, frame: bytes) -> list[Item]:
        """Return what to forward for a response, after the gate's own answers that precede it."""
        # Only those that precede it: `due` returns the answers after it.
        items: list[Item] = list(self.pending.passed_over())
        asked = self._answering
        if asked is None:
            return [*items, frame]
        if asked.swallowed:
            return items
        if asked.key == METADATA and self.rules.learns_topics:
            self._learn_topics(frame, asked)
        if asked.request is None:
            return [*items, frame]
        fired = self._match("response", asked, frame)
        match fired.rule.action if fired else None:
            case "hold":
                assert fired is not None
                items.append(self._hold(fired, "response", frame, asked))
            case "drop":
                items.append(self._drop("response"))
            case "close-before":
                items.append(End(self.leave))
            case "close-after":
                items += [frame, End(self.leave)]
            case "error":
                assert fired is not None
                items.append(self._with_error(frame, asked, error_code(str(fired.rule.error))))
            case _:
                items.append(frame)
        return items

    def _hold(
        self, counted: RuleCounter, direction: Direction, frame: bytes, asked: PendingRequest
    ) -> HeldFrame:
        held = HeldFrame(memoryview(frame), asked.correlation_id)

        def drop() -> None:
            self._lost.add(direction)
            held.lost = True

        def refusal_of(code: int) -> Callable[[], None]:
            try:
                if direction == "request":
                    message = decode_request(frame, asked.key, asked.version)
                    changed = _refusal(message, asked, code)
                else:
                    changed = _changed_to_error(frame, asked, code)
            except Exception as error:  # kafka-python has no specific error for a bad frame
                name = f"the {api_name(asked.key)} {direction}"
                raise ValueError(f"{name} cannot be answered with an error: {error}") from error

            def decide() -> None:
                if direction == "request":
                    asked.answer, held.answered = changed, True
                else:
                    held.data = memoryview(changed)

            return decide

        held.drop, held.refusal = drop, refusal_of
        self.keep(counted, held)
        return held

    def _drop(self, direction: Direction) -> DiscardRest:
        self._lost.add(direction)
        return DiscardRest()

    def _read(self, frame: bytes, asked: PendingRequest) -> Any:
        """Record a request's contents; return it decoded if a rule needs that and it is valid."""
        asked.request = request = Request(client_id=None, contents=None)
        message = None
        try:
            asked.request = request = replace(request, client_id=client_id(frame))
            if self.rules.reads_requests(asked.key):
                message = decode_request(frame, asked.key, asked.version)
                contents = self._with_topic_names(contents_of(message), asked)
                asked.request = replace(request, contents=contents)
        except Exception as error:  # kafka-python has no specific error for a bad frame
            self._report_unreadable("request", asked, error)
        return message

    def _match(
        self, direction: Direction, asked: PendingRequest, response: bytes | None = None
    ) -> RuleCounter | None:
        """Report the rules that fire; return the one that does more than report, if any."""
        assert asked.request is not None
        if asked.key not in self.rules.watched:
            return None
        acting = None
        request = asked.request
        refused = None
        if response is not None and self.rules.reads_errors(asked.key):
            refused = _is_refusal(response, asked)
        contents = request.contents
        if response is not None and asked.key == FETCH and self.rules.reads_records and contents:
            found = bool(self._answered(response, asked)["positions"])
            contents = replace(contents, records=found)
        for counted in self.rules.meet(direction, asked.key, request.client_id, contents, refused):
            self.counters.firings += 1
            told = _described(asked)
            if response is not None:
                told |= self._answered(response, asked)
            self.report("fired", rule=counted.id, direction=direction, **told)
            acting = counted if counted.rule.action != "report" else acting
        return acting

    def _error_response(self, message: Any, asked: PendingRequest, code: int) -> bytes | None:
        """Build an error answer in place of the broker's; None if kafka-python cannot encode it."""
        try:
            return _refusal(message, asked, code)
        except Exception as error:
            self._report_unreadable("request", asked, error)
            return None

    def _with_error(self, frame: bytes, asked: PendingRequest, code: int) -> bytes:
        """Set an error in a response; return it unchanged if that is impossible."""
        try:
            return _changed_to_error(frame, asked, code)
        except Exception as error:
            self._report_unreadable("response", asked, error)
            return frame

    def _with_topic_names(self, contents: Contents, asked: PendingRequest) -> Contents:
        names, unknown = self.topics.names(contents.topic_ids)
        if unknown and self.rules.reads_topics:
            self.report("unknown-topics", ids=sorted(map(str, unknown)), **_described(asked))
        name = self.topics.name
        placed = {(name(topic), part, offset) for topic, part, offset in contents.positions}
        batches = tuple((name(topic), *at) for topic, *at in contents.batches)
        return replace(
            contents,
            topics=contents.topics | names,
            positions=frozenset(placed),
            batches=batches,  # type: ignore[arg-type]
        )

    def _answered(self, frame: bytes, asked: PendingRequest) -> dict[str, Any]:
        """Describe a response: its errors, and the offsets that a Fetch has reached with it."""
        if asked.key != FETCH:
            return {"error": _error_names(_errors(frame, asked))}
        try:
            message = decode_response(frame, asked.key, asked.version)
        except Exception as error:
            self._report_unreadable("response", asked, error)
            return {"error": None, "positions": []}
        name = self.topics.name
        return {
            "error": _error_names(errors(message, asked.version)),
            "positions": sorted((str(name(topic)), *at) for topic, *at in read_by(message)),
        }

    def _learn_topics(self, frame: bytes, asked: PendingRequest) -> None:
        try:
            self.topics.learn(decode_response(frame, asked.key, asked.version))
        except Exception as error:
            self._report_unreadable("response", asked, error)

    def _report_unreadable(
        self, direction: Direction, asked: PendingRequest, error: Exception
    ) -> None:
        why = f"{type(error).__name__}: {error}"
        self.report("unreadable", direction=direction, why=why, **_described(asked))


def _refusal(message: Any, asked: PendingRequest, code: int) -> bytes:
    """Return the answer of a broker that refuses a request; raise if it cannot be encoded."""
    return encode(refusal(message, asked.version, asked.correlation_id, code), asked.version)


def _changed_to_error(frame: bytes, asked: PendingRequest, code: int) -> bytes:
    """Return a response with an error in it; raise if it can have none."""
    message = decode_response(frame, asked.key, asked.version)
    if not set_errors(message, asked.version, code):
        raise ValueError("the response has no error code")
    return encode(message, asked.version)


def _errors(frame: bytes, asked: PendingRequest) -> set[int]:
    try:
        return errors(decode_response(frame, asked.key, asked.version), asked.version)
    except Exception:
        return set()


def _is_refusal(frame: bytes, asked: PendingRequest) -> bool | None:
    found = _errors(frame, asked)
    return any(found) if found else None


def _error_names(found: set[int]) -> str | None:
    return ", ".join(error_name(code) for code in sorted(found - {0}) or sorted(found)) or None


def _described(asked: PendingRequest) -> dict[str, Any]:
    request = asked.request
    contents = request.contents if request else None
    return {
        "api": api_name(asked.key),
        "version": asked.version,
        "correlation_id": asked.correlation_id,
        "client_id": request.client_id if request else None,
        "topics": sorted(contents.topics) if contents else [],
        "transactional_ids": sorted(contents.transactional_ids) if contents else [],
        "groups": sorted(contents.groups) if contents else [],
        "commits": contents.commits if contents else None,
        "positions": sorted((str(t), *at) for t, *at in contents.positions) if contents else [],
        "producer": contents.producer if contents else None,
        "batches": [(str(topic), *at) for topic, *at in contents.batches] if contents else [],
        "settings": dict(contents.settings) if contents else {},
    }
