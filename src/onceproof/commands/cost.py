"""`onceproof cost`: measure what exactly-once costs, and tell it."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from onceproof.commands.setup import prepared
from onceproof.errors import TROUBLE, USAGE
from onceproof.harness.cost.findings import Findings, findings
from onceproof.harness.cost.rounds import Block, Rounds
from onceproof.harness.cost.ways import CLIENTS, Client, Setup, ways_of
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.alone import alone
from onceproof.harness.tools.setup import Tools
from onceproof.harness.tools.versions import host
from onceproof.interrupts import INTERRUPTED, interruption
from onceproof.reports.cost.text import lines

RESULT: Final = "cost.json"
BLOCKS: Final = "blocks.jsonl"
VERSION: Final = 1
_UNRESOLVED: Final = 5
_TRANSACTIONS: Final = 5


def cost(
    names: Sequence[str],
    *,
    rounds: int,
    seconds: float,
    size: int,
    partitions: int,
    commit_every: float,
    linger: int,
    seed: int,
    out: Path,
) -> int:
    wrong = sorted(set(names) - set(CLIENTS))
    if wrong:
        print(
            f"onceproof cost: --client {wrong[0]}: expected {' or '.join(CLIENTS)}.",
            file=sys.stderr,
        )
        return USAGE
    if seconds < _TRANSACTIONS * commit_every:
        print(
            f"onceproof cost: a commit every {commit_every * 1e3:g} ms needs --seconds "
            f"{_TRANSACTIONS * commit_every:g} or more, so that each measurement has "
            f"{_TRANSACTIONS} transactions.",
            file=sys.stderr,
        )
        return USAGE
    clients = [client for client in CLIENTS if client in (names or CLIENTS)]
    setup = Setup(size=size, partitions=partitions, commit_every=commit_every, linger=linger)
    tools = prepared()
    out.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-cost-", dir=out))
    told: list[Findings] = []
    try:
        for client in clients:
            blocks = _measured(client, setup, tools, folder, rounds, seconds, seed)
            told.append(findings(client, blocks))
            _write(folder / RESULT, setup, rounds, seconds, seed, tools, told)
            print("\n".join(lines(told[-1], setup)))
    except StageTrouble as error:
        print(f"onceproof cost: {error}. What was measured is in {folder}.", file=sys.stderr)
        return TROUBLE
    except KeyboardInterrupt as error:
        print(f"{interruption(error)} What was measured is in {folder}.", file=sys.stderr)
        return INTERRUPTED
    print(f"data     {folder / RESULT}")
    if not all(found.valid for found in told):
        return TROUBLE
    return 0 if any(f.resolved for found in told for f in found.figures) else _UNRESOLVED


def _measured(
    client: Client,
    setup: Setup,
    tools: Tools,
    folder: Path,
    rounds: int,
    seconds: float,
    seed: int,
) -> list[Block]:
    """Measure one client on a stage of its own; write each block as soon as it is over."""
    assert tools.stage is not None, "the set-up has prepared a local stage"
    latencies = folder / "latencies"
    latencies.mkdir(exist_ok=True)

    def progress(what: str) -> None:
        print(f"{client}: {what}", file=sys.stderr, flush=True)

    def over(block: Block) -> None:
        with (folder / BLOCKS).open("a") as file:
            file.write(json.dumps(asdict(block)) + "\n")

    with alone(folder / client, tools.stage) as up:
        ways = ways_of(client, setup)
        turns = Rounds(up, tools, ways, setup, folder=latencies, seconds=seconds)
        return turns.measure(rounds, seed=seed, progress=progress, over=over)


def _write(
    file: Path,
    setup: Setup,
    rounds: int,
    seconds: float,
    seed: int,
    tools: Tools,
    told: Sequence[Findings],
) -> None:
    assert tools.stage is not None, "the set-up has prepared a local stage"
    content: dict[str, Any] = {
        "version": VERSION,
        "setup": {**asdict(setup), "rounds": rounds, "seconds": seconds, "seed": seed},
        "host": host(),
        "versions": {**tools.versions(), **tools.stage.versions()},
        "clients": [
            {**found.as_json(), "valid": found.valid, "proved": found.proved} for found in told
        ],
    }
    file.write_text(json.dumps(content, indent=2) + "\n")
