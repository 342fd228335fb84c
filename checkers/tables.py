"""The typed tables of a history: the contract between recording and judging.

Checkers rely on these columns only, so any program that writes them can have a history judged.

Conventions for every table:

* A time (`*_at`, `at`) is in monotonic nanoseconds. It is comparable only with times of the same
  `clock` (boot id and clock name); clocks of different hosts are never compared.
* `record` is the identity inside the record, never derived from offsets. `attempt` is one call to
  send it: an application that sends a record twice makes two attempts.
* Only columns that end in "?" below may hold NULL, or be omitted. NULL means "unknown", never
  "none".
* `clock` is not NULL where a time is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column: its name, Arrow type and meaning, and whether NULL (unknown) is allowed."""

    name: str
    type: pa.DataType
    meaning: str
    nullable: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table: its name, what a row is, and its columns."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema, with the meanings as field metadata."""
        return pa.schema(
            [pa.field(c.name, c.type, c.nullable, {"meaning": c.meaning}) for c in self.columns]
        )


def _c(name: str, type_: pa.DataType, meaning: str) -> Column:
    """Create a column; one whose name ends in '?' may hold NULL."""
    return Column(name=name.rstrip("?"), type=type_, meaning=meaning, nullable=name.endswith("?"))


_S, _I, _L, _B = pa.string(), pa.int32(), pa.int64(), pa.bool_()

SENDS: Final = Table(
    name="sends",
    row="one attempt by the application to send a record",
    columns=(
        _c("attempt", _S, "identity of this call; unique in the table"),
        _c("record", _S, "identity of the record"),
        _c("key?", _S, "record key"),
        _c("digest", _S, "digest of key and value as handed to the client"),
        _c("ordinal", _L, "place of the call in its session, from 0"),
        _c("session", _S, "one life of one producer"),
        _c("txn?", _S, "transaction that the send belongs to"),
        _c("topic", _S, "topic that was asked for"),
        _c("partition?", _I, "partition: as acknowledged, else as asked for"),
        _c("offset?", _L, "offset as acknowledged"),
        _c("outcome", _S, "ok: happened; fail: certainly did not; info: nobody knows"),
        _c("called_at", _L, "before the client got the record"),
        _c("returned_at?", _L, "when the outcome was told; NULL with info that never returned"),
        _c("clock", _S, "clock id of both times"),
        _c("error?", _S, "the client's words"),
    ),
)

TXNS: Final = Table(
    name="txns",
    row="one application transaction",
    columns=(
        _c("txn", _S, "identity of the transaction"),
        _c("session", _S, "one life of one producer"),
        _c("transactional_id", _S, "Kafka's transactional.id"),
        _c("outcome", _S, "committed, aborted or info (nobody knows)"),
        _c("began_at", _L, ""),
        _c("commit_called_at?", _L, "NULL when commit was never called"),
        _c("ended_at?", _L, ""),
        _c("clock", _S, ""),
        _c("error?", _S, "the client's words"),
    ),
)

STAGED: Final = Table(
    name="staged",
    row="one consumed position that was sent to a transaction (sendOffsetsToTransaction)",
    columns=(
        _c("txn", _S, "transaction that is to commit it"),
        _c("owner", _S, "consumer group"),
        _c("topic", _S, "topic that was consumed"),
        _c("partition", _I, ""),
        _c("offset", _L, "the next offset to be read"),
    ),
)

LOG: Final = Table(
    name="log",
    row="one entry of a broker's log after settling, control markers included",
    columns=(
        _c("topic", _S, ""),
        _c("partition", _I, ""),
        _c("offset", _L, ""),
        _c("kind", _S, "data, commit (marker), abort (marker) or odd (sent beside the workload)"),
        _c("record?", _S, "identity; NULL on markers, and where none could be read"),
        _c("attempt?", _S, "the attempt id, where it travels along"),
        _c("key?", _S, ""),
        _c("digest?", _S, "digest of key and value; NULL on markers"),
        _c("producer_id?", _L, "-1 or NULL without idempotence"),
        _c("epoch?", _I, ""),
        _c("sequence?", _L, "sequence number of this record (base sequence + place in batch)"),
        _c("committed", _B, "outside any transaction, or followed by its commit marker"),
        _c(
            "lateness?",
            _S,
            "of inputs with event times: late (it may be dropped as late, by design) or unclear "
            "(nobody knows whether it was); NULL: it may not",
        ),
    ),
)

PARTITIONS: Final = Table(
    name="partitions",
    row="the ends of one partition's log when it was collected",
    columns=(
        _c("topic", _S, ""),
        _c("partition", _I, ""),
        _c("log_start", _L, ""),
        _c("last_stable_offset", _L, ""),
        _c("high_watermark", _L, ""),
        _c("cleanup_policy", _S, "delete or compact"),
    ),
)

