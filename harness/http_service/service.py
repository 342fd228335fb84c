"""Execute requests, recognize repeated ones, and apply fault rules.

Requests are executed one at a time. If a header for idempotency keys is configured, a repeated key
gets the first response again, as in the IETF draft on `Idempotency-Key` and in payment services. A
known key with a different request is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from onceproof.harness.clock import now
from onceproof.harness.http_service.log import Log, Request
from onceproof.harness.http_service.rules import AffectedRequest, Rule
from onceproof.harness.http_service.settings import HttpSettings, below

OK, NOT_FOUND, NOT_ALLOWED, OTHER_REQUEST, UNAVAILABLE = 200, 404, 405, 422, 503
METHODS: Final = ("POST", "PUT", "PATCH", "DELETE")
"""Methods that change something; others are not allowed."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A response with JSON content."""

    status: int
    content: Mapping[str, object]


@dataclass(kw_only=True)
class ActiveRule:
    """An active rule.

    Attributes:
        removed: set when it is removed, which releases held requests.
    """

    rule: Rule
    claimed: int = 0
    met: list[AffectedRequest] = field(default_factory=list)
    removed: threading.Event = field(default_factory=threading.Event)


class RuleAlreadyActive(RuntimeError):
    """Another rule is already active."""


class Service:
    """The service of one run, in one of its lives. Thread-safe."""

    def __init__(self, settings: HttpSettings, file: Path) -> None:
        """`file`: the request log, from which it learns what earlier lives have executed."""
        self._settings = settings
        self._log = Log(file)
        self._count = len(self._log.requests)
        self._by_key = {
            key: request
            for request in self._log.requests
            if settings.key is not None and (key := request.header(settings.key)) is not None
        }
        self._placed: ActiveRule | None = None
        self._lock = threading.Lock()

    def put(self, rule: Rule) -> None:
        """Activate a rule.

        Raises:
            RuleAlreadyActive: another rule is active.
        """
        with self._lock:
            if self._placed is not None:
                raise RuleAlreadyActive("another fault already acts on the requests")
            self._placed = ActiveRule(rule=rule)

    def met(self) -> list[AffectedRequest]:
        with self._lock:
            return list(self._placed.met) if self._placed is not None else []

    def remove(self) -> list[AffectedRequest]:
        """Remove the rule, release held requests, and return all that it has affected."""
        with self._lock:
            placed, self._placed = self._placed, None
            if placed is None:
                return []
            placed.removed.set()
            return list(placed.met)

    def take(
        self, method: str, path: str, headers: tuple[tuple[str, str], ...], body: str
    ) -> Answer | None:
        """Process a request; None: close the connection without a response."""
        if method not in METHODS:
            return Answer(status=NOT_ALLOWED, content={"expected": METHODS})
        if all(below(path, parent) is None for parent in self._settings.paths):
            return Answer(status=NOT_FOUND, content={"paths": self._settings.paths})
        request = Request(number=0, method=method, path=path, headers=headers, body=body, at=now())
        placed = self._claim(request)
        if placed is None:
            return self._carry_out(request)[0]
        answer, number = self._carry_out(request) if placed.rule.carry_out else (None, None)
        with self._lock:
            placed.met.append(AffectedRequest(method=method, path=path, number=number))
        if placed.rule.hold:
            placed.removed.wait()
        if placed.rule.answer == "unavailable":
            return Answer(status=UNAVAILABLE, content={"error": "try again later"})
        return answer if placed.rule.answer == "usual" else None

    def _claim(self, request: Request) -> ActiveRule | None:
        with self._lock:
            placed = self._placed
            if placed is None or self._earlier(request) is not None:
                return None
            if placed.rule.times is not None and placed.claimed >= placed.rule.times:
                return None
            placed.claimed += 1
            return placed

    def _carry_out(self, request: Request) -> tuple[Answer, int | None]:
        """Execute it unless done before; return the response, and its number unless refused."""
        with self._lock:
            earlier = self._earlier(request)
            if earlier is not None and not _same(earlier, request):
                error = f"{self._settings.key} was already used for a different request"
                return Answer(status=OTHER_REQUEST, content={"error": error}), None
            if earlier is not None:
                return _done(earlier.number), earlier.number
            number = self._count + 1
            carried_out = replace(request, number=number, at=now())
            self._log.append(carried_out)
            self._count = number
            if (key := self._key(request)) is not None:
                self._by_key[key] = carried_out
            return _done(number), number

    def _earlier(self, request: Request) -> Request | None:
        key = self._key(request)
        return None if key is None else self._by_key.get(key)

    def _key(self, request: Request) -> str | None:
        return None if self._settings.key is None else request.header(self._settings.key)


def _done(number: int) -> Answer:
    return Answer(status=OK, content={"number": number})


def _same(one: Request, other: Request) -> bool:
    return (one.method, one.path, one.body) == (other.method, other.path, other.body)
