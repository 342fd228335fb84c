"""The task of a sender: one task file, and one file with its records.

Both are written by the harness, so that a client in any language sends the
same bytes and needs nothing of ours but a JSON reader. What must be drawn, digested or decided
(which transaction is aborted on purpose) is in the records already.

**Task**, a JSON object: the fields of `SenderTask`.

**Records**, JSON Lines: the fields of `SenderRecord`, in the order in which they are sent. The
place of a line in its file, from 0, is the record's `ordinal`. Records of one transaction stand
together; the numbers of transactions rise by one, from 0.

**A program** takes the path of its task as its last argument, and

* makes a session name `<task.name>/<hex of monotonic nanoseconds>`; an attempt is
  `<session>/<ordinal>`, a transaction `<session>/t<number>`;
* uses `task.name` as its client id, and its client's `murmur2` partitioner on the key;
* gives each record the headers `onceproof-record` and `onceproof-attempt`, UTF-8, and its own;
* appends to `<task.history>/<task.name>.jsonl`, one JSON object a line, each flushed whole:

  `{"t":"called","attempt","record","key","digest","ordinal","session","topic","called_at","clock"}`
  and `"txn"` within a transaction, **before** the client gets the record;

  `{"t":"returned","attempt","returned_at","outcome"}` with `"partition"` and `"offset"` if it is
  `ok`, with `"error"` if it is `fail` (certainly not in the log: never transmitted) or `info`;

  `{"t":"txns","txn","session","transactional_id","outcome","began_at","clock"}`, written again as
  it changes, the last one counts: `outcome` is `info` when it begins; again with `commit_called_at`
  **before** commit is called; and with `ended_at`, and `outcome` `committed` or `aborted` if that
  is certain, or `error`, when it is over;

  `{"t":"clocks","writer":<task.name>,"clock","monotonic_ns","wall_ns"}` at the start;

  times are nanoseconds of CLOCK_MONOTONIC, `clock` is `<boot id>/CLOCK_MONOTONIC`;
* reads its pace from standard input, a line each: `rate R` (records per second, `inf` for as fast
  as it can; 0 before the first order), `enough` (finish the transaction under way, send nothing
  new); at its end (the harness is gone) it exits at once;
* tells its progress on standard output, ten times a second or more while something changes, a JSON
  object a line: `{"called","ok","not_ok","timeouts","done"}`: `ok` counts acknowledged sends, also
  of aborted transactions; `timeouts` maps broker ids to requests that timed out, empty where the
  client does not say; `done` is true in the last line, when every send has an outcome. Then it
  exits with 0. Whatever it logs goes to standard error;
* never sends a record again by itself, and goes on behind a transaction that had to be aborted: its
  records are not sent again. A transaction whose end nobody knows, or an error after which its
  client can send nothing more, is left `info`; it may make a new client, which is a new session.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class SenderTask:
    """The task of one sender.

    Attributes:
        name: its client id, and the name of its history file.
        bootstrap: `host:port,…` of the brokers.
        records: path of the file with its records.
        history: folder that its history goes to.
        client: settings of its client library, in that library's own words.
        transactional_id: None: it sends without transactions.
        resend_seconds: not None: the application sends a record again, under the same attempt, when
            it has no outcome after so long. For broken twins only.
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
    """One record to be sent.

    Attributes:
        record: its identity.
        topic: where it goes.
        key: text; sent as UTF-8.
        value: likewise; None: it has none, which only clients in Python know.
        digest: of key and value as they are sent.
        transaction: number of its transaction; None without transactions.
        abort: the application aborts that transaction on purpose.
        headers: more of them, each with its name and its value; only clients in Python know them.
        encoded: its value in base64, in place of `value`; likewise.
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


def save_records(path: Path, records: Iterable[SenderRecord]) -> None:
    """Write the records of one sender."""
    with path.open("w") as file:
        for record in records:
            file.write(json.dumps(asdict(record)) + "\n")


def load_records(path: Path) -> Iterator[SenderRecord]:
    """The reverse of `save_records`, line by line."""
    with path.open() as file:
        for line in file:
            row = json.loads(line)
            headers = tuple((name, value) for name, value in row.pop("headers"))
            yield SenderRecord(**row, headers=headers)
