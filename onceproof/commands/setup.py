"""Getting every tool that a run needs."""

from __future__ import annotations

import sys

from harness.tools.progress import Step
from harness.tools.setup import Tools, ensure


def tools() -> Tools:
    """Find or fetch the tools, telling about it on standard error."""

    def tell(step: Step) -> None:
        print(f"set-up   {step.tool}: {step.message}", file=sys.stderr)

    return ensure(tell)
