"""An output that keeps one value for each key, and what must be there in the end.

What a value says only its owner knows, but each carries the identity of the
input that left it. In the end that must be the last input of its key, by the order of the input's
log. One that was lost, or that an older one was written over, is seen only if no later input of its
key came behind it: so the last inputs of keys must be spread over the whole of what is sent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.user_pipeline.identity import BadRule, Rule
from onceproof.harness.user_pipeline.outputs.base import Found, Source

LATEST: Final = "latest input"
"""The aggregate: which input of a key left its value."""
STRETCH: Final = 20
"""Among so many inputs in a row one must be the last of its key."""


class Upserts:
    """An output as a sink of values by key."""

    def __init__(
        self, source: Source, *, name: str, view: str, identity: Rule, key: Rule, not_judged: str
    ) -> None:
        """Nothing is read yet.

        Args:
            source: where the values stand.
            identity: finds the input that left a value.
            key: finds its key.
            not_judged: digest of every effect.
        """
        self.name = name
        self._source = source
        self._view = view
        self._identity = identity
        self._key = key
        self._not_judged = not_judged

    def size(self) -> int:
        return self._source.size()

    def effects(self) -> list[Effect]:
        """One for each value that was found; one whose key cannot be read names no input."""
        return [
            Effect(
                sink=self.name,
                view=self._view,
                record=self._identity.find(found.written) if self._key_of(found) else None,
                effect_key="",
                digest=self._not_judged,
                position=found.position,
                ordinal=ordinal,
            )
            for ordinal, found in enumerate(self._source.found())
        ]

    def records(self) -> frozenset[str | None]:
        return frozenset(effect.record for effect in self.effects())

    def states(self) -> list[State]:
        """Which input left the value of each key. Where a key has several rows, all of them."""
        latest: dict[tuple[str, str], str] = {}
        for found in self._source.found():
            key = self._key_of(found)
            if key is None:
                continue
            at = (key, found.position if found.log is None else found.log)
            if found.log is not None and found.written.value is None:
                latest.pop(at, None)  # a tombstone: its key is deleted
            else:
                latest[at] = self._identity.find(found.written) or "nobody knows which"
        values: defaultdict[str, list[str]] = defaultdict(list)
        for (key, _), identity in latest.items():
            values[key].append(identity)
        return [
            State(
                sink=self.name,
                view=self._view,
                state_key=key,
                aggregate=LATEST,
                digest=_summary(identities),
            )
            for key, identities in values.items()
        ]

    def atomic_batches(self) -> list[AtomicBatch]:
        return []

    def hanging(self) -> bool:
        return self._source.hanging()

    def _key_of(self, found: Found) -> str | None:
        return self._key.find(found.written)


def _summary(identities: Sequence[str]) -> str:
    if len(identities) == 1:
        return identities[0]
    return f"in {len(identities)} rows: {', '.join(sorted(identities))}"


def contributions(inputs: Iterable[tuple[str, str]], *, sink: str) -> Iterator[dict[str, Any]]:
    """What inputs leave in a sink, as rows of `contributions`.

    Args:
        inputs: identity and key of each.
    """
    for identity, key in inputs:
        yield {
            "sink": sink,
            "record": identity,
            "state_key": key,
            "aggregate": LATEST,
            "operation": "last",
            "amount": None,
            "digest": identity,
        }


def check_spread(inputs: Sequence[tuple[str, str]]) -> None:
    """See that the last inputs of keys are spread over all of them.

    Args:
        inputs: identity and key of each, in order.

    Raises:
        BadRule: somewhere a value could be lost and nobody would see it.
    """
    last = {key: place for place, (_, key) in enumerate(inputs)}
    ends = [-1, *sorted(last.values())]
    for before, after in pairwise(ends):
        if after - before > STRETCH:
            raise BadRule(
                f"records {before + 2} to {after} are all followed by a later one of their key, so "
                "a lost value would be overwritten unnoticed; expected one of any "
                f"{STRETCH} consecutive records to be the last of its key. Use more keys "
                "(--data-key), or leave out --upserts and write one row for each input"
            )


def passed(
    inputs: Iterable[tuple[str, str]], there: Iterable[str | None]
) -> Iterator[tuple[str, bool]]:
    """Which inputs of one partition have left a value, or have been written over since.

    Args:
        inputs: identity and key of each, in the order of the log.
        there: identities of the values that are in the outputs.
    """
    listed, known = list(inputs), frozenset(there)
    furthest = {key: place for place, (identity, key) in enumerate(listed) if identity in known}
    for place, (identity, key) in enumerate(listed):
        yield identity, place <= furthest.get(key, -1)
