"""Read a range of a partition, or all of an output other than a topic."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from onceproof.harness.audit.cluster import UnreadableCluster, reading
from onceproof.harness.audit.parts import ROWS, Parts, forget, reached, table, write_once
from onceproof.harness.history.identity import digest
from onceproof.harness.user_pipeline.codecs import decoded, text_of_bytes
from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.identity import Rule, Written
from onceproof.harness.user_pipeline.outputs.base import Source

_BATCH: Final = 10_000
_IDLE_TIMEOUT: Final = 60.0
"""Seconds without a record after which reading fails."""


@dataclass(frozen=True, kw_only=True)
class Range:
    """Offsets of a partition to read, `last` excluded."""

    topic: str
    partition: int
    first: int
    last: int
    isolation: str


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """What to extract from each record.

    Attributes:
        identity: how to find its identity.
        yields: for an output, how to tell its effects apart and compare contents; for the input,
            output name → the effects that an input must have there.
        decode: the function that decodes a value; None: it is text.
    """

    identity: Rule
    yields: ExpectedEffects | Mapping[str, ExpectedEffects]
    decode: str | None = None


def read_range(
    of: Range,
    take: Extraction,
    folder: Path,
    properties: Mapping[str, Any],
    read: Callable[[int], None],
) -> None:
    """Read a range into files in a folder, resuming after the files of an earlier call.

    `read` is called with the number of offsets read since its last call.

    Raises:
        UnreadableCluster: the cluster does not answer, or has deleted offsets of the range.
        BadRule: a user function fails.
    """
    first = reached(folder, of.partition, of.first)
    read(first - of.first)
    if first >= of.last:
        return
    parts = Parts(folder=folder, partition=of.partition, first=first)
    for name in take.yields if isinstance(take.yields, Mapping) else ():
        forget(folder.parent / f"expected-{name}", of.partition, first)
    expected = {
        name: Parts(folder=folder.parent / f"expected-{name}", partition=of.partition, first=first)
        for name in (take.yields if isinstance(take.yields, Mapping) else ())
    }
    at = first
    for messages in _batches(of, first, properties):
        offsets = [_offset(m) for m in messages]
        for message in messages if take.decode else ():
            message.set_value(decoded(take.decode, message.value()))
        records = _records(take.identity, messages)
        columns: dict[str, Any] = {
            "offset": offsets,
            "stamp": [m.timestamp()[1] for m in messages],
            "record": records,
        }
        if isinstance(take.yields, ExpectedEffects):
            columns |= _effects(take.yields, messages)
        else:
            _expect(take.yields, messages, records, expected)
        parts.add(**columns)
        read(offsets[-1] + 1 - at)
        at = offsets[-1] + 1
        if len(parts) >= ROWS:
            for each in (*expected.values(), parts):  # `parts` last: reading resumes from it
                each.write(at)
    for each in (*expected.values(), parts):
        each.write(of.last)
    read(of.last - at)


def read_source(source: Source, take: Extraction, folder: Path) -> None:
    """Read all of an output other than a topic, unless an earlier call has done so."""
    assert isinstance(take.yields, ExpectedEffects)
    if list(folder.glob("*.parquet")):
        return
    write_once(folder, _tables(source, take.identity, take.yields))


def _tables(source: Source, identity: Rule, yields: ExpectedEffects) -> Iterator[pa.Table]:
    rows: list[tuple[Any, ...]] = []
    for number, found in enumerate(source.found()):
        rows.append(
            (
                number,
                identity.find(found.written),
                found.position,
                _key(yields, found.written),
                yields.digest(found.written),
            )
        )
        if len(rows) == ROWS:
            yield _rows(rows)
            rows.clear()
    yield _rows(rows)


def _rows(rows: list[tuple[Any, ...]]) -> pa.Table:
    names = ("offset", "record", "position", "effect_key", "digest")
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return table(0, dict(zip(names, columns, strict=True)))


def _batches(of: Range, first: int, properties: Mapping[str, Any]) -> Iterator[list[Message]]:
    consumer = Consumer(reading(properties, isolation=of.isolation))
    try:
        consumer.assign([TopicPartition(of.topic, of.partition, first)])
        last_read = time.monotonic()
        while True:
            messages = consumer.consume(_BATCH, timeout=1.0)
            if time.monotonic() - last_read > _IDLE_TIMEOUT:
                raise UnreadableCluster(
                    f"{of.topic}-{of.partition}: no record for {_IDLE_TIMEOUT:.0f} s, and offsets "
                    f"up to {of.last - 1} are still unread; check the partition's leader"
                )
            ended = False
            failed = [m for m in messages if m.error() is not None]
            for message in failed:
                error = message.error()
                assert error is not None
                if error.code() == KafkaError._PARTITION_EOF:
                    ended = True
                elif error.code() == KafkaError._AUTO_OFFSET_RESET:
                    raise UnreadableCluster(
                        f"{of.topic}-{of.partition}: records of the window were deleted during "
                        f"the audit: {error.str()}; audit a later window"
                    )
                elif not error.retriable() and error.code() != KafkaError._TRANSPORT:
                    raise UnreadableCluster(f"{of.topic}-{of.partition}: {error.str()}")
            if failed:
                messages = [m for m in messages if m.error() is None]
            if messages and _offset(messages[-1]) >= of.last:
                messages = [m for m in messages if _offset(m) < of.last]
                ended = True
            if messages:
                yield messages
                last_read = time.monotonic()
                ended = ended or _offset(messages[-1]) == of.last - 1
            if ended:
                return
    except KafkaException as error:
        raise UnreadableCluster(f"{of.topic}-{of.partition}: {error.args[0].str()}") from None
    finally:
        consumer.close()


def _records(identity: Rule, messages: list[Message]) -> list[str | None]:
    if identity.kind == "key":  # ten times as fast as `identity.find`
        keys = [m.key() for m in messages]
        return [key.decode(errors="backslashreplace") if key else None for key in keys]
    return [identity.find(_written(m, identity)) for m in messages]


def _effects(yields: ExpectedEffects, messages: list[Message]) -> dict[str, list[str]]:
    """Return the columns `effect_key` and `digest`, each only if `yields` needs it."""
    found = {}
    judged = type(yields).digest is not ExpectedEffects.digest
    if judged or not yields.only_one:
        written = [_written(m, yields.key) for m in messages]
        if not yields.only_one:
            found["effect_key"] = [_key(yields, each) for each in written]
        if judged:
            found["digest"] = [yields.digest(each) for each in written]
    return found


def _key(yields: ExpectedEffects, written: Written) -> str:
    if yields.only_one:
        return ""
    return (yields.key and yields.key.find(written)) or digest(written.key, written.value)


def _expect(
    yields: Mapping[str, ExpectedEffects],
    messages: list[Message],
    records: list[str | None],
    parts: Mapping[str, Parts],
) -> None:
    for name, each in yields.items():
        rows = [
            (message.offset(), record, key, content)
            for message, record in zip(messages, records, strict=True)
            if record is not None
            for key, content in each.contents(_text(message.value())).items()
        ]
        if rows:
            names = ("offset", "record", "effect_key", "digest")
            parts[name].add(**dict(zip(names, zip(*rows, strict=True), strict=True)))


def _offset(message: Message) -> int:
    offset = message.offset()
    assert offset is not None, "every record that was read has an offset"
    return offset


def _written(message: Message, rule: Rule | None) -> Written:
    """Convert a message for a rule; headers only if the rule reads them, since they are slow."""
    headers: Any = (message.headers() if rule and rule.kind == "header" else None) or ()
    return Written(
        value=_text(message.value()),
        key=_text(message.key()),
        headers={name: _text(value) or "" for name, value in headers},
    )


def _text(data: bytes | str | None) -> str | None:
    return text_of_bytes(data) if isinstance(data, bytes) else data
