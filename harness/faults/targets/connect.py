"""Kafka Connect workers: the one that runs the connector's task, or all of them.

The task moves once a dead worker's session has expired. The claim is tested only if its new owner
commits. A worker that was paused until then is a zombie: its task still tries to write and commit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.targets.base import Verb, Victim
from onceproof.harness.faults.targets.paused_processes import PausedProcesses
from onceproof.harness.faults.workers import taken_over, wait_recovered, workers
from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.connect.base import WORKER
from onceproof.harness.subjects.connect.workers import Workers

FENCED: Final = "fenced-zombie"
"""The resumed worker was fenced, because another one had replaced it."""
_REFUSED: Final = re.compile(
    r"^\S*(?:ProducerFenced|InvalidProducerEpoch)Exception: .*", re.MULTILINE
)


@dataclass(frozen=True, kw_only=True)
class ConnectTaskOwner(Victim):
    """The worker that runs the connector's task."""

    written: ClassVar[str] = "connect-task-owner"
    example: ClassVar[str] = "connect-task-owner"
    paused_until: ClassVar[str] = "until another worker runs the task"

    def describe(self) -> str:
        return "the Kafka Connect worker that runs the task"

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return WORKER

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        cluster = workers(context)
        return _EndedOwner(cluster, lambda who: cluster.kill(who, f"SIGKILL by fault «{name}»"))

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Send SIGTERM: it ends its task and leaves its group."""
        cluster = workers(context)
        return _EndedOwner(cluster, lambda who: cluster.stop(who, f"SIGTERM by fault «{name}»"))

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        return _PausedOwner(context, name)


@dataclass(frozen=True, kw_only=True)
class ConnectWorkers(Victim):
    """All workers. Open transactions end by a new task of the same name, or by time-out."""

    written: ClassVar[str] = "connect-workers"
    example: ClassVar[str] = "connect-workers"

    def describe(self) -> str:
        return "all Kafka Connect workers"

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return WORKER

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        cluster = workers(context)
        return _EndedAll(cluster, lambda who: cluster.kill(who, f"SIGKILL by fault «{name}»"))

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        cluster = workers(context)
        return _EndedAll(cluster, lambda who: cluster.stop(who, f"SIGTERM by fault «{name}»"))

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        cluster = workers(context)
        return PausedProcesses(
            context,
            lambda: _in_parallel(cluster, cluster.pause),
            done=lambda: cluster.commits,
            nothing="no offset was committed",
            heal=partial(wait_recovered, cluster),
        )


def _in_parallel(cluster: Workers, act: Callable[[str], Process]) -> list[Process]:
    for who in cluster.names:
        cluster.process(who)  # act on none if one is not running
    with ThreadPoolExecutor(len(cluster.names)) as pool:
        return list(pool.map(act, cluster.names))


class _EndedOwner:
    def __init__(self, cluster: Workers, end: Callable[[str], Process]) -> None:
        self._cluster = cluster
        self._who = self._cluster.wait_owner()
        self.at = now()
        self._process = end(self._who)
        self._commits = self._cluster.commits
        self.target = f"{self._process.instance} (runs the task)"

    def evidence(self) -> str | None:
        other = taken_over(self._cluster, self._who, commits=self._commits)
        return other and f"{self._process.instance} {self._process.ended}; {other}"

    def heal(self) -> None:
        self._cluster.restart(self._who)
        wait_recovered(self._cluster)


class _PausedOwner:
    def __init__(self, context: RunContext, name: str) -> None:
        self._context, self._name = context, name
        self._cluster = workers(context)
        self._who = self._cluster.wait_owner()
        self.at = now()
        self._process = self._cluster.pause(self._who)
        self._log_size = self._process.log.stat().st_size
        self._commits = self._cluster.commits
        self.target = f"{self._process.instance} (runs the task)"

    def evidence(self) -> str | None:
        if not self._process.frozen():
            return None
        other = taken_over(self._cluster, self._who, commits=self._commits)
        return other and f"{self._process.instance} is paused; {other}"

    def heal(self) -> None:
        self._process.thaw()
        wait_recovered(self._cluster)

    def after_collect(self, known: Collected) -> None:
        """Record that its log reports it as fenced since it resumed."""
        output = self._process.log.read_bytes()[self._log_size :].decode(errors="replace")
        if refused := _REFUSED.search(output):
            self._context.recorder.hazard(
                FENCED,
                hop="process",
                fault=self._name,
                detail=f"{self._process.instance} logged: {refused[0]}",
            )


class _EndedAll:
    def __init__(self, cluster: Workers, end: Callable[[str], Process]) -> None:
        self._cluster = cluster
        self.at = now()
        self._processes = _in_parallel(cluster, end)
        self.target = ", ".join(process.instance for process in self._processes)

    def evidence(self) -> str | None:
        if self._cluster.alive():
            return None
        return "; ".join(f"{process.instance} {process.ended}" for process in self._processes)

    def heal(self) -> None:
        for who in self._cluster.names:
            self._cluster.restart(who)
        wait_recovered(self._cluster)
