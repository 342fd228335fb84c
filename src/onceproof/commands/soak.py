"""`onceproof soak`: repeat scenarios with new seeds, and watch for resource leaks.

The runs share one process on purpose: only so do leaks of memory, threads, files and processes add
up and become visible.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from onceproof.catalogue import UnknownScenario, chosen
from onceproof.commands.setup import prepared_for
from onceproof.errors import TROUBLE, USAGE
from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.schedule.supported_faults import with_supported_faults
from onceproof.harness.schedule.versions import check_versions
from onceproof.harness.stage.backends import LOCAL, offers
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.known import asked
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop
from onceproof.interrupts import OperationInterrupted, interruption
from onceproof.json_events import Stream, streamed
from onceproof.outcome import Outcome
from onceproof.reports.console import live
from onceproof.running import run_scenario
from onceproof.soak.kept import SoakResults
from onceproof.soak.watch import LEAST_FREE, Reading, free_bytes, low_disk, read, trouble
from onceproof.stopping import stop_on_signals


def soak(
    names: Sequence[str],
    *,
    runs: int,
    seed: int,
    out: Path,
    backend: str = LOCAL,
    keep_all: bool = False,
    least_free: int = LEAST_FREE,
    versions: Sequence[str] = (),
    events: str | None = None,
) -> int:
    """Repeat scenarios (by default the flagship) with new seeds; `runs` 0 means forever."""

    def do(stream: Stream) -> int:
        try:
            scenarios = chosen(names)
            with_versions = asked(versions, backend)
            for scenario in scenarios:
                check_versions(with_versions, scenario)
        except (UnknownScenario, SetupError) as error:
            print(f"onceproof: {error}", file=sys.stderr)
            return USAGE
        out.mkdir(parents=True, exist_ok=True)
        if low := low_disk(free_bytes(out), least_free, out):
            print(f"onceproof: {low}.", file=sys.stderr)
            return TROUBLE
        tools_of = prepared_for(scenarios, backend, with_versions)
        stop = stop_on_signals()
        kept = SoakResults(out, keep_all=keep_all)
        readings: list[Reading] = []
        ended = None
        for scenario, number in _wanted(scenarios, runs=runs, seed=seed):
            try:
                tools = tools_of(scenario)
                outcome = _run(scenario, number, out, backend, tools, stop, stream)
            except OperationInterrupted as reason:
                print(interruption(reason), file=sys.stderr)
                stop.set(str(reason))
                break
            readings.append(read(out))
            kept.add(outcome, readings[-1], interrupted=stop.is_set())
            if stop.is_set() or (ended := trouble(readings, least_free=least_free, folder=out)):
                break
        return kept.conclude(ended, interrupted=stop.is_set(), endless=not runs)

    return streamed("soak", events, do)


def _wanted(
    scenarios: Sequence[Scenario], *, runs: int, seed: int
) -> Iterator[tuple[Scenario, int]]:
    seeds = range(seed, seed + runs) if runs else itertools.count(seed)
    return ((scenario, number) for number in seeds for scenario in scenarios)


def _run(
    whole: Scenario,
    seed: int,
    out: Path,
    backend: str,
    tools: Tools,
    stop: Stop,
    stream: Stream,
) -> Outcome:
    scenario, _ = with_supported_faults(whole.drawn(seed), offers(backend))
    with live(sys.stderr) as handler:
        return run_scenario(
            scenario,
            seed=seed,
            runs=out,
            tools=tools,
            handlers=[handler, *stream.handlers],
            stop=stop,
            backend=backend,
        )
