"""The how-to page `test-a-flink-job.md` shows parts of a job that is put on trial, and holds."""

from __future__ import annotations

from tests.power.catalogue import pairs
from tests.unit.docs.carried_out import FLINK
from tests.unit.docs.pages import blocks_of, text_of


def test_what_the_page_shows_is_in_the_job_that_holds() -> None:
    (pair,) = pairs(["flink-starts-from-group-offsets"])
    job = pair.program("mended").read_text()
    shown = list(blocks_of(FLINK, text_of(FLINK)))
    assert len(shown) == 3
    for block in shown:
        assert block.text.strip() in job
