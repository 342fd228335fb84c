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
_CALLS: Final = "calls the HTTP service"
_SERVICE: Final = "the service reported the request, and whether it carried it out"


def _at_request(*acts: Act, seconds: float = 0.0) -> Callable[[Pipeline, int], Sequence[Strike]]:
    return lambda pipeline, n: [
        Strike(do=StrikeHttp(act=acts[n % len(acts)], seconds=seconds), seconds=seconds)
    ]


_UNLESS: Final = needs(calls_http, "it calls no HTTP service of ours")

HTTP: Final[tuple[Hazard, ...]] = (
    Hazard(
        name="http-request-lost",
        says="it is killed at a request to the HTTP service, which is not carried out",
        of=_CALLS,
        proof=_SERVICE,
        unless=_UNLESS,
        strikes=_at_request("kill-undone"),
    ),
    Hazard(
        name="http-answer-unheard",
        says="it is killed at a request to the HTTP service, which is carried out",
        of=_CALLS,
        proof=_SERVICE,
        unless=_UNLESS,
        strikes=_at_request("kill-landed"),
    ),
    Hazard(
        name="http-connection-lost",
        says="its connection closes in place of an answer of the HTTP service; the request was "
        "carried out, or in other rounds was not",
        of=_CALLS,
        proof=_SERVICE,
        unless=_UNLESS,
        strikes=_at_request("cut-landed", "cut-undone"),
    ),
    Hazard(
        name="http-unavailable",
        says=f"the HTTP service answers 503 to every request for {_UNAVAILABLE_SECONDS:g} s",
        of=_CALLS,
        proof=_SERVICE,
        unless=_UNLESS,
        strikes=_at_request("refuse", seconds=_UNAVAILABLE_SECONDS),
        rare=True,
    ),
    Hazard(
        name="http-slow",
        says=f"the HTTP service carries requests out, and answers up to {LATE_SECONDS:g} s late",
        of=_CALLS,
        proof=_SERVICE,
        unless=_UNLESS,
        strikes=_at_request("slow", seconds=LATE_SECONDS),
        rare=True,
    ),
    Hazard(
        name="http-paused",
        says=f"the HTTP service stands still for {LATE_SECONDS:g} s; what it got meanwhile it "
        "carries out afterwards",
        of=_CALLS,
        proof="all of it stood still, and a new connection got no answer",
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
        says="the HTTP service is killed, and connections are refused until it is back",
        of=_CALLS,
        proof="it did not respond, and meanwhile records were acknowledged",
        unless=_UNLESS,
        strikes=lambda p, n: [
            Strike(do=Kill(HttpService()), until=Acknowledged(records=_AWAY_RECORDS))
        ],
        rare=True,
    ),
)