READS: Final = Table(
    name="reads",
    row="one record seen by a concurrent reader during the run",
    columns=(
        _c("reader", _S, ""),
        _c("session", _S, "one life of the reader with one assignment"),
        _c("ordinal", _L, "place in its session, from 0"),
        _c("isolation", _S, "read_committed or read_uncommitted"),
        _c("topic", _S, ""),
        _c("partition", _I, ""),
        _c("offset", _L, ""),
        _c("record?", _S, ""),
        _c("attempt?", _S, ""),
        _c("txn?", _S, "the application transaction that the reading belongs to"),
        _c("at", _L, "when the application had it"),
        _c("clock", _S, ""),
    ),
)

ASSIGNMENTS: Final = Table(
    name="assignments",
    row="one partition that was assigned to a reader in one of its sessions",
    columns=(
        _c("reader", _S, ""),
        _c("session", _S, "as in reads"),
        _c("isolation", _S, "read_committed or read_uncommitted"),
        _c("topic", _S, ""),
        _c("partition", _I, ""),
        _c("position", _L, "the first offset that the session was to read"),
        _c("from_at", _L, "when reading could begin"),
        _c("until_at?", _L, "when it was taken away; NULL: never, the reader polled to the end"),
        _c("clock", _S, ""),
    ),
)

EFFECTS: Final = Table(
    name="effects",
    row="one effect in a sink, in one view of it",
    columns=(
        _c("sink", _S, "the table, topic or folder"),
        _c("view", _S, "who looks: e.g. table, read_committed, read_uncommitted"),
        _c("record?", _S, "identity of the input; NULL where none could be read"),
        _c("effect_key", _S, "which of several effects of one input; '' where there is one"),
        _c("digest", _S, "digest of the effect's content"),
        _c(
            "position",
            _S,
            "where it is in the sink; a row that is there twice is an effect twice",
        ),
        _c("ordinal", _L, "place in the sink's own order"),
        _c("source_topic?", _S, "position of the input, where the effect carries it"),
        _c("source_partition?", _I, ""),
        _c("source_offset?", _L, ""),
        _c("owner?", _S, "who wrote it, e.g. the Spark query id, where known"),
        _c("batch?", _L, "micro-batch that wrote it, where the effect carries it"),
        _c("instance?", _S, "the life of the process that wrote it, as in instances"),
        _c("at?", _L, "when it was written"),
        _c("clock?", _S, ""),
    ),
)

JOURNAL: Final = Table(
    name="journal",
    row="one change of a sink as it became visible, in order",
    columns=(
        _c("sink", _S, ""),
        _c("ordinal", _L, "order of visibility; unique in its sink"),
        _c("operation", _S, "append, upsert or delete"),
        _c("record?", _S, ""),
        _c("effect_key", _S, ""),
        _c("digest?", _S, ""),
        _c("transaction?", _S, "the sink's own transaction"),
        _c("batch?", _L, ""),
        _c("source_topic?", _S, "position of the input, where the change carries it"),
        _c("source_partition?", _I, ""),
        _c("source_offset?", _L, ""),
        _c("owner?", _S, "who wrote it, where known"),
    ),
)

EXPECTED: Final = Table(
    name="expected",
    row="one effect that one committed position of an input record must have",
    columns=(
        _c("sink", _S, ""),
        _c("record", _S, "identity of the input"),
        _c("effect_key", _S, ""),
        _c("digest", _S, "digest of the effect's content"),
        _c("optional?", _B, "it may be missing, as behind a filter; NULL: false"),
    ),
)

CONTRIBUTIONS: Final = Table(
    name="contributions",
    row="what one committed position of an input record adds to the state of a sink",
    columns=(
        _c("sink", _S, ""),
        _c("record", _S, "identity of the input"),
        _c("state_key", _S, "the key of the state; a window is part of it"),
        _c("aggregate", _S, "name of the aggregate, e.g. balance; it has one operation in a sink"),
        _c("operation", _S, "sum, count, min, max or last (an upsert: the last input wins)"),
        _c("amount?", _L, "what sum adds up and min and max compare; exact, e.g. cents"),
        _c(
            "digest?", _S, "with last: digest of the state that it leaves; NULL: it deletes the key"
        ),
    ),
)

STATE: Final = Table(
    name="state",
    row="the final value of one aggregate of one key, in one view of a sink",
    columns=(
        _c("sink", _S, ""),
        _c("view", _S, ""),
        _c("state_key", _S, ""),
        _c("aggregate", _S, ""),
        _c("amount?", _L, "with sum, count, min and max; NULL beside a digest: it is no number"),
        _c("digest?", _S, "with last; else of what stands where an amount should be"),
    ),
)

