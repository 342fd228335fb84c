"""A file of SQLite as the auditor sees it: with SQLite's own locks, and the kernel's list of them.

Who reads keeps a commit from its end (with the default journal). So a reader
of ours makes a consumer stand still before the first page of its commit is written; the kernel
shows the lock by which it waits. Who writes keeps others from beginning to.
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
from onceproof.harness.sinks.books import Books
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
"""The byte that who is about to commit locks (`PENDING_BYTE`)."""
_LOOK_SECONDS: Final = 0.5
_READ_SECONDS: Final = 20.0


class SqliteAudit:
    """Our way into the file of one run."""

    def __init__(self, path: Path, *, topic: str, owner: str) -> None:
        """`owner` is whose effects and offsets these are."""
        self._path = path
        self._topic = topic
        self._owner = owner
        self._seen: list[Commit] = []

    def prepare(self) -> None:
        with closing(sqlite3.connect(self._path)) as connection:
            connection.executescript(f"{SCHEMA};{_JOURNAL}")

    def look(self) -> list[Commit]:
        with suppress(sqlite3.OperationalError):  # somebody has it for now
            self._seen = commits(self._rows(STORED, _LOOK_SECONDS))
        return self._seen

    def books(self) -> Books:
        return Books(self._rows, topic=self._topic, owner=self._owner, hanging=self._hanging)

    def journal(self) -> list[dict[str, Any]]:
        """None is kept."""
        return []

    def hold_commit(self, who: Process) -> HeldCommit:
        return HeldCommit(self._path, who)

    def hold_with_work(self, who: Process) -> HeldBegin:
        """At its beginning: later it would have locks that all others wait for."""
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
    """The next commit of one consumer."""

    begun: ClassVar[bool] = True

    def __init__(self, path: Path, who: Process) -> None:
        """Wait for it: read, so that nobody's commit comes to its end."""
        self._path = path
        self._who = who
        self._reader = _open(path, seconds=_READ_SECONDS)
        self._read()

    def caught(self) -> str | None:
        """The lock by which it waits for us to have read; another's commit is let go."""
        holder = {pid for pid, first, _ in locks(self._path) if first == _PENDING}
        if not holder:
            return None
        if holder != {self._who.popen.pid}:
            self._reader.execute("ROLLBACK")
            self._read()
            return None
        return (
            f"{self._who.instance} stood still amid its COMMIT: it had the pending lock of "
            f"{self._path.name}"
        )

    def hinders(self) -> bool:
        """Nobody can even read while a commit is pending."""
        return bool(holders(self._path, self._who))

    def awaited(self) -> str | None:
        """Everybody waits for the one lock there is; nobody is seen to."""
        return None

    def next(self) -> None:
        """Read again when this one is done."""
        self._reader.execute("ROLLBACK")
        self._read()

    def let_go(self) -> str:
        """Stop reading."""
        self.close()
        return "it went on"

    def undo(self) -> str:
        """Stop reading; whoever is dead by then has changed nothing: its pages were not written.

        Raises:
            StageTrouble: the consumer lives.
        """
        if self._who.leader_alive():
            raise StageTrouble(f"{self._who.instance} lives, so its commit comes to its end")
        self.close()
        return "we had read all the while, so nothing of it was written"

    def close(self) -> None:
        self._reader.close()

    def _read(self) -> None:
        self._reader.execute("BEGIN")
        self._reader.execute("SELECT count(*) FROM offsets").fetchall()


class HeldBegin:
    """Every transaction, kept from beginning."""

    begun: ClassVar[bool] = False

    def __init__(self, path: Path, who: Process) -> None:
        """Be the one who writes."""
        self._path = path
        self._who = who
        self._writer = _open(path, seconds=_READ_SECONDS)
        self._writer.execute("BEGIN IMMEDIATE")

    def caught(self) -> str | None:
        """That nobody else can write is all that can be seen: who waits looks now and then."""
        return f"nobody could begin to write into {self._path.name}"

    def hinders(self) -> bool:
        """Whether it has some lock: it looks at the file for a moment, now and then."""
        return bool(holders(self._path, self._who))

    def awaited(self) -> str | None:
        """It cannot be seen."""
        return None

    def next(self) -> None:
        """Nothing has begun: all that is in hand still is."""

    def let_go(self) -> str:
        """Stop writing; nothing was written."""
        self.close()
        return "others could write again"

    def undo(self) -> str:
        """There is nothing yet.

        Raises:
            StageTrouble: always.
        """
        raise StageTrouble("no transaction was begun that could be rolled back")

    def close(self) -> None:
        self._writer.close()


def locks(path: Path) -> list[tuple[int, int, int]]:
    """Process, first and last byte of every lock for writing on a file, as the kernel tells."""
    return [(pid, first, last) for kind, pid, first, last in _all_locks(path) if kind == "WRITE"]


def holders(path: Path, who: Process) -> list[tuple[str, int, int, int]]:
    """Every lock that a process has on a file."""
    return [lock for lock in _all_locks(path) if lock[1] == who.popen.pid]


def _all_locks(path: Path) -> list[tuple[str, int, int, int]]:
    status = path.stat()
    there = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    found = []
    for line in Path("/proc/locks").read_text().splitlines():
        # 1: POSIX  ADVISORY  WRITE 4711 08:01:123 1073741824 1073741825
        words = line.split()
        if words[1] == "POSIX" and words[5] == there:
            last = words[7]
            found.append(
                (words[3], int(words[4]), int(words[6]), 2**63 if last == "EOF" else int(last))
            )
    return found


def _open(path: Path, *, seconds: float) -> sqlite3.Connection:
    """A connection that whichever thread heals a fault may close."""
    return sqlite3.connect(path, timeout=seconds, isolation_level=None, check_same_thread=False)
