"""`onceproof lab`: start a stage, keep it running, and judge it when it ends."""

from __future__ import annotations

import random
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.catalogue import UnknownScenario, chosen
from onceproof.commands.setup import prepared
from onceproof.errors import USAGE, exit_on_error
from onceproof.harness.kafka.topic import BadTopic, Topic
from onceproof.harness.lab.bare import BareRun, bare
from onceproof.harness.lab.lab import Lab
from onceproof.harness.lab.protocol import LabProtocol
from onceproof.harness.run.phases import Run
from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.schedule.versions import check_versions
from onceproof.harness.stage.backends import LOCAL
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.known import asked
from onceproof.harness.tools.runtimes.known import words as options_of
from onceproof.harness.wait import Stop
from onceproof.interrupts import breaking_off, judging
from onceproof.outcome import check_run
from onceproof.parent_pipe import LabWithParent
from onceproof.private_network import way_in
from onceproof.reports.bare import failed_phase, print_unjudged
from onceproof.reports.console import live, print_result
from onceproof.reports.text import plural
from onceproof.stopping import stop_on_signals
from onceproof.web.opening import with_page

if TYPE_CHECKING:
    from onceproof.web.server import Web

FAILED = 3


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A lab to start.

    Attributes:
        run: the class that runs it.
        words: arguments that repeat it, after `onceproof lab`.
    """

    scenario: Scenario
    run: type[Run]
    words: tuple[str, ...]


class BadLabOptions(ValueError):
    """Contradictory options; the message says which."""


def with_pipeline(name: str | None, *, records: int, rate: int, seed: int) -> Wanted:
    """Return a lab with a scenario's pipeline, workload and claims, or raise `UnknownScenario`."""
    scenario = chosen([name] if name else [])[0]
    # The same payments, but more of them.
    workload = replace(scenario.workload, records=records, rate=rate)
    return Wanted(
        scenario=replace(scenario, workload=workload),
        run=Run,
        words=(scenario.name, "--seed", str(seed)),
    )


def stage_alone(topics: Sequence[str]) -> Wanted:
    """Return a bare lab.

    Raises:
        BadTopic: a topic is invalid.
        BadLabOptions: two topics have the same name.
    """
    wanted = [Topic.parse(word) for word in topics]
    if len({topic.name for topic in wanted}) < len(wanted):
        raise BadLabOptions("two topics have the same name; give each --topic once")
    options = (option for word in topics for option in ("--topic", word))
    return Wanted(scenario=bare(wanted), run=BareRun, words=("--bare", *options))


def lab(
    scenario: str | None,
    *,
    alone: bool,
    topics: Sequence[str],
    name: str,
    records: int,
    rate: int,
    seed: int | None,
    out: Path,
    backend: str = LOCAL,
    versions: Sequence[str] = (),
    for_program: bool = False,
    private: bool = False,
    web: bool = False,
) -> int:
    seed = random.SystemRandom().randrange(1, 1_000_000) if seed is None else seed
    with exit_on_error():
        try:
            if alone and scenario is not None:
                raise BadLabOptions(f"--bare starts no scenario: omit «{scenario}» or --bare")
            if topics and not alone:
                raise BadLabOptions("--topic works only with --bare: a scenario has its own topics")
            wanted = (
                stage_alone(topics or ["orders:3"])
                if alone
                else with_pipeline(scenario, records=records, rate=rate, seed=seed)
            )
            with_versions = asked(versions, backend)
            check_versions(with_versions, wanted.scenario, what="the lab")
        except (UnknownScenario, BadTopic, BadLabOptions, SetupError) as error:
            print(f"onceproof: {error}", file=sys.stderr)
            return USAGE
        if private and not for_program:
            print(f"The lab's network is private. To enter it: {way_in()}", flush=True)
        return with_page(
            web,
            lambda shown: _open(
                wanted, name, seed, out, backend, with_versions, for_program=for_program, web=shown
            ),
        )


def _open(
    wanted: Wanted,
    name: str,
    seed: int,
    out: Path,
    backend: str,
    versions: Mapping[str, str],
    *,
    for_program: bool,
    web: Web | None,
) -> int:
    found = prepared(backend, versions)
    stop: Stop = stop_on_signals()
    program = LabWithParent(stop) if for_program else None
    words = [*wanted.words, *(("--backend", backend) if backend != LOCAL else ())]
    words += options_of(versions)

    def announce(protocol: LabProtocol) -> None:
        if web is not None:
            web.show_lab(protocol)
        about = protocol.answer("GET", "/", {})[1]
        (program.opened if program else _print_addresses)(about)

    with live(sys.stderr) as handler:
        heard = [handler] if web is None else [handler, web.handler]
        opened = Lab(
            wanted.scenario,
            name=name,
            seed=seed,
            runs=out,
            tools=found,
            handlers=heard,
            stop=stop,
            repeat=shlex.join(["onceproof", "lab", *words]),
            backend=backend,
            run=wanted.run,
            opened=announce,
        )
        with breaking_off(judging(opened.run.folder.path)):
            try:
                opened.execute()
            finally:
                if web is not None:
                    web.hide()
            outcome = check_run(opened.run.folder.path, handlers=heard, interrupted=stop.is_set())
    if wanted.scenario.claims:
        print_result(outcome.report, sys.stdout, outcome.folder)
        return outcome.exit_code
    print_unjudged(outcome.report, sys.stdout, outcome.folder)
    if stop.is_set():
        return outcome.exit_code
    return FAILED if failed_phase(outcome.report) else 0


def _print_addresses(about: dict[str, Any]) -> None:
    """Print how to reach and control the lab, to standard output so that it can be piped."""
    topics = ", ".join(
        f"{name} ({plural(count, 'partition')})" for name, count in about["topics"].items()
    )
    lines = [f"Lab `{about['lab']}` is running. Topics: {topics}; bootstrap addresses:"]
    lines += [f"  {who:<14} {address}" for who, address in about["bootstrap"].items()]
    lines += [f"  {f'database, {who}':<19} {way}" for who, way in about["database"].items()]
    files = about["client_properties"]
    lines += [f"  {f'properties, {who}':<23} {file}" for who, file in files.items()]
    end = "heal, settle, collect, judge, tear down" if about["claims"] else "heal, tear down"
    lines += [
        "From another terminal:",
        f"  onceproof fault isolate leader:{about['topic']}-0",
        "  onceproof status --watch",
        "  onceproof heal",
        f"  onceproof end          # {end}",
        f"From a program: HTTP over {about['socket']}, see docs/reference/lab.md",
    ]
    if about["claims"]:
        lines.append("Ctrl-C here ends it without a verdict.")
    else:
        lines.append("It is bare: without a pipeline, there is no verdict.")
    print("\n".join(lines), flush=True)
