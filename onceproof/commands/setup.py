"""Getting every tool that a run needs."""

from __future__ import annotations

import sys

from harness.stage import backends
from harness.tools.progress import Step
from harness.tools.setup import Tools, ensure


def prepared(backend: str = backends.LOCAL) -> Tools:
    """Find or fetch what a backend needs, telling about it; end what dead runs left.

    Raises:
        SetupError: something is missing and cannot be had.
    """
    leftovers = backends.prepare(backend, _tell)
    found = ensure(_tell, stage=backends.is_local(backend))
    for leftover in leftovers:
        print(f"ended what a dead run left: {', '.join(leftover.processes)}", file=sys.stderr)
    return found


def _tell(step: Step) -> None:
    print(f"set-up   {step.tool}: {step.message}", file=sys.stderr)
