"""Helpers for faults on one of several processes of the pipeline."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.group_members import GroupMembers
from onceproof.harness.faults.program.programs import program, start_again
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.tcp_silence import waiting_ports
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Overdue, wait_until

_JOIN_SECONDS = 60.0
_SILENT_SECONDS: Final = 5.0


def workers(context: RunContext) -> list[int]:
    """Return the ids of the pipeline's processes that are connected to brokers."""
    return sorted({*clients(context, *context.stage.brokers).values()})


def clients(context: RunContext, *nodes: str) -> dict[int, int]:
    """Return the pipeline's connections to these nodes: local port → process id."""
    entrances = {context.stage.entrance(Link("pipeline", node)) for node in nodes}
    return program(context).clients(entrances)


def waits_for_answer(context: RunContext, node: str, since: Callable[[], float]) -> int:
    """Find the process of the pipeline that waits for an answer from a node.

    Args:
        since: returns the seconds since its request arrived.

    Raises:
        Overdue: no process, or several, have waited for so long.
        StageTrouble: the kernel does not provide the data.
    """
    port = int(context.stage.entrance(Link("pipeline", node)).rpartition(":")[2])
    found: set[int] = set()

    def one() -> int | None:
        of = clients(context, node)
        try:
            waiting = waiting_ports(port, since())
        except OSError as error:
            raise StageTrouble(
                f"cannot determine which process waits for {node}: {error}"
            ) from None
        found.clear()
        found.update(of[own] for own in waiting & of.keys())
        return next(iter(found)) if len(found) == 1 else None

    return wait_until(
        one, what=f"one process to wait for {node}", seconds=_SILENT_SECONDS, every=0.05,
        stop=context.stop, seen=lambda: f"{len(found)} processes",
    )  # fmt: skip


def described(context: RunContext, pid: int) -> str:
    """Describe a pipeline process for reports."""
    return f"process {pid} of {program(context).supervisor.running().instance}"


def freeze(pid: int) -> None:
    """Pause a process (SIGSTOP)."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)


def thaw(pid: int) -> None:
    """Resume a paused process (SIGCONT), which may have been ended meanwhile with the pipeline."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def wait_several(context: RunContext, group: GroupMembers | None = None) -> None:
    """Wait until several processes are connected, and are members of `group` if given.

    If necessary, restart the pipeline, because an earlier fault may have ended one of them.

    Raises:
        StageTrouble: they are not connected even then.
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
            program(context).kill("restart with all its processes")
            start_again(context)
    raise StageTrouble("only one process of the pipeline is connected to brokers; expected several")
