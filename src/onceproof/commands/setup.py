"""Install every tool that a run needs."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Final

import psutil

from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.stage import backends
from onceproof.harness.tools.progress import Step, by_quarters
from onceproof.harness.tools.runtimes.rules import with_needed
from onceproof.harness.tools.setup import Tools, ensure
from onceproof.harness.wait import Overdue, wait_until
from onceproof.interrupts import INTERRUPTED, hear

_ENDING_SECONDS: Final = 10.0
"""Time for threads to notice that the process they wait for was killed."""


def prepared(backend: str = backends.LOCAL, versions: Mapping[str, str] | None = None) -> Tools:
    """Find or download what a backend needs, print progress, and clean up after dead runs.

    `versions` are those of runtimes that differ from the usual ones.

    Ctrl-C, SIGTERM and SIGHUP end this process and everything that it started.

    Raises:
        SetupError: a tool is missing and cannot be installed.
    """
    hear(signal.default_int_handler)
    show = by_quarters(_print_step)
    try:
        leftovers = backends.prepare(backend, show)
        found = ensure(show, stage=backends.is_local(backend), versions=versions)
    except KeyboardInterrupt:
        print(
            "onceproof: interrupted during set-up; nothing was run. What was installed is kept: "
            "the same command continues from there.",
            file=sys.stderr,
        )
        _end_children()
        sys.exit(INTERRUPTED)  # callers may still have to write, such as the last event
    for leftover in leftovers:
        print(f"cleaned up after a dead run: {', '.join(leftover.processes)}", file=sys.stderr)
    return found


def prepared_for(
    scenarios: Iterable[Scenario], backend: str, versions: Mapping[str, str]
) -> Callable[[Scenario], Tools]:
    """Prepare every scenario; return a function that returns the tools of one.

    Raises:
        SetupError: as `prepared`, or a scenario needs another version than the chosen one.
    """

    def wanted(scenario: Scenario) -> frozenset[tuple[str, str]]:
        subject = scenario.subject
        needed = with_needed(versions, subject.needs_versions, what=subject.name)
        return frozenset(needed.items())

    found = {each: prepared(backend, dict(each)) for each in {wanted(s): None for s in scenarios}}
    return lambda scenario: found[wanted(scenario)]


def _end_children() -> None:
    """Kill all child processes, including those that threads still start, until the threads end."""
    me, main = psutil.Process(), threading.main_thread()
    threads = [t for t in threading.enumerate() if t is not main and not t.daemon]

    def over() -> bool:
        for child in (children := me.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                child.kill()
        psutil.wait_procs(children, timeout=1)
        return not any(thread.is_alive() for thread in threads)

    with suppress(Overdue):  # a thread that waits for a server ends when it answers
        wait_until(over, what="set-up to end", seconds=_ENDING_SECONDS)


def _print_step(step: Step) -> None:
    print(f"set-up   {step.text}", file=sys.stderr)
