"""Pipelines that process every committed position once, in batches, and record their progress.

Effects and atomic positions become visible together, resume positions after them. A batch may be
executed twice, but only its last execution has effects.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import count

from tests.properties.checkers.world.rows import Place, Row
from tests.properties.checkers.world.sinks import DEAD_LETTERS, Sink
from tests.properties.checkers.world.stage import Stage
from tests.properties.checkers.world.transforming import Yields


@dataclass(frozen=True, kw_only=True)
class Output:
    """A sink and the effects written to it."""

    sink: Sink
    yields: Yields
    dead_letters: bool = False


@dataclass(kw_only=True)
class Pipeline:
    """A pipeline with one owner of positions and one or more sinks."""

    stage: Stage
    owner: str
    outputs: list[Output]
    places: list[Place]
    processed: list[Row] = field(default_factory=list)
    """Committed entries in the order of processing."""

    def __post_init__(self) -> None:
        self._seen: set[str] = set()
        self._choices: dict[str, bool] = {}
        self._ordinals: Counter[tuple[str, str]] = Counter()
        self._instance_numbers = count()
        self._positions = {p: self._first(p) for p in self.places}
        self._instance = self._start()

    def run(self, *, to_the_end: bool) -> None:
        """Process all batches, or crash in one of them."""
        batches = self.stage.shape.batches
        last = batches if to_the_end else self.stage.draw.randint(0, batches)
        for batch in range(last):
            ends = {place: self._batch_end(place, batch) for place in self.places}
            crashed = not to_the_end and batch == last - 1 and self.stage.maybe()
            self._batch(batch, ends, crashed)
        if self.stage.maybe():
            self._instance["ended_at"] = self.stage.tick()

    def _batch(self, batch: int, ends: dict[Place, int], crashed: bool) -> None:
        stage, shape = self.stage, self.stage.shape
        for place, end in ends.items():
            self._position(place, end, batch, role="resume", kind="planned")
        if shape.replays and stage.maybe():
            self._ranges(batch, ends, committed=False)
            self._rolled_back_effects(batch, ends)
            self._instance["ended_at"] = stage.known(stage.tick())
            self._instance = self._start()
        self._effects(batch, ends)
        if shape.positions in ("both", "atomic"):
            for output in self.outputs:
                for place, end in ends.items():
                    self._position(place, end, batch, role="atomic", sink=output.sink.name)
        if crashed:
            return
        self._ranges(batch, ends, committed=True)
        if shape.positions in ("both", "resume"):
            if shape.surgery and stage.maybe(0.3):
                for place, start in self._positions.items():
                    back = max(0, start - stage.draw.randint(0, 3))
                    self._position(place, back, None, role="resume", by="harness")
            for place, end in ends.items():
                self._position(place, end, batch, role="resume")
        for place, end in ends.items():
            if stage.maybe(0.2):
                self._position(place, stage.draw.randint(0, end), batch, role="advisory")
        self._positions = ends

    def _effects(self, batch: int, ends: dict[Place, int]) -> None:
        """Write the effects of a batch, mixing partitions but keeping the order in each."""
        entries_left = {place: self._entries(place, end) for place, end in ends.items()}
        while places_left := [place for place, entries in entries_left.items() if entries]:
            entry = entries_left[self.stage.pick(places_left)].pop(0)
            if entry["record"] is None:
                continue
            if self.stage.shape.deduplicates and entry["record"] in self._seen:
                continue
            self._seen.add(entry["record"])
            self.processed.append(entry)
            needed = any(not y.optional for o in self.outputs for y in o.yields[entry["record"]])
            self._choices = {"optional": True} if needed else {}
            for output in self.outputs:
                self._yield(output, entry, batch)

    def _yield(self, output: Output, entry: Row, batch: int) -> None:
        sink = output.sink
        if output.dead_letters and self._maybe("letter", 0.3):
            if self.stage.shape.atomic and output is not self.outputs[0]:
                return
            letter = {"record": entry["record"], "effect_key": "", "digest": "it failed"}
            sink.write(letter, entry, batch=batch, owner=self.owner, instance=self._instance,
                       sink=DEAD_LETTERS)  # fmt: skip
            return
        for y in output.yields[entry["record"]]:
            if not y.optional or self._maybe("optional"):
                effect = {"record": entry["record"], "effect_key": y.effect_key, "digest": y.digest}
                sink.write(effect, entry, batch=batch, owner=self.owner, instance=self._instance,
                           sink=sink.name)  # fmt: skip

    def _maybe(self, name: str, chance: float = 0.5) -> bool:
        """A random choice, for each output or, if outputs are atomic, for each input."""
        choice = self.stage.maybe(chance)
        return self._choices.setdefault(name, choice) if self.stage.shape.atomic else choice

    def _rolled_back_effects(self, batch: int, ends: dict[Place, int]) -> None:
        """Effects of an execution that was rolled back, invisible to read_committed readers."""
        for place, end in ends.items():
            for entry in self._entries(place, end):
                if self.stage.maybe(0.3):
                    self.stage.add(
                        "effects", sink=self.outputs[0].sink.name, view="dirty", effect_key="",
                        record=entry["record"], digest="?", position="nowhere", ordinal=batch,
                    )  # fmt: skip

    def _position(
        self,
        place: Place,
        offset: int,
        batch: int | None,
        *,
        role: str,
        kind: str = "done",
        by: str = "subject",
        sink: str | None = None,
    ) -> None:
        stage = self.stage
        if stage.shape.positions == "none":
            return
        self._ordinals[role, kind] += 1
        stage.add(
            "positions", owner=self.owner, instance=stage.known(self._instance["instance"], 0.5),
            role=role, kind=kind, by=by, sink=sink, topic=place[0], partition=place[1],
            offset=offset, batch=batch, ordinal=self._ordinals[role, kind], at=stage.tick(),
            clock="clock",
        )  # fmt: skip

    def _ranges(self, batch: int, ends: dict[Place, int], *, committed: bool) -> None:
        for (topic, partition), end in ends.items():
            self.stage.add(
                "ranges", owner=self.owner, execution=self._instance["instance"], batch=batch,
                topic=topic, partition=partition, start_offset=self._positions[topic, partition],
                end_offset=end, committed=committed, source="progress",
            )  # fmt: skip

    def _start(self) -> Row:
        instance = f"{self.owner}/{next(self._instance_numbers)}"
        started = self.stage.tick()
        return self.stage.add(
            "instances", subject=self.owner, instance=instance, started_at=started, clock="clock"
        )

    def _entries(self, place: Place, end: int) -> list[Row]:
        return [
            e
            for e in self.stage.broker.log[place]
            if e["kind"] == "data"
            and e["committed"]
            and self._positions[place] <= e["offset"] < end
        ]

    def _first(self, place: Place) -> int:
        return min((e["offset"] for e in self.stage.broker.log[place]), default=0)

    def _batch_end(self, place: Place, batch: int) -> int:
        """Where the batch ends: the last one at the last stable offset, the others before it."""
        stable = max(self.stage.broker.last_stable(place), self._positions[place])
        if batch == self.stage.shape.batches - 1:
            return stable
        inside: list[int] = [
            e["offset"] + self.stage.pick((0, 1))
            for e in self.stage.broker.log[place]
            if self._positions[place] < e["offset"] < stable
        ]
        return self.stage.pick([*inside, self._positions[place], stable])
