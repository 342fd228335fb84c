"""Questions to whoever coordinates a consumer group or a transactional id.

A coordinator moves, and one that has just got the part, or lost it, says so:
it loads, it is the wrong one, it is busy with what was asked before. Such answers are no answers;
the question is put again, to whoever has the part by then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from onceproof.harness.kafka.errors import error_name
from onceproof.harness.kafka.metadata import ClusterView, Coordinated
from onceproof.harness.kafka.wire import Wire
from onceproof.harness.wait import Stop, wait_until

_SECONDS: Final = 30.0
_LATER: Final = frozenset({14, 15, 16, 51})
"""Loading, not available, not the coordinator, busy with the transaction that was before."""


class Refused(RuntimeError):
    """A broker refused; the text says what it was asked, and how it answered."""


class Coordinator:
    """The coordinator of one group or transactional id, whichever broker that is."""

    def __init__(
        self,
        view: ClusterView,
        addresses: Mapping[int, str],
        *,
        of: Coordinated,
        name: str,
        stop: Stop,
    ) -> None:
        """`addresses` maps node ids to `host:port` of the auditor's listener."""
        self.name = name
        self._view = view
        self._addresses = addresses
        self._of = of
        self._stop = stop

    def ask(
        self, request: Any, *, version: int, answer: Any, code: Callable[[Any], int]
    ) -> tuple[Any, int]:
        """The answer to a request, and the error in it, which `code` finds; 0 if there is none.

        Raises:
            Overdue: nobody has the part in time, or is ready to answer.
        """
        last: list[str] = ["nobody was asked"]

        def answered() -> tuple[Any, int] | None:
            node = self._view.coordinator(self._of, self.name)
            if node is None or node not in self._addresses:
                last[0] = "it has no coordinator"
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
            return None if error_code in _LATER else (found, error_code)

        return wait_until(
            answered,
            what=f"the coordinator of {self._of} {self.name} to answer",
            seconds=_SECONDS,
            every=0.1,
            stop=self._stop,
            seen=lambda: last[0],
        )
