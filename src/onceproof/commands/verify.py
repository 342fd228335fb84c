"""`onceproof verify`: test a user's pipeline, unchanged."""

from __future__ import annotations

import random
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onceproof.ci import BuildServer
from onceproof.commands.setup import prepared
from onceproof.errors import USAGE
from onceproof.harness.dry_run.learning import DryRunResult
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.run.phases import Conduct
from onceproof.harness.schedule.conductor import Conductor
from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.schedule.supported_faults import with_supported_faults
from onceproof.harness.stage.backends import offers
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.known import OF_THE_STAGE, asked, check_used
from onceproof.harness.tools.runtimes.known import words as options_of
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.outputs.output import Output
from onceproof.harness.user_pipeline.several_inputs import SeveralInputs
from onceproof.harness.user_pipeline.subject import OwnPipeline
from onceproof.json_events import Stream, streamed
from onceproof.outcome import Outcome
from onceproof.reports.ci.case import cases_of
from onceproof.reports.console import live, print_result
from onceproof.running import run_scenario
from onceproof.stopping import stop_on_signals
from onceproof.verify.draft import draft
from onceproof.verify.dry_run import print_failure, print_plan, print_success, succeeded
from onceproof.verify.named_faults import named
from onceproof.verify.options import BadTrial, VerifyOptions
from onceproof.verify.plan import plan
from onceproof.verify.profiles import keep, kept, key_of
from onceproof.verify.trial import dry_run_of, pipeline_of, planned


def verify(
    options: VerifyOptions,
    *,
    seed: int | None,
    out: Path,
    backend: str,
    dry_run: bool,
    reuse_dry_run: bool,
    given: list[str],
    versions: Sequence[str] = (),
    events: str | None = None,
    junit: Path | None = None,
    exploring: Exploring | None = None,
) -> int:
    """Do a dry run, then the trial.

    Args:
        dry_run: stop after the dry run.
        reuse_dry_run: reuse what an earlier dry run of the same command and data learned.
        given: the user's options without the seed, for the command that repeats the trial.
        exploring: explore the pipeline instead.
    """
    server = BuildServer(junit)
    try:
        with_versions = asked(versions, backend)
        of_the_stage = {"kafka"} if exploring is not None else OF_THE_STAGE
        check_used(with_versions, of_the_stage, "a trial of your program")
    except SetupError as error:
        print(f"onceproof verify: {error}", file=sys.stderr)
        return USAGE
    if exploring is not None:
        return _explore(
            options, exploring, out=out, backend=backend, given=given, versions=with_versions
        )

    def do(stream: Stream) -> int:
        try:
            _check_program(options)
            scenario = draft(options)
        except BadTrial as error:
            print(f"onceproof verify: {error}.", file=sys.stderr)
            return USAGE
        return _dry_run_and_trial(
            scenario, options, seed, out, backend, with_versions, dry_run, reuse_dry_run, given,
            stream, server,
        )  # fmt: skip

    return streamed("verify", events, do)


@dataclass(frozen=True, kw_only=True)
class Exploring:
    """How a pipeline is explored; see `Wanted`."""

    trials: int | None
    minutes: float | None
    only: str | None
    cases: Path | None


def _explore(
    options: VerifyOptions,
    exploring: Exploring,
    *,
    out: Path,
    backend: str,
    given: list[str],
    versions: Mapping[str, str],
) -> int:
    # Not needed otherwise, and it would make every start slower.
    from onceproof.commands.explore import Wanted, conduct
    from onceproof.verify.explorable import explorable

    try:
        _check_program(options)
        subject = explorable(draft(options), backend)
    except BadTrial as error:
        print(f"onceproof verify: {error}.", file=sys.stderr)
        return USAGE
    command = ("onceproof", "verify", *given, "--explore", "--only", "{only}", "--")
    return conduct(
        subject,
        Wanted(
            folder=out / "explore-verify",
            command=(*command, *options.command),
            trials=exploring.trials,
            minutes=exploring.minutes,
            only=exploring.only,
            cases=exploring.cases,
            versions=versions,
            # A trial on a stage of its own takes too long for pairs.
            with_pairs=not subject.alone,
        ),
    )


