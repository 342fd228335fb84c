"""`onceproof run` and `onceproof replay`."""

from __future__ import annotations

import random
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.catalogue import UnknownScenario, chosen
from onceproof.ci import BuildServer
from onceproof.commands.setup import prepared_for
from onceproof.errors import USAGE, exit_on_error
from onceproof.exit_codes import worst
from onceproof.harness.schedule.conductor import Conductor
from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.schedule.supported_faults import with_supported_faults
from onceproof.harness.schedule.versions import check_versions
from onceproof.harness.stage.backends import EXTERNAL, LOCAL, offers
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.known import asked
from onceproof.interrupts import INTERRUPTED, OperationInterrupted, interruption
from onceproof.json_events import Stream, streamed
from onceproof.outcome import Outcome
from onceproof.replaying import NoReplay, replay_of
from onceproof.reports.ci.case import cases_of
from onceproof.reports.console import live, print_result, print_summary, rows_of
from onceproof.running import run_scenario
from onceproof.stopping import stop_on_signals
from onceproof.web.opening import with_page

if TYPE_CHECKING:
    from onceproof.web.server import Web


def run(
    names: Sequence[str],
    *,
    seed: int | None,
    out: Path,
    backend: str = LOCAL,
    transaction_version: int | None = None,
    versions: Sequence[str] = (),
    web: bool = False,
    events: str | None = None,
    junit: Path | None = None,
) -> int:
    """Run scenarios (by default the flagship) one after the other; see `streamed`."""
    if transaction_version is not None and backend.startswith(EXTERNAL):
        print(
            "onceproof: --transaction-version would change your own cluster permanently; set it "
            "there with kafka-features.sh and omit the option.",
            file=sys.stderr,
        )
        return USAGE
    try:
        scenarios = chosen(names)
        with_versions = asked(versions, backend)
        if transaction_version is not None:
            scenarios = [replace(s, transaction_version=transaction_version) for s in scenarios]
        for scenario in scenarios:
            check_versions(with_versions, scenario)
    except (UnknownScenario, SetupError) as error:
        print(f"onceproof: {error}", file=sys.stderr)
        return USAGE
    seed = random.SystemRandom().randrange(1, 1_000_000) if seed is None else seed
    wanted = [(scenario, seed) for scenario in scenarios]

    def do(stream: Stream) -> int:
        return with_page(
            web,
            lambda shown: _run_and_sum_up(
                wanted, out, backend, with_versions, stream, junit, shown
            ),
        )

    return streamed("run", events, do)


def _run_and_sum_up(
    wanted: Sequence[tuple[Scenario, int]],
    out: Path,
    backend: str,
    versions: Mapping[str, str],
    stream: Stream,
    junit: Path | None,
    web: Web | None,
) -> int:
    server = BuildServer(junit)
    outcomes = _run_all(wanted, out, backend, versions, stream, server, web=web)
    server.conclude()
    if len(outcomes) > 1:
        print("All runs")
        print_summary([row for o in outcomes for row in rows_of(o.report)], sys.stdout)
        for outcome in outcomes:
            print(f"report   {outcome.html}")
    return _worst(outcomes, wanted=len(wanted))


def replay(
    folder: Path, *, out: Path, backend: str | None = None, events: str | None = None
) -> int:
    """Repeat the run of a folder, by default on the same backend."""
    with exit_on_error():
        try:
            found = replay_of(folder, backend)
        except NoReplay as error:
            print(f"onceproof: {error}", file=sys.stderr)
            return USAGE
    again = f"onceproof replay {shlex.quote(str(folder))}"
    if backend is not None:
        again += f" --backend {shlex.quote(backend)}"
    wanted = [(found.scenario, found.seed)]

    def do(stream: Stream) -> int:
        server = BuildServer(None)
        outcomes = _run_all(wanted, out, found.backend, found.versions, stream, server, again)
        server.conclude()
        return _worst(outcomes, wanted=1)

    return streamed("replay", events, do)


def _run_all(
    wanted: Sequence[tuple[Scenario, int]],
    out: Path,
    backend: str,
    versions: Mapping[str, str],
    stream: Stream,
    server: BuildServer,
    repeat: str | None = None,
    web: Web | None = None,
) -> list[Outcome]:
    tools_of = prepared_for((scenario for scenario, _ in wanted), backend, versions)
    stop = stop_on_signals()
    outcomes = []
    for whole, seed in wanted:
        scenario, left_out = with_supported_faults(whole.drawn(seed), offers(backend))
        for at in left_out:
            print(f"left out: «{at.name}», which this stage does not support", file=sys.stderr)
        try:
            with live(sys.stderr) as handler:
                outcome = run_scenario(
                    scenario,
                    seed=seed,
                    runs=out,
                    tools=tools_of(whole),
                    handlers=[handler, *stream.handlers, *([web.handler] if web else [])],
                    stop=stop,
                    backend=backend,
                    repeat=repeat,
                    conduct=web.conduct if web else Conductor,
                )
        except OperationInterrupted as reason:
            print(interruption(reason), file=sys.stderr)
            break
        print_result(outcome.report, sys.stdout, outcome.folder)
        print(flush=True)
        outcomes.append(outcome)
        server.add(cases_of(outcome.report, outcome.folder))
        if stop.is_set():
            break
    return outcomes


def _worst(outcomes: Sequence[Outcome], *, wanted: int) -> int:
    broken_off = [INTERRUPTED] if len(outcomes) < wanted else []
    return worst([*broken_off, *(outcome.exit_code for outcome in outcomes)])
