"""Control the HTTP service, bypassing the proxies: its log, health and fault rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final

from onceproof.harness.http_service.log import Request, read
from onceproof.harness.http_service.rules import AffectedRequest, Rule
from onceproof.harness.processes.trouble import StageTrouble

_OK: Final = 200
_SECONDS: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class HttpControl:
    """Client of the control address of one run's HTTP service.

    Attributes:
        place: control address, as host:port.
    """

    place: str
    file: Path

    def requests(self) -> list[Request]:
        """Return all executed requests in order; the service need not run."""
        return read(self.file)

    def answers(self, seconds: float = _SECONDS) -> bool:
        try:
            self._ask("GET", "/", seconds=seconds)
        except StageTrouble:
            return False
        return True

    @contextmanager
    def acting(self, rule: Rule) -> Iterator[PlacedRule]:
        """Apply a rule until the block ends or the rule is removed.

        Raises:
            StageTrouble: the service is gone, or another rule is active.
        """
        self._ask("PUT", "/rule", json.dumps(rule.as_json()))
        placed = PlacedRule(ask=lambda method: self._ask(method, "/rule"))
        try:
            yield placed
        finally:
            with suppress(StageTrouble):  # it is gone, and its rule with it
                placed.remove()

    def _ask(self, method: str, path: str, body: str = "", seconds: float = _SECONDS) -> Any:
        connection = HTTPConnection(self.place, timeout=seconds)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            content = json.loads(answer.read())
        except (OSError, HTTPException, ValueError) as error:
            raise StageTrouble(f"the HTTP service does not answer: {error}") from error
        finally:
            connection.close()
        if answer.status != _OK:
            raise StageTrouble(f"the HTTP service rejected {method} {path}: {content}")
        return content


@dataclass(frozen=True, kw_only=True)
class PlacedRule:
    """An active rule."""

    ask: Callable[[str], Any]

    def met(self) -> list[AffectedRequest]:
        """Return the requests that it has affected.

        Raises:
            StageTrouble: the service is gone, and the rule with it.
        """
        return self._read("GET")

    def remove(self) -> list[AffectedRequest]:
        """Remove it, release held requests, and return all that it has affected.

        A second call has no effect. Raises like `met`.
        """
        return self._read("DELETE")

    def _read(self, method: str) -> list[AffectedRequest]:
        return [AffectedRequest(**each) for each in self.ask(method)["met"]]
