"""Send requests to the coordinator of a consumer group or a transactional id.

Coordinators move. A broker that is loading the state, is no longer the coordinator, or is busy with
the previous transaction answers with an error. The request is then retried at the coordinator that
the cluster names next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from onceproof.harness.kafka.errors import error_name
from onceproof.harness.kafka.metadata import ClusterView, Coordinated
from onceproof.harness.kafka.wire import Wire
from onceproof.harness.wait import Stop, wait_until

_SECONDS: Final = 30.0
_RETRIABLE: Final = frozenset({14, 15, 16, 51})
"""Errors to retry: loading, not available, not the coordinator, concurrent transactions."""


class Refused(RuntimeError):
    """A broker refused a request; the message names the request and the error."""


class Coordinator:
    """The coordinator of one group or transactional id."""

    def __init__(
        self,
        view: ClusterView,
        addresses: Mapping[int, str],
        *,
        of: Coordinated,
        name: str,
        stop: Stop,
    ) -> None:
        """Create one; `addresses` maps node ids to `host:port` of the auditor's listener."""
        self.name = name
        self._view = view
        self._addresses = addresses
        self._kind = of
        self._stop = stop

    def ask(
        self, request: Any, *, version: int, answer: Any, code: Callable[[Any], int]
    ) -> tuple[Any, int]:
        """Return the answer to a request, and its error code as extracted by `code` (0: none).

        Raises:
            Overdue: there is no coordinator in time, or it is not ready.
        """
        last: list[str] = ["no request was sent"]

        def answered() -> tuple[Any, int] | None:
            node = self._view.coordinator(self._kind, self.name)
            if node is None or node not in self._addresses:
                last[0] = "no broker is the coordinator"
                return None
            wire = Wire(self._addresses[node])
            try:
                found = wire.ask(request, version=version, answer=answer)
            except OSError as error:
                last[0] = f"broker {node}: {error}"
                return None
            finally:
                wire.close()
            error_code = code(found)
            last[0] = f"broker {node}: {error_name(error_code)}"
            return None if error_code in _RETRIABLE else (found, error_code)

        return wait_until(
            answered,
            what=f"the coordinator of {self._kind} {self.name} to answer",
            seconds=_SECONDS,
            every=0.1,
            stop=self._stop,
            seen=lambda: last[0],
        )
