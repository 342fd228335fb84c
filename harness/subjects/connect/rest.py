"""A client for the REST API of Connect's workers; if one does not answer, the next one is asked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from http.client import HTTPConnection, HTTPException
from typing import Any, Final

_LOOK_SECONDS: Final = 3.0
_CHANGE_SECONDS: Final = 30.0
"""Long: repeating a request that is still being processed stops the connector again."""
_SUCCEEDED: Final = range(200, 300)


class RestClient:
    """Sends requests to workers, and remembers the last error."""

    def __init__(self, authorization: str) -> None:
        self._authorization = authorization
        self.last_error = "no worker was asked"

    def status(self, addresses: Iterable[str], connector: str) -> dict[str, Any] | None:
        """Return the first worker's answer on a connector and its tasks; None if none answers."""
        for address in addresses:
            found = self._ask(address, "GET", f"/connectors/{connector}/status")
            if found is not None:
                return dict(found)
        return None

    def create(self, address: str, connector: str, settings: dict[str, Any]) -> bool:
        """Create or reconfigure a connector; return whether the worker accepted it."""
        path = f"/connectors/{connector}/config"
        return self._ask(address, "PUT", path, settings) is not None

    def restart_failed(self, address: str, connector: str) -> bool:
        """Restart failed tasks of a connector; return whether the worker accepted it."""
        path = f"/connectors/{connector}/restart?includeTasks=true&onlyFailed=true"
        return self._ask(address, "POST", path) is not None

    def _ask(self, address: str, method: str, path: str, body: Any = None) -> Any:
        """Return a worker's answer ({} if it is empty), or None on any error."""
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
