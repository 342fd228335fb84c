"""Hazards of calls to the run's HTTP service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from onceproof.harness.faults.http.strike_http import Act, StrikeHttp
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets.service import HttpService
from onceproof.harness.faults.until import Acknowledged, Lasted
from onceproof.verify.hazards.asking import LATE_SECONDS, calls_http, needs
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike

_UNAVAILABLE_SECONDS: Final = 6.0
"""Longer than a few retries usually take."""
_AWAY_RECORDS: Final = 200
"""Records that arrive while the service is down, so that the pipeline must call it."""
_CALLS: Final = "pipelines that call the HTTP service"
_SERVICE: Final = "the service reported the request and whether it executed it"


def _at_request(*acts: Act, seconds: float = 0.0) -> Callable[[Pipeline, int], Sequence[Strike]]:
    return lambda pipeline, n: [
        Strike(do=StrikeHttp(act=acts[n % len(acts)], seconds=seconds), seconds=seconds)
    ]


_UNLESS: Final = needs(calls_http, "it does not call the run's HTTP service")

HTTP: Final[tuple[Hazard, ...]] = (
    Hazard(
        name="http-request-lost",
        says="it is killed during a request to the HTTP service; the request is not executed",
        of=_CALLS,
        proof=_SERVICE,
        unless=_UNLESS,
        strikes=_at_request("kill-undone"),
    ),
    Hazard(
        name="http-answer-unheard",
        says="it is killed during a request to the HTTP service; the request is executed",
        of=_CALLS,
        proof=_SERVICE,
        unless=_UNLESS,
        strikes=_at_request("kill-landed"),
    ),
    Hazard(
        name="http-connection-lost",
        says="its connection closes before the response of the HTTP service; the request is "
        "executed in some rounds and not in others",
        of=_CALLS,
        proof=_SERVICE,
        unless=_UNLESS,
        strikes=_at_request("cut-landed", "cut-undone"),
    ),
    Hazard(
        name="http-unavailable",
        says=f"the HTTP service responds to every request with 503 for {_UNAVAILABLE_SECONDS:g} s",
        of=_CALLS,
        proof=_SERVICE,
        unless=_UNLESS,
        strikes=_at_request("refuse", seconds=_UNAVAILABLE_SECONDS),
        rare=True,
    ),
    Hazard(
        name="http-slow",
        says=f"the HTTP service executes requests, but responds up to {LATE_SECONDS:g} s late",
        of=_CALLS,
        proof=_SERVICE,
        unless=_UNLESS,
        strikes=_at_request("slow", seconds=LATE_SECONDS),
        rare=True,
    ),
    Hazard(
        name="http-paused",
        says=f"the HTTP service is paused for {LATE_SECONDS:g} s and then executes the requests "
        "that it received meanwhile",
        of=_CALLS,
        proof="the whole service was paused, and a new connection got no response",
        unless=_UNLESS,
        strikes=lambda p, n: [
            Strike(
                do=Pause(HttpService()), until=Lasted(seconds=LATE_SECONDS), seconds=LATE_SECONDS
            )
        ],
        rare=True,
    ),
    Hazard(
        name="http-killed",
        says="the HTTP service is killed, and connections are refused until it is restarted",
        of=_CALLS,
        proof="the service did not respond, and records were acknowledged meanwhile",
        unless=_UNLESS,
        strikes=lambda p, n: [
            Strike(do=Kill(HttpService()), until=Acknowledged(records=_AWAY_RECORDS))
        ],
        rare=True,
    ),
)
