"""`onceproof matrix`: run every scenario on every backend, and write one page about all."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from onceproof.catalogue import UnknownScenario, named
from onceproof.ci import BuildServer
from onceproof.commands.setup import prepared
from onceproof.errors import TROUBLE, USAGE
from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.known import asked
from onceproof.harness.tools.runtimes.known import words as options_of
from onceproof.harness.tools.runtimes.rules import conflicts, unsupported
from onceproof.json_events import Stream, streamed
from onceproof.matrix.budget import Budget
from onceproof.matrix.capacity import room
from onceproof.matrix.plan import plan
from onceproof.matrix.sample import QUICK_SECONDS, sample
from onceproof.matrix.under_way import MatrixRun
from onceproof.reports.runs.markdown import markdown as as_markdown
from onceproof.reports.runs.trial import Backend, Trial
from onceproof.stopping import stop_on_signals


def matrix(
    words: Sequence[str],
    *,
    quick: bool,
    seed: int,
    out: Path,
    backends: Sequence[str],
    jobs: int | None,
    markdown: Path | None,
    events: str | None = None,
    junit: Path | None = None,
    time_limit: float | None = None,
    versions: Sequence[str] = (),
) -> int:
    """Run what has not been run yet, and rewrite the page after each run."""

    def do(stream: Stream) -> int:
        try:
            scenarios = named(words)
            with_versions = asked(versions, *backends)
        except (UnknownScenario, SetupError) as error:
            print(f"onceproof: {error}", file=sys.stderr)
            return USAGE
        if markdown is not None:  # fail now, not after hours
            markdown.parent.mkdir(parents=True, exist_ok=True)
            markdown.open("a").close()
        places = tuple(dict.fromkeys(backends))
        # Another version changes nothing for a scenario that does not use the runtime.
        scenarios = [
            each
            for each in scenarios
            if each.runtimes.issuperset(with_versions)
            and not conflicts(with_versions, each.subject.needs_versions)
            and not unsupported(
                with_versions,
                transaction_version=each.transaction_version,
                reads=not each.subject.sends,
            )
        ]
        if not scenarios:
            print("onceproof: no scenario uses all chosen runtimes", file=sys.stderr)
            return USAGE
        there, here = _prepare(places, with_versions)
        stop = stop_on_signals()
        if not here:
            return TROUBLE
        chosen = {b: _chosen(scenarios, b, quick, QUICK_SECONDS / len(here)) for b in here}
        at_once = jobs or room()
        planned = tuple(place for b in here for place in plan(chosen[b], [b], seed, with_versions))
        run = MatrixRun(
            planned=planned,
            backends=there,
            seed=seed,
            out=out.absolute(),
            at_once=at_once,
            scope=_scope(words, quick),
            repeat=_repeat(words, quick, seed, out, places, jobs, with_versions),
            stop=stop,
            hear=partial(_write_trial, stream),
            budget=Budget(time_limit),
            server=BuildServer(junit),
        )
        run.execute()
        code = run.conclude()
        if markdown is not None:
            markdown.write_text(as_markdown(run.snapshot()), encoding="utf-8", newline="\n")
        return code

    return streamed("matrix", events, do)


def _write_trial(stream: Stream, trial: Trial, began: bool) -> None:
    if stream.writer is None:
        return
    from onceproof.reports.event_lines.lines import trial_line

    stream.writer.write(trial_line(trial, began=began))


def _prepare(
    places: Sequence[str], versions: Mapping[str, str]
) -> tuple[tuple[Backend, ...], tuple[str, ...]]:
    """Set up all backends once, because the runs would do it all at the same time."""
    found: list[Backend] = []
    for name in places:
        try:
            prepared(name, versions)
            found.append(Backend(name=name))
        except SetupError as error:
            print(f"onceproof: backend {name} cannot be used: {error}", file=sys.stderr)
            found.append(Backend(name=name, missing=str(error)))
    return tuple(found), tuple(backend.name for backend in found if backend.missing is None)


def _chosen(
    scenarios: Sequence[Scenario], backend: str, quick: bool, limit: float
) -> Sequence[Scenario]:
    if not quick:
        return scenarios
    # Sample only scenarios that this backend can run.
    can = {p.scenario.name for p in plan(scenarios, [backend], seed=1) if p.lacks is None}
    return sample([s for s in scenarios if s.name in can], limit)


def _scope(words: Sequence[str], quick: bool) -> str:
    which = "A sample of the scenarios" if quick else "Every scenario"
    return f"{which} with {' or '.join(f'«{w}»' for w in words)} in its name" if words else which


def _repeat(
    words: Sequence[str],
    quick: bool,
    seed: int,
    out: Path,
    backends: Sequence[str],
    jobs: int | None,
    versions: Mapping[str, str],
) -> str:
    options = [*(["--quick"] if quick else []), "--seed", str(seed), "--out", str(out)]
    options += [word for backend in backends for word in ("--backend", backend)]
    options += ["--jobs", str(jobs)] if jobs else []
    options += options_of(versions)
    return shlex.join(["onceproof", "matrix", *words, *options])
