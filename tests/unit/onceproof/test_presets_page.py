"""The reference page of the presets is what they are."""

from __future__ import annotations

from pathlib import Path

from onceproof.verify.presets import PRESETS, preset
from onceproof.verify.presets_page import page

HERE = Path(__file__).parents[3]


def test_the_page_is_up_to_date() -> None:
    written = (HERE / "docs" / "reference" / "presets.md").read_text(encoding="utf-8")
    assert written == page(), "run: make reference"


def test_every_preset_stands_there_for_every_kind_of_pipeline() -> None:
    rows = [line for line in page().splitlines() if line.startswith("| ")]
    faults = sum(len(preset(name, spark=spark)) for name in PRESETS for spark in (False, True))
    added = [
        len(preset(name, spark=False, queues=True)) - len(preset(name, spark=False))
        for name in PRESETS
    ]
    heads = 2 * (2 * len(PRESETS) + sum(1 for more in added if more))
    assert len(rows) == faults + sum(added) + heads
