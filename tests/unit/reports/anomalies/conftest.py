"""Scenes made by hand, so that drawing is tested apart from judging."""

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
Staged = Callable[..., Scene]


@pytest.fixture
def staged() -> Staged:
    """A scene from rows, with what a finding would say of them."""

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