POSITIONS: Final = Table(
    name="positions",
    row="one committed or planned position of a reader in one partition of its input",
    columns=(
        _c("owner", _S, "whose progress it is: consumer group, Spark query id"),
        _c("instance?", _S, "the life that wrote it, where known"),
        _c(
            "role",
            _S,
            "atomic (stands or falls with the effects), resume (the next life starts "
            "here) or advisory (nobody starts here)",
        ),
        _c("kind", _S, "planned (about to be processed up to here) or done"),
        _c("by", _S, "subject, or harness (our own surgery)"),
        _c("sink?", _S, "the sink that an atomic position is in"),
        _c("topic", _S, ""),
        _c("partition", _I, ""),
        _c("offset", _L, "the next offset to be read"),
        _c("batch?", _L, ""),
        _c("ordinal", _L, "order in which positions of one owner, role and kind were written"),
        _c("at?", _L, "when it was observed"),
        _c("clock?", _S, ""),
    ),
)

RANGES: Final = Table(
    name="ranges",
    row="the offsets of one partition that one execution of one micro-batch processed",
    columns=(
        _c("owner", _S, "Spark query id"),
        _c("execution", _S, "the life that executed it: Spark run id"),
        _c("batch", _L, ""),
        _c("topic", _S, ""),
        _c("partition", _I, ""),
        _c("start_offset", _L, "inclusive"),
        _c("end_offset", _L, "exclusive"),
        _c("committed", _B, "the batch is in the commit log and this execution was its last"),
        _c("source", _S, "progress: said by the engine; planned: read from its offset log"),
    ),
)

INSTANCES: Final = Table(
    name="instances",
    row="one life of one process",
    columns=(
        _c("subject", _S, "role of the process: driver, producer-0, broker-1"),
        _c("instance", _S, "unique"),
        _c("started_at", _L, ""),
        _c("ended_at?", _L, "when the last of its processes was gone"),
        _c("how?", _S, "how it ended, in words"),
        _c("clock", _S, ""),
    ),
)

FAULTS: Final = Table(
    name="faults",
    row="one fault of the schedule, with what proves that it took effect",
    columns=(
        _c("fault", _S, "its place in the schedule and its name; unique"),
        _c("kind", _S, "crash, partition, timeout, or surgery on what a pipeline trusts"),
        _c("description", _S, "in words"),
        _c("target?", _S, "the target as resolved when the fault started"),
        _c("required", _B, "without evidence the run is invalid"),
        _c("one_of?", _S, "names a set of faults: without evidence of one the run is invalid"),
        _c("armed_at?", _L, "its trigger came true"),
        _c("injected_at?", _L, ""),
        _c("healed_at?", _L, "seen to be healed"),
        _c("took_effect", _B, "there is evidence"),
        _c("evidence?", _S, "in words, with figures"),
        _c("error?", _S, "why it could not be injected, or not healed"),
        _c("clock", _S, ""),
    ),
)

HAZARDS: Final = Table(
    name="hazards",
    row="one thing observed that puts a claim to the test",
    columns=(
        _c("hazard", _S, "its kind: replayed-batch, retried-send, …"),
        _c("hop", _S, "produce or process"),
        _c("at", _L, ""),
        _c("clock", _S, ""),
        _c("fault?", _S, "the fault that caused it, where known"),
        _c("detail", _S, "in words, with figures"),
        _c("owner?", _S, "e.g. the Spark query id"),
        _c("batch?", _L, "the micro-batch, where there is one"),
        _c("attempt?", _S, "the attempt, where there is one"),
    ),
)

PHASES: Final = Table(
    name="phases",
    row="one phase of the run",
    columns=(
        _c("phase", _S, "arrange, warm-up, disturb, heal, settle, collect, tear-down"),
        _c("started_at", _L, ""),
        _c("ended_at?", _L, "NULL when the harness died in it"),
        _c(
            "outcome?",
            _S,
            "ok, failed, stalled, held-back or interrupted; NULL when the harness died in it",
        ),
        _c("detail?", _S, "what happened and what to do next"),
        _c("clock", _S, ""),
    ),
)

CLOCKS: Final = Table(
    name="clocks",
    row="one look at two clocks at once, so that times can be told as wall-clock times",
    columns=(
        _c("writer", _S, ""),
        _c("clock", _S, "clock id of monotonic_ns"),
        _c("monotonic_ns", _L, ""),
        _c("wall_ns", _L, "nanoseconds since 1970, UTC"),
    ),
)

TABLES: Final[dict[str, Table]] = {
    t.name: t
    for t in (
        SENDS, TXNS, STAGED, LOG, PARTITIONS, READS, ASSIGNMENTS, EFFECTS, JOURNAL, EXPECTED,
        CONTRIBUTIONS, STATE, POSITIONS, RANGES, INSTANCES, FAULTS, HAZARDS, PHASES, CLOCKS,
    )
}  # fmt: skip
"""All tables by name, in the order of the documentation."""
