"""`onceproof lab`: a stage that stays up, and is judged when it ends."""

from __future__ import annotations

import random
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.lab.lab import Lab
from harness.scenario import Scenario
from harness.stage.backends import LOCAL
from harness.wait import Stop
from onceproof.catalogue import UnknownScenario, chosen
from onceproof.commands.setup import prepared
from onceproof.errors import USAGE, told
from onceproof.outcome import check_run
from onceproof.stopping import stop_on_signals
from reports.console import live, print_result


def lab(
    scenario: str | None,
    *,
    name: str,
    records: int,
    rate: int,
    seed: int | None,
    out: Path,
    backend: str = LOCAL,
) -> int:
    """Bring a lab up, keep it until it is told to end, judge it."""
    with told():
        try:
            of = chosen([scenario] if scenario else [])[0]
        except UnknownScenario as error:
            print(f"onceproof: {error}", file=sys.stderr)
            return USAGE
        seed = random.SystemRandom().randrange(1, 1_000_000) if seed is None else seed
        return _open(_longer(of, records=records, rate=rate), name, seed, out, backend)


def _open(scenario: Scenario, name: str, seed: int, out: Path, backend: str) -> int:
    found = prepared(backend)
    stop: Stop = stop_on_signals()
    with live(sys.stderr) as handler:
        opened = Lab(
            scenario,
            name=name,
            seed=seed,
            runs=out,
            tools=found,
            handlers=[handler],
            stop=stop,
            repeat=f"onceproof lab {shlex.quote(scenario.name)} --seed {seed}"
            + (f" --backend {shlex.quote(backend)}" if backend != LOCAL else ""),
            backend=backend,
            opened=_tell,
        )
        opened.execute()
    outcome = check_run(opened.run.folder.path, interrupted=stop.is_set())
    print_result(outcome.report, sys.stdout, outcome.folder)
    return outcome.exit_code


def _longer(scenario: Scenario, *, records: int, rate: int) -> Scenario:
    """The same payments, only more of them."""
    return replace(scenario, workload=replace(scenario.workload, records=records, rate=rate))


def _tell(about: dict[str, Any]) -> None:
    """Say how it is reached and driven; on standard output, so that it can be piped."""
    lines = [f"The lab {about['lab']} is up. Topic {about['topic']}; bootstrap addresses:"]
    lines += [f"  {who:<14} {address}" for who, address in about["bootstrap"].items()]
    lines += [f"  {f'database, {who}':<19} {way}" for who, way in about["database"].items()]
    lines += [
        "From another terminal:",
        f"  onceproof fault isolate leader:{about['topic']}-0",
        "  onceproof status --watch",
        "  onceproof heal",
        "  onceproof end          # heal, settle, collect, judge, tear down",
        f"From a program: HTTP over {about['socket']}, see docs/reference/lab.md",
        "Ctrl-C here ends it without a verdict.",
    ]
    print("\n".join(lines), flush=True)
