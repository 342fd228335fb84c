"""Delete the oldest records of a partition, as retention does to a slow consumer.

A consumer that has not read them must not continue silently: Spark fails its query
(`failOnDataLoss`), other consumers get an out-of-range offset and apply `auto.offset.reset`, of
which only `none` does not skip silently. Checkers treat the missing effects as undecided, not lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext, addresses
from onceproof.harness.faults.cluster.coordinated import partition
from onceproof.harness.faults.words import UnknownFault, Word, amount
from onceproof.harness.kafka.deleting import delete_records
from onceproof.harness.kafka.log_reader import UnreadableLog
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import wait_until

_ALL: Final = "all"


def _offset(word: str) -> int | None:
    try:
        return None if word == _ALL else amount(word)
    except UnknownFault as error:
        raise UnknownFault(f"{error}, or {_ALL}") from None


@dataclass(frozen=True, kw_only=True)
class DeleteRecords:
    """Delete the records of a partition before an offset, or all: a consumer that has not read them
    must not continue as if nothing had happened.
    """

    example: ClassVar[str] = "delete-records payments-0 1000"
    kind: ClassVar[str] = "surgery"
    needs = None
    topic: Annotated[str, Word("TOPIC-PARTITION", partition, also="partition")]
    partition: int
    before: Annotated[int | None, Word("OFFSET|all", _offset)] = None
    """The first offset that is kept; None deletes all committed records."""

    def describe(self) -> str:
        until = "" if self.before is None else f" before offset {self.before}"
        return f"delete the records of {self.topic}-{self.partition}{until}"

    def inject(self, context: RunContext, name: str) -> _Deleted:
        return _Deleted(context, self, name)


class _Deleted:
    def __init__(self, context: RunContext, fault: DeleteRecords, name: str) -> None:
        self._context = context
        self._fault = fault
        self._name = name
        self._at = (fault.topic, fault.partition)
        self.target = f"{fault.topic}-{fault.partition}"
        with context.reader() as reader:
            self._before = reader.first(*self._at)
            stable, _ = reader.ends(fault.topic)[fault.partition]
            self._first = stable if fault.before is None else fault.before
            if not self._before < self._first <= stable:
                raise StageTrouble(
                    f"cannot delete the records of {self.target} before offset {self._first}: its "
                    f"log starts at {self._before} and its last stable offset is {stable}"
                )
            log = reader.read(*self._at)
        self._records = sum(e.kind == "data" and e.offset < self._first for e in log.entries)
        self.at = now()
        wait_until(
            self._delete,
            what=f"every replica of {self.target} to delete its records before {self._first}",
            seconds=40,
            every=0.2,
            stop=context.stop,
        )
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Return where the log now begins, once no record before that is readable."""
        if self._proof is None:
            with self._context.reader() as reader:
                try:
                    first = reader.first(*self._at)
                    left = reader.read(*self._at).entries
                except UnreadableLog:
                    return None
            if first < self._first or (left and left[0].offset < self._first):
                return None
            self._proof = (
                f"{self.target} starts at offset {first} instead of {self._before}: "
                f"{self._records} records were deleted"
            )
            self._context.recorder.hazard(
                "deleted-records", hop="process", fault=self._name, at=self.at, detail=self._proof
            )
        return self._proof

    def heal(self) -> None:
        """Wait until the remaining log is readable. The deleted records are not restored."""

        def readable() -> bool:
            with self._context.reader() as reader:
                try:
                    reader.read(*self._at)
                except UnreadableLog:
                    return False
            return True

        wait_until(
            readable, what=f"{self.target} to be readable", seconds=40, stop=self._context.stop
        )

    def _delete(self) -> bool:
        with self._context.view() as view:
            leader = view.leader(*self._at)
        if leader is None:
            return False
        try:
            return (
                delete_records(
                    addresses(self._context.stage)[leader], *self._at, before=self._first
                )
                >= self._first
            )
        except OSError:
            return False
