"""A lane: one client with its own topic and transactional id, on a stage shared with others."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from onceproof.harness.explore.exploration import Load
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop, wait_until
from onceproof.harness.workload.control import renumbered
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.task_file import SenderRecord, SenderTask, save_records

_EVERY: Final = 0.02
_ABORTED: Final = 3
"""Number of the transaction that the application aborts, if there is another one after it."""
_LONGEST: Final = 40
"""Characters of an error that distinguish reactions, if it has no name."""
_CODE: Final = re.compile(r"code=(\w+)")
"""The name of an error in confluent-kafka's text."""


@dataclass(kw_only=True)
class Lane:
    """One producer under test.

    Attributes:
        name: of its topic and transactional id; client ids are `name-1`, `name-2`, … by life.
        transactional: whether it sends transactions, or single records.
        history: folder of the histories of all lanes of a batch.
        work: folder for its tasks.
    """

    name: str
    sender: Sender
    transactional: bool
    load: Load
    bootstrap: str
    processes: Processes
    tools: Tools | None
    history: Path
    work: Path
    stop: Stop
    lives: list[Process] = field(default_factory=list, init=False)

    def start(self) -> None:
        """Start its first life, or the next, which sends the rest and one more transaction.

        So it has something to send even if all records had been handed to the client.
        """
        called = {record for life in self.lives for record in self._called(life.name)}
        size = self.load.records if self.transactional else 1
        payments = Payments(
            records=(self.load.transactions + len(self.lives)) * size,
            producers=1,
            keys=1,
            partitions=1,
            topic=self.name,
            transaction=size if self.transactional else 0,
        )
        left = [self._planned(r) for r in payments.sends(producer=0, seed=0)]
        left = [r for r in left if r.record not in called]
        name = f"{self.name}-{len(self.lives) + 1}"
        records, task = self.work / f"{name}.records.jsonl", self.work / f"{name}.json"
        save_records(records, renumbered(left))
        SenderTask(
            name=name,
            bootstrap=self.bootstrap,
            records=str(records),
            history=str(self.history),
            client=self.sender.settings(transactional=self.transactional),
            transactional_id=self.name if self.transactional else None,
        ).save(task)
        life = self.processes.start(name, self.sender.command(task, self.tools), pipes=True)
        self.lives.append(life)
        assert life.popen.stdin is not None
        with suppress(OSError):
            life.popen.stdin.write(b"rate inf\n")
            life.popen.stdin.flush()

    def _planned(self, record: SenderRecord) -> SenderRecord:
        abort = record.transaction == _ABORTED and self.load.transactions > _ABORTED + 1
        return replace(record, abort=abort)

    @property
    def running(self) -> bool:
        return self.lives[-1].leader_alive()

    def wait_over(self, seconds: float) -> None:
        """Wait until the client has ended; raise `Overdue` if it does not."""
        wait_until(
            lambda: not self.running,
            what=f"{self.name} to end",
            seconds=seconds,
            every=_EVERY,
            stop=self.stop,
            seen=self.lives[-1].tail,
        )

    def kill(self, how: str) -> None:
        self.lives[-1].kill(how)

    def perceived(self) -> str:
        """Return the outcomes that the client reported, in order and without repetitions."""
        found: dict[str, dict[str, Any]] = {}
        for life in self.lives:
            for row in self._rows(life.name):
                if row["t"] == "txns":
                    found[row["txn"]] = row
                elif row["t"] == "returned" and not self.transactional:
                    found[row["attempt"]] = row
        words = [
            " ".join(filter(None, (row["outcome"], _kind(row.get("error")))))
            for row in found.values()
        ]
        return ", ".join(w for n, w in enumerate(words) if n == 0 or words[n - 1] != w)

    def _called(self, life: str) -> set[str]:
        return {str(row["record"]) for row in self._rows(life) if row["t"] == "called"}

    def _rows(self, life: str) -> list[dict[str, Any]]:
        """Return the rows of a life's history, whose last line may be incomplete."""
        path, rows = self.history / f"{life}.jsonl", []
        for line in path.read_bytes().splitlines() if path.exists() else ():
            with suppress(ValueError):
                rows.append(json.loads(line))
        return rows


def _kind(error: Any) -> str:
    """Return the name of an error, without its text."""
    text = str(error or "")
    code = _CODE.search(text)
    return code[1] if code else text.partition(":")[0][:_LONGEST]
