"""`onceproof verify`: a pipeline of the user's own on trial, unchanged."""

from __future__ import annotations

import random
import shlex
import shutil
import sys
from pathlib import Path

from harness.feasible import feasible
from harness.own.orders import Orders
from harness.own.outputs.output import Output
from harness.own.subject import OwnPipeline
from harness.scenario import Scenario
from harness.stage.backends import offers
from harness.tools.setup import Tools
from harness.wait import Stop
from onceproof.ci import BuildServer
from onceproof.commands.setup import prepared
from onceproof.errors import USAGE
from onceproof.outcome import Outcome
from onceproof.running import run_scenario
from onceproof.stopping import stop_on_signals
from onceproof.streaming import Stream, streamed
from onceproof.verify.rehearsed import rehearsed
from onceproof.verify.said import BadTrial, Said
from onceproof.verify.trial import rehearsal, trial
from reports.ci.case import cases_of
from reports.console import live, print_result


def verify(
    said: Said,
    *,
    seed: int | None,
    out: Path,
    backend: str,
    dry_run: bool,
    options: list[str],
    events: str | None = None,
    junit: Path | None = None,
) -> int:
    """Put it on trial; with `dry_run` only rehearse.

    Args:
        said: what the user says of it.
        seed: draws what is sent.
        out: folder that gets the run folder.
        backend: what the stage is made of.
        dry_run: no faults, few records: only see that all fits together.
        options: as they were given, without the seed, for the line that repeats it.
        events: see `streamed`.
        junit: file that gets every claim as a test case.
    """
    server = BuildServer(junit)

    def do(stream: Stream) -> int:
        try:
            _see_program(said)
            scenario = trial(said)
        except BadTrial as error:
            print(f"onceproof verify: {error}.", file=sys.stderr)
            return USAGE
        return _try(scenario, said, seed, out, backend, dry_run, options, stream, server)

    return streamed("verify", events, do)


def _try(
    scenario: Scenario,
    said: Said,
    seed: int | None,
    out: Path,
    backend: str,
    dry_run: bool,
    options: list[str],
    stream: Stream,
    server: BuildServer,
) -> int:
    seed = random.SystemRandom().randrange(1, 1_000_000) if seed is None else seed
    scenario, left_out = feasible(scenario, offers(backend))
    for at in left_out:
        print(f"left out: «{at.name}», because this stage cannot do it", file=sys.stderr)
    _tell(scenario)
    repeat = shlex.join(["onceproof", "verify", *options, "--seed", str(seed), "--"])
    repeat += " " + shlex.join(said.command)
    tools, stop = prepared(backend), stop_on_signals()
    if dry_run:
        outcome = _run(rehearsal(scenario), seed, out, backend, repeat, tools, stop, stream)
        return rehearsed(outcome, sys.stdout)
    outcome = _run(scenario, seed, out, backend, repeat, tools, stop, stream)
    print_result(outcome.report, sys.stdout, outcome.folder)
    server.add(cases_of(outcome.report, outcome.folder))
    server.conclude()
    return outcome.exit_code


def _run(
    scenario: Scenario,
    seed: int,
    out: Path,
    backend: str,
    repeat: str,
    tools: Tools,
    stop: Stop,
    stream: Stream,
) -> Outcome:
    with live(sys.stderr) as handler:
        return run_scenario(
            scenario,
            seed=seed,
            runs=out,
            tools=tools,
            handlers=[handler, *stream.handlers],
            stop=stop,
            backend=backend,
            repeat=repeat,
        )


def _see_program(said: Said) -> None:
    """See that there is something to start, before a stage is brought up for it.

    Raises:
        BadTrial: there is not.
    """
    program = said.command[0] if said.command else "{"
    if "{" in program:  # filled in later, or missed by the next who looks
        return
    inside = str(said.folder / program) if "/" in program else program
    if shutil.which(inside) is None:
        raise BadTrial(
            f"{program!r} cannot be started: no such program in PATH, nor a file that may be run; "
            "write the command behind -- as in a shell"
        )


def _tell(scenario: Scenario) -> None:
    """What is going to be done, before it is."""
    orders, subject = scenario.workload, scenario.subject
    assert isinstance(orders, Orders)
    assert isinstance(subject, OwnPipeline)
    source = f"of {orders.file}" if orders.file else "made up from the seed"
    lines = [
        f"pipeline {shlex.join(subject.command)}",
        f"input    {orders.records} records {source} into {orders.topic}",
        *(
            f"output   {output.kind} {output.place} as {output.view} sees it, identity "
            f"{output.identity}, {subject.comes_to} of each input"
            for output in subject.outputs
        ),
        *([] if subject.dead_letters is None else [_letters(subject.dead_letters)]),
        *([] if subject.upserts is None else [f"upserts  one value for each {subject.upserts}"]),
        f"position {'by its Spark checkpoint' if subject.spark else 'by its group, or its output'}",
        *(f"fault    {at.do.describe()}, when {at.when()}" for at in scenario.schedule),
        *(f"claim    {claim.name}" for claim in scenario.claims),
    ]
    print("\n".join(lines), file=sys.stderr)


def _letters(letters: Output) -> str:
    return f"or else  a dead letter in {letters.kind} {letters.place}, identity {letters.identity}"
