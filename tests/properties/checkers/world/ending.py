"""How a run ends: complete, interrupted while it settled, or with only a part of it collected.

Of a partial history each file is a beginning of the whole one. What is
missing at its end must prove nothing.
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
"""What is collected in the end, and which columns say who wrote it."""


def end(stage: Stage) -> None:
    """The rows of `phases` and `hazards`; in a partial history the tables are cut."""
    ending = stage.shape.ending
    outcomes: dict[str, str | None] = dict.fromkeys(PHASES, "ok")
    if ending == "interrupted":
        outcomes["settle"] = stage.pick(("interrupted", "failed", None))
    elif ending == "partial":
        ways = [PHASES[1:], PHASES[2:], *([PHASES[5:]] if stage.settled else [])]
        for phase in stage.pick(ways):
            del outcomes[phase]
        if stage.maybe():
            outcomes[list(outcomes)[-1]] = stage.pick(("interrupted", None))
        for table, writer in _FILES.items():
            cut(stage, table, writer)
    for phase, outcome in outcomes.items():
        started = stage.tick()
        stage.add(
            "phases", phase=phase, outcome=outcome, started_at=started, detail="as it went",
            ended_at=None if outcome is None else stage.tick(), clock="clock",
        )  # fmt: skip
    for hop, hazard in (("process", "replayed-batch"), ("produce", "retried-send")):
        stage.add("hazards", hop=hop, hazard=hazard, at=stage.tick(), clock="clock", detail="seen")


def cut(stage: Stage, table: str, writer: tuple[str, ...]) -> None:
    """Keep a beginning of what each writer wrote."""
    written: dict[tuple[object, ...], list[Row]] = {}
    for row in stage.rows[table]:
        written.setdefault(tuple(row[name] for name in writer), []).append(row)
    kept = []
    for rows in written.values():
        kept += rows[: stage.draw.randint(0, len(rows))] if stage.maybe(0.7) else rows
    stage.rows[table][:] = kept
