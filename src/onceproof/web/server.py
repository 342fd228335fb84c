"""Serve the page of one lab or run until it is over and its pages have the report."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import uvicorn

from onceproof.errors import TROUBLE
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.history import events
from onceproof.harness.lab.cluster import Cluster
from onceproof.harness.lab.protocol import LabProtocol
from onceproof.harness.lab.status import status
from onceproof.harness.schedule.conductor import Conductor
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.wait import Overdue, wait_until
from onceproof.reports.event_lines.lines import RunLines, stamp
from onceproof.reports.event_lines.model import StreamEnded
from onceproof.web.access import Sessions
from onceproof.web.app import Answer, app
from onceproof.web.feed import Feed

HOST: Final = "127.0.0.1"
_EVERY: Final = 1.0
"""Seconds between two looks at the state, while somebody follows."""
_LAST_SECONDS: Final = 15.0
"""Seconds that pages get to fetch the report when all is over."""

_State = Callable[[], dict[str, Any]]


class Web:
    """The page of one lab or run.

    Attributes:
        handler: a handler of the run's events.
        answer: answers the lab's protocol; None in a run, which is only looked at.
        report: the page of the report, once it is written.
        exit_code: that of the command, told to the pages at the end.
    """

    def __init__(self, port: int = 0) -> None:
        """Listen on a port of loopback, by default any; raise `OSError` if it is taken."""
        self.answer: Answer | None = None
        self.report: Path | None = None
        self.exit_code = TROUBLE
        self._state: _State | None = None
        self._feed = Feed()
        self._lines = RunLines(self._feed)
        self._sessions = Sessions()
        self._over = threading.Event()
        self._socket = socket.create_server((HOST, port))
        self.port = int(self._socket.getsockname()[1])
        self._server = uvicorn.Server(
            uvicorn.Config(
                app(self._feed, self._sessions, self, self.link),
                log_level="critical",
                access_log=False,
                server_header=False,
                lifespan="off",
                timeout_graceful_shutdown=1,
                proxy_headers=False,
            )
        )
        self._threads = [
            threading.Thread(target=self._serve, daemon=True),
            threading.Thread(target=self._look, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def link(self) -> str:
        """Return an address that one browser can open."""
        return f"http://{HOST}:{self.port}/#{self._sessions.link()}"

    def handler(self, event: events.Event) -> None:
        if isinstance(event, events.RunStarted):
            self.hide()
        elif isinstance(event, events.ReportWritten):
            self.report = event.html
        self._lines(event)

    def hide(self) -> None:
        """Show no stage, and take no orders: it has ended, or is another run's."""
        self.answer = self._state = None
        self._feed.forget_state()

    def show_lab(self, protocol: LabProtocol) -> None:
        """Show a lab from now on, and take orders for it."""
        self.answer, protocol.link = protocol.answer, self.link
        self._state = lambda: {
            "status": protocol.answer("GET", "/status", {})[1],
            "cluster": protocol.answer("GET", "/cluster", {})[1],
        }

    def conduct(self, schedule: Sequence[ScheduledFault], context: RunContext) -> Conductor:
        """Make what carries out a run's schedule, and show the run from now on."""
        conductor, cluster = Conductor(schedule, context), Cluster(context)
        self._state = lambda: {
            "status": status(context, conductor.executions),
            "cluster": cluster.now(),
        }
        return conductor

    def close(self) -> None:
        """Tell the pages that all is over, wait until they have fetched the report, and stop."""
        self.hide()
        self._over.set()
        self._feed.write(StreamEnded(at=stamp(), exit_code=self.exit_code))
        with suppress(Overdue):
            wait_until(lambda: not self._feed.readers, what="", seconds=_LAST_SECONDS)
        self._feed.close()
        self._server.should_exit = True
        for thread in self._threads:
            thread.join(_LAST_SECONDS)
        self._socket.close()

    def _serve(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    def _look(self) -> None:
        while not self._over.wait(_EVERY):
            if (state := self._state) is None or not self._feed.readers:
                continue
            # While the stage is torn down, its parts fail with errors of many kinds.
            with suppress(Exception):
                self._feed.show(state())


@contextmanager
def page() -> Iterator[Web]:
    """Serve a page for the block, and print a link to it to standard error."""
    web = Web()
    print(f"Page, for one browser: {web.link()}", file=sys.stderr, flush=True)
    try:
        yield web
    finally:
        web.close()
