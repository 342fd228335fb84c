"""Kill or pause one of several processes outside any group known to the cluster.

What makes it the active one, such as a lease, may pass to another process meanwhile.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.program.programs import at_work, program
from onceproof.harness.faults.program.several import described, workers
from onceproof.harness.user_pipeline.program import AWAY
from onceproof.harness.wait import wait_until

_UP_SECONDS: Final = 60.0


class OtherProcesses:
    """Observe what the others do without process `pid`."""

    def __init__(
        self,
        context: RunContext,
        sent: signal.Signals,
        *,
        pick: Callable[[Sequence[int]], int],
        phase: float,
    ) -> None:
        """Send `sent`, which ends or pauses it, to the process chosen by `pick` while it works.

        Raises:
            Overdue: there are not several processes.
            NoProgress, PipelineTrouble: as for `at_work`.
        """
        at_work(context, phase)
        pids = wait_until(
            lambda: pids if len(pids := sorted(workers(context))) > 1 else None,
            what="several processes of the pipeline to be connected to brokers",
            seconds=_UP_SECONDS,
            every=0.2,
            stop=context.stop,
        )
        self.pid = pick(pids)
        self.target = described(context, self.pid)
        os.kill(self.pid, sent)
        self.at = now()
        self._past = program(context).look.getting_past(context.input_ends())

    def others(self, seconds: float) -> str | None:
        """Describe whether they processed the input within `seconds`; None while undecided."""
        with suppress(*AWAY):
            if self._past():
                return "the others have written output for all of the input"
        if self.lasted >= seconds:
            return "the others have not processed all of the input"
        return None

    @property
    def lasted(self) -> float:
        """Seconds since the signal."""
        return (now() - self.at) / 1e9
