"""A bare librdkafka producer that is timed: `python -m onceproof.harness.cost.load TASK`.

TASK is JSON: `client` (settings), `topic`, `size`, and, for transactions, `commit_every` (seconds)
or `commit_records`, and `nap` (seconds of sleep after each commit). A value is a stamp, filled up
to `size`; with `around`, a pair of texts, it is the stamp between these, and records have `keys`
different keys in turn. Each line of standard input is
an order, `{"rate": R, "count": N, "seconds": S, "delay": D, "block": B}`, and is answered by a line
when all its records are committed: `sent`, `began` (nanoseconds of the monotonic clock), `seconds`,
`transactions`, `transaction`, `napped`, and `late`, how far behind its schedule it was at most.
`transactions` are those that lasted as long as they should; the last one is cut short by the end of
the order. `transaction` is how long the median one of them took, and `napped` how long it slept.

With a rate, record i is due at the start plus i/R, is sent D seconds later, and carries the time
when it was due, also if it is sent late. Without one, the next record is due as soon as the client
takes it. The order ends after N records, or without N after S seconds. `harness/java/Load.java`
does the same with Kafka's own client, and `harness/artemis/QueueLoad.java` with JMS, but for
`around` and `keys`.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import Producer

from onceproof.harness.cost.stamp import stamp

_AHEAD: Final = 0.001
"""Seconds that a client is given to work while no record is due. With less, librdkafka returns at
once, and this process would take a processor from the brokers."""
_NEVER: Final = 1 << 62


class Load:
    """One producer."""

    def __init__(self, task: Mapping[str, Any]) -> None:
        self._topic = str(task["topic"])
        self._size = int(task["size"])
        self._before, self._after = (text.encode() for text in task.get("around") or ("", ""))
        self._keys = [b"customer-%05d" % number for number in range(task.get("keys") or 0)]
        self._records = task.get("commit_records") or _NEVER
        every = task.get("commit_every")
        self._every = int(every * 1e9) if every else _NEVER
        self._transactional = min(self._records, self._every) < _NEVER
        self._nap = float(task.get("nap") or 0.0)
        self._producer = Producer({**task["client"], "log_level": 0})
        if self._transactional:
            self._producer.init_transactions(60)

    def carry_out(
        self,
        *,
        rate: float | None,
        count: int | None,
        seconds: float,
        delay: float,
        block: int,
    ) -> dict[str, float]:
        took: list[float] = []
        slept: list[float] = []
        began = opened = self._begin()
        ends = began + int(seconds * 1e9) if count is None else _NEVER
        wanted = _NEVER if count is None else count
        gap = 0.0 if rate is None else 1e9 / rate
        waits = int(delay * 1e9)
        sent = committed = late = 0
        while True:
            now = time.monotonic_ns()
            if sent - committed >= self._records or now >= opened + self._every:
                slept.append(self._commit())
                took.append((time.monotonic_ns() - opened) / 1e9)
                committed, opened = sent, self._begin()
                continue
            if now >= ends or sent >= wanted:
                break
            due = now if rate is None else began + int(sent * gap)
            if due + waits > now and rate is not None:
                self._producer.poll(_AHEAD)
                continue
            late = max(late, now - due - waits)
            if self._send(stamp(due, block, sent), sent):
                sent += 1
        if self._transactional:
            self._commit()
        else:
            self._producer.flush()
        return {
            "sent": sent,
            "began": began,
            "seconds": (time.monotonic_ns() - began) / 1e9,
            "transactions": len(took),
            "transaction": statistics.median(took or [0.0]),
            "napped": statistics.median(slept or [0.0]),
            "late": late / 1e9,
        }

    def _send(self, stamped: bytes, number: int) -> bool:
        value = (self._before + stamped + self._after).ljust(self._size, b"x")
        key = self._keys[number % len(self._keys)] if self._keys else None
        try:
            self._producer.produce(self._topic, value, key)
        except BufferError:
            self._producer.poll(_AHEAD)
            return False
        return True

    def _begin(self) -> int:
        """Begin a transaction, if it has any; return the time."""
        if self._transactional:
            self._producer.begin_transaction()
        return time.monotonic_ns()

    def _commit(self) -> float:
        """Commit; return how long it slept afterwards, in seconds."""
        self._producer.commit_transaction(60)
        # Not before the commit: there the client sends meanwhile, which hides the sleep.
        if not self._nap:
            return 0.0
        before = time.monotonic()
        time.sleep(self._nap)
        return time.monotonic() - before


def say(answer: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    load = Load(json.loads(sys.argv[1]))
    say({"ready": True})
    for line in sys.stdin:
        say(load.carry_out(**json.loads(line)))


if __name__ == "__main__":
    main()
