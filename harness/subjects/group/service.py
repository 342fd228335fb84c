"""An external service: it acts once for every call, and takes no part in transactions.

`python -m onceproof.harness.subjects.group.service ADDRESS HISTORY SINK` records each call as an
effect before it answers, so the history is independent of what the caller knows.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from onceproof.harness.clock import clock_id, now
from onceproof.harness.history.identity import digest
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.subjects.group.effect import effect_of
from onceproof.harness.workload.payments import EFFECT_COLUMNS

VIEW: Final = "service"
"""The observer of its effects: the service itself."""


class Service(ThreadingHTTPServer):
    """Counts and records calls."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], history: HistoryWriter, sink: str) -> None:
        super().__init__(address, _Call)
        self._history = history
        self._sink = sink
        self._count = 0
        self._one_at_a_time = threading.Lock()

    def carry_out(self, payment: bytes) -> None:
        """Record the call as an effect.

        Raises:
            HistoryNotWritten: it cannot be written.
        """
        effect = json.loads(effect_of(payment))
        with self._one_at_a_time:
            self._history.write(
                "effects",
                sink=self._sink,
                view=VIEW,
                record=effect["record"],
                effect_key="",
                digest=digest(*(effect[column] for column in EFFECT_COLUMNS)),
                position=f"call {self._count}",
                ordinal=self._count,
                at=now(),
                clock=clock_id(),
            )
            self._count += 1


class _Call(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        self.server.carry_out(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: calls are in the history."""


def main() -> None:
    address, history, sink = sys.argv[1:]
    host, _, port = address.rpartition(":")
    writer = HistoryWriter(Path(history), "service")
    Service((host, int(port)), writer, sink).serve_forever()


if __name__ == "__main__":
    main()
