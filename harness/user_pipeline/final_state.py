"""The expected final state of a state table, as returned by a user's function.

The function takes all committed inputs and returns the content of each key. A row of such a table
names no input, so only a new key shows that an input has arrived. The workload must therefore
introduce new keys all the time, and at its end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from onceproof.harness.sinks.base import Effect
from onceproof.harness.user_pipeline.contents import as_text
from onceproof.harness.user_pipeline.effects import ExpectedEffects, call_with_all
from onceproof.harness.user_pipeline.identity import BadRule, Written, text_of
from onceproof.harness.user_pipeline.input_file import InputRecord
from onceproof.harness.user_pipeline.outputs.base import FoundEffect
from onceproof.harness.user_pipeline.upserts import (
    CONTENT,
    STRETCH,
    Upserts,
    contribution,
    long_stretch,
)
from onceproof.harness.workload.partitions import partition_of_key

_PADDING: Final = "onceproof: no input"


@dataclass(frozen=True, kw_only=True)
class FinalState(ExpectedEffects):
    """The state of one output after all inputs.

    `function` takes a list of inputs, each as `ExpectedEffects.function` takes it. Inputs of one
    partition are in log order; inputs of different partitions in any order. It returns
    key → content. Fields at paths in `ignored` are not compared.
    """

    ignored: tuple[str, ...] = ()

    def names(self, value: str | None) -> tuple[str, ...]:
        return ("",) if self.keys(value) else ()

    def digest(self, written: Written) -> str:
        return as_text(written.value, self.ignored)

    def keys(self, value: str | None) -> tuple[str, ...]:
        """Return the keys that the function returns for this input alone; raises as `of` does."""
        return tuple(self.of([value]))

    def of(self, values: Iterable[str | None]) -> dict[str, str]:
        """Return key → content for these inputs; raise `BadRule` if the function does not."""
        assert self.function is not None
        returned = call_with_all(self.function, values)
        if not isinstance(returned, Mapping):
            raise BadRule(
                f"{self.function} returned {str(returned)[:120]!r}; expected a dictionary of "
                "state keys and their contents"
            )
        state = {}
        for key, content in returned.items():
            name = text_of(key)
            if name is None or content is None:
                raise BadRule(
                    f"{self.function} returned the content {content!r} for the key {key!r}; "
                    "expected a non-empty string or an integer as key, and a content other than "
                    "None. Leave out a key that the state does not have"
                )
            state[name] = as_text(content, self.ignored)
        return state

    def in_any_order(self, partitions: Sequence[Sequence[str | None]]) -> dict[str, str]:
        """Return key → content for the inputs of each partition; raises as `of` does.

        Raises:
            BadRule: the result depends on the order across partitions.
        """
        first = self.of(value for each in partitions for value in each)
        backwards = [value for each in reversed(partitions) for value in each]
        turns = zip_longest(*partitions, fillvalue=_PADDING)
        by_turns = [value for turn in turns for value in turn if value is not _PADDING]
        for order in (backwards, by_turns):
            for key, content in _differences(first, self.of(order)):
                raise BadRule(
                    f"{self.function}: the content of {key!r} depends on the order of inputs from "
                    f"different partitions: {content}. Kafka does not define that order, so no "
                    "final state is correct; expected a content that depends at most on the order "
                    "within a partition"
                )
        return first


def _differences(one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key in dict.fromkeys([*one, *other]):
        contents = [each.get(key, "absent") for each in (one, other)]
        if contents[0] != contents[1]:
            yield key, " or ".join(content[:120] for content in contents)


class StateTable(Upserts):
    """An output judged only by its final contents: no row names an input."""

    def __init__(self, **of: Any) -> None:
        super().__init__(**of)
        self._compared = {CONTENT: self._compared[CONTENT]}

    def effects(self) -> list[Effect]:
        """Return only rows whose key cannot be read, which would not be judged otherwise."""
        return [effect for effect in super().effects() if effect.record is None]

    def _named_by(self, found: FoundEffect) -> str | None:
        """Return the key: `records` holds the existing keys instead of inputs."""
        return self._key_of(found)


def contributions(
    state: FinalState, partitions: Sequence[Sequence[tuple[str, str | None]]], *, sink: str
) -> Iterator[dict[str, Any]]:
    """Yield rows of `contributions`: the content of each key, attributed to the key's last input.

    `partitions` holds identity and value of each committed input, in log order. Raises as
    `FinalState.in_any_order` does.
    """
    last = {
        key: record
        for inputs in partitions
        for record, value in inputs
        for key in state.keys(value)
    }
    contents = state.in_any_order([[value for _, value in inputs] for inputs in partitions])
    for key, content in contents.items():
        if key not in last:
            raise _unattributed(state, key)
        yield contribution(last[key], key, sink=sink, aggregate=CONTENT, digest=content)


def keys_of(state: FinalState, inputs: Iterable[InputRecord]) -> dict[str, tuple[str, ...]]:
    """Return each input's identity → those of its state keys whose inputs share one message key.

    The inputs of such a state key are in one partition, so it is known which of them came first.
    """
    listed = [(each, state.keys(each.value)) for each in inputs]
    of: defaultdict[str, set[str]] = defaultdict(set)
    for each, keys in listed:
        for key in keys:
            of[key].add(each.key)
    return {each.identity: tuple(key for key in keys if len(of[key]) == 1) for each, keys in listed}


def arrived(
    records: Sequence[str],
    there: Collection[str | None],
    keys: Mapping[str, Collection[str]],
) -> Iterator[tuple[str, bool]]:
    """Yield which inputs of one partition have arrived, as far as state keys show it.

    An input that is the first of a key has arrived if the key exists. Any other has arrived if a
    later one has.

    Args:
        records: identities, in log order.
        there: keys in the output.
        keys: as returned by `keys_of`.
    """
    first: dict[str, int] = {}
    opened: defaultdict[int, list[str]] = defaultdict(list)
    for place, record in enumerate(records):
        for key in keys.get(record, ()):
            if key not in first:
                first[key] = place
                opened[place].append(key)
    furthest = max((place for key, place in first.items() if key in there), default=-1)
    for place, record in enumerate(records):
        yield (
            record,
            all(key in there for key in opened[place]) if place in opened else place <= furthest,
        )


def check_state(
    state: FinalState, inputs: Sequence[InputRecord], *, partitions: int, producers: int
) -> None:
    """Check that the final state would show losses and progress.

    Args:
        inputs: in the order of sending.
        producers: number of producers that send the inputs in turn.

    Raises:
        BadRule: it would not; the text says what is expected.
    """
    contents = state.in_any_order(_by_partition(inputs, partitions))
    ends = {
        (n % producers, partition_of_key(each.key, partitions)): each.identity
        for n, each in enumerate(inputs)
        if state.keys(each.value)
    }
    # An input that adds to no key cannot be lost.
    inputs = [each for each in inputs if state.keys(each.value)]
    if not inputs:
        raise BadRule(
            f"{state.function} returned no key for any single input; expected the keys that the "
            "input contributes to"
        )
    keys = [state.keys(each.value) for each in inputs]
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, each in enumerate(keys):
        for key in each:
            places[key].append(place)
    _check_alone(state, inputs, places, contents)
    known = keys_of(state, inputs)
    opening = {min(places[key]) for each in inputs for key in known[each.identity]}
    if where := long_stretch(opening, of=len(inputs)):
        raise BadRule(
            f"{state.function}: records {where}, counting only records that contribute to a key, "
            "contribute to no new key, so the output does not show whether they have arrived; "
            f"expected one of any {STRETCH} consecutive records to be the first of a state key "
            "whose records all have the same message key. In generated orders, the customer is "
            "such a key"
        )
    if where := long_stretch(_significant(state, inputs, keys, places), of=len(inputs)):
        raise BadRule(
            f"{state.function}: leaving out any one of records {where}, counting only records that "
            "contribute to a key, does not change the final state, so its loss would go unnoticed; "
            f"expected one of any {STRETCH} consecutive records to change the final state"
        )
    for last in ends.values():
        if not any(len(places[key]) == 1 for key in known[last]):
            raise BadRule(
                f"{last} is among the last records of its partition and has no state key of its "
                "own, so the output does not show whether it has arrived; expected records with "
                "new keys at the end of the data"
            )


def _by_partition(inputs: Iterable[InputRecord], partitions: int) -> list[list[str | None]]:
    logs: list[list[str | None]] = [[] for _ in range(partitions)]
    for each in inputs:
        logs[partition_of_key(each.key, partitions)].append(each.value)
    return logs


def _check_alone(
    state: FinalState,
    inputs: Sequence[InputRecord],
    places: Mapping[str, Sequence[int]],
    contents: Mapping[str, str],
) -> None:
    """Raise `BadRule` if the content of a key depends on inputs that do not add to it.

    `places` are the indexes of inputs by key; `contents` is the state after all inputs.
    """
    for key in dict.fromkeys([*contents, *places]):
        if key not in places:
            raise _unattributed(state, key)
        alone = state.of(inputs[place].value for place in places[key]).get(key)
        if alone != contents.get(key):
            raise BadRule(
                f"{state.function}: the content of {key!r} depends on inputs that do not yield "
                "this key when passed alone; expected it to depend only on inputs that do"
            )


def _unattributed(state: FinalState, key: str) -> BadRule:
    return BadRule(
        f"{state.function} returned the key {key!r}, but not for any single input; expected only "
        "keys that it also returns for single inputs"
    )


def _significant(
    state: FinalState,
    inputs: Sequence[InputRecord],
    keys: Sequence[Collection[str]],
    places: Mapping[str, Sequence[int]],
) -> list[int]:
    """Return indexes of inputs whose loss would change the final state, as few as possible."""
    contents = {
        key: state.of(inputs[place].value for place in of).get(key) for key, of in places.items()
    }

    def matters(place: int) -> bool:
        return any(
            state.of(inputs[other].value for other in places[key] if other != place).get(key)
            != contents[key]
            for key in keys[place]
        )

    found = [-1]
    while found[-1] < len(inputs) - 1:
        behind = range(found[-1] + 1, min(found[-1] + STRETCH, len(inputs) - 1) + 1)
        at = next((place for place in reversed(behind) if matters(place)), None)
        if at is None:
            break
        found.append(at)
    return found[1:]
