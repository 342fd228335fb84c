"""A forwarder by Valkey's streams, one entry at a time.

It first reads what is pending for it, then claims what is pending for others for too long, then
reads new entries. After any error it connects again.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, Final

from valkey import Valkey
from valkey.exceptions import ValkeyError

from onceproof.harness.clock import now
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.queues.connections import consumers_of
from onceproof.harness.subjects.group.effect import effect_of
from onceproof.harness.subjects.group.life import say
from onceproof.harness.subjects.queue.moments import (
    AFTER_COMMIT,
    BEFORE_COMMIT,
    BEFORE_WRITE,
    Moments,
)
from onceproof.harness.subjects.queue.task import ForwarderTask
from onceproof.harness.valkey.client import connect
from onceproof.harness.valkey.configuration import GROUP, IDLE_MS

_BLOCK_MS: Final = 500
_PAUSE: Final = 0.1
_RECORD, _KEY = "onceproof_record", "onceproof_key"
_SCRIPT: Final = """
if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 0 then
  return 0
end
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 3))
return 1
"""
"""Add the effect only if the entry was still pending, so that a zombie has no effect."""
Entry = tuple[str, dict[str, str]]


class Forwarder:
    """One life of a forwarder, with one connection after another."""

    def __init__(self, task: ForwarderTask) -> None:
        self._task = task
        self._moments = Moments(Path(task.work), task.name)
        self._history = HistoryWriter(Path(task.history), task.name)

    def run(self) -> None:
        while True:
            try:
                self._connected()
            except (ValkeyError, OSError) as error:
                say(f"reconnecting: {type(error).__name__}: {error}")
                time.sleep(_PAUSE)  # between attempts, as any client waits

    def _connected(self) -> None:
        task = self._task
        with connect(task.broker, f"{consumers_of(task.source)}{task.name}") as client:
            while entry := self._read(client, "0"):
                self._forward(client, entry)
            while True:
                entry = self._claimed(client) or self._read(client, ">")
                if entry is not None:
                    self._forward(client, entry)

    def _read(self, client: Valkey, after: str) -> Entry | None:
        """Return an entry that is pending for this forwarder (`0`), or a new one (`>`)."""
        found: Any = client.xreadgroup(
            GROUP,
            self._task.name,
            {self._task.source: after},
            count=1,
            block=_BLOCK_MS,
            noack=self._task.acknowledge == "auto",
        )
        return next((entry for _, entries in found or () for entry in entries), None)

    def _claimed(self, client: Valkey) -> Entry | None:
        task = self._task
        found: Any = client.xautoclaim(task.source, GROUP, task.name, IDLE_MS, count=1)
        return next(iter(found[1]), None)

    def _forward(self, client: Valkey, entry: Entry) -> None:
        (place, fields), task = entry, self._task
        record = fields[_RECORD]
        self._record("delivered", record)
        marked = task.duplicate_ids and not client.set(f"{task.sink}:{record}", place, nx=True)
        if marked:
            self._record("dropped", record)
        self._moments.reached(BEFORE_WRITE, record)
        effect = {
            "value": effect_of(fields["value"].encode()).decode(),
            _RECORD: record,
            _KEY: fields[_KEY],
        }
        if task.acknowledge == "scripted":
            self._moments.reached(BEFORE_COMMIT, record)
            words = [word for field in effect.items() for word in field]
            done = client.eval(_SCRIPT, 2, task.source, task.sink, GROUP, place, *words)
            self._record("written" if done else "dropped", record)
        elif task.acknowledge == "transacted":
            with client.pipeline(transaction=True) as transaction:
                transaction.xadd(task.sink, effect)
                transaction.xack(task.source, GROUP, place)
                self._moments.reached(BEFORE_COMMIT, record)
                transaction.execute()
            self._record("written", record)
        else:
            if not marked:
                client.xadd(task.sink, effect)
                self._record("written", record)
            self._moments.reached(BEFORE_COMMIT, record)
            if task.acknowledge == "client":
                client.xack(task.source, GROUP, place)
        self._moments.reached(AFTER_COMMIT, record)

    def _record(self, kind: str, record: str) -> None:
        self._history.write_all(kind, [{"record": record, "by": self._task.name, "at": now()}])


def main() -> None:
    Forwarder(ForwarderTask.load(Path(sys.argv[-1]))).run()
