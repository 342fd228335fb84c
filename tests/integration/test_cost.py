"""Every comparison on real brokers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from onceproof.harness.cost.block import Block
from onceproof.harness.cost.grid import TARGETS, comparisons
from onceproof.harness.cost.own import ORDER, comparison_of
from onceproof.harness.cost.queues import queues_of
from onceproof.harness.cost.rounds import Rounds
from onceproof.harness.cost.ways import NAP, Comparison, Setup
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.alone import alone
from onceproof.harness.tools.setup import ensure
from tests.end_to_end.catalogue import LATER

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial" / "verify"
pytestmark = pytest.mark.integration
SOON = ("librdkafka",)


def measured(comparison: Comparison, folder: Path) -> tuple[list[Block], float]:
    """One round of short blocks, and the rate whose parts are the loads."""
    tools, told, over = ensure(), list[str](), list[Block]()
    assert tools.stage is not None
    raw = folder / "latencies"
    raw.mkdir()
    queues = queues_of([comparison], tools)
    with alone(folder / "stage", tools.stage, queues=queues) as up:
        rounds = Rounds(up, tools, comparison, folder=raw, seconds=0.5)
        blocks = rounds.measure(1, seed=1, progress=told.append, over=over.append)
        rounds.end()
        assert not any(
            "cost" in " ".join(map(str, p.popen.args)) for p in up.processes.all if p.alive()
        )
    assert over == blocks
    assert len(told) == 3
    assert {(b.way, b.share, b.delay) for b in blocks} == {
        (way.key, phase.share, phase.delay) for way in comparison.ways for phase in way.phases
    }
    for block in blocks:
        assert 0 < block.p50 <= block.p99
        assert block.brokers > 0
        assert block.written > block.sent
        assert (raw / block.file).stat().st_size == 8 * block.sent
    return blocks, float(told[0].split()[4].replace(",", ""))


@pytest.mark.parametrize(
    "target", [t if t in SOON else pytest.param(t, marks=LATER) for t in TARGETS]
)
def test_every_way_is_measured_in_turns(target: str, tmp_path: Path) -> None:
    (comparison,) = comparisons(target, Setup(size=200), full=False)
    blocks, slowest = measured(comparison, tmp_path)
    longer = {
        (way.key, phase.share): phase.longer for way in comparison.ways for phase in way.phases
    }
    for block in blocks:
        if block.share is not None:
            seconds = 0.5 * longer[block.way, block.share]
            assert abs(block.sent - block.share * slowest * seconds) <= 0.01 * block.sent + 3
        assert block.p50 > block.delay
    for way in comparison.ways:
        own = [block for block in blocks if block.way == way.key]
        timed = bool(way.interval) and way.fed is None
        assert all((b.transactions > 0) is (b.transaction > 0) is timed for b in own)
        assert all(b.napped >= NAP for b in own if way.nap)


@LATER
def test_own_programs_are_measured_as_they_are(tmp_path: Path) -> None:
    command = f"{sys.executable} {{}} {{{{bootstrap}}}} {{{{input}}}} {{{{output}}}}".format
    comparison = comparison_of(
        command(TUTORIAL / "enrich.py"), command(TUTORIAL / "enrich_mended.py"), ORDER,
        Setup(commit_every=()),
    )  # fmt: skip
    blocks, _ = measured(comparison, tmp_path)
    assert all(block.client > 0 for block in blocks)


@LATER
def test_own_program_that_writes_nothing_is_told(tmp_path: Path) -> None:
    silent = f"{sys.executable} -c 'input' {{bootstrap}} {{input}} {{output}}"
    comparison = comparison_of(silent, silent, ORDER, Setup(commit_every=()))
    with pytest.raises(StageTrouble, match="own-base#1 ended; last log lines"):
        measured(comparison, tmp_path)


@LATER
def test_transactions_have_as_many_records_as_asked(tmp_path: Path) -> None:
    (comparison,) = comparisons("librdkafka", Setup(size=200, commit_records=10), full=False)
    blocks, _ = measured(comparison, tmp_path)
    for block in blocks:
        if block.way == "librdkafka-transactional":
            assert block.transactions == block.sent // 10 > 0
