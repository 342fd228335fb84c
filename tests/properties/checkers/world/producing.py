"""Producers: sessions that send records with or without transactions, and may crash.

Each is a generator that yields after every step, so that the steps of producers and readers
interleave at random.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import count

from tests.properties.checkers.world.reading import Reader
from tests.properties.checkers.world.rows import Row
from tests.properties.checkers.world.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Unit:
    """Records that are sent together: a single one, or several in a transaction."""

    records: tuple[str, ...]
    transactional: bool = False


class Producer:
    """A producer with one or more sessions."""

    def __init__(self, stage: Stage, number: int, attempts: Iterator[int]) -> None:
        self._stage = stage
        self._number = number
        self._attempts = attempts
        self._ordinals = count()
        self._session_number = 0
        self._positions_collected = stage.maybe(0.7)
        """Whether the committed offsets of its group were collected."""
        self._lost_attempts: set[str] = set()
        """Attempts with unknown outcome that were not appended."""
        self._sink = stage.pick((None, "elsewhere"))
        self._commits = count()
        self._committed: dict[tuple[str, int], int] = {}
        self._reader: Reader | None = None
        if stage.shape.consuming:
            places = [p for p in stage.broker.places if stage.maybe(0.7)]
            self._committed = dict.fromkeys(places, 0)
            name = f"app-{number}"
            self._reader = Reader(stage, name, "read_committed", places, "clock")
            self._reader.assign(self._committed)

    @property
    def _session(self) -> str:
        return f"producer-{self._number}/{self._session_number}"

    def work(self, units: list[Unit]) -> Iterator[None]:
        """Send all units."""
        for unit in units:
            if unit.transactional:
                yield from self._transaction(unit.records)
            else:
                for record in unit.records:
                    yield from self._send(record, None)
        if self._reader is not None:
            self._reader.release()

    def _transaction(self, records: tuple[str, ...]) -> Iterator[None]:
        stage = self._stage
        txn = stage.add(
            "txns",
            txn=f"t{len(stage.rows['txns'])}",
            session=self._session,
            transactional_id=f"id-{self._number}",
            outcome="info",
            began_at=stage.tick(),
            clock="clock",
        )
        name = txn["txn"]
        sent = []
        for record in records:
            yield
            self._consume(name)
            sent.append((yield from self._send(record, name)))
        if stage.maybe():
            self._consume(name)
        staged = self._stage_positions(name)
        yield
        must_abort = any(
            send["outcome"] == "fail" or send["attempt"] in self._lost_attempts for send in sent
        )
        endings = (
            ("abort", "crash") if must_abort else ("commit", "commit", "abort", "timeout", "crash")
        )
        yield from self._end(txn, staged, stage.pick(endings))

    def _end(self, txn: Row, staged: list[Row], ending: str) -> Iterator[None]:
        stage, name = self._stage, txn["txn"]
        if ending in ("commit", "timeout") or (ending == "abort" and stage.maybe(0.3)):
            txn["commit_called_at"] = stage.tick()
            yield
        committed = ending == "commit" or (ending == "timeout" and stage.maybe())
        if ending == "crash":
            # Until the coordinator aborts it, read_committed readers wait.
            self._session_number += 1
            self._ordinals = count()
            for _ in range(stage.draw.randint(0, 4)):
                yield
        stage.broker.finish(name, committed=committed)
        if committed:
            self._commit_positions(staged)
        if ending in ("commit", "abort"):
            txn["outcome"] = "committed" if ending == "commit" else "aborted"
            txn["ended_at"] = stage.tick()
        else:
            txn["error"] = "nobody knows"
        if self._reader is not None and (not committed or ending == "timeout"):
            self._reader.release()
            self._reader.assign(self._committed)
        yield

    def _send(self, record: str, txn: str | None) -> Generator[None, None, Row]:
        stage, shape = self._stage, self._stage.shape
        topic = stage.pick(stage.topics_of[record])
        place = (topic, stage.draw.randrange(shape.partitions))
        outcome = stage.pick(("ok", "ok", "ok", "info", "fail")) if shape.outcomes else "ok"
        send = stage.add(
            "sends",
            attempt=f"{record}/{next(self._attempts)}",
            record=record,
            key=stage.key_of[record],
            digest=f"in-{record}",
            ordinal=next(self._ordinals),
            session=self._session,
            txn=txn,
            topic=topic,
            outcome="info",
            called_at=stage.tick(),
            clock="clock",
        )
        yield
        if outcome == "ok" or (outcome == "info" and stage.maybe()):
            attempt_chance = {"all": 1.0, "none": 0.0, "some": 0.5}[shape.attempts]
            entry = stage.broker.append(
                place,
                txn,
                record=record,
                attempt=stage.known(send["attempt"], attempt_chance),
                key=send["key"],
                digest=stage.known(send["digest"], 0.95),
            )
            yield
            if outcome == "ok":
                self._acknowledge(send, entry)
        elif outcome == "info":
            self._lost_attempts.add(send["attempt"])
        if outcome == "info":
            send["partition"] = stage.known(place[1], 0.3)  # the requested partition
        send["outcome"] = outcome
        if outcome != "info" or stage.maybe():
            send["returned_at"] = stage.tick()
        return send

    def _acknowledge(self, send: Row, entry: Row) -> None:
        completeness = 0.85 if self._stage.shape.outcomes else 1.0
        send["partition"] = self._stage.known(entry["partition"], completeness)
        if send["partition"] is not None:
            send["offset"] = self._stage.known(entry["offset"], completeness)

    def _consume(self, txn: str) -> None:
        if self._reader is not None and self._committed and self._stage.maybe(0.7):
            place = self._stage.pick(list(self._committed))
            self._reader.poll(place, self._stage.draw.randint(1, 2), txn)

    def _stage_positions(self, txn: str) -> list[Row]:
        if self._reader is None:
            return []
        return [
            self._stage.add(
                "staged", txn=txn, owner=f"group-{self._number}", topic=topic, partition=partition,
                offset=position,
            )
            for (topic, partition), position in self._reader.position.items()
            if position > self._committed[topic, partition] or self._stage.maybe(0.1)
        ]  # fmt: skip

    def _commit_positions(self, staged: list[Row]) -> None:
        for row in staged:
            self._committed[row["topic"], row["partition"]] = row["offset"]
            if self._positions_collected:
                self._stage.add(
                    "positions",
                    **{name: row[name] for name in ("owner", "topic", "partition", "offset")},
                    role="resume",
                    kind="done",
                    by="subject",
                    sink=self._sink,
                    ordinal=next(self._commits),
                    at=self._stage.tick(),
                    clock="clock",
                )


def units(stage: Stage) -> list[Unit]:
    """The units to send: each record at least once."""
    shape = stage.shape
    records_left = [
        r for r in stage.records for _ in range(stage.pick((1, 1, 2, 3)) if shape.resends else 1)
    ]
    stage.draw.shuffle(records_left)
    all_units = []
    while records_left:
        transactional = shape.transactions and stage.maybe(0.7)
        size = min(len(records_left), stage.draw.randint(1, 3)) if transactional else 1
        all_units.append(Unit(records=tuple(records_left[:size]), transactional=transactional))
        records_left = records_left[size:]
    return all_units


def producers(stage: Stage) -> list[Iterator[None]]:
    """All running producers, with the units distributed among them."""
    attempts = count(1)
    shares: list[list[Unit]] = [[] for _ in range(stage.shape.producers)]
    for unit in units(stage):
        stage.pick(shares).append(unit)
    return [Producer(stage, n, attempts).work(share) for n, share in enumerate(shares)]
