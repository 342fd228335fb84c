"""Odd records in the input of a pipeline, which are no inputs: aborted, too large, without a value.

They are like those that were sent before, so that any pipeline can read them, and no effect of them
is expected. Made-up orders get identities of their own; those of a file are copies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from confluent_kafka import Producer

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.history.identity import ODD_HEADER, RECORD_HEADER
from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.kafka.log_reader import Entry, PartitionLog
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.user_pipeline.odd_orders import IS_ODD, padded
from onceproof.harness.user_pipeline.profile import ABORTED, NULL, OVERSIZE
from onceproof.harness.workload.senders.base import MESSAGE_MAX_BYTES

_ID: Final = "onceproof-odd-records"
_EACH: Final = 5
"""How many go to each partition."""
_SECONDS: Final = 30.0
_MADE_UP: Final = re.compile(rb"order-0(\d{5})")
_ODD: Final = {ABORTED: 9, NULL: 8, OVERSIZE: 7}
_PLAIN: Final = {ABORTED: 6, NULL: 5, OVERSIZE: 4}
"""The first digit of the numbers of odd orders, and of the plain ones behind them, by kind."""

Ends = Mapping[int, int]
"""Partition → offset behind its last record."""


class NotSent(RuntimeError):
    """They could not be sent; the text says why."""


def send_odd(context: RunContext, kind: str) -> Ends:
    """Send some of a kind to every partition of the input that has a record; returns its ends.

    Raises:
        NotSent: the brokers did not take them.
        UnreadableLog: the input cannot be read now.
        KafkaException: the transaction failed.
    """
    with context.reader() as reader:
        logs = reader.read_topic(context.topic)
        alike = {log.partition: found for log in logs if (found := _last(log))}
    if not alike:
        raise NotSent(f"{context.topic} holds no record that an odd one could be like")
    _SENT_AS[kind](context, alike)
    with context.reader() as reader:
        return {partition: end for partition, (_, end) in reader.ends(context.topic).items()}


def found_odd(logs: Iterable[PartitionLog], kind: str) -> Ends:
    """Offsets behind the newest odd ones among the inputs, by partition; none where none stands."""
    odd = {log.partition: [e.offset for e in log.entries if IS_ODD[kind](e)] for log in logs}
    return {partition: max(offsets) + 1 for partition, offsets in odd.items() if offsets}


def send_plain(context: RunContext, kind: str) -> frozenset[str]:
    """Send one record to every partition, behind odd ones: whoever goes on has an effect of it.

    Returns their identities, which those of a file share with inputs.

    Raises:
        NotSent, UnreadableLog: as of `send_odd`.
    """
    with context.reader() as reader:
        alike = {log.partition: _last(log)[-1:] for log in reader.read_topic(context.topic)}
    other = _Other(_PLAIN[kind])
    _produce(_producer(context), context.topic, alike, other)
    return frozenset(
        other(entry.headers.get(RECORD_HEADER, b"")).decode()
        for entries in alike.values()
        for entry in entries
    )


def _sent_aborted(context: RunContext, alike: Mapping[int, list[Entry]]) -> None:
    producer = _producer(context, **{"transactional.id": _ID})
    producer.init_transactions(_SECONDS)
    producer.begin_transaction()
    _produce(producer, context.topic, alike, _Other(_ODD[ABORTED]))
    producer.abort_transaction(_SECONDS)


def _sent_null(context: RunContext, alike: Mapping[int, list[Entry]]) -> None:
    _produce(_producer(context), context.topic, alike, _Other(_ODD[NULL]), lambda _: None)


def _sent_large(context: RunContext, alike: Mapping[int, list[Entry]]) -> None:
    last = {partition: entries[-1:] for partition, entries in alike.items()}
    more = {"message.max.bytes": str(MESSAGE_MAX_BYTES)}
    producer, other = _producer(context, **more), _Other(_ODD[OVERSIZE])
    _produce(
        producer, context.topic, last, other, lambda value: padded(other(value).decode()).encode()
    )


_SENT_AS: Final[Mapping[str, Callable[[RunContext, Mapping[int, list[Entry]]], None]]] = {
    ABORTED: _sent_aborted,
    NULL: _sent_null,
    OVERSIZE: _sent_large,
}


def _producer(context: RunContext, **more: str) -> Producer:
    bootstrap = context.stage.bootstrap(AUDITOR)
    return Producer({**connection(bootstrap).librdkafka(), "log_level": 0, "acks": "all", **more})


class _Other:
    """The value of a made-up order, with the identity of one that is never sent."""

    def __init__(self, digit: int) -> None:
        self._as = rb"order-%d\1" % digit

    def __call__(self, value: bytes) -> bytes:
        return _MADE_UP.sub(self._as, value)


def _produce(
    producer: Producer,
    topic: str,
    alike: Mapping[int, list[Entry]],
    other: _Other,
    value: Callable[[bytes], bytes | None] | None = None,
) -> None:
    for partition, entries in alike.items():
        for entry in entries:
            named = entry.headers.get(RECORD_HEADER, b"")
            producer.produce(
                topic,
                partition=partition,
                key=entry.key,
                value=(value or other)(entry.value or b""),
                headers=[(ODD_HEADER, b""), (RECORD_HEADER, other(named))],
            )
    if left := producer.flush(_SECONDS):
        raise NotSent(f"{left} odd records were not taken within {_SECONDS:g} s")


def _last(log: PartitionLog) -> list[Entry]:
    """The last records of a partition that were sent and committed, without odd ones."""
    pairs = zip(log.entries, log.committed(), strict=True)
    plain = [
        entry
        for entry, committed in pairs
        if committed
        and entry.kind == "data"
        and entry.value is not None
        and ODD_HEADER not in entry.headers
        and not IS_ODD[OVERSIZE](entry)
    ]
    return plain[-_EACH:]
