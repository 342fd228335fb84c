"""Kill the pipeline when it has read everything, and start it with nothing new to read."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.program.programs import program, started_anew, wait_works
from onceproof.harness.user_pipeline.program import PROGRAM
from onceproof.harness.wait import wait_until

_REST_SECONDS = 150.0
_FETCH_SECONDS = 60.0
_FETCHES = 3
"""Number of fetches that show that it reads and finds nothing."""


@dataclass(frozen=True, kw_only=True)
class RestartIdle:
    """Send nothing until the pipeline is idle, kill it, start it, and see it fetch."""

    kind: ClassVar[str] = "crash"
    needs = PROGRAM
    fetch: str = "Fetch"
    """The API by which it fetches."""

    def describe(self) -> str:
        return "SIGKILL the pipeline when it has read all of its input, and restart it"

    def inject(self, context: RunContext, name: str) -> _Restarted:
        return _Restarted(context, self, name)


class _Restarted:
    def __init__(self, context: RunContext, fault: RestartIdle, name: str) -> None:
        self._context = context
        pipeline = program(context)
        self._proof: str | None = None
        with ExitStack() as held:
            held.callback(context.producers.pace.hold, False)
            context.producers.pace.hold(True)
            wait_until(
                pipeline.has_read_all,
                what="the pipeline to read all of its input",
                seconds=max(_REST_SECONDS, 3 * pipeline.rest),
                every=0.25,
                stop=context.stop,
                seen=lambda: pipeline.shortly() or "nothing committed",
                reached=pipeline.reached,
            )
            self.target, self.at = pipeline.supervisor.running().instance, now()
            fetch = Message(source="pipeline", direction="request", api=fault.fetch)
            with started_anew(context, name, fetch.rule("report", times=_FETCHES)) as (ended, seen):
                fetches = wait_until(
                    lambda: (sent := seen.fired()) and len(sent) >= _FETCHES and len(sent),
                    what="the restarted pipeline to fetch records",
                    seconds=_FETCH_SECONDS,
                    stop=context.stop,
                )
            self._proof = (
                f"{ended} while the pipeline was idle; it was restarted, and fetched {fetches} "
                "times while there were no new records"
            )

    def evidence(self) -> str | None:
        return self._proof

    def heal(self) -> None:
        wait_works(self._context)
