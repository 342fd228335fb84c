"""Odd records in topics that a pipeline reads, no inputs: aborted, too large, without a value.

They are like those that were sent before, so that any pipeline can read them, and no effect of them
is expected. Made-up orders get identities of their own; those of a file are copies.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from confluent_kafka import Producer

from onceproof.harness.context.pipeline import Positions
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
_MADE_UP: Final = re.compile(rb"(order|payment)-0(\d{5})")
_ODD: Final = {ABORTED: 9, NULL: 8, OVERSIZE: 7}
_PLAIN: Final = {ABORTED: 6, NULL: 5, OVERSIZE: 4}
_AGAIN: Final = {ABORTED: 3, NULL: 2, OVERSIZE: 1}
"""The first digit of the numbers of odd orders, of the plain ones behind them, and of those that
are sent once these are written, by kind."""

Alike = Mapping[tuple[str, int], list[Entry]]
"""Topic and partition → records that odd ones are to be like."""


class NotSent(RuntimeError):
    """They could not be sent; the text says why."""


def send_odd(context: RunContext, kind: str) -> Positions:
    """Send some of a kind to every partition of the inputs that has a record; returns their ends.

    Raises:
        NotSent: the brokers did not take them.
        UnreadableLog: an input cannot be read now.
        KafkaException: the transaction failed.
    """
    alike = {at: found for at, found in _last(context).items() if found}
    for topic in context.inputs:
        if topic not in {of for of, _ in alike}:
            raise NotSent(f"{topic} holds no record that an odd one could be like")
    _SENT_AS[kind](context, alike)
    return context.input_ends()


def found_odd(logs: Iterable[PartitionLog], kind: str) -> Positions:
    """Offsets behind the newest odd ones among the inputs, by partition; none where none stands."""
    odd = {
        (log.topic, log.partition): [e.offset for e in log.entries if IS_ODD[kind](e)]
        for log in logs
    }
    return {at: max(offsets) + 1 for at, offsets in odd.items() if offsets}


def send_plain(context: RunContext, kind: str, *, again: bool = False) -> frozenset[str]:
    """Send one record to every partition, behind odd ones: whoever goes on has an effect of it.

    Those that are sent `again` are other ones. Returns their identities, which those of a file
    share with inputs.

    Raises:
        NotSent, UnreadableLog: as of `send_odd`.
    """
    alike = {at: found[-1:] for at, found in _last(context).items()}
    other = _Other((_AGAIN if again else _PLAIN)[kind])
    _produce(_producer(context), alike, other)
    return frozenset(
        other(entry.headers.get(RECORD_HEADER, b"")).decode()
        for entries in alike.values()
        for entry in entries
    )


def _sent_aborted(context: RunContext, alike: Alike) -> None:
    producer = _producer(context, **{"transactional.id": _ID})
    producer.init_transactions(_SECONDS)
    producer.begin_transaction()
    _produce(producer, alike, _Other(_ODD[ABORTED]))
    producer.abort_transaction(_SECONDS)


def _sent_null(context: RunContext, alike: Alike) -> None:
    _produce(_producer(context), alike, _Other(_ODD[NULL]), lambda _: None)


def _sent_large(context: RunContext, alike: Alike) -> None:
    last = {at: entries[-1:] for at, entries in alike.items()}
    more = {"message.max.bytes": str(MESSAGE_MAX_BYTES)}
    producer, other = _producer(context, **more), _Other(_ODD[OVERSIZE])
    _produce(producer, last, other, lambda value: padded(other(value).decode()).encode())


_SENT_AS: Final[Mapping[str, Callable[[RunContext, Alike], None]]] = {
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
        self._as = rb"\1-%d\2" % digit

    def __call__(self, value: bytes) -> bytes:
        return _MADE_UP.sub(self._as, value)


def _produce(
    producer: Producer,
    alike: Alike,
    other: _Other,
    value: Callable[[bytes], bytes | None] | None = None,
) -> None:
    for (topic, partition), entries in alike.items():
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


def _last(context: RunContext) -> Alike:
    """The last records of each partition of the inputs that odd ones can be like."""
    with context.reader() as reader:
        plain = {
            (topic, log.partition): _plain(log)
            for topic in context.inputs
            for log in reader.read_topic(topic)
        }
    if len(context.inputs) > 1:
        plain = _matched(plain)
    return {at: entries[-_EACH:] for at, entries in plain.items()}


def _matched(plain: Alike) -> dict[tuple[str, int], list[Entry]]:
    """Of records that were made up those that are in each topic, in the order of their numbers: odd
    ones match each other, as others do.
    """
    numbers = defaultdict(list)
    for (_, partition), entries in plain.items():
        numbers[partition].append(set(map(_number, entries)))
    return {
        (topic, partition): sorted(
            (e for e in entries if _number(e) in set.intersection(*numbers[partition])),
            key=_number,
        )
        for (topic, partition), entries in plain.items()
    }


def _number(entry: Entry) -> bytes:
    """The number of a record that was made up; of another one it is empty."""
    found = _MADE_UP.search(entry.headers.get(RECORD_HEADER, b""))
    return found[2] if found else b""


def _plain(log: PartitionLog) -> list[Entry]:
    """The records of a partition that were sent and committed, without odd ones."""
    pairs = zip(log.entries, log.committed(), strict=True)
    return [
        entry
        for entry, committed in pairs
        if committed
        and entry.kind == "data"
        and entry.value is not None
        and ODD_HEADER not in entry.headers
        and not IS_ODD[OVERSIZE](entry)
    ]
