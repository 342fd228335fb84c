"""A consumer that reads along with `read_committed`, as claims about producers require."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.python import python_module
from onceproof.harness.stage.alone import Alone
from onceproof.harness.subjects.observer import ObserverTask
from onceproof.harness.wait import Stop, wait_until

_SECONDS: Final = 60.0


class Observer:
    """The observer of the topics of a batch, started when it is created."""

    def __init__(self, up: Alone, topics: Mapping[str, int], history: Path, work: Path) -> None:
        """`topics` are given with their numbers of partitions."""
        task = work / "observer.json"
        ObserverTask(
            name="observer",
            bootstrap=up.stage.bootstrap(AUDITOR),
            history=str(history),
            partitions=[(t, number) for t, count in topics.items() for number in range(count)],
            client={
                "group.id": "observer",
                "enable.partition.eof": True,
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "log_level": 0,
            },
            isolation="read_committed",
        ).save(task)
        command: list[str | Path] = [*python_module("onceproof.harness.subjects.observer"), task]
        self._process = up.processes.start("observer", command, pipes=True)

    def finish(self, ends: Mapping[tuple[str, int], int], stop: Stop) -> None:
        """Let it read to the ends of its partitions, and end."""
        stdout, stdin = self._process.popen.stdout, self._process.popen.stdin
        assert stdout is not None
        assert stdin is not None
        for line in stdout:
            seen = json.loads(line)["ends"]
            if all(seen.get(f"{topic}/{n}", 0) >= end for (topic, n), end in ends.items()):
                break
        stdin.write(b"enough\n")
        stdin.close()
        wait_until(
            lambda: not self._process.leader_alive(),
            what="the observer to end",
            seconds=_SECONDS,
            stop=stop,
            seen=self._process.tail,
        )
