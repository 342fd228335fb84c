"""Getting every tool that a run needs."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import suppress
from typing import Final

import psutil

from onceproof.harness.stage import backends
from onceproof.harness.tools.progress import Step
from onceproof.harness.tools.setup import Tools, ensure
from onceproof.harness.wait import Overdue, wait_until
from onceproof.interrupts import INTERRUPTED, hear

_ENDING_SECONDS: Final = 10.0
"""How long threads may take to see that what they wait for was killed."""


def prepared(backend: str = backends.LOCAL) -> Tools:
    """Find or fetch what a backend needs, telling about it; end what dead runs left.

    Ctrl-C, SIGTERM and SIGHUP end the process, and everything that it has started by then.

    Raises:
        SetupError: something is missing and cannot be had.
    """
    hear(signal.default_int_handler)
    try:
        leftovers = backends.prepare(backend, _print_step)
        found = ensure(_print_step, stage=backends.is_local(backend))
    except KeyboardInterrupt:
        print(
            "onceproof: interrupted while getting what a run needs; nothing was run. What is there "
            "already stays: the same command goes on from it.",
            file=sys.stderr,
        )
        _end_children()
        sys.exit(INTERRUPTED)  # through all who have something to say in the end
    for leftover in leftovers:
        print(f"ended what a dead run left: {', '.join(leftover.processes)}", file=sys.stderr)
    return found


def _end_children() -> None:
    """Kill what was started for it, also what its threads start meanwhile, until they are over."""
    me, main = psutil.Process(), threading.main_thread()
    threads = [t for t in threading.enumerate() if t is not main and not t.daemon]

    def over() -> bool:
        for child in (there := me.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                child.kill()
        psutil.wait_procs(there, timeout=1)
        return not any(thread.is_alive() for thread in threads)

    with suppress(Overdue):  # one that waits for a server ends when that has answered
        wait_until(over, what="set-up to end", seconds=_ENDING_SECONDS)


def _print_step(step: Step) -> None:
    print(f"set-up   {step.tool}: {step.message}", file=sys.stderr)
