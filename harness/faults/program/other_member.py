"""A member of ours in the pipeline's consumer group, which takes partitions and reads nothing."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.python import python_module
from onceproof.harness.processes.trouble import StageTrouble

ASSIGNORS: Final = ("range", "roundrobin", "cooperative-sticky")
"""Assignors that our client supports, by their names in JoinGroup."""
CLIENT: Final = "onceproof-other-member"
_SESSION_MS: Final = 10_000
_LEAVE_SECONDS: Final = 10.0


def common(assignors: Sequence[str]) -> tuple[str, ...]:
    """Return the assignors that our member supports too; only eager ones if there are any."""
    known = [name for name in assignors if name in ASSIGNORS]
    return tuple(name for name in known if name != "cooperative-sticky") or tuple(known)


class OtherMember:
    """A separate process that joins at once and never commits."""

    def __init__(
        self, context: RunContext, group: str, assignors: Sequence[str], protocol: str
    ) -> None:
        """Join; raise `StageTrouble` if our client supports none of the group's assignors."""
        offered = common(assignors)
        newer = protocol == "consumer"
        if not offered and not newer:
            raise StageTrouble(
                f"no other member can join group {group}: it uses assignors "
                f"{', '.join(assignors) or 'none'}; onceproof has {', '.join(ASSIGNORS)}"
            )
        settings = {
            "bootstrap.servers": context.stage.bootstrap(AUDITOR),
            "group.id": group,
            "client.id": CLIENT,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
        if newer:
            settings["group.protocol"] = "consumer"
        else:
            settings["partition.assignment.strategy"] = ",".join(offered)
            settings["session.timeout.ms"] = _SESSION_MS
        self._assigned: list[list[Any]] = []
        self._process = subprocess.Popen(
            python_module("onceproof.harness.faults.program.joining_member", *context.inputs),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )
        assert self._process.stdin is not None, "stdin and stdout are pipes"
        self._process.stdin.write(json.dumps(settings) + "\n")
        self._process.stdin.flush()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    @property
    def partitions(self) -> frozenset[tuple[str, int]]:
        return frozenset((topic, partition) for topic, partition in self._assigned)

    def leave(self) -> None:
        """Leave the group. Its partitions are reassigned at once, or after its session timeout."""
        assert self._process.stdin is not None, "stdin and stdout are pipes"
        with suppress(BrokenPipeError):  # it ended by itself
            self._process.stdin.close()
        try:
            self._process.wait(_LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._thread.join()

    def _listen(self) -> None:
        assert self._process.stdout is not None, "stdin and stdout are pipes"
        with self._process.stdout as output:
            for line in output:
                self._assigned = json.loads(line)
