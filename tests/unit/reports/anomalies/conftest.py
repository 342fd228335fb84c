"""Scenes from handwritten rows, to test drawing without judging."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from onceproof.checkers.model import Evidence, Finding, Hop
from onceproof.reports.anomalies.pictures.stage import scene_of
from onceproof.reports.anomalies.scene import Scene
from onceproof.reports.anomalies.trial import laid_out

Rows = list[dict[str, Any]]
SceneMaker = Callable[..., Scene]


@pytest.fixture
def make_scene() -> SceneMaker:
    """Make a scene from rows, with a finding if a witness is given."""

    def make(anomaly: str, witness: Rows | None = None, **tables: Rows) -> Scene:
        trial = laid_out(anomaly, tables)
        if witness is None:
            return scene_of(trial)
        finding = Finding(
            anomaly=anomaly,
            hop=Hop.PRODUCE,
            evidence=Evidence.PRESENCE,
            key={},
            sentence=f"this is {anomaly}",
            witness=tuple(witness),
        )
        return scene_of(replace(trial, findings=(finding,)))

    return make
