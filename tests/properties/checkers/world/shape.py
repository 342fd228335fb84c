"""The parameters that determine the oddities of a world.

The first value of each is the simplest, so that Hypothesis shrinks a failure to a small world with
only the relevant oddities.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from random import Random
from typing import Any, Final

CHOICES: Final[dict[str, tuple[Any, ...]]] = {
    "records": (1, 2, 3, 4, 5, 6),
    "partitions": (1, 2, 3),
    "producers": (1, 2),
    "batches": (1, 2, 3),
    "readers": (0, 1, 2),
    "resends": (False, True),
    "outcomes": (False, True),
    "transactions": (False, True),
    "consuming": (False, True),
    "attempts": ("all", "none", "some"),
    "second_topic": (False, True),
    "jumps": (False, True),
    "unreadable": (False, True),
    "yields": ("one", "several", "filter", "unstated"),
    "sources": ("all", "none", "some"),
    "dead_letters": (False, True),
    "journal": (False, True),
    "upserts": (False, True),
    "state": (False, True),
    "second_view": (False, True),
    "second_sink": (False, True),
    "atomic": (False, True),
    "deduplicates": (False, True),
    "positions": ("both", "resume", "atomic", "none"),
    "replays": (False, True),
    "surgery": (False, True),
    "lives": (False, True),
    "age": ("young", "retention", "compaction"),
    "ending": ("complete", "interrupted", "partial"),
}
"""Possible values of each field, the simplest first."""

_RARE: Final = {"unreadable": 0.1, "deduplicates": 0.25, "age": 0.2, "ending": 0.2}
"""How often these differ from the simplest value; the others are drawn uniformly."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The parameters of one world."""

    records: int = 1
    partitions: int = 1
    producers: int = 1
    batches: int = 1
    readers: int = 0
    """Concurrent readers outside of transactions."""
    resends: bool = False
    """The application sends some records more than once."""
    outcomes: bool = False
    """Some sends end as `info` or `fail`, and some acknowledgements are incomplete."""
    transactions: bool = False
    consuming: bool = False
    """Transactions also read, and stage the positions that they consumed."""
    attempts: str = "all"
    """Which log entries carry their attempt."""
    second_topic: bool = False
    """Some records go to another topic, which is processed into the same sink."""
    jumps: bool = False
    """Offsets start high and leave gaps."""
    unreadable: bool = False
    """Some entries and effects have lost their identity."""
    yields: str = "one"
    sources: str = "all"
    """Which effects name their source position."""
    dead_letters: bool = False
    journal: bool = False
    upserts: bool = False
    """A sink of upserts, judged by its journal."""
    state: bool = False
    """A sink of aggregates, judged by its final state."""
    second_view: bool = False
    second_sink: bool = False
    atomic: bool = False
    """The second sink has effects of an input if the first has, as far as it may."""
    deduplicates: bool = False
    positions: str = "both"
    replays: bool = False
    surgery: bool = False
    """The harness sets positions back."""
    lives: bool = False
    """The instance that wrote an effect and the time are known."""
    age: str = "young"
    """What was deleted from the log at the end."""
    ending: str = "complete"

    @classmethod
    def drawn(cls, draw: Random) -> Shape:
        """A random shape; values that hide other oddities are rare."""
        values = {}
        for field in fields(cls):
            choices = CHOICES[field.name]
            odd = field.name not in _RARE or draw.random() < _RARE[field.name]
            values[field.name] = draw.choice(choices) if odd else choices[0]
        return cls(**values)

    def __str__(self) -> str:
        odd = {f.name: getattr(self, f.name) for f in fields(self)}
        return f"Shape({', '.join(f'{k}={v!r}' for k, v in odd.items() if v != CHOICES[k][0])})"
