"""What every drawer has at hand: the rows, what is wrong, short names, and where things lie."""

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
    """One trial, laid out for drawing."""

    def __init__(self, trial: Trial) -> None:
        """Nothing is drawn yet."""
        self.trial = trial
        self.witness = Witness(trial)
        self.name = Names(_NAME)

    def rows(self, table: str) -> Iterator[tuple[Ref, Row]]:
        """The rows of a table, each with its name."""
        for number, row in enumerate(self.trial.rows.get(table, ())):
            yield (table, number), row

    def says(self, table: str, column: str) -> bool:
        """Whether the column was given."""
        return self.trial.says(table, column)

    def extras(self, table: str, row: Row, *columns: str) -> str:
        """Columns that matter and are known, as `, key k, digest d1`."""
        parts = [
            f", {_WORDS.get(column, column)} {self.name(row[column])}".replace("  ", " ")
            for column in columns
            if self.says(table, column) and row[column] is not None
        ]
        return "".join(parts)

    def wrong(self, table: str, row: Row) -> bool:
        """Whether the witness speaks of the row."""
        return self.witness.has(table, row)

    @cached_property
    def partitions(self) -> tuple[tuple[str, int], ...]:
        """All partitions that the history speaks of, the input's first."""
        found = {
            (str(row["topic"]), number(row["partition"]))
            for table in _TABLES_WITH_PLACES
            for _, row in self.rows(table)
            if row["partition"] is not None
        }
        return tuple(sorted(found, key=lambda p: (p[0] != self.trial.topic, p)))

    def strip(self, topic: Value, partition: Value) -> str:
        """What the log of a partition is called."""
        return f"{self.name(topic)}-{partition}"

    def at(self, topic: Value, partition: Value, offset: Value) -> str:
        """A position, with no more of topic and partition than is needed to tell it."""
        if len(self.partitions) < 2:
            return f"@{offset}"
        if len({name for name, _ in self.partitions}) < 2:
            return f"{partition}@{offset}"
        return f"{self.strip(topic, partition)}@{offset}"

    @cached_property
    def entries(self) -> tuple[tuple[Place, Row], ...]:
        """The data entries of all logs."""
        return tuple((place(row), row) for _, row in self.rows("log") if row["kind"] == "data")

    def places_of_send(self, send: Row) -> tuple[Place, ...]:
        """Where a send is in the log, and where it was acknowledged."""
        named = [at for at, row in self.entries if row["attempt"] == send["attempt"]]
        acknowledged = self._acknowledged(send)
        if acknowledged is not None and acknowledged not in named:
            named.append(acknowledged)
        return tuple(named) or self._nameless(send)

    def _acknowledged(self, send: Row) -> Place | None:
        """Where it was acknowledged to the client; a partition that is not known is the only one
        that there is.
        """
        known = [partition for topic, partition in self.partitions if topic == send["topic"]]
        partition = known[0] if send["partition"] is None and len(known) == 1 else send["partition"]
        if partition is None or send["offset"] is None:
            return None
        return Place(str(send["topic"]), number(partition), number(send["offset"]))

    def _nameless(self, send: Row) -> tuple[Place, ...]:
        """The entries of its record that name no attempt, if no other send may be theirs."""
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
        """Where the input's log holds a record; nothing if that is no single place."""
        found = [
            at
            for at, row in self.entries
            if row["record"] == record and at.topic == self.trial.topic
        ]
        return tuple(found) if len(found) == 1 else ()

    def source(self, row: Row) -> tuple[Place, ...]:
        """The place of the input that an effect comes from."""
        if row["source_offset"] is not None and row["source_partition"] is not None:
            topic = self.trial.topic if row["source_topic"] is None else str(row["source_topic"])
            return (Place(topic, number(row["source_partition"]), number(row["source_offset"])),)
        return self.places_of_record(row["record"])


_WORDS = {"digest": "", "error": "", "effect_key": "key", "instance": "by"}


def place(row: Row, column: str = "offset") -> Place:
    """The place that a row's columns name."""
    return Place(str(row["topic"]), number(row["partition"]), number(row[column]))


def number(value: Value) -> int:
    """A value that is known to be a whole number."""
    assert isinstance(value, int), f"expected a whole number, found {value!r}"
    return value
