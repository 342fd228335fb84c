"""The how-to page `test-a-flink-job.md` shows parts of a job whose claim holds."""

from __future__ import annotations

from tests.power.catalogue import pairs
from tests.unit.docs.carried_out import FLINK
from tests.unit.docs.pages import blocks_of, text_of


def test_blocks_of_the_page_are_in_the_mended_job() -> None:
    (pair,) = pairs(["flink-starts-from-group-offsets"])
    job = pair.program("mended").read_text()
    shown = list(blocks_of(FLINK, text_of(FLINK)))
    assert len(shown) == 3
    for block in shown:
        assert block.text.strip() in job
