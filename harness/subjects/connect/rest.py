"""What is asked of Connect's workers over HTTP.

Any worker answers for all of them, from what it has read in their topics;
one that is dead or paused does not, so the next one is asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from http.client import HTTPConnection, HTTPException
from typing import Any, Final

_LOOK_SECONDS: Final = 3.0
_CHANGE_SECONDS: Final = 30.0
"""What is asked for again while it is under way is done again: the connector is stopped for it."""
_SUCCEEDED: Final = range(200, 300)


class Rest:
    """Questions to workers; remembers the last answer that was none."""

    def __init__(self, authorization: str) -> None:
        """`authorization` is the header of that name."""
        self._authorization = authorization
        self.last_error = "nobody was asked"

    def status(self, addresses: Iterable[str], connector: str) -> dict[str, Any] | None:
        """State of a connector and of its tasks, as some worker knows it; None: nobody answers."""
        for address in addresses:
            found = self._ask(address, "GET", f"/connectors/{connector}/status")
            if found is not None:
                return dict(found)
        return None

    def create(self, address: str, connector: str, settings: dict[str, Any]) -> bool:
        """Make a connector, or change its settings; whether the worker took it."""
        path = f"/connectors/{connector}/config"
        return self._ask(address, "PUT", path, settings) is not None

    def restart_failed(self, address: str, connector: str) -> bool:
        """Start again what failed of a connector; whether the worker took it."""
        path = f"/connectors/{connector}/restart?includeTasks=true&onlyFailed=true"
        return self._ask(address, "POST", path) is not None

    def _ask(self, address: str, method: str, path: str, body: Any = None) -> Any:
        """What a worker answers, an empty object if that is empty; None: nothing of use."""
        seconds = _LOOK_SECONDS if method == "GET" else _CHANGE_SECONDS
        connection = HTTPConnection(address, timeout=seconds)
        try:
            connection.request(
                method,
                path,
                body=None if body is None else json.dumps(body),
                headers={
                    "Content-Type": "application/json",
                    "Authorization": self._authorization,
                },
            )
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
            if answer.status not in _SUCCEEDED:
                self.last_error = f"{method} {path}: {answer.status} {text[:300]}"
                return None
            return json.loads(text) if text else {}
        except (OSError, HTTPException, ValueError) as error:
            self.last_error = f"{method} {path}: {error!r}"
            return None
        finally:
            connection.close()
