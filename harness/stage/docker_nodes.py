"""All containers of a run that are nodes of its stage, by name."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.docker_node import DockerNode
from onceproof.harness.stage.docker_reaper import LABEL

TOXIPROXY = "toxiproxy"


class DockerNodes:
    """Brokers, database, services and toxiproxy."""

    def __init__(
        self, names: Sequence[str], *, processes: Processes, client: Any, marker: str
    ) -> None:
        """`client`: the Docker library's; `names`: all nodes without toxiproxy."""
        self._names = names
        self._processes = processes
        self._client = client
        self._marker = marker
        self._found: dict[str, DockerNode] = {}

    def find(self) -> None:
        """Find the containers of this run.

        Raises:
            StageTrouble: one is missing.
        """
        ours = {"label": f"{LABEL}={self._marker}"}
        containers: dict[str, Any] = {
            c.labels["com.docker.compose.service"]: c
            for c in self._client.containers.list(all=True, filters=ours)
        }
        for name in (TOXIPROXY, *self._names):
            if name not in containers:
                raise StageTrouble(f"no container of {name} has the label of this run")
            self._found[name] = DockerNode(
                name,
                containers[name],
                logs=self._processes.logs,
                on_change=self._processes.on_change,
            )

    @property
    def toxiproxy(self) -> DockerNode:
        return self._get(TOXIPROXY)

    def part(self, name: str) -> DockerNode:
        """Return a node; raise `StageTrouble` if there is none of that name."""
        if name not in self._names:
            raise StageTrouble(f"unknown node {name}: expected {', '.join(self._names)}")
        return self._get(name)

    def running(self, name: str, done: str) -> DockerNode:
        part = self.part(name)
        if not part.alive():
            raise StageTrouble(f"{name} cannot be {done}: it is not running")
        return part

    def pause(self, name: str) -> str:
        running = self.running(name, "paused")
        if running.paused():
            raise StageTrouble(f"{name} cannot be paused: it is already paused")
        return running.pause()

    def resume(self, name: str) -> None:
        running = self.running(name, "resumed")
        if not running.paused():
            raise StageTrouble(f"{name} cannot be resumed: it is not paused")
        running.resume()

    def end(self, how: str) -> None:
        """End those that run."""
        with ThreadPoolExecutor(len(self._found) or 1) as pool:
            list(pool.map(lambda node: node.end(how), self._found.values()))

    def _get(self, name: str) -> DockerNode:
        try:
            return self._found[name]
        except KeyError:
            raise StageTrouble(f"{name} has not been started") from None
