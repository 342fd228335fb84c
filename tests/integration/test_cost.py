"""Bare producers and their reader on real brokers."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.cost.rounds import PROOF_SHARE, SHARES, Block, Rounds
from onceproof.harness.cost.ways import CLIENTS, LATE, NAP, TRANSACTIONAL, Client, Setup, ways_of
from onceproof.harness.stage.alone import alone
from onceproof.harness.tools.setup import ensure
from tests.end_to_end.catalogue import LATER

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    "client", [CLIENTS[0], *(pytest.param(c, marks=LATER) for c in CLIENTS[1:])]
)
def test_every_way_is_measured_in_turns(client: Client, tmp_path: Path) -> None:
    tools, setup = ensure(), Setup(size=200)
    ways, told, over = ways_of(client, setup), list[str](), list[Block]()
    assert tools.stage is not None
    raw = tmp_path / "latencies"
    raw.mkdir()
    with alone(tmp_path / "stage", tools.stage) as up:
        rounds = Rounds(up, tools, ways, setup, folder=raw, seconds=0.5)
        blocks = rounds.measure(1, seed=1, progress=told.append, over=over.append)
    assert over == blocks
    assert len(told) == 2
    assert {(b.way, b.share) for b in blocks} == {
        (way.key, share)
        for way in ways
        for share in (None, *SHARES, *((PROOF_SHARE,) if way.commit_every else ()))
    }
    slowest = float(told[0].split()[4].replace(",", ""))
    for block in blocks:
        assert 0 < block.p50 <= block.p99
        assert block.brokers > 0
        assert block.sent > 0
        seconds = 1.0 if block.share == PROOF_SHARE else 0.5
        if block.share is not None:
            assert abs(block.sent - block.share * slowest * seconds) <= 3
        transactional = any(word in block.way for word in (TRANSACTIONAL, LATE))
        assert (block.transactions > 0) is (block.transaction > 0) is transactional
        if block.way.endswith(LATE):
            assert block.napped >= NAP
