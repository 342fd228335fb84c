"""The HTTP service as we see it, past all proxies: its log, whether it answers, rules of faults."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final

from onceproof.harness.http_service.log import Request, read
from onceproof.harness.http_service.rules import Met, Rule
from onceproof.harness.processes.trouble import StageTrouble

_OK: Final = 200
_SECONDS: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class HttpControl:
    """Our own way into the HTTP service of one run.

    Attributes:
        place: where it takes orders, as host:port.
        file: its log.
    """

    place: str
    file: Path

    def requests(self) -> list[Request]:
        """All that it has carried out, in order, whether it runs or not."""
        return read(self.file)

    def answers(self, seconds: float = _SECONDS) -> bool:
        """Whether it answers in time."""
        try:
            self._ask("GET", "/", seconds=seconds)
        except StageTrouble:
            return False
        return True

    @contextmanager
    def acting(self, rule: Rule) -> Iterator[PlacedRule]:
        """Let a rule act until the block ends, or it is removed.

        Raises:
            StageTrouble: it is gone, or another rule acts.
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
            raise StageTrouble(f"the HTTP service refuses {method} {path}: {content}")
        return content


@dataclass(frozen=True, kw_only=True)
class PlacedRule:
    """A rule at work."""

    ask: Callable[[str], Any]

    def met(self) -> list[Met]:
        """The requests that it has acted on.

        Raises:
            StageTrouble: the service is gone, and the rule with it.
        """
        return self._read("GET")

    def remove(self) -> list[Met]:
        """Let go what it holds; returns all that it has acted on. Again, it does nothing.

        Raises:
            StageTrouble: the service is gone, and the rule with it.
        """
        return self._read("DELETE")

    def _read(self, method: str) -> list[Met]:
        return [Met(**each) for each in self.ask(method)["met"]]
