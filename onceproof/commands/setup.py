"""Getting every tool that a run needs."""

from __future__ import annotations

import signal
import sys

from harness.stage import backends
from harness.tools.progress import Step
from harness.tools.setup import Tools, ensure
from onceproof.interrupts import INTERRUPTED, hear


def prepared(backend: str = backends.LOCAL) -> Tools:
    """Find or fetch what a backend needs, telling about it; end what dead runs left.

    Raises:
        SetupError: something is missing and cannot be had.
        SystemExit: it was broken off, which is told.
    """
    hear(signal.default_int_handler)
    try:
        leftovers = backends.prepare(backend, _tell)
        found = ensure(_tell, stage=backends.is_local(backend))
    except KeyboardInterrupt:
        print(
            "onceproof: interrupted while getting what a run needs; nothing was run. What is there "
            "already stays: the same command goes on from it.",
            file=sys.stderr,
        )
        sys.exit(INTERRUPTED)
    for leftover in leftovers:
        print(f"ended what a dead run left: {', '.join(leftover.processes)}", file=sys.stderr)
    return found


def _tell(step: Step) -> None:
    print(f"set-up   {step.tool}: {step.message}", file=sys.stderr)
