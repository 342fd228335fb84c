"""`onceproof run`, `onceproof soak` and `onceproof replay`."""

from __future__ import annotations

import random
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.feasible import feasible
from harness.scenario import Scenario
from harness.stage.backends import EXTERNAL, LOCAL, offers
from onceproof.catalogue import UnknownScenario, chosen
from onceproof.commands.setup import prepared
from onceproof.errors import USAGE, told
from onceproof.interrupts import INTERRUPTED
from onceproof.outcome import Outcome
from onceproof.replaying import NoReplay, replay_of
from onceproof.running import run_scenario
from onceproof.stopping import stop_on_signals
from reports.console import SoakRow, live, print_result, print_summary
from scenarios import flagship

_SEVERITY = (INTERRUPTED, 1, 3, 4, 5, 0)
"""Exit codes of single runs: the first of these that occurs is that of them all."""


def run(
    names: Sequence[str],
    *,
    seed: int | None,
    out: Path,
    backend: str = LOCAL,
    transaction_version: int | None = None,
) -> int:
    """Run scenarios one after the other, the flagship if none is named."""
    if transaction_version is not None and backend.startswith(EXTERNAL):
        print(
            "onceproof: --transaction-version would change a cluster of your own for good; set it "
            "there with kafka-features.sh and leave the option out.",
            file=sys.stderr,
        )
        return USAGE
    with told():
        try:
            scenarios = chosen(names)
        except UnknownScenario as error:
            print(f"onceproof: {error}", file=sys.stderr)
            return USAGE
        seed = random.SystemRandom().randrange(1, 1_000_000) if seed is None else seed
        if transaction_version is not None:
            scenarios = [
                replace(scenario, transaction_version=transaction_version) for scenario in scenarios
            ]
        outcomes = _run_all([(scenario, seed) for scenario in scenarios], out, backend)
        if len(outcomes) > 1:
            print("All runs")
            print_summary([row for o in outcomes for row in _rows(o)], sys.stdout)
            for outcome in outcomes:
                print(f"report   {outcome.html}")
        return _worst(outcomes, wanted=len(scenarios))


def soak(*, runs: int, seed: int, out: Path, backend: str = LOCAL) -> int:
    """Repeat the flagship with new seeds."""
    with told():
        wanted = [(s, n) for n in range(seed, seed + runs) for s in flagship()]
        outcomes = _run_all(wanted, out, backend)
        print_summary([row for o in outcomes for row in _rows(o)], sys.stdout)
        return _worst(outcomes, wanted=len(wanted))


def replay(folder: Path, *, out: Path, backend: str | None = None) -> int:
    """Run again what a run folder says; its own backend, if none is given."""
    with told():
        try:
            found = replay_of(folder, backend)
        except NoReplay as error:
            print(f"onceproof: {error}", file=sys.stderr)
            return USAGE
        again = f"onceproof replay {shlex.quote(str(folder))}"
        if backend is not None:
            again += f" --backend {shlex.quote(backend)}"
        outcomes = _run_all([(found.scenario, found.seed)], out, found.backend, again)
        return _worst(outcomes, wanted=1)


def _run_all(
    wanted: Sequence[tuple[Scenario, int]], out: Path, backend: str, repeat: str | None = None
) -> list[Outcome]:
    found = prepared(backend)
    stop = stop_on_signals()
    outcomes = []
    for whole, seed in wanted:
        scenario, left_out = feasible(whole.drawn(seed), offers(backend))
        for at in left_out:
            print(f"left out: «{at.name}», because this stage is not ours", file=sys.stderr)
        with live(sys.stderr) as handler:
            outcome = run_scenario(
                scenario,
                seed=seed,
                runs=out,
                tools=found,
                handlers=[handler],
                stop=stop,
                backend=backend,
                repeat=repeat,
            )
        print_result(outcome.report, sys.stdout, outcome.folder)
        print(flush=True)
        outcomes.append(outcome)
        if stop.is_set():
            break
    return outcomes


def _rows(outcome: Outcome) -> list[SoakRow]:
    run = outcome.report.run
    return [
        SoakRow(
            seed=run.seed,
            subject=run.subject,
            claim=claim.name,
            verdict=claim.verdict,
            expected=claim.expected,
        )
        for claim in outcome.report.claims
    ]


def _worst(outcomes: Sequence[Outcome], *, wanted: int) -> int:
    codes = {o.exit_code for o in outcomes}
    if len(outcomes) < wanted:
        codes.add(INTERRUPTED)
    return next(code for code in _SEVERITY if code in codes)
