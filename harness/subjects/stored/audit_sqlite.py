"""The auditor's access to a SQLite file, by SQLite's own locks and the kernel's list of them.

In the default journal mode a reader blocks the end of a commit. So a reader of ours holds a commit
before its first page is written, and the kernel shows the committer's lock. A writer of ours keeps
others from beginning a transaction.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.sinks.books import LedgerAndBalances
from onceproof.harness.subjects.stored.audit import STORED, commits
from onceproof.harness.subjects.stored.sqlite import SCHEMA

_JOURNAL: Final = """
CREATE TABLE stored_offsets (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT, partition_id INTEGER, next_offset INTEGER);
CREATE TRIGGER note_offset AFTER UPDATE ON offsets BEGIN
    INSERT INTO stored_offsets (topic, partition_id, next_offset)
    VALUES (NEW.topic, NEW.partition_id, NEW.next_offset);
END
"""
_PENDING: Final = 0x40000000
"""The byte that a committer locks (`PENDING_BYTE`)."""
_LOOK_SECONDS: Final = 0.5
_READ_SECONDS: Final = 20.0


class SqliteAudit:
    """The auditor's access to the file of one run."""

    def __init__(self, path: Path, *, topic: str, owner: str) -> None:
        self._path = path
        self._topic = topic
        self._owner = owner
        self._seen: list[Commit] = []

    def prepare(self) -> None:
        with closing(sqlite3.connect(self._path)) as connection:
            connection.executescript(f"{SCHEMA};{_JOURNAL}")

    def look(self) -> list[Commit]:
        with suppress(sqlite3.OperationalError):  # the file is locked now
            self._seen = commits(self._rows(STORED, _LOOK_SECONDS))
        return self._seen

    def books(self) -> LedgerAndBalances:
        return LedgerAndBalances(
            self._rows, topic=self._topic, owner=self._owner, hanging=self._hanging
        )

    def journal(self) -> list[dict[str, Any]]:
        return []

    def hold_commit(self, who: Process) -> HeldCommit:
        return HeldCommit(self._path, who)

    def hold_with_work(self, who: Process) -> HeldBegin:
        """Hold it before it begins: after that, its locks would block all others."""
        return HeldBegin(self._path, who)

    def _hanging(self) -> bool:
        with closing(_open(self._path, seconds=0)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
            except sqlite3.OperationalError:
                return True
        return False

    def _rows(self, query: str, seconds: float = _READ_SECONDS) -> list[tuple[Any, ...]]:
        with closing(_open(self._path, seconds=seconds)) as connection:
            return connection.execute(query).fetchall()


class HeldCommit:
    """Holds the next commit of one consumer."""

    begun: ClassVar[bool] = True

    def __init__(self, path: Path, who: Process) -> None:
        """Start to read, so that no commit can finish."""
        self._path = path
        self._who = who
        self._reader = _open(path, seconds=_READ_SECONDS)
        self._read()

    def caught(self) -> str | None:
        """Return the lock with which it waits for our reader; release another consumer's commit."""
        holder = {pid for pid, first, _ in locks(self._path) if first == _PENDING}
        if not holder:
            return None
        if holder != {self._who.popen.pid}:
            self._reader.execute("ROLLBACK")
            self._read()
            return None
        return (
            f"{self._who.instance} was held during its COMMIT: it had the pending lock on "
            f"{self._path.name}"
        )

    def hinders(self) -> bool:
        """Return whether it has a lock: nobody can even read while a commit is pending."""
        return bool(holders(self._path, self._who))

    def awaited(self) -> str | None:
        """Return None: all others wait for the same lock, and no waiter is visible."""
        return None

    def next(self) -> None:
        self._reader.execute("ROLLBACK")
        self._read()

    def let_go(self) -> str:
        self.close()
        return "its commit continued"

    def undo(self) -> str:
        """Stop reading; a consumer that is dead by now has changed nothing: no page was written.

        Raises:
            StageTrouble: the consumer is alive.
        """
        if self._who.leader_alive():
            raise StageTrouble(f"{self._who.instance} is running, so its commit will complete")
        self.close()
        return "the harness held a read lock until its end, so nothing was written"

    def close(self) -> None:
        self._reader.close()

    def _read(self) -> None:
        self._reader.execute("BEGIN")
        self._reader.execute("SELECT count(*) FROM offsets").fetchall()


class HeldBegin:
    """Keeps every transaction from beginning."""

    begun: ClassVar[bool] = False

    def __init__(self, path: Path, who: Process) -> None:
        self._path = path
        self._who = who
        self._writer = _open(path, seconds=_READ_SECONDS)
        self._writer.execute("BEGIN IMMEDIATE")

    def caught(self) -> str | None:
        """Return that others cannot write: a waiting consumer only polls, so it is not visible."""
        return f"no write transaction could begin in {self._path.name}"

    def hinders(self) -> bool:
        """Return whether it has a lock, as it does for a moment whenever it polls."""
        return bool(holders(self._path, self._who))

    def awaited(self) -> str | None:
        """Return None: no waiter is visible."""
        return None

    def next(self) -> None:
        """Do nothing: no transaction has begun, so the consumer still has its records in hand."""

    def let_go(self) -> str:
        """End our transaction, which wrote nothing."""
        self.close()
        return "write transactions could begin again"

    def undo(self) -> str:
        """Fail: no transaction has begun that could be rolled back.

        Raises:
            StageTrouble: always.
        """
        raise StageTrouble("no transaction has begun that could be rolled back")

    def close(self) -> None:
        self._writer.close()


def locks(path: Path) -> list[tuple[int, int, int]]:
    """Return process id, first and last byte of the kernel's write locks on a file."""
    return [(pid, first, last) for kind, pid, first, last in _all_locks(path) if kind == "WRITE"]


def holders(path: Path, who: Process) -> list[tuple[str, int, int, int]]:
    """Return every lock that a process has on a file."""
    return [lock for lock in _all_locks(path) if lock[1] == who.popen.pid]


def _all_locks(path: Path) -> list[tuple[str, int, int, int]]:
    status = path.stat()
    inode = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    found = []
    for line in Path("/proc/locks").read_text().splitlines():
        # 1: POSIX  ADVISORY  WRITE 4711 08:01:123 1073741824 1073741825
        words = line.split()
        if words[1] == "POSIX" and words[5] == inode:
            last = words[7]
            found.append(
                (words[3], int(words[4]), int(words[6]), 2**63 if last == "EOF" else int(last))
            )
    return found


def _open(path: Path, *, seconds: float) -> sqlite3.Connection:
    """Open a connection that any thread may close, because any may heal a fault."""
    return sqlite3.connect(path, timeout=seconds, isolation_level=None, check_same_thread=False)
