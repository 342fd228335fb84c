"""A bare librdkafka producer that is timed: `python -m onceproof.harness.cost.load TASK`.

TASK is JSON: `client` (settings), `topic`, `size`, `commit_every` and `nap` (seconds; null and 0
without transactions). Each line of standard input is an order, `{"rate": R, "seconds": S, "block":
B}`, and is answered by a line when all its records are committed: `sent`, `seconds`,
`transactions`, `transaction`, `napped`, and `late`, how far behind its schedule it was at most.
`transactions` are those that lasted as long as they should; the last one is cut short by the end of
the order. `transaction` is how long the median one of them took, and `napped` how long it slept.

With a rate, record i is due at the start plus i/R, and carries that time, also if it is sent late.
Without one, the next record is due as soon as the client takes it. `harness/java/Load.java` does
the same with Kafka's own client.
"""

from __future__ import annotations

import json
import statistics
import struct
import sys
import time
from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import Producer

HEAD: Final = struct.Struct(">qi")
"""When a record is due, in nanoseconds of the monotonic clock, and its block."""
_AHEAD: Final = 0.001
"""Seconds that a client is given to work while no record is due."""


class Load:
    """One producer."""

    def __init__(self, task: Mapping[str, Any]) -> None:
        self._topic = str(task["topic"])
        self._filler = b"x" * (int(task["size"]) - HEAD.size)
        self._commit_every = task["commit_every"]
        self._nap = float(task["nap"])
        self._producer = Producer({**task["client"], "log_level": 0})
        if self._commit_every is not None:
            self._producer.init_transactions(60)

    def carry_out(self, *, rate: float | None, seconds: float, block: int) -> dict[str, float]:
        took: list[float] = []
        slept: list[float] = []
        began = time.monotonic_ns()
        ends = began + int(seconds * 1e9)
        commit_at = self._begin(began)
        gap = 0.0 if rate is None else 1e9 / rate
        wanted = None if rate is None else int(rate * seconds)
        sent, late = 0, 0
        while True:
            now = time.monotonic_ns()
            if commit_at is not None and now >= commit_at:
                slept.append(self._commit())
                took.append(self._commit_every + (time.monotonic_ns() - commit_at) / 1e9)
                commit_at = self._begin(time.monotonic_ns())
                continue
            if now >= ends if wanted is None else sent >= wanted:
                break
            due = now if wanted is None else began + int(sent * gap)
            if due > now:
                soon = due if commit_at is None else min(due, commit_at)
                self._producer.poll(min(_AHEAD, max(0.0, (soon - now) / 1e9)))
                continue
            late = max(late, now - due)
            if self._send(due, block):
                sent += 1
        if commit_at is not None:
            self._commit()
        else:
            self._producer.flush()
        return {
            "sent": sent,
            "seconds": (time.monotonic_ns() - began) / 1e9,
            "transactions": len(took),
            "transaction": statistics.median(took or [0.0]),
            "napped": statistics.median(slept or [0.0]),
            "late": late / 1e9,
        }

    def _send(self, due: int, block: int) -> bool:
        try:
            self._producer.produce(self._topic, HEAD.pack(due, block) + self._filler)
        except BufferError:
            self._producer.poll(_AHEAD)
            return False
        return True

    def _begin(self, now: int) -> int | None:
        """Begin a transaction; return when it is to be committed."""
        if self._commit_every is None:
            return None
        self._producer.begin_transaction()
        return now + int(self._commit_every * 1e9)

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
