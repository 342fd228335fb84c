"""Import histories of Jepsen's Kafka workload (`history.edn` of `jepsen.tests.kafka`).

Jepsen records only what clients saw: no broker log, no committed offsets, no time of commit. The
importer infers these, except where an inference could produce a false violation.

* **Order and time.** The lines are in the order of events. Times are Jepsen's, made to increase
  from line to line, on one clock `jepsen`.
* **Names.** A Jepsen key is a partition of our one topic; keys that are not numbers are numbered.
  Record k/v is value v of key k: values are unique per key. A session is a process, because Jepsen
  replaces a process whose operation crashed.
* **Transactions.** Jepsen gives an operation more than one micro-operation only if the clients use
  transactions, so one such operation decides, unless the caller does.
* **Outcomes.** `:info`, and an operation that never completed, is `info`. `:fail` is certain by
  Jepsen's contract, except for errors known to be uncertain (a timeout, a lost connection, a broker
  that is not the leader: KAFKA-13574), which become `info` with a note. A send in an `:info`
  transaction is `ok` if the broker acknowledged it and a committed read proves the commit.
* **Commit.** It cannot have been called before the operation was invoked, nor before its own polls.
  So `commit_called_at` is one nanosecond after the invocation, and what an operation polls of its
  own sends was seen before that. Other reads count from their completion. This way
  `precommitted-read` is never reported too early.
* **To the end.** Jepsen ends with final polls: after the last send a fresh client is assigned all
  keys from the beginning, and polls until it has seen the largest known offset. The run is complete
  only if every key was read like that (or a reader stopped before its end, which is `unseen`). As
  Jepsen assumes, topics have no retention or compaction.
* **Hazards.** A send or transaction in doubt, and an aborted transaction, exercise a claim. The
  nemesis is not imported: Jepsen does not record whether it took effect.

`jepsen_log` describes the log, `jepsen_readers` the sessions of readers.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onceproof.checkers.imports.errors import BadImport
from onceproof.checkers.imports.imported import Imported
from onceproof.checkers.imports.jepsen_events import Events
from onceproof.checkers.imports.jepsen_file import operations
from onceproof.checkers.imports.jepsen_tables import Isolation, tables

__all__ = ["Isolation", "read_jepsen"]


def read_jepsen(
    path: str | Path,
    *,
    topic: str = "jepsen",
    isolation: Isolation = "read_committed",
    transactions: bool | None = None,
) -> Imported:
    """Read a history of Jepsen's Kafka workload.

    Args:
        path: `history.edn`.
        topic: the name for the topic whose partitions are Jepsen's keys.
        isolation: the consumers' isolation level.
        transactions: whether the clients used transactions; None: infer it.

    Raises:
        BadImport: the file cannot be read, is not EDN, or not a history of this workload.
    """
    with _all_kept():
        return _read(Path(path), topic, isolation, transactions)


def _read(path: Path, topic: str, isolation: Isolation, transactions: bool | None) -> Imported:
    events = Events(path)
    try:
        with path.open("rb") as file:
            for operation in operations(file, path, events.names):
                events.take(operation)
    except OSError as error:
        raise BadImport(path, f"cannot read the file: {error.strerror}.") from None
    if not events.counts["operations"]:
        raise BadImport(
            path,
            "expected operations of Jepsen's Kafka workload, found none. Give the `history.edn` "
            "of a test.",
        )
    events.finish()
    return tables(events, topic=topic, isolation=isolation, transactions=transactions)


@contextmanager
def _all_kept() -> Iterator[None]:
    """Disable garbage collection: everything that is read is kept, and collecting takes time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
