"""Count the frames of a gated link by direction and API, including those that a rule drops."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from onceproof.harness.links.gate.messages import api_name
from onceproof.harness.links.gate.rules import Direction


@dataclass
class Count:
    """Frames of one API in one direction."""

    frames: int = 0
    bytes: int = 0


@dataclass
class Counters:
    """The counters of one gated link."""

    opened: int = 0
    """Connections so far."""
    firings: int = 0
    by_api: dict[tuple[Direction, int], Count] = field(default_factory=lambda: defaultdict(Count))

    def frame(self, direction: Direction, key: int, size: int) -> None:
        count = self.by_api[direction, key]
        count.frames += 1
        count.bytes += size

    def as_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "opened": self.opened,
            "firings": self.firings,
            "request": {},
            "response": {},
        }
        for (direction, key), count in self.by_api.items():
            data[direction][api_name(key)] = {"frames": count.frames, "bytes": count.bytes}
        return data
