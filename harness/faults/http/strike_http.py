"""Act on the pipeline's requests inside the HTTP service.

Requests that the service recognizes as repeated are ignored, because they would test nothing.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.probed_link import wait_mended
from onceproof.harness.faults.program.programs import (
    at_work,
    end,
    offsets_committed,
    running,
    start_again,
)
from onceproof.harness.faults.words import Word
from onceproof.harness.http_service.rules import Rule
from onceproof.harness.links.topology import HTTP_SERVICE, Link
from onceproof.harness.processes.processes import Process
from onceproof.harness.wait import wait_until

Act = Literal[
    "kill-undone", "kill-landed", "kill-refused", "cut-undone", "cut-landed", "refuse", "slow"
]
_WORDS: Final[dict[Act, str]] = {
    "kill-undone": "SIGKILL the pipeline; the request is not carried out",
    "kill-landed": "SIGKILL the pipeline; the request is carried out, but not answered",
    "kill-refused": "answer 503, then SIGKILL the pipeline",
    "cut-undone": "close the connection; the request is not carried out",
    "cut-landed": "close the connection; the request is carried out, but not answered",
    "refuse": "answer 503",
    "slow": "carry out the request, and delay the answer",
}
_RULES: Final[dict[Act, Rule]] = {
    "kill-undone": Rule(carry_out=False, answer="none", hold=True),
    "kill-landed": Rule(carry_out=True, answer="none", hold=True),
    "kill-refused": Rule(carry_out=False, answer="unavailable"),
    "cut-undone": Rule(carry_out=False, answer="none", times=1),
    "cut-landed": Rule(carry_out=True, answer="none", times=1),
    "refuse": Rule(carry_out=False, answer="unavailable"),
    "slow": Rule(carry_out=True, hold=True),
}
_LASTING: Final[tuple[Act, ...]] = ("refuse", "slow")
_MEET_SECONDS: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class StrikeHttp:
    """Act on the next requests of your pipeline to the HTTP service.

    Attributes:
        seconds: how long requests are refused or answered late. Before a kill: maximum time to hold
            or refuse them, until the pipeline commits offsets to Kafka.
    """

    example: ClassVar[str] = "strike-http kill-landed"
    kind: ClassVar[str] = "crash"
    needs = "http"
    act: Annotated[Act, Word()]
    seconds: float = 0.0

    def describe(self) -> str:
        when = ""
        if self.seconds:
            when = f", once it commits offsets or after {self.seconds:g} s"
            when = f" for {self.seconds:g} s" if self.act in _LASTING else when
        return f"at the pipeline's request to the HTTP service: {_WORDS[self.act]}{when}"

    def inject(self, context: RunContext, name: str) -> _Struck:
        return _Struck(context, name, self)


class _Struck:
    def __init__(self, context: RunContext, name: str, fault: StrikeHttp) -> None:
        self._context, self._fault = context, fault
        self.target = HTTP_SERVICE
        self._ended: str | None = None
        self._committed = 0
        at_work(context)
        with context.stage.http_service().acting(_RULES[fault.act]) as rule:
            wait_until(
                rule.met,
                what="a request of the pipeline to the HTTP service",
                seconds=_MEET_SECONDS,
                every=0.005,
                stop=context.stop,
            )
            if fault.act in _LASTING:
                context.stop.pause(fault.seconds)
            process = self._wait_running() if fault.act.startswith("kill") else None
            if process is not None and fault.seconds:
                self._committed = offsets_committed(
                    context,
                    fault.seconds,
                    unless=lambda: fault.act == "kill-refused" and not process.leader_alive(),
                )
            self.at = now()
            if process is not None:
                self._ended = self._kill(process, f"SIGKILL by fault «{name}»")
            self._requests = rule.remove()

    def evidence(self) -> str | None:
        """Return which requests were met, and whether the service carried them out."""
        first, *others = map(str, self._requests)
        more = f", and {len(others)} more" if others else ""
        text = f"{self._action()} {first}{more}"
        if self._fault.seconds and self._ended is not None:
            text += f"; meanwhile it had committed offsets {self._committed} times"
        return text

    def heal(self) -> None:
        """Restart the pipeline if it was killed, and wait until the service answers it."""
        wait_mended(self._context, [Link("pipeline", HTTP_SERVICE)])
        if self._ended is not None:
            start_again(self._context)

    def _action(self) -> str:
        if self._ended is not None:
            return f"{self._ended}, at"
        match self._fault.act:
            case "refuse":
                return f"for {self._fault.seconds:g} s the HTTP service answered 503 to"
            case "slow":
                return f"the HTTP service answered up to {self._fault.seconds:g} s late to"
        return "a connection was closed instead of answering"

    def _kill(self, process: Process, how: str) -> str:
        if process.leader_alive():
            return end(process, how)
        if self._fault.act == "kill-refused":
            return f"{process.instance} ended by itself"
        return end(self._wait_running(), how)

    def _wait_running(self) -> Process:
        """Wait for a running pipeline process: one that gave up a held request is restarted."""

        def look() -> Process | None:
            with suppress(PipelineTrouble):
                return running(self._context)
            return None

        return wait_until(
            look, what="the pipeline to run", seconds=_MEET_SECONDS, stop=self._context.stop
        )
