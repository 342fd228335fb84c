"""The parameters of a history that an audit makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Side:
    """An output, as far as the history needs it.

    Attributes:
        name, view: as in claims.
        number: its index among the outputs.
        topic: whether it is a topic, so that effects have the position `topic-partition@offset`.
        most: effects per input; None: taken from the `expected` rows that were read.
        optional: whether an input may have no effect.
        ranked: whether an effect's key is the rank of its content among those of its input.
        oldest: timestamp in milliseconds before which retention may have deleted effects.
        newest: timestamp in milliseconds from which effects may not be readable yet.
    """

    name: str
    view: str
    number: int
    topic: bool
    most: int | None
    optional: bool
    ranked: bool
    oldest: int | None
    newest: int | None


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The parameters of a history.

    Attributes:
        dead: the dead-letter output; a record in it replaces all effects of its input.
        window: partition → first offset of the inputs to judge, and the offset after the last.
        settle: milliseconds within which an input has its effects.
        now: when the outputs were read, in milliseconds; later timestamps are capped to it.
        committed: partition → committed offset of the consumer group; None: no group is known.
        whole: whether the input was read from offset 0, so that an effect of an unknown input has
            no source.
        nameless: whether effects without an identity are left out.
    """

    input: str
    outputs: tuple[Side, ...]
    dead: Side | None = None
    window: Mapping[int, tuple[int, int]]
    settle: int
    now: int
    committed: Mapping[int, int] | None
    whole: bool
    nameless: bool
