"""What faults on one of several processes of the pipeline have in common."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.group_members import GroupMembers
from onceproof.harness.faults.program.programs import program, start_again
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Overdue, wait_until

_JOIN_SECONDS = 60.0


def workers(context: RunContext) -> list[int]:
    """Ids of the processes of the pipeline that are connected to brokers."""
    stage = context.stage
    return program(context).clients(
        {stage.entrance(Link("pipeline", broker)) for broker in stage.brokers}
    )


def described(context: RunContext, pid: int) -> str:
    """A process of the pipeline, in words."""
    return f"process {pid} of {program(context).supervisor.running().instance}"


def thaw(pid: int) -> None:
    """Let a process go on that was paused; it may have been ended meanwhile, with the pipeline."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def wait_several(context: RunContext, group: GroupMembers | None = None) -> None:
    """Wait until several of them are connected, and members of their group if they are in one.

    An earlier fault may have ended one of them.

    Raises:
        StageTrouble: they do not come, not even when the pipeline is started again.
    """
    for again in (True, False):
        with suppress(Overdue):
            wait_until(
                lambda: len(workers(context)) > 1 and (group is None or len(group.ids()) > 1),
                what="",
                seconds=_JOIN_SECONDS / 2,
                every=0.2,
                stop=context.stop,
            )
            return
        if again:
            program(context).kill("it is to have all its processes again")
            start_again(context)
    raise StageTrouble("only one process of the pipeline is connected to brokers")
