"""Assemble a scene from its parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from onceproof.checkers.cycle_words import because
from onceproof.reports.anomalies.names import harmless
from onceproof.reports.anomalies.pictures import (
    leftovers,
    logs,
    moments,
    progress,
    readers,
    sends,
    sinks,
)
from onceproof.reports.anomalies.pictures.desk import DrawingContext
from onceproof.reports.anomalies.scene import Arc, Board, Scene
from onceproof.reports.anomalies.trial import Trial

_KINDS: Final = {
    "wr": "write-read",
    "ww": "write-write",
    "process": "process",
    "realtime": "time",
}


def scene_of(trial: Trial) -> Scene:
    desk = DrawingContext(trial)
    board = Board(
        above=tuple(sends.panels(desk)),
        strips=tuple(logs.strips(desk)),
        below=(*progress.panels(desk), *readers.panels(desk), *sinks.panels(desk)),
    )
    scene = Scene(
        title=harmless(trial.anomaly),
        board=board,
        moments=moments.moments(desk),
        cycle=_cycle(desk),
        sentences=trial.sentences,
    )
    rest = tuple(leftovers.panels(desk, scene.refs()))
    return replace(scene, board=replace(board, below=board.below + rest))


def _cycle(desk: DrawingContext) -> tuple[Arc, ...]:
    rows = [row for row in desk.witness.rows if "step" in row and "cycle" in row]
    return tuple(
        Arc(
            source=desk.name(row["source"]),
            target=desk.name(row["target"]),
            kind=_KINDS.get(str(row["kind"]), harmless(row["kind"])),
            why=harmless(because(row)),
        )
        for row in sorted(rows, key=lambda row: str(row["step"]).rjust(9))
        if row["cycle"] == rows[0]["cycle"]
    )
