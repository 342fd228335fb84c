"""Histories of Jepsen's Kafka workload (`history.edn` of `jepsen.tests.kafka`) in our tables.

Jepsen writes down what clients saw and nothing else. No broker's log, no
positions of consumers, no moment of commit: what our tables say of these is inferred, and where an
inference could convict the innocent, nothing is said.

* **Order and time.** The lines are in the order of events. Times are Jepsen's, made to grow from
  line to line, on one clock `jepsen`.
* **Names.** Jepsen's key is a partition of our one topic; keys that are no numbers are numbered.
  Record k/v is value v of key k: values are unique per key. A session is a process, because Jepsen
  replaces a process whose operation crashed.
* **Transactions.** The history does not say whether the clients used any. Jepsen gives an operation
  more than one micro-operation only then, so one such operation tells, unless the caller knows.
* **Outcomes.** `:info`, and what never came back, is `info`. `:fail` is certain, by Jepsen's own
  contract, but for errors that are known not to be (a timeout, a lost connection, a broker that is
  not the leader: KAFKA-13574): these are taken for `info`, and a note says so. What an `:info`
  transaction sent is `ok` if the broker told so and a committed read proves the commit.
* **Commit.** It cannot have been called before the operation was invoked, and not before the
  operation had done its own polls. So `commit_called_at` is the nanosecond behind the invocation,
  and what an operation polls of its own sends was seen before that. Other reads count from their
  return. Nothing that follows (`precommitted-read`) is then ever said too early.
* **Log.** See `jepsen_log`. **Sessions of readers.** See `jepsen_readers`.
* **To the end.** Jepsen ends with final polls: a fresh client is assigned all keys, from the
  beginning, after the last send, and polls until it has seen the largest offset that is known. Only
  if every key was read like that (or a reader stood still before its end, which is `unseen`) is the
  run whole. Topics must be without retention and compaction, as Jepsen itself assumes.
* **Hazards.** A send or a transaction in doubt, and one that was aborted, put a claim to the test.
  What the nemesis did is not taken over: Jepsen does not say whether it took effect.
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
        topic: what to call the topic whose partitions are Jepsen's keys.
        isolation: what the consumers were configured with.
        transactions: whether the clients used transactions; None: find out.

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
        raise BadImport(path, f"expected a file that can be read: {error.strerror}.") from None
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
    """Look for no garbage: what is read is kept, and looking through it takes time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