def _dry_run_and_trial(
    scenario: Scenario,
    options: VerifyOptions,
    seed: int | None,
    out: Path,
    backend: str,
    versions: Mapping[str, str],
    dry_run: bool,
    reuse_dry_run: bool,
    given: list[str],
    stream: Stream,
    server: BuildServer,
) -> int:
    seed = random.SystemRandom().randrange(1, 1_000_000) if seed is None else seed
    _print_options(scenario, seed)
    repeat = shlex.join(["onceproof", "verify", *given, "--seed", str(seed), "--"])
    repeat += " " + shlex.join(options.command)
    tools, stop = prepared(backend, versions), stop_on_signals()

    def run(what: Scenario, conduct: Conduct = Conductor) -> Outcome:
        with live(sys.stderr) as handler:
            return run_scenario(
                what,
                seed=seed,
                runs=out,
                tools=tools,
                handlers=[handler, *stream.handlers],
                stop=stop,
                backend=backend,
                repeat=repeat,
                conduct=conduct,
            )

    key = key_of(options, shlex.join([backend, *options_of(versions)]))
    profile = kept(key) if reuse_dry_run and not dry_run else None
    if profile is None:
        learned = DryRunResult(gates="gates" in offers(backend))
        outcome = run(dry_run_of(scenario), learned.conduct)
        if not succeeded(outcome) or learned.profile is None:
            return print_failure(outcome, sys.stdout)
        profile = learned.profile
        keep(key, profile)
        print_success(outcome, sys.stdout)
    try:
        made = plan(pipeline_of(scenario, options, profile), options.preset, options.accepted)
        print_plan(profile.sentences(), made, sys.stdout, faults_named=named(options))
        scenario = planned(scenario, options, profile, made)
    except BadTrial as error:
        print(f"onceproof verify: {error}.", file=sys.stderr)
        return USAGE
    scenario, left_out = with_supported_faults(scenario, offers(backend))
    for at in left_out:
        print(f"left out: «{at.name}», which this stage does not support", file=sys.stderr)
    for at in scenario.schedule:
        print(f"fault    {at.do.describe()}, when {at.when()}", file=sys.stderr)
    if dry_run:
        print("No trial was run. To run it, omit --dry-run.")
        return 0
    outcome = run(scenario)
    print_result(outcome.report, sys.stdout, outcome.folder)
    server.add(cases_of(outcome.report, outcome.folder))
    server.conclude()
    return outcome.exit_code


def _check_container(options: VerifyOptions) -> None:
    # Slow imports, and not needed without Docker.
    if options.image is not None:
        from onceproof.harness.user_pipeline.container import engine_with

        engine_with(options.image)
        return
    from onceproof.harness.user_pipeline.compose_service import ComposeService

    file = options.compose
    assert file is not None, "it is one of the two"
    if options.service is None:
        raise BadTrial(f"--compose {file} needs --service, the service that is the pipeline")
    replaced = {variable.partition("=")[0] for variable in options.variables}
    ComposeService.find(file, options.service).check(replaced, options.command)


def _check_program(options: VerifyOptions) -> None:
    """Raise `BadTrial` early if the program, image or service cannot be started."""
    if options.image is not None or options.compose is not None:
        try:
            _check_container(options)
        except StageTrouble as error:
            raise BadTrial(str(error)) from None
        return
    program = options.command[0] if options.command else "{"
    if "{" in program:  # filled in later; wrong placeholders are found elsewhere
        return
    inside = str(options.folder / program) if "/" in program else program
    if shutil.which(inside) is None:
        raise BadTrial(
            f"{program!r} cannot be started: there is no such program in PATH and no such "
            "executable file; give the command after --, as in a shell"
        )


def _print_options(scenario: Scenario, seed: int) -> None:
    orders, subject = scenario.workload, scenario.subject
    assert isinstance(orders, Orders | SeveralInputs)
    assert isinstance(subject, OwnPipeline)
    inputs = (orders,) if isinstance(orders, Orders) else orders.inputs
    lines = [
        f"pipeline {subject.started_by}",
        *(
            f"input    {each.records} records "
            f"{f'from {each.file}' if each.file else 'generated from the seed'} to {each.topic}"
            for each in inputs
        ),
        *(line for each in inputs for line in _event_times(each, seed)),
        *(
            f"output   {output.kind} {output.place}, read as {output.view}, identity "
            f"{output.identity}, {subject.comes_to_in_words(output.name)} of "
            f"{'all inputs' if orders.states else 'each input'}"
            for output in subject.outputs
        ),
        *([] if subject.dead_letters is None else [_letters(subject.dead_letters)]),
        *([] if subject.upserts is None else [f"upserts  one value per {subject.upserts}"]),
        f"position {'by its Spark checkpoint' if subject.spark else 'by its group, or its output'}",
        *(f"claim    {claim.name}" for claim in scenario.claims),
    ]
    print("\n".join(lines), file=sys.stderr)


def _event_times(orders: Orders, seed: int) -> list[str]:
    if orders.times is None:
        return []
    disordered, late = orders.disorder(seed=seed)
    of = "" if orders.file else "generated "
    return [
        f"event    time {orders.times}; {disordered} {of}inputs are out of order, and {late} are "
        "late and may be dropped"
    ]


def _letters(letters: Output) -> str:
    return f"or else  a dead letter in {letters.kind} {letters.place}, identity {letters.identity}"
