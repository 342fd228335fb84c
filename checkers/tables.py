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
        _c("ordinal", _L, "number of the call in its session, from 0"),
        _c("session", _S, "one life of one producer"),
        _c("txn?", _S, "transaction that the send belongs to"),
        _c("topic", _S, "requested topic"),
        _c("partition?", _I, "partition as acknowledged, otherwise as requested"),
        _c("offset?", _L, "offset as acknowledged"),
        _c("outcome", _S, "ok: succeeded; fail: certainly failed; info: unknown"),
        _c("called_at", _L, "before the record was handed to the client"),
        _c(
            "returned_at?",
            _L,
            "when the outcome was known; NULL with info if the call never returned",
        ),
        _c("clock", _S, "id of the clock of both times"),
        _c("error?", _S, "error message of the client"),
    ),
)

TXNS: Final = Table(
    name="txns",
    row="one application transaction",
    columns=(
        _c("txn", _S, "identity of the transaction"),
        _c("session", _S, "one life of one producer"),
        _c("transactional_id", _S, "Kafka's transactional.id"),
        _c("outcome", _S, "committed, aborted or info (unknown)"),
        _c("began_at", _L, ""),
        _c("commit_called_at?", _L, "NULL if commit was never called"),
        _c("ended_at?", _L, ""),
        _c("clock", _S, ""),
        _c("error?", _S, "error message of the client"),
    ),
)

STAGED: Final = Table(
    name="staged",
    row="one consumed position that was sent to a transaction (sendOffsetsToTransaction)",
    columns=(
        _c("txn", _S, "transaction that commits it"),
        _c("owner", _S, "consumer group"),
        _c("topic", _S, "topic that was consumed"),
        _c("partition", _I, ""),
        _c("offset", _L, "next offset to read"),
    ),
)

LOG: Final = Table(
    name="log",
    row="one entry of a broker's log after settling, control markers included",
    columns=(
        _c("topic", _S, ""),
        _c("partition", _I, ""),
        _c("offset", _L, ""),
        _c("kind", _S, "data, commit (marker), abort (marker) or odd (not sent by the workload)"),
        _c("record?", _S, "identity; NULL for markers, and if it could not be read"),
        _c("attempt?", _S, "attempt id, if the record carries it"),
        _c("key?", _S, ""),
        _c("digest?", _S, "digest of key and value; NULL for markers"),
        _c("producer_id?", _L, "-1 or NULL without idempotence"),
        _c("epoch?", _I, ""),
        _c("sequence?", _L, "sequence number of this record (base sequence + place in batch)"),
        _c("committed", _B, "outside any transaction, or followed by its commit marker"),
        _c(
            "lateness?",
            _S,
            "for inputs with event times: late (may be dropped by design) or unclear (unknown "
            "whether it was late); NULL: may not be dropped",
        ),
    ),
)

PARTITIONS: Final = Table(
    name="partitions",
    row="start and end of one partition's log when it was collected",
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
        _c("ordinal", _L, "number in its session, from 0"),
        _c("isolation", _S, "read_committed or read_uncommitted"),
        _c("topic", _S, ""),
        _c("partition", _I, ""),
        _c("offset", _L, ""),
        _c("record?", _S, ""),
        _c("attempt?", _S, ""),
        _c("txn?", _S, "application transaction that the read belongs to"),
        _c("at", _L, "when the application received it"),
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
        _c("position", _L, "first offset that the session should read"),
        _c("from_at", _L, "when the session could start to read"),
        _c("until_at?", _L, "when it was revoked; NULL: never, the reader polled to the end"),
        _c("clock", _S, ""),
    ),
)

EFFECTS: Final = Table(
    name="effects",
    row="one effect in a sink, in one view of it",
    columns=(
        _c("sink", _S, "table, topic or folder"),
        _c("view", _S, "how the sink is read, e.g. table, read_committed, read_uncommitted"),
        _c("record?", _S, "identity of the input; NULL if it could not be read"),
        _c("effect_key", _S, "distinguishes several effects of one input; '' if there is only one"),
        _c("digest", _S, "digest of the effect's content"),
        _c(
            "position",
            _S,
            "place in the sink; a row that appears twice is two effects",
        ),
        _c("ordinal", _L, "place in the sink's own order"),
        _c("source_topic?", _S, "position of the input, if the effect carries it"),
        _c("source_partition?", _I, ""),
        _c("source_offset?", _L, ""),
        _c("owner?", _S, "writer, e.g. the Spark query id, if known"),
        _c("batch?", _L, "micro-batch that wrote it, if the effect carries it"),
        _c("instance?", _S, "life of the process that wrote it, as in instances"),
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
        _c("transaction?", _S, "transaction of the sink"),
        _c("batch?", _L, ""),
        _c("source_topic?", _S, "position of the input, if the change carries it"),
        _c("source_partition?", _I, ""),
        _c("source_offset?", _L, ""),
        _c("owner?", _S, "writer, if known"),
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
        _c("optional?", _B, "may be missing, e.g. because of a filter; NULL: false"),
    ),
)

