"""Describe a scene in words, as the picture's accessible description."""

from __future__ import annotations

from collections.abc import Iterator

from onceproof.reports.anomalies.scene import Group, Line, Panel, Scene, Strip
from onceproof.reports.text import sentence


def described(scene: Scene) -> str:
    """Return a sentence for each party, from top to bottom, then what is wrong."""
    return " ".join(sentence(part) for part in _parts(scene))


def _parts(scene: Scene) -> Iterator[str]:
    yield from map(_panel, scene.board.above)
    yield from map(_strip, scene.board.strips)
    yield from map(_panel, scene.board.below)
    if scene.moments:
        times = (f"{moment.label} at {moment.start}" for moment in scene.moments)
        yield f"In time: {'; '.join(times)}"
    for arc in scene.cycle:
        yield f"{arc.source} before {arc.target}, {arc.kind}: {arc.why}"
    yield from (f"Wrong: {sentence}" for sentence in scene.sentences)


def _panel(panel: Panel) -> str:
    parts = []
    for item in panel.items:
        if isinstance(item, Group):
            inside = ", ".join(map(_line, item.lines))
            parts.append(f"transaction {item.title}: {inside}" if inside else item.title)
        else:
            parts.append(_line(item))
    return f"{panel.title}: {'; '.join(parts)}"


def _line(line: Line) -> str:
    return f"{line.text} (wrong)" if line.wrong else line.text


def _strip(strip: Strip) -> str:
    slots = (f"{' '.join(slot.lines)}{' (wrong)' if slot.wrong else ''}" for slot in strip.slots)
    return f"Log {strip.name}: {'; '.join(slots)}"
