"""Random histories that make no sense, but that the contract allows.

A definition applies to any history, and two queries differ soonest where everything happens at
once: a record in two topics, two sends in a transaction that never began, effects of records that
were never sent. Some values are copied from other rows, since rows that never join show nothing.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from tests.properties.checkers.world import Row, Rows, Trial, World, new

TRIALS: Final = (
    Trial(topic="input", sink="ledger", view="table"),
    Trial(topic="input", sink="ledger", view="table", deduplicates=True),
    Trial(topic="input", sink="ledger", view="table", dead_letters="letters"),
    Trial(topic="input", sink="ledger", view="journal"),
    Trial(topic="input", sink="ledger", view="journal", dead_letters="letters"),
    Trial(topic="input", sink="letters", view="table"),
    Trial(topic="input", sink="ledger", view="other"),
    Trial(topic="orders", sink="ledger", view="table"),
    Trial(topic="orders", sink="letters", view="table", deduplicates=True),
)
TOPICS: Final = ("input", "input", "input", "orders", "elsewhere")
AGGREGATES: Final = {
    "total": "sum", "number": "count", "least": "min", "most": "max", "latest": "last",
}  # fmt: skip


def nonsense(seed: int) -> World:
    """The history of a seed."""
    return _Maker(Random(f"nonsense {seed}")).world()


class _Maker:
    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.rows: Rows = {}
        self.size = draw.choice((2, 4, 6))
        """Approximate number of rows in a table."""
        self.consistency = draw.choice((0.5, 0.8, 0.95))
        """Probability that a value is right."""
        self.attempt_rate = draw.choice((0.0, 0.5, 1.0))
        """Probability that a log entry has an attempt."""
        self.source_rate = draw.choice((0.0, 0.7, 1.0))
        """Probability that an effect has a source."""
        self.records = [f"r{n}" for n in range(draw.choice((2, 3, 4)))]

    def world(self) -> World:
        for name in (
            "sends", "txns", "staged", "log", "partitions", "reads", "assignments", "instances",
            "effects", "journal", "expected", "contributions", "state", "positions", "ranges",
            "hazards", "phases", "faults", "clocks",
        ):  # fmt: skip
            make = getattr(self, f"_{name}", None)
            self.rows[name] = [new(name, **row) for row in make()] if make else []
        number = self.draw.choice((1, 2, 3))
        trials = self.draw.sample(TRIALS, number)
        return World(rows=self.rows, trials=tuple(trials))

    # Random choices.

    def some(self, most: int | None = None) -> range:
        return range(self.draw.randint(0, self.size if most is None else most))

    def pick(self, *choices: Any) -> Any:
        return self.draw.choice(choices)

    def mostly(self, value: Any, *others: Any) -> Any:
        """The value, or with a probability of 1 - `consistency` one of the others."""
        return value if self.draw.random() < self.consistency else self.draw.choice(others)

    def record(self) -> Any:
        return self.draw.choice(self.records)

    def one_of(self, table: str) -> Row | None:
        rows = self.rows[table]
        return self.draw.choice(rows) if rows and self.draw.random() < 0.9 else None

    def time(self) -> int:
        return self.draw.randrange(8)

    def clock(self) -> str:
        return str(self.mostly("clock", "other"))

    # Tables.

    def _sends(self) -> list[Row]:
        return [
            {
                "attempt": f"a{n}",
                "record": self.record(),
                "key": self.pick("k0", "k0", "k1", None),
                "digest": self.mostly("d0", "d1"),
                "ordinal": n,
                "session": self.mostly("p0", "p1"),
                "txn": self.pick(None, None, "t0", "t1", "t2"),
                "topic": self.pick(*TOPICS),
                "partition": self.mostly(self.pick(0, 1), None),
                "offset": self.mostly(self.draw.randrange(5), None, -1),
                "outcome": self.mostly("ok", "info", "fail"),
                "called_at": self.time(),
                "returned_at": self.mostly(self.time(), None),
                "clock": self.clock(),
            }
            for n in self.some(self.size + 2)
        ]

    def _txns(self) -> list[Row]:
        return [
            {
                "txn": f"t{n}",
                "session": self.mostly("p0", "p1"),
                "transactional_id": "id",
                "outcome": self.pick("committed", "committed", "info", "aborted"),
                "began_at": self.time(),
                "commit_called_at": self.mostly(self.time(), None),
                "ended_at": self.mostly(self.time(), None),
                "clock": self.clock(),
            }
            for n in self.some(3)
        ]

    def _staged(self) -> list[Row]:
        rows = [
            {
                "txn": self.pick("t0", "t1", "t2"),
                "owner": self.mostly("group", "other"),
                "topic": self.mostly("source", "input"),
                "partition": self.mostly(0, 1),
                "offset": self.draw.randrange(3),
            }
            for _ in self.some(3)
        ]
        return [row for n, row in enumerate(rows) if row not in rows[:n]]

    def _log(self) -> list[Row]:
        found: dict[Any, Row] = {}
        for _ in self.some(self.size + 2):
            send = self.one_of("sends") or {}
            record = self.mostly(send.get("record", self.record()), self.record(), None)
            attempt = self.mostly(send.get("attempt"), "a0", "unknown")
            key = self.mostly(send.get("key"), "k0", "k1", None)
            row = {
                "topic": self.mostly(send.get("topic", "input"), *TOPICS),
                "partition": self.mostly(send.get("partition") or 0, 0, 1),
                "offset": self.mostly(max(0, send.get("offset") or 0), *range(5)),
                "kind": self.mostly("data", "commit", "data"),
                "record": record,
                "attempt": attempt if self.draw.random() < self.attempt_rate else None,
                "key": key,
                "digest": self.mostly(send.get("digest"), "d0", "d1", None),
                "committed": self.mostly(True, False),
            }
            found.setdefault((row["topic"], row["partition"], row["offset"]), row)
        return list(found.values())

    def _partitions(self) -> list[Row]:
        young = self.draw.random() < 0.7
        return [
            {
                "topic": topic,
                "partition": partition,
                "log_start": 0 if young else self.pick(0, 0, 2),
                "last_stable_offset": self.mostly(5, 4),
                "high_watermark": 5,
                "cleanup_policy": "delete" if young else self.mostly("delete", "compact"),
            }
            for topic in ("input", "orders", "elsewhere")
            for partition in (0, 1)
            if self.draw.random() < 0.6
        ]

    def _reads(self) -> list[Row]:
        found = []
        for n in self.some():
            seen = self.one_of("log") or self.one_of("sends") or {}
            found.append(
                {
                    "reader": self.mostly("reader", "other"),
                    "session": self.mostly("session", "other"),
                    "ordinal": n,
                    "isolation": self.mostly("read_committed", "read_uncommitted"),
                    "topic": seen.get("topic", "input"),
                    "partition": self.mostly(seen.get("partition") or 0, 0, 1),
                    "offset": self.mostly(max(0, seen.get("offset") or 0), *range(5)),
                    "record": self.mostly(seen.get("record"), self.record(), None),
                    "attempt": self.mostly(seen.get("attempt"), None, "a0", "unknown"),
                    "txn": self.pick(None, "t0", "t1", "t2"),
                    "at": self.time(),
                    "clock": self.clock(),
                }
            )
        return found

    def _assignments(self) -> list[Row]:
        return [
            {
                "reader": reader,
                "session": session,
                "isolation": "read_committed",
                "topic": topic,
                "partition": partition,
                "position": self.draw.randrange(4),
                "from_at": 0,
                "until_at": self.pick(None, None, 9),
                "clock": "clock",
            }
            for reader in ("reader", "other")
            for session in ("session", "other")
            for topic in ("input", "orders", "elsewhere")
            for partition in (0, 1)
            if self.draw.random() < 0.2
        ]

    def _instances(self) -> list[Row]:
        return [
            {
                "subject": self.mostly("driver", "other"),
                "instance": f"i{n}",
                "started_at": self.time(),
                "clock": self.clock(),
            }
            for n in self.some(3)
        ]

    def _source(self, entry: Row) -> Row:
        """The source columns of an effect, if it has any; rarely with one missing."""
        if self.draw.random() >= self.source_rate:
            return {}
        source = {
            "source_topic": self.mostly(entry.get("topic", "input"), "input", "orders"),
            "source_partition": self.mostly(entry.get("partition", 0), 0, 1),
            "source_offset": self.mostly(entry.get("offset", 0), *range(5)),
        }
        if self.draw.random() < 0.1:
            source[self.draw.choice(sorted(source))] = None
        return source

    def _effects(self) -> list[Row]:
        found = []
        for n in self.some(self.size + 3):
            entry = self.one_of("log") or {}
            found.append(
                {
                    "sink": self.pick("ledger", "ledger", "letters"),
                    "view": self.mostly("table", "other"),
                    "record": self.mostly(entry.get("record", self.record()), self.record(), None),
                    "effect_key": self.pick("", "", "x"),
                    "digest": self.mostly("d0", "d1"),
                    "position": self.mostly(f"row {n}", "row 0"),
                    "ordinal": self.pick(n, n, self.draw.randrange(5)),
                    **self._source(entry),
                    "owner": self.pick(None, "group", "other"),
                    "batch": self.pick(None, 1, 2),
                    "instance": self.pick(None, "i0", "i1", "unknown"),
                    "at": self.pick(None, self.time()),
                    "clock": self.clock(),
                }
            )
        return found

    def _journal(self) -> list[Row]:
        found: list[Row] = []
        for n in self.some(self.size + 3):
            entry = self.one_of("log") or {}
            if found and self.draw.random() < 0.3:
                found.append({**self.draw.choice(found), "ordinal": n})
                continue
            found.append(
                {
                    "sink": self.pick("ledger", "ledger", "letters"),
                    "ordinal": n,
                    "operation": self.pick("append", "upsert", "upsert", "delete"),
                    "record": self.mostly(entry.get("record", self.record()), self.record(), None),
                    "effect_key": self.pick("", "", "x"),
                    "digest": self.mostly("d0", "d1", None),
                    **self._source(entry),
                    "owner": self.pick(None, "group", "other"),
                    "batch": self.pick(None, 1, 2),
                }
            )
        return found

    def _expected(self) -> list[Row]:
        if self.draw.random() < 0.3:
            return []
        return [
            {
                "sink": self.pick("ledger", "ledger", "letters"),
                "record": self.record(),
                "effect_key": self.pick("", "", "x"),
                "digest": self.mostly("d0", "d1"),
                "optional": self.pick(None, False, True),
            }
            for _ in self.some(self.size + 2)
        ]

    def _contributions(self) -> list[Row]:
        if self.draw.random() < 0.7:
            return []
        found = []
        for _ in self.some(self.size + 2):
            aggregate = self.draw.choice(sorted(AGGREGATES))
            found.append(
                {
                    "sink": self.pick("ledger", "ledger", "letters"),
                    "record": self.record(),
                    "state_key": self.pick("k0", "k0", "k1"),
                    "aggregate": aggregate,
                    "operation": AGGREGATES[aggregate],
                    "amount": self.mostly(self.pick(1, 2), None),
                    "digest": self.pick("d0", "d1", None),
                }
            )
        return found

    def _state(self) -> list[Row]:
        names = [c["aggregate"] for c in self.rows["contributions"]] + ["unheard"]
        return [
            {
                "sink": sink,
                "view": view,
                "state_key": key,
                "aggregate": aggregate,
                "amount": self.mostly(self.pick(1, 2, 3), None),
                "digest": self.pick("d0", "d1", None),
            }
            for sink in ("ledger", "letters")
            for view in ("table", "other")
            for key in ("k0", "k1")
            for aggregate in dict.fromkeys(names)
            if self.rows["contributions"] and self.draw.random() < 0.4
        ]

    def _positions(self) -> list[Row]:
        return [
            {
                "owner": self.mostly("group", "other"),
                "role": self.pick("atomic", "resume", "resume", "advisory"),
                "kind": self.mostly("done", "planned"),
                "by": self.mostly("subject", "harness"),
                "sink": self.pick(None, "ledger", "letters"),
                "topic": self.mostly(self.pick("input", "source"), "orders"),
                "partition": self.mostly(0, 1),
                "offset": self.draw.randrange(6),
                "batch": self.pick(None, 1, 2),
                "ordinal": n,
            }
            for n in self.some()
        ]

    def _ranges(self) -> list[Row]:
        found = []
        for _ in self.some(4):
            start = self.draw.randrange(4)
            found.append(
                {
                    "owner": self.mostly("group", "other"),
                    "execution": self.mostly("e0", "e1"),
                    "batch": self.draw.randrange(3),
                    "topic": self.mostly("input", "orders"),
                    "partition": self.mostly(0, 1),
                    "start_offset": start,
                    "end_offset": start + self.draw.randrange(3),
                    "committed": self.mostly(True, False),
                    "source": "progress",
                }
            )
        return found

    def _phases(self) -> list[Row]:
        settle, collect = self.pick(
            ("ok", "ok"), ("ok", "ok"), ("ok", "ok"), ("stalled", "ok"), ("ok", "interrupted"),
            ("failed", "failed"),
        )  # fmt: skip
        return [
            {"phase": name, "outcome": outcome, "started_at": self.pick(3, 5), "clock": "clock"}
            for name, outcome in (("settle", settle), ("collect", collect))
        ]
