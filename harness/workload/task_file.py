"""The protocol between the harness and producer programs: a task file and a file of records.

The harness writes both, so that a client in any language sends the same bytes and needs only a JSON
reader. Random choices, digests and decisions (which transaction to abort) are already in the
records.

**Task**, a JSON object: the fields of `SenderTask`.

**Records**, JSON Lines: the fields of `SenderRecord`, in the order of sending. A record's `ordinal`
is its line number, from 0. Records of a transaction are consecutive; transactions are numbered from
0 without gaps.

**A program** gets the path of its task as its last argument, and

* names its session `<task.name>/<hex of monotonic nanoseconds>`, an attempt `<session>/<ordinal>`,
  and a transaction `<session>/t<number>`;
* uses `task.name` as client id, and the client's `murmur2` partitioner on the key;
* gives each record the headers `onceproof-record` and `onceproof-attempt`, in UTF-8, and its own;
* appends JSON Lines to `<task.history>/<task.name>.jsonl`, each flushed as a whole:

  `{"t":"called","attempt","record","key","digest","ordinal","session","topic","called_at","clock"}`
  and `"txn"` within a transaction, **before** the client gets the record;

  `{"t":"returned","attempt","returned_at","outcome"}` with `"partition"` and `"offset"` for `ok`,
  and `"error"` for `fail` (certainly not in the log: never transmitted) or `info`;

  `{"t":"txns","txn","session","transactional_id","outcome","began_at","clock"}`, of which the last
  line counts: with `outcome` `info` at the beginning; with `commit_called_at` **before** commit is
  called; at the end with `ended_at`, and `outcome` `committed` or `aborted` if certain, or `error`;

  `{"t":"clocks","writer":<task.name>,"clock","monotonic_ns","wall_ns"}` at the start;

  times are nanoseconds of CLOCK_MONOTONIC, `clock` is `<boot id>/CLOCK_MONOTONIC`;
* reads orders from standard input, one per line: `rate R` (records per second, `inf` for as fast as
  possible; initially 0), `enough` (finish the current transaction, send nothing new); at the end of
  input (the harness has exited) it exits at once;
* reports progress on standard output, at least ten times a second while something changes, as lines
  `{"called","ok","not_ok","timeouts","done"}`: `ok` counts acknowledged sends, also in aborted
  transactions; `timeouts` maps broker ids to timed-out requests, empty if the client does not count
  them; `done` is true in the last line, when every send has an outcome. Then it exits with 0. Logs
  go to standard error;
* never sends a record again by itself, and continues after a transaction that had to be aborted
  without resending it. A transaction with an unknown outcome, or with an error after which the
  client cannot send, remains `info`; the program may then create a new client, in a new session.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class SenderTask:
    """The task of one sender.

    Attributes:
        name: the client id, and the name of the history file.
        records: path of the records file.
        history: folder of the history file.
        client: settings, by the client library's names.
        resend_seconds: seconds without an outcome after which the application sends a record again
            under the same attempt; None: never. For broken twins only.
    """

    name: str
    bootstrap: str
    records: str
    history: str
    client: Mapping[str, Any] = field(default_factory=dict)
    transactional_id: str | None = None
    resend_seconds: float | None = None

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> SenderTask:
        return cls(**json.loads(path.read_text()))


@dataclass(frozen=True, kw_only=True)
class SenderRecord:
    """One record to send; keys and values are sent as UTF-8.

    Attributes:
        record: its identity.
        value: None: no value, which only Python clients support.
        digest: of key and value, as sent.
        transaction: number of its transaction; None without transactions.
        abort: whether the application aborts that transaction on purpose.
        headers: additional headers by name, which only Python clients support.
        encoded: the value in base64, instead of `value`; only Python clients support it.
    """

    record: str
    topic: str
    key: str
    value: str | None
    digest: str
    transaction: int | None = None
    abort: bool = False
    headers: tuple[tuple[str, str | None], ...] = ()
    encoded: str | None = None

    @property
    def value_sent(self) -> bytes | None:
        """The bytes of the value."""
        if self.encoded is not None:
            return b64decode(self.encoded)
        return None if self.value is None else self.value.encode()


def save_records(path: Path, records: Iterable[SenderRecord]) -> None:
    with path.open("w") as file:
        for record in records:
            file.write(json.dumps(asdict(record)) + "\n")


def load_records(path: Path) -> Iterator[SenderRecord]:
    with path.open() as file:
        for line in file:
            row = json.loads(line)
            headers = tuple((name, value) for name, value in row.pop("headers"))
            yield SenderRecord(**row, headers=headers)
