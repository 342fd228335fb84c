"""Sinks: the effects that are in them, in every view, and the journal of how they came there.

Positions and ordinals are the sink's own; an effect that is seen in two
views is in both with the same content, and perhaps in another order.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.properties.checkers.world.rows import Row
from tests.properties.checkers.world.stage import Stage

DEAD_LETTERS = "dead-letters"


class Sink:
    """One append sink."""

    def __init__(self, stage: Stage, name: str) -> None:
        self._stage = stage
        self._ends: Counter[str] = Counter()
        self.name = name
        self.views = ["table", "read_committed"] if stage.shape.second_view else ["table"]
        self._journalled = stage.shape.journal
        self._upserts = False

    @classmethod
    def of_upserts(cls, stage: Stage, name: str) -> Sink:
        """A sink in which what is written again replaces what was there; only its journal tells."""
        made = cls(stage, name)
        made.views = []
        made._journalled = made._upserts = True
        return made

    def write(
        self, effect: dict[str, Any], source: Row, *, batch: int, owner: str, life: Row, sink: str
    ) -> None:
        """Write one effect; `sink` is another one beside this for dead letters."""
        stage = self._stage
        told = {"all": 1.0, "none": 0.0, "some": 0.5}[stage.shape.sources]
        common: dict[str, Any] = {
            **effect,
            "sink": sink,
            "batch": stage.known(batch),
            "owner": stage.known(owner),
        }
        if stage.maybe(told):
            common |= {
                "source_topic": source["topic"],
                "source_partition": source["partition"],
                "source_offset": source["offset"],
            }
        elif stage.maybe(0.1):
            common["source_topic"] = source["topic"]  # and no more than that
        at = stage.tick()
        lived: dict[str, Any] = {}
        if stage.shape.lives and stage.maybe(0.9):
            lived = {"instance": life["instance"], "at": at, "clock": life["clock"]}
        for view in self.views:
            number = self._next(f"{sink} {view}")
            stage.add(
                "effects", **common, **lived, view=view, position=f"{sink}@{number}", ordinal=number
            )
        if self._journalled:
            self._journal(common)

    def _journal(self, common: dict[str, Any]) -> None:
        operation = "upsert" if self._upserts else "append"
        sink = common["sink"]
        for _ in range(self._stage.pick((1, 1, 2)) if self._upserts else 1):
            self._stage.add(
                "journal", **common, ordinal=self._next(f"{sink} journal"), operation=operation,
                transaction=self._stage.known(f"sink-t{common['batch']}"),
            )  # fmt: skip
        if self._upserts and self._stage.maybe(0.2):
            self._stage.add(
                "journal", sink=sink, effect_key=common["effect_key"], operation="delete",
                record=common["record"], ordinal=self._next(f"{sink} journal"),
            )  # fmt: skip

    def _next(self, what: str) -> int:
        self._ends[what] += 1
        return self._ends[what]