CONTRIBUTIONS: Final = Table(
    name="contributions",
    row="what one committed position of an input record adds to the state of a sink",
    columns=(
        _c("sink", _S, ""),
        _c("record", _S, "identity of the input"),
        _c("state_key", _S, "key of the state, including its window"),
        _c("aggregate", _S, "name of the aggregate, e.g. balance; has one operation per sink"),
        _c("operation", _S, "sum, count, min, max or last (an upsert: the last input wins)"),
        _c("amount?", _L, "amount for sum, min and max; exact, e.g. in cents"),
        _c("digest?", _S, "for last: digest of the new state; NULL: deletes the key"),
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
        _c("amount?", _L, "for sum, count, min and max; NULL with a digest: not a number"),
        _c("digest?", _S, "for last; otherwise digest of a value that is not an amount"),
    ),
)

POSITIONS: Final = Table(
    name="positions",
    row="one committed or planned position of a reader in one partition of its input",
    columns=(
        _c("owner", _S, "consumer group or Spark query id"),
        _c("instance?", _S, "life that wrote it, if known"),
        _c(
            "role",
            _S,
            "atomic (committed together with the effects), resume (the next life starts here) or "
            "advisory (never used to start)",
        ),
        _c("kind", _S, "planned (will be processed up to here) or done"),
        _c("by", _S, "subject, or harness (moved by a fault)"),
        _c("sink?", _S, "sink that stores an atomic position"),
        _c("topic", _S, ""),
        _c("partition", _I, ""),
        _c("offset", _L, "next offset to read"),
        _c("batch?", _L, ""),
        _c("ordinal", _L, "order in which the positions of one owner, role and kind were written"),
        _c("at?", _L, "when it was observed"),
        _c("clock?", _S, ""),
    ),
)

RANGES: Final = Table(
    name="ranges",
    row="the offsets of one partition that one execution of one micro-batch processed",
    columns=(
        _c("owner", _S, "Spark query id"),
        _c("execution", _S, "life that executed it: Spark run id"),
        _c("batch", _L, ""),
        _c("topic", _S, ""),
        _c("partition", _I, ""),
        _c("start_offset", _L, "inclusive"),
        _c("end_offset", _L, "exclusive"),
        _c("committed", _B, "the batch is in the commit log and this execution was its last"),
        _c("source", _S, "progress: reported by the engine; planned: read from its offset log"),
    ),
)

INSTANCES: Final = Table(
    name="instances",
    row="one life of one process",
    columns=(
        _c("subject", _S, "role of the process: driver, producer-0, broker-1"),
        _c("instance", _S, "unique"),
        _c("started_at", _L, ""),
        _c("ended_at?", _L, "when its last process was gone"),
        _c("how?", _S, "how it ended"),
        _c("clock", _S, ""),
    ),
)

FAULTS: Final = Table(
    name="faults",
    row="one fault of the schedule, with the evidence that it took effect",
    columns=(
        _c("fault", _S, "its place in the schedule and its name; unique"),
        _c("kind", _S, "crash, partition, timeout, or surgery (on state that the pipeline trusts)"),
        _c("description", _S, "what the fault does"),
        _c("target?", _S, "the target as resolved when the fault started"),
        _c("required", _B, "true: without evidence the run is invalid"),
        _c(
            "one_of?",
            _S,
            "name of a set of faults: without evidence of at least one the run is invalid",
        ),
        _c("armed_at?", _L, "when its trigger fired"),
        _c("injected_at?", _L, ""),
        _c("healed_at?", _L, "when healing was observed"),
        _c("took_effect", _B, "true: there is evidence"),
        _c("evidence?", _S, "description of the evidence, with figures"),
        _c("error?", _S, "why it could not be injected or healed"),
        _c("clock", _S, ""),
    ),
)

HAZARDS: Final = Table(
    name="hazards",
    row="one observed event that puts a claim to the test",
    columns=(
        _c("hazard", _S, "kind of hazard: replayed-batch, retried-send, …"),
        _c("hop", _S, "produce or process"),
        _c("at", _L, ""),
        _c("clock", _S, ""),
        _c("fault?", _S, "fault that caused it, if known"),
        _c("detail", _S, "what was observed, with figures"),
        _c("owner?", _S, "e.g. the Spark query id"),
        _c("batch?", _L, "micro-batch, if there is one"),
        _c("attempt?", _S, "attempt, if there is one"),
    ),
)

PHASES: Final = Table(
    name="phases",
    row="one phase of the run",
    columns=(
        _c("phase", _S, "arrange, warm-up, disturb, heal, settle, collect, tear-down"),
        _c("started_at", _L, ""),
        _c("ended_at?", _L, "NULL if the harness died in it"),
        _c(
            "outcome?",
            _S,
            "ok, failed, stalled, held-back or interrupted; NULL if the harness died in it",
        ),
        _c("detail?", _S, "what happened and what to do next"),
        _c("clock", _S, ""),
    ),
)

CLOCKS: Final = Table(
    name="clocks",
    row="one simultaneous reading of two clocks, to convert times to wall-clock times",
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
