"""The context shared by all drawing modules: rows, witness, short names and places."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from onceproof.checkers.model import Row, Value
from onceproof.reports.anomalies.names import Names
from onceproof.reports.anomalies.scene import Place, Ref
from onceproof.reports.anomalies.trial import Trial
from onceproof.reports.anomalies.witness import Witness

_NAME = 14
_TABLES_WITH_PLACES = ("log", "sends", "reads", "positions", "ranges", "partitions", "assignments")


class DrawingContext:
    """One trial, prepared for drawing."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.witness = Witness(trial)
        self.name = Names(_NAME)

    def rows(self, table: str) -> Iterator[tuple[Ref, Row]]:
        for number, row in enumerate(self.trial.rows.get(table, ())):
            yield (table, number), row

    def has_column(self, table: str, column: str) -> bool:
        return self.trial.has_column(table, column)

    def extras(self, table: str, row: Row, *columns: str) -> str:
        """Return the given, non-NULL columns as text, such as `, key k, digest d1`."""
        parts = [
            f", {_WORDS.get(column, column)} {self.name(row[column])}".replace("  ", " ")
            for column in columns
            if self.has_column(table, column) and row[column] is not None
        ]
        return "".join(parts)

    def wrong(self, table: str, row: Row) -> bool:
        """Return whether the witness includes the row."""
        return self.witness.has(table, row)

    @cached_property
    def partitions(self) -> tuple[tuple[str, int], ...]:
        """All partitions in the history, those of the input topic first."""
        found = {
            (str(row["topic"]), number(row["partition"]))
            for table in _TABLES_WITH_PLACES
            for _, row in self.rows(table)
            if row["partition"] is not None
        }
        return tuple(sorted(found, key=lambda p: (p[0] != self.trial.topic, p)))

    def strip(self, topic: Value, partition: Value) -> str:
        return f"{self.name(topic)}-{partition}"

    def at(self, topic: Value, partition: Value, offset: Value) -> str:
        """Return an offset as text, with topic and partition only if needed to identify it."""
        if len(self.partitions) < 2:
            return f"@{offset}"
        if len({name for name, _ in self.partitions}) < 2:
            return f"{partition}@{offset}"
        return f"{self.strip(topic, partition)}@{offset}"

    @cached_property
    def entries(self) -> tuple[tuple[Place, Row], ...]:
        return tuple((place(row), row) for _, row in self.rows("log") if row["kind"] == "data")

    def places_of_send(self, send: Row) -> tuple[Place, ...]:
        """Return where the log has a send, and where it was acknowledged."""
        named = [at for at, row in self.entries if row["attempt"] == send["attempt"]]
        acknowledged = self._acknowledged(send)
        if acknowledged is not None and acknowledged not in named:
            named.append(acknowledged)
        return tuple(named) or self._only_entry(send)

    def _acknowledged(self, send: Row) -> Place | None:
        """Return the acknowledged place; a topic's only partition stands in for an unknown one."""
        known = [partition for topic, partition in self.partitions if topic == send["topic"]]
        partition = known[0] if send["partition"] is None and len(known) == 1 else send["partition"]
        if partition is None or send["offset"] is None:
            return None
        return Place(str(send["topic"]), number(partition), number(send["offset"]))

    def _only_entry(self, send: Row) -> tuple[Place, ...]:
        """Return the record's entries whose attempt is unknown, if the record was sent once."""
        sends = [row for _, row in self.rows("sends")]
        if sum(row["record"] == send["record"] for row in sends) != 1:
            return ()
        attempts = {row["attempt"] for row in sends}
        return tuple(
            at
            for at, row in self.entries
            if row["record"] == send["record"] and row["attempt"] not in attempts
        )

    def places_of_record(self, record: Value) -> tuple[Place, ...]:
        """Return the place of a record in the input's log; empty unless it is exactly one."""
        found = [
            at
            for at, row in self.entries
            if row["record"] == record and at.topic == self.trial.topic
        ]
        return tuple(found) if len(found) == 1 else ()

    def source(self, row: Row) -> tuple[Place, ...]:
        """Return the place of the input that an effect was made from."""
        if row["source_offset"] is not None and row["source_partition"] is not None:
            topic = self.trial.topic if row["source_topic"] is None else str(row["source_topic"])
            return (Place(topic, number(row["source_partition"]), number(row["source_offset"])),)
        return self.places_of_record(row["record"])


_WORDS = {"digest": "", "error": "", "effect_key": "key", "instance": "by"}


def place(row: Row, column: str = "offset") -> Place:
    return Place(str(row["topic"]), number(row["partition"]), number(row[column]))


def number(value: Value) -> int:
    """Assert that a value is an integer, and return it."""
    assert isinstance(value, int), f"expected an integer, got {value!r}"
    return value
