"""Send odd records that are not inputs: aborted, too large, or with a null value.

They resemble earlier records, so that any pipeline can read them, and have no expected effects.
Generated orders get new identities; records of a file are copied.
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
_PER_PARTITION: Final = 5
"""Number per partition."""
_SECONDS: Final = 30.0
_GENERATED: Final = re.compile(rb"(order|payment)-0(\d{5})")
_ODD: Final = {ABORTED: 9, NULL: 8, OVERSIZE: 7}
_PLAIN: Final = {ABORTED: 6, NULL: 5, OVERSIZE: 4}
_AGAIN: Final = {ABORTED: 3, NULL: 2, OVERSIZE: 1}
"""First digit of the numbers of odd orders, of the plain ones after them, and of those sent once
these have effects, by kind."""

Templates = Mapping[tuple[str, int], list[Entry]]
"""Topic and partition → records to imitate."""


class NotSent(RuntimeError):
    """Odd records could not be sent; the text says why."""


def send_odd(context: RunContext, kind: str) -> Positions:
    """Send odd records of a kind to every non-empty input partition; return the end offsets.

    Raises:
        NotSent: the brokers did not accept them.
        UnreadableLog: an input cannot be read now.
        KafkaException: the transaction failed.
    """
    templates = {at: found for at, found in _last(context).items() if found}
    for topic in context.inputs:
        if topic not in {of for of, _ in templates}:
            raise NotSent(f"topic {topic} has no record that an odd record could imitate")
    _SENDERS[kind](context, templates)
    return context.input_ends()


def found_odd(logs: Iterable[PartitionLog], kind: str) -> Positions:
    """Return the offsets after the newest odd records, for partitions that have any."""
    odd = {
        (log.topic, log.partition): [e.offset for e in log.entries if IS_ODD[kind](e)]
        for log in logs
    }
    return {at: max(offsets) + 1 for at, offsets in odd.items() if offsets}


def send_plain(context: RunContext, kind: str, *, again: bool = False) -> frozenset[str]:
    """Send one plain record after the odd ones of each partition; return their identities.

    A pipeline that continues has effects of them. With `again`, the records are different ones.
    Identities for a file's records are those of inputs. Raises as `send_odd` does.
    """
    templates = {at: found[-1:] for at, found in _last(context).items()}
    other = _NewIdentity((_AGAIN if again else _PLAIN)[kind])
    _produce(_producer(context), templates, other)
    return frozenset(
        other(entry.headers.get(RECORD_HEADER, b"")).decode()
        for entries in templates.values()
        for entry in entries
    )


def _send_aborted(context: RunContext, templates: Templates) -> None:
    producer = _producer(context, **{"transactional.id": _ID})
    producer.init_transactions(_SECONDS)
    producer.begin_transaction()
    _produce(producer, templates, _NewIdentity(_ODD[ABORTED]))
    producer.abort_transaction(_SECONDS)


def _send_null(context: RunContext, templates: Templates) -> None:
    _produce(_producer(context), templates, _NewIdentity(_ODD[NULL]), lambda _: None)


def _send_large(context: RunContext, templates: Templates) -> None:
    last = {at: entries[-1:] for at, entries in templates.items()}
    more = {"message.max.bytes": str(MESSAGE_MAX_BYTES)}
    producer, other = _producer(context, **more), _NewIdentity(_ODD[OVERSIZE])
    _produce(producer, last, other, lambda value: padded(other(value).decode()).encode())


_SENDERS: Final[Mapping[str, Callable[[RunContext, Templates], None]]] = {
    ABORTED: _send_aborted,
    NULL: _send_null,
    OVERSIZE: _send_large,
}


def _producer(context: RunContext, **more: str) -> Producer:
    bootstrap = context.stage.bootstrap(AUDITOR)
    return Producer({**connection(bootstrap).librdkafka(), "log_level": 0, "acks": "all", **more})


class _NewIdentity:
    """Replaces the identity in the value of a generated order by one that is never sent."""

    def __init__(self, digit: int) -> None:
        self._as = rb"\1-%d\2" % digit

    def __call__(self, value: bytes) -> bytes:
        return _GENERATED.sub(self._as, value)


def _produce(
    producer: Producer,
    templates: Templates,
    other: _NewIdentity,
    value: Callable[[bytes], bytes | None] | None = None,
) -> None:
    for (topic, partition), entries in templates.items():
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
        raise NotSent(f"brokers did not accept {left} odd records within {_SECONDS:g} s")


def _last(context: RunContext) -> Templates:
    """Return the last records of each input partition that odd ones can imitate."""
    with context.reader() as reader:
        plain = {
            (topic, log.partition): _plain(log)
            for topic in context.inputs
            for log in reader.read_topic(topic)
        }
    if len(context.inputs) > 1:
        plain = _keep_matching(plain)
    return {at: entries[-_PER_PARTITION:] for at, entries in plain.items()}


def _keep_matching(plain: Templates) -> dict[tuple[str, int], list[Entry]]:
    """Keep generated records that match in all topics, so that the odd ones match as well."""
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
    """Return the number of a generated record; empty for others."""
    found = _GENERATED.search(entry.headers.get(RECORD_HEADER, b""))
    return found[2] if found else b""


def _plain(log: PartitionLog) -> list[Entry]:
    """Return the committed records of a partition without odd ones."""
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
