"""The workload for a user's pipeline: generated orders, or the records of a file.

Each record needs a unique identity, to tell losses from duplicates. A file's records carry their
own; it is found by the same kind of rule as in the pipeline's outputs.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from onceproof.harness.history.identity import digest
from onceproof.harness.user_pipeline.codecs import encoded
from onceproof.harness.user_pipeline.contents import Contents, path_of
from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.event_time import ROUNDS, EventTime, late, round_event_time
from onceproof.harness.user_pipeline.final_state import FinalState, check_state, keys_of
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.user_pipeline.input_file import InputRecord, records_of
from onceproof.harness.user_pipeline.made_up_orders import ORDER_ID, MadeUp, orders_made_up
from onceproof.harness.user_pipeline.matching_orders import matching_orders, matching_payments
from onceproof.harness.user_pipeline.profile import OVERSIZE, PROBED
from onceproof.harness.user_pipeline.upserts import CONTENT, LATEST, contribution
from onceproof.harness.workload.contributions import Transforms
from onceproof.harness.workload.task_file import SenderRecord

Match = Literal["orders", "payments"]
"""What the records are, if they match those of another topic."""


@dataclass(frozen=True, kw_only=True)
class Orders:
    """A workload for one topic.

    Attributes:
        records: total number; of a file, so many from its beginning.
        file: path of a file with records; None: generate them.
        match: what to generate to match another topic.
        identity, key: rules for a file's records; without `key`, the identity is the key.
        effects: number of effects of each record, as parsed by `ExpectedEffects`.
        effect_key: rule that tells several effects of one record apart.
        expects: output → function that returns expected contents, instead of `effects`.
        ignored: rules of fields that are not compared.
        encode: function that returns the bytes of a value; None: its text.
        states: output → function that returns its final state, instead of `effects`.
        upserts: whether each record leaves a value for its key, instead of effects of its own.
        rate: records per second of all producers together, while faults are active.
        sentinels: number of last records, sent only when the outputs are idle.
        odd: kinds of odd records to generate: `KEYS`, `NULL`, `OVERSIZE`, `EMPTY`.
        times: where a record has its event time, if windows wait for later ones.
    """

    topic: str
    records: int
    file: str | None = None
    match: Match | None = None
    identity: str = f"json:$.{ORDER_ID}"
    key: str | None = None
    effects: str = "1"
    effect_key: str | None = None
    expects: tuple[tuple[str, str], ...] = ()
    ignored: tuple[str, ...] = ()
    encode: str | None = None
    states: tuple[tuple[str, str], ...] = ()
    upserts: bool = False
    producers: int = 2
    partitions: int = 3
    rate: int = 400
    sentinels: int = 0
    odd: tuple[str, ...] = ()
    times: EventTime | None = None
    transaction: int = field(default=0, init=False)
    trickle = 0.25
    """The input continues while a pipeline is idle, as in production."""

    @property
    def topics(self) -> tuple[str, ...]:
        return (self.topic,)

    @property
    def rounds(self) -> int:
        """How often later event times advance the watermark; 1 without event times."""
        return 1 if self.times is None else ROUNDS

    def yields(self, sink: str) -> ExpectedEffects:
        """Return the effects that each record has in an output."""
        if self.states:
            return self.final(sink)
        if not self.expects:
            return ExpectedEffects.parse(self.effects, key=self.effect_key)
        return Contents.of(dict(self.expects)[sink], key=self.effect_key, ignored=self.ignored)

    def by_input(self, sink: str) -> dict[str | None, ExpectedEffects]:
        """Return the same by topic; None, because identities have no topic if there is only one."""
        return {None: self.yields(sink)}

    @property
    def probes(self) -> tuple[str, ...]:
        """Kinds of odd records that a dry run tries."""
        # Only generated orders in JSON can be made larger.
        large = not (self.file or self.encode)
        return tuple(kind for kind in PROBED if large or kind != OVERSIZE)

    def of_size(self, records: int) -> Orders:
        return replace(self, records=records)

    def final(self, sink: str) -> FinalState:
        ignored = tuple(map(path_of, self.ignored))
        return FinalState(optional=True, function=dict(self.states)[sink], ignored=ignored)

    def sends(self, *, producer: int, seed: int) -> Iterator[SenderRecord]:
        """Yield what one producer sends, in order; raises as `records_of` does."""
        for n, record in enumerate(self._all(seed)):
            if n % self.producers == producer:
                value = self._bytes(record.value)
                yield SenderRecord(
                    record=record.identity,
                    topic=self.topic,
                    key=record.key,
                    value=record.value,
                    digest=digest(record.key.encode(), value),
                    headers=record.headers,
                    encoded=None
                    if value is None or self.encode is None
                    else b64encode(value).decode(),
                )

    def expected(
        self, subject: Transforms, *, producer: int, seed: int
    ) -> Iterator[dict[str, Any]]:
        """Yield the expected effects of one producer's records, as rows of `expected`."""
        if self.upserts:
            return
        yields = {sink: self.yields(sink) for sink in subject.sinks}
        never_closed = self._never_closed(seed)
        for record in self.sends(producer=producer, seed=seed):
            for sink, each in yields.items():
                for name, content in each.contents(record.value).items():
                    yield {
                        "sink": sink,
                        "record": record.record,
                        "effect_key": name,
                        "digest": content,
                        "optional": each.may_lack or record.record in never_closed,
                    }

    def contributed(
        self, subject: Transforms, *, producer: int, seed: int
    ) -> Iterator[dict[str, Any]]:
        """Yield the values that one producer's records leave, as rows of `contributions`.

        Final states are not included: they depend on the order of the log. Raises `BadRule` if a
        record has more than one effect.
        """
        if not self.upserts or self.states:
            return
        yields = {sink: self.yields(sink) for sink in subject.sinks}
        for record in self.sends(producer=producer, seed=seed):
            for sink, each in yields.items():
                if self._has_effect(each, record.record, record.value):
                    left = {LATEST: record.record}
                    if isinstance(each, Contents):
                        (left[CONTENT],) = each.contents(record.value).values()
                    for aggregate, digest in left.items():
                        yield contribution(
                            record.record, record.key, sink=sink, aggregate=aggregate, digest=digest
                        )

    def required(self, *, seed: int) -> frozenset[str]:
        """Return identities of records that must have an effect; none if any record may have none.

        Lateness is computed as if records were read in the order of sending.
        """
        if any(each.may_lack for each in self._yields):
            return frozenset()
        due = frozenset(identity for identity, _ in self.keyed(seed=seed))
        return due - self._by_time(seed)[1] - self._never_closed(seed)

    def disorder(self, *, seed: int) -> tuple[int, int]:
        """Return how many records are out of order by event time, and how many more are late."""
        disordered, late_ones = self._by_time(seed)
        return disordered, len(late_ones)

    def _by_time(self, seed: int) -> tuple[int, frozenset[str]]:
        """Return the number of records out of order, and the identities of late ones."""
        if self.times is None:
            return 0, frozenset()
        records = self._all(seed)
        which, disordered = late(self.times, (self.times.read(r.value) for r in records))
        late_ones = (r.identity for r, is_late in zip(records, which, strict=True) if is_late)
        return disordered, frozenset(late_ones)

    def _never_closed(self, seed: int) -> frozenset[str]:
        """Return identities of the last rounds: no later event times close their windows."""
        if self.times is None or not self.sentinels:
            return frozenset()
        of = self._all(seed)[-self.sentinels :]
        return frozenset(r.identity for r in of[len(of) // ROUNDS :])

    def elsewhere(self, sink: str, *, seed: int) -> frozenset[str]:
        """Return identities of records that must have an effect, but none in this output."""
        if not (self.expects or self.states):
            return frozenset()  # what a record must have, it must have in every output
        names = self.yields(sink).names
        here = {record.identity for record in self._all(seed) if names(record.value)}
        return self.required(seed=seed) - here

    def required_sentinels(self, *, seed: int) -> frozenset[str]:
        """Return identities of the sentinels that must have an effect."""
        each = self.sentinels // self.producers
        # With several rounds, only the first must have effects; see `_never_closed`.
        last = {
            record.record
            for producer in range(self.producers if each else 0)
            for record in list(self.sends(producer=producer, seed=seed))[-each:]
        }
        return self.required(seed=seed) & last

    def keyed(self, *, seed: int, sink: str | None = None) -> list[tuple[str, str]]:
        """Return identity and key of every record with an effect in `sink` (None: any), in order.

        Raises:
            BadRule: see `sends`; or a record has more than one effect, with `upserts`.
        """
        yields = self._yields if sink is None else [self.yields(sink)]
        return [
            (r.identity, r.key)
            for r in self._all(seed)
            if any(self._has_effect(each, r.identity, r.value) for each in yields)
        ]

    def state_keys(self, sink: str, *, seed: int) -> dict[str, tuple[str, ...]]:
        return keys_of(self.final(sink), self._all(seed))

    def check_states(self) -> None:
        """Raise `BadRule` if a state table would not show losses or progress; see `check_state`."""
        for sink, _ in self.states:
            check_state(
                self.final(sink),
                self._all(0),
                partitions=self.partitions,
                producers=self.producers,
            )

    @property
    def _yields(self) -> list[ExpectedEffects]:
        return [self.yields(sink) for sink in dict(self.expects or self.states) or [""]]

    def _has_effect(self, yields: ExpectedEffects, record: str, value: str | None) -> bool:
        names = yields.names(value)
        if self.upserts and len(names) > 1:
            raise BadRule(f"{record} has {len(names)} effects; expected at most one with --upserts")
        return bool(names)

    def check_encoded(self) -> None:
        """Raise `BadRule` if a record cannot be encoded."""
        for record in self._all(0):
            self._bytes(record.value)

    def _bytes(self, value: str | None) -> bytes | None:
        if value is None or self.encode is None:
            return None if value is None else value.encode()
        return encoded(self.encode, value)

    def _all(self, seed: int) -> Sequence[InputRecord]:
        records = self._plain(seed)
        return records if self.times is None else _in_rounds(records, self.times, self.sentinels)

    def _plain(self, seed: int) -> Sequence[InputRecord]:
        if self.file:
            there = records_of(Path(self.file), identity=self.identity, key=self.key)
            return list(islice(there, self.records))
        if self.match is not None:
            make = matching_orders if self.match == "orders" else matching_payments
            return make(self.records, seed)
        made_up = MadeUp(
            records=self.records,
            partitions=self.partitions,
            sentinels=self.sentinels,
            odd=self.odd,
            times=self.times,
            new_at_the_end=bool(self.states),
            passing=self.upserts,
        )
        return orders_made_up(made_up, seed)


def _in_rounds(records: Sequence[InputRecord], times: EventTime, last: int) -> list[InputRecord]:
    """Replace the last event times to advance the watermark; raise `BadRule` if one is missing."""
    first = len(records) - last
    known = [times.read(record.value) for record in records]
    each = max(last // ROUNDS, 1)
    return [
        *records[:first],
        *(
            replace(
                r,
                value=times.put(r.value or "{}", round_event_time(times, known[:first], n // each)),
            )
            for n, r in enumerate(records[first:])
        ),
    ]
