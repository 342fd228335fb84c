"""A producer that sends the records of a trial."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from onceproof.checkers import Claim, atomic_append, exactly_once_append
from onceproof.harness.explore.bench.lanes.base import Lane, in_turn, kind_of
from onceproof.harness.workload.control import renumbered
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.task_file import SenderRecord, SenderTask, save_records

_LIVES: Final = 3
"""At most: a client that fails whenever it starts proves nothing more."""
_ABORTED: Final = 3
"""Number of the transaction that the application aborts, if there is another one after it."""


@dataclass(kw_only=True)
class SenderLane(Lane):
    """A producer under test; its name is also that of its topic and transactional id.

    Attributes:
        transactional: whether it sends transactions, or single records.
    """

    role: ClassVar[str] = "producer"
    sender: Sender
    transactional: bool

    def claims(self) -> Sequence[Claim]:
        # A transaction of one record cannot be torn.
        atomic = self.transactional and self.load.records > 1
        return [
            exactly_once_append(self.name),
            *([atomic_append(self.name)] if atomic else []),
        ]

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
        name, around = f"{self.name}-{len(self.lives) + 1}", self.around
        records, task = around.work / f"{name}.records.jsonl", around.work / f"{name}.json"
        save_records(records, renumbered(left))
        SenderTask(
            name=name,
            bootstrap=around.bootstrap,
            records=str(records),
            history=str(around.history),
            client=self.sender.settings(transactional=self.transactional),
            transactional_id=self.name if self.transactional else None,
        ).save(task)
        command = self.sender.command(task, around.tools)
        life = around.processes.start(name, command, pipes=True)
        self.lives.append(life)
        assert life.popen.stdin is not None
        with suppress(OSError):
            life.popen.stdin.write(b"rate inf\n")
            life.popen.stdin.flush()

    def _planned(self, record: SenderRecord) -> SenderRecord:
        abort = record.transaction == _ABORTED and self.load.transactions > _ABORTED + 1
        return replace(record, abort=abort)

    def over(self) -> bool:
        """Return whether it has ended; a life that fails is followed by another one."""
        code = self.lives[-1].popen.poll()
        if code and len(self.lives) < _LIVES:
            self.start()
            return False
        return code is not None

    def perceived(self) -> str:
        found: dict[str, dict[str, Any]] = {}
        for life in self.lives:
            for row in self._rows(life.name):
                if row["t"] == "txns":
                    found[row["txn"]] = row
                elif row["t"] == "returned" and not self.transactional:
                    found[row["attempt"]] = row
        return in_turn(
            [
                " ".join(filter(None, (row["outcome"], kind_of(row.get("error")))))
                for row in found.values()
            ]
        )

    def _called(self, life: str) -> set[str]:
        return {str(row["record"]) for row in self._rows(life) if row["t"] == "called"}

    def _rows(self, life: str) -> list[dict[str, Any]]:
        """Return the rows of a life's history, whose last line may be incomplete."""
        path, rows = self.around.history / f"{life}.jsonl", []
        for line in path.read_bytes().splitlines() if path.exists() else ():
            with suppress(ValueError):
                rows.append(json.loads(line))
        return rows
