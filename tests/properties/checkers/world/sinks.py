"""Sinks: effects in every view, and the journal of their changes.

Positions and ordinals are local to the sink. An effect has the same content in both views, perhaps
in another order.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.properties.checkers.world.rows import Row
from tests.properties.checkers.world.stage import Stage

DEAD_LETTERS = "dead-letters"


class Sink:
    """An append-only sink."""

    def __init__(self, stage: Stage, name: str) -> None:
        self._stage = stage
        self._ends: Counter[str] = Counter()
        self.name = name
        self.views = ["table", "read_committed"] if stage.shape.second_view else ["table"]
        self._has_journal = stage.shape.journal
        self._upserts = False

    @classmethod
    def of_upserts(cls, stage: Stage, name: str) -> Sink:
        """A sink of upserts, in which only the journal shows all effects."""
        sink = cls(stage, name)
        sink.views = []
        sink._has_journal = sink._upserts = True
        return sink

    def write(
        self,
        effect: dict[str, Any],
        source: Row,
        *,
        batch: int,
        owner: str,
        instance: Row,
        sink: str,
    ) -> None:
        """Write one effect; `sink` differs from this one for dead letters."""
        stage = self._stage
        source_chance = {"all": 1.0, "none": 0.0, "some": 0.5}[stage.shape.sources]
        common: dict[str, Any] = {
            **effect,
            "sink": sink,
            "batch": stage.known(batch),
            "owner": stage.known(owner),
        }
        if stage.maybe(source_chance):
            common |= {
                "source_topic": source["topic"],
                "source_partition": source["partition"],
                "source_offset": source["offset"],
            }
        elif stage.maybe(0.1):
            common["source_topic"] = source["topic"]  # an incomplete source
        at = stage.tick()
        writer: dict[str, Any] = {}
        if stage.shape.lives and stage.maybe(0.9):
            writer = {"instance": instance["instance"], "at": at, "clock": instance["clock"]}
        for view in self.views:
            number = self._next(f"{sink} {view}")
            stage.add(
                "effects",
                **common,
                **writer,
                view=view,
                position=f"{sink}@{number}",
                ordinal=number,
            )
        if self._has_journal:
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

    def _next(self, counter: str) -> int:
        self._ends[counter] += 1
        return self._ends[counter]
