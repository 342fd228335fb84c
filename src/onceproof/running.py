"""Run a scenario from start to outcome."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path

from onceproof.harness.clock import now
from onceproof.harness.history import events
from onceproof.harness.run.phases import Conduct, Run
from onceproof.harness.schedule.conductor import Conductor
from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.stage.backends import LOCAL, is_local
from onceproof.harness.tools.runtimes.known import words as options_of
from onceproof.harness.tools.runtimes.rules import refuse, with_needed
from onceproof.harness.tools.setup import Tools, ensure
from onceproof.harness.wait import Stop
from onceproof.interrupts import breaking_off, judging
from onceproof.outcome import Outcome, check_run
from onceproof.reports.sections import sections


def run_scenario(
    scenario: Scenario,
    *,
    seed: int,
    runs: Path = Path("runs"),
    tools: Tools | None = None,
    handlers: Sequence[events.Handler] = (),
    stop: Stop | None = None,
    backend: str = LOCAL,
    repeat: str | None = None,
    conduct: Conduct = Conductor,
) -> Outcome:
    """Run a scenario, judge it, and write its report.

    Args:
        seed: seed of the workload, and of the schedule if it is drawn.
        runs: parent of the run folder.
        tools: from `onceproof.harness.tools.setup.ensure`; None: find or download them.
        handlers: get every event.
        stop: ends the run early when set.
        backend: `local` (processes), `docker` (containers) or `external:FILE`.
        repeat: the command that repeats the run, for the report; None: derived.
        conduct: creates the object that carries out the schedule.

    Raises:
        BadExtension: an installed package's report section cannot be loaded.
        SetupError: a tool is missing and cannot be installed, or a chosen version cannot do what
            the scenario needs.
        HistoryNotWritten: the history could not be written; `check_run` judges what was written.
        OperationInterrupted: a signal interrupted the judging; the recorded history remains.
    """
    sections()  # fail before the run, not when the report is written
    stop, scenario = stop or Stop(), scenario.drawn(seed)
    if repeat is None:
        repeat = f"onceproof run {shlex.quote(scenario.source or scenario.name)} --seed {seed}"
        if backend != LOCAL:
            repeat += f" --backend {shlex.quote(backend)}"
        if scenario.transaction_version is not None:
            repeat += f" --transaction-version {scenario.transaction_version}"
        if tools is not None and tools.chosen.versions != scenario.subject.needs_versions:
            repeat += f" {shlex.join(options_of(tools.chosen.versions))}"
    subject = scenario.subject
    versions = with_needed(
        tools.chosen.versions if tools else {}, subject.needs_versions, what=subject.name
    )
    if tools is None or tools.chosen.versions != versions:
        tools = ensure(stage=is_local(backend), versions=versions)
    refuse(
        tools.chosen.versions,
        transaction_version=scenario.transaction_version,
        reads=not scenario.subject.sends,
    )
    run = Run(
        scenario,
        seed=seed,
        runs=runs,
        tools=tools,
        handlers=handlers,
        stop=stop,
        repeat=repeat,
        backend=backend,
        conduct=conduct,
    )
    started = time.monotonic()
    with breaking_off(judging(run.folder.path)):
        run.execute()
        outcome = check_run(run.folder.path, handlers=handlers, interrupted=stop.is_set())
    for handler in handlers:
        handler(
            events.RunEnded(
                at=now(),
                folder=run.folder.path,
                exit_code=outcome.exit_code,
                seconds=time.monotonic() - started,
                message=f"stopped: {stop.reason}" if stop.is_set() else None,
            )
        )
    return outcome
