"""The end of a run: complete, interrupted while settling, or partly collected.

Each file of a partial history is a prefix of the complete one, and the missing rest must prove
nothing.
"""

from __future__ import annotations

from typing import Final

from tests.properties.checkers.world.rows import Row
from tests.properties.checkers.world.stage import Stage

PHASES: Final = ("arrange", "warm-up", "disturb", "heal", "settle", "collect", "tear-down")

_FILES: Final[dict[str, tuple[str, ...]]] = {
    "log": ("topic", "partition"),
    "reads": ("reader", "session"),
    "effects": ("sink", "view"),
    "journal": ("sink",),
    "positions": ("owner",),
    "ranges": ("owner",),
    "partitions": ("topic", "partition"),
}
"""Tables that are collected at the end, and the columns that identify their writer."""


def end(stage: Stage) -> None:
    """Add the rows of `phases` and `hazards`, and truncate the tables of a partial history."""
    ending = stage.shape.ending
    outcomes: dict[str, str | None] = dict.fromkeys(PHASES, "ok")
    if ending == "interrupted":
        outcomes["settle"] = stage.pick(("interrupted", "failed", None))
    elif ending == "partial":
        remaining_phases = [PHASES[1:], PHASES[2:], *([PHASES[5:]] if stage.settled else [])]
        for phase in stage.pick(remaining_phases):
            del outcomes[phase]
        if stage.maybe():
            outcomes[list(outcomes)[-1]] = stage.pick(("interrupted", None))
        for table, writer in _FILES.items():
            truncate(stage, table, writer)
    for phase, outcome in outcomes.items():
        started = stage.tick()
        stage.add(
            "phases", phase=phase, outcome=outcome, started_at=started, detail="as it went",
            ended_at=None if outcome is None else stage.tick(), clock="clock",
        )  # fmt: skip
    for hop, hazard in (("process", "replayed-batch"), ("produce", "retried-send")):
        stage.add("hazards", hop=hop, hazard=hazard, at=stage.tick(), clock="clock", detail="seen")


def truncate(stage: Stage, table: str, writer: tuple[str, ...]) -> None:
    """Keep a prefix of each writer's rows."""
    by_writer: dict[tuple[object, ...], list[Row]] = {}
    for row in stage.rows[table]:
        by_writer.setdefault(tuple(row[name] for name in writer), []).append(row)
    kept = []
    for rows in by_writer.values():
        kept += rows[: stage.draw.randint(0, len(rows))] if stage.maybe(0.7) else rows
    stage.rows[table][:] = kept
