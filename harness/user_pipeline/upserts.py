"""An output that keeps one value per key, and its expected final values.

Each value carries the identity of the input that wrote it. At the end, that must be the last input
of the key in the input's log; other contents are compared with `--expect`. A value that was lost,
or overwritten by an older one, is visible only if no later input of its key followed. So the last
inputs of keys must be spread over the whole workload.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.user_pipeline.identity import BadRule, Rule, Written
from onceproof.harness.user_pipeline.outputs.base import FoundEffect, Source

LATEST: Final = "latest input"
"""Aggregate: which input of a key wrote its value."""
CONTENT: Final = "content"
"""Aggregate: the content of a key's value."""
STRETCH: Final = 20
"""One of this many consecutive inputs must be the last of its key."""


class Upserts:
    """An output as a sink of values by key."""

    def __init__(
        self,
        source: Source,
        *,
        name: str,
        view: str,
        identity: Rule,
        key: Rule,
        not_judged: str,
        content: Callable[[Written], str] | None = None,
    ) -> None:
        """Initialize without reading; `content` is compared besides the input that wrote a value.

        `identity` finds that input; `not_judged` is the digest of every effect.
        """
        self.name = name
        self._source = source
        self._view = view
        self._identity = identity
        self._key = key
        self._not_judged = not_judged
        self._compared: dict[str, Callable[[Written], str]] = {LATEST: self._input_of}
        if content is not None:
            self._compared[CONTENT] = content

    def size(self) -> int:
        return self._source.size()

    def effects(self) -> list[Effect]:
        """Return one effect per value; one without a readable key names no input."""
        return [
            Effect(
                sink=self.name,
                view=self._view,
                record=self._named_by(found),
                effect_key="",
                digest=self._not_judged,
                position=found.position,
                ordinal=ordinal,
            )
            for ordinal, found in enumerate(self._source.found())
        ]

    def records(self) -> frozenset[str | None]:
        return frozenset(self._named_by(found) for found in self._source.found())

    def states(self) -> list[State]:
        """Return what is compared of each key's value; of all rows if a key has several."""
        latest: dict[tuple[str, str], Written] = {}
        for found in self._source.found():
            key = self._key_of(found)
            if key is None:
                continue
            at = (key, found.position if found.log is None else found.log)
            if found.log is not None and found.written.value is None:
                latest.pop(at, None)  # a tombstone: its key is deleted
            else:
                latest[at] = found.written
        values: defaultdict[str, list[Written]] = defaultdict(list)
        for (key, _), written in latest.items():
            values[key].append(written)
        return [
            State(
                sink=self.name,
                view=self._view,
                state_key=key,
                aggregate=aggregate,
                digest=_summary([compared(written) for written in rows]),
            )
            for key, rows in values.items()
            for aggregate, compared in self._compared.items()
        ]

    def atomic_batches(self) -> list[AtomicBatch]:
        return []

    def hanging(self) -> bool:
        return self._source.hanging()

    def _key_of(self, found: FoundEffect) -> str | None:
        return self._key.find(found.written)

    def _named_by(self, found: FoundEffect) -> str | None:
        return self._identity.find(found.written) if self._key_of(found) else None

    def _input_of(self, written: Written) -> str:
        return self._identity.find(written) or "an unknown input"


def _summary(values: Sequence[str]) -> str:
    if len(values) == 1:
        return values[0]
    return f"in {len(values)} rows: {', '.join(sorted(values))}"


def contribution(
    record: str, key: str, *, sink: str, aggregate: str, digest: str
) -> dict[str, Any]:
    """Return the value that an input leaves for a key, as a row of `contributions`."""
    return {
        "sink": sink,
        "record": record,
        "state_key": key,
        "aggregate": aggregate,
        "operation": "last",
        "amount": None,
        "digest": digest,
    }


def check_spread(inputs: Sequence[tuple[str, str]]) -> None:
    """Check that the last inputs of keys are spread over `inputs` (identity and key, in order).

    Raises:
        BadRule: somewhere a value could be lost unnoticed.
    """
    last = {key: place for place, (_, key) in enumerate(inputs)}
    if where := long_stretch(last.values(), of=len(inputs)):
        raise BadRule(
            f"records {where} are all followed by a later record of the same key, which would hide "
            f"the loss of a value; expected one of any {STRETCH} consecutive records to be the "
            "last of its key. Use more keys (--data-key), or leave out --upserts and write one row "
            "per input"
        )


def long_stretch(places: Iterable[int], *, of: int) -> str | None:
    """Describe the first `STRETCH` or more consecutive records without one of `places`.

    `places` are record numbers from 0; `of` is the number of records.
    """
    for before, after in pairwise([-1, *sorted(places), of]):
        if after - before > STRETCH:
            return f"{before + 2} to {after}"
    return None


def passed(
    inputs: Iterable[tuple[str, str]], there: Iterable[str | None]
) -> Iterator[tuple[str, bool]]:
    """Yield which inputs of one partition have left a value, or were overwritten since.

    `inputs` holds identity and key of each, in log order; `there` the identities in the outputs.
    """
    listed, known = list(inputs), frozenset(there)
    furthest = {key: place for place, (identity, key) in enumerate(listed) if identity in known}
    for place, (identity, key) in enumerate(listed):
        yield identity, place <= furthest.get(key, -1)
