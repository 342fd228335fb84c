"""Generate Jepsen Kafka histories of any size from a small simulated cluster.

They have no anomalies and end with final polls. Like real histories, they contain aborted and
in-doubt transactions, offset gaps, crashes, reassignments, empty polls and a nemesis.
`python generate.py 100000 FILE` writes a file.
"""

from __future__ import annotations

import random
import sys
from bisect import bisect, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_MAX_POLL_RECORDS = 8


@dataclass
class _Client:
    process: int
    positions: dict[int, int] = field(default_factory=dict)
    pending: Iterator[str] = field(default_factory=lambda: iter(()))


class Cluster:
    """Logs of (offset, value) by key, and clients that send and poll."""

    def __init__(self, *, keys: int = 8, clients: int = 5, seed: int = 1) -> None:
        self.random = random.Random(seed)
        self.logs: dict[int, list[tuple[int, int]]] = {key: [] for key in range(keys)}
        self.ends = dict.fromkeys(self.logs, 0)
        self.open: dict[int, set[int]] = {key: set() for key in self.logs}
        """Offsets of open transactions, which readers must not reach."""
        self.values = dict.fromkeys(self.logs, 0)
        self.clients = [_Client(process) for process in range(clients)]
        self.next_process = clients
        self.index = 0
        self.time = 1_000_000

    def operations(self, number: int) -> Iterator[str]:
        """Yield about `number` lines: the workload, then final polls."""
        # Leave room for the lines of the final polls.
        while self.index + self._final_lines() < number:
            client = self.random.choice(self.clients)
            line = next(client.pending, None)
            if line is not None:
                yield line
                continue
            chance = self.random.random()
            if chance < 0.02 or not client.positions:
                client.pending = self._assign(client)
            elif chance < 0.03:
                client.pending = self._crash(client)
            elif chance < 0.032:
                for _ in range(2):
                    yield self._line(":nemesis", "info", "kill", "nil")
            else:
                client.pending = self._transaction(client)
        for client in self.clients:
            yield from client.pending
        yield from self._final_polls()

    def _final_lines(self) -> int:
        return 6 + 2 * sum(
            -(-len(log) // (4 * _MAX_POLL_RECORDS)) + 1 for log in self.logs.values()
        )

    def _assign(self, client: _Client) -> Iterator[str]:
        keys = self.random.sample(sorted(self.logs), min(3, len(self.logs)))
        value = f"[{' '.join(map(str, keys))}]"
        yield self._line(client.process, "invoke", "assign", value)
        yield self._line(client.process, "ok", "assign", value)
        client.positions = {key: client.positions.get(key, 0) for key in keys}

    def _crash(self, client: _Client) -> Iterator[str]:
        yield self._line(client.process, "invoke", "crash", "nil")
        yield self._line(client.process, "info", "crash", "nil")
        self._replace(client)

    def _replace(self, client: _Client) -> None:
        client.process, self.next_process = self.next_process, self.next_process + 1
        client.positions = {}

    def _transaction(self, client: _Client) -> Iterator[str]:
        steps = [self.random.choice(("send", "poll")) for _ in range(self.random.randint(1, 4))]
        f = steps[0] if len(set(steps)) == 1 else "txn"
        roll = self.random.random()
        outcome = "ok" if roll < 0.93 else "fail" if roll < 0.97 else "info"
        takes_effect = outcome == "ok" or (outcome == "info" and self.random.random() < 0.5)
        invoked, completed, sent = [], [], []
        positions = dict(client.positions)
        for step in steps:
            if step == "poll":
                invoked.append("[:poll]")
                completed.append(f"[:poll {self._poll(positions)}]")
                continue
            key = self.random.choice(sorted(self.logs))
            self.values[key] += 1
            value = self.values[key]
            offset = self.ends[key]
            self.ends[key] += 1
            sent.append((key, offset, value))
            self.open[key].add(offset)
            invoked.append(f"[:send {key} {value}]")
            acknowledged = offset if self.random.random() < 0.99 else "nil"
            if outcome == "info":
                completed.append(f"[:send {key} {value}]")
            else:
                completed.append(f"[:send {key} [{acknowledged} {value}]]")
        for key in {key for key, _, _ in sent}:
            self.ends[key] += 1  # the marker
        yield self._line(client.process, "invoke", f, f"[{' '.join(invoked)}]")
        for key, offset, value in sent:
            self.open[key].discard(offset)
            if takes_effect:
                insort(self.logs[key], (offset, value))
        error = "" if outcome == "ok" else ", :error {:type :abort, :abort-ok? true}"
        yield self._line(client.process, outcome, f, f"[{' '.join(completed)}]", error)
        if outcome == "ok":
            client.positions = positions
        elif outcome == "info":
            self._replace(client)

    def _poll(self, positions: dict[int, int], keys: int = 2) -> str:
        found = []
        ready = {
            key: stable - place
            for key, place in positions.items()
            if (stable := self._stable(key)) > place
        }
        for key in self.random.sample(sorted(ready), min(keys, len(ready))):
            place = positions[key]
            wanted = min(ready[key], self.random.randint(1, _MAX_POLL_RECORDS))
            records = self.logs[key][place : place + wanted]
            positions[key] = place + len(records)
            found.append(f"{key} [{' '.join(f'[{o} {v}]' for o, v in records)}]")
        return "{" + ", ".join(found) + "}"

    def _stable(self, key: int) -> int:
        """Count the records below the last stable offset."""
        first_open = min(self.open[key], default=None)
        return len(self.logs[key]) if first_open is None else bisect(self.logs[key], (first_open,))

    def _final_polls(self) -> Iterator[str]:
        client = self.clients[0]
        yield from self._crash(client)
        keys = [key for key, log in self.logs.items() if log]
        value = f"[{' '.join(map(str, keys))}]"
        seek = ", :seek-to-beginning? true"
        yield self._line(client.process, "invoke", "assign", value, seek)
        yield self._line(client.process, "ok", "assign", value, seek)
        positions = dict.fromkeys(keys, 0)
        while any(positions[key] < len(self.logs[key]) for key in keys):
            yield self._line(client.process, "invoke", "poll", "[[:poll]]", ", :poll-ms 1000")
            polled = self._poll(positions, keys=4)
            yield self._line(client.process, "ok", "poll", f"[[:poll {polled}]]", ", :poll-ms 1000")

    def _line(self, process: int | str, type_: str, f: str, value: str, extra: str = "") -> str:
        self.time += self.random.randint(1_000, 2_000_000)
        line = (
            f"{{:process {process}, :type :{type_}, :f :{f}, :value {value}{extra}, "
            f":index {self.index}, :time {self.time}}}\n"
        )
        self.index += 1
        return line


def write_history(path: Path, operations: int, *, seed: int = 1, clients: int = 5) -> None:
    """Write a correct history of about `operations` lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(Cluster(seed=seed, clients=clients).operations(operations))


if __name__ == "__main__":
    write_history(Path(sys.argv[2]), int(sys.argv[1]))
