"""`onceproof cost`: measure what exactly-once costs, and tell it."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException

from onceproof.commands.setup import prepared
from onceproof.errors import TROUBLE, USAGE, exit_on_error
from onceproof.harness.cost.block import Block
from onceproof.harness.cost.grid import TARGETS, USUAL_TARGETS, comparisons
from onceproof.harness.cost.own import NAME, ORDER, comparison_of
from onceproof.harness.cost.producers import CLIENTS
from onceproof.harness.cost.queues import queues_of
from onceproof.harness.cost.rounds import Rounds
from onceproof.harness.cost.ways import Comparison, Setup
from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.features import finalize
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.alone import Alone, alone
from onceproof.harness.tools.setup import Tools
from onceproof.harness.tools.versions import host
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.wait import Overdue
from onceproof.interrupts import INTERRUPTED, interruption
from onceproof.reports.cost.build import comparison_part
from onceproof.reports.cost.model import RESULT, ComparisonPart, CostReport
from onceproof.reports.cost.page import render
from onceproof.reports.cost.text import lines
from onceproof.reports.write import write_whole

BLOCKS: Final = "blocks.jsonl"
LATENCIES: Final = "latencies"
PAGE: Final = "cost.html"
_UNRESOLVED: Final = 5


def cost(
    names: Sequence[str],
    setup: Setup,
    *,
    own: Sequence[str] = (),
    value: str = ORDER,
    rounds: int,
    seconds: float,
    grid: bool,
    seed: int,
    out: Path,
) -> int:
    """Measure all targets; write the report anew after each comparison.

    Args:
        own: two commands of the user, or none.
        value: template of the values that they read.
    """
    try:
        targets = _targets(names, setup, own, value, grid=grid)
    except BadRule as error:
        print(f"onceproof cost: {error}.", file=sys.stderr)
        return USAGE
    with exit_on_error():
        tools = prepared()
        out.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-cost-", dir=out))
        (folder / LATENCIES).mkdir()
        measurement = _Measurement(folder, tools, rounds=rounds, seconds=seconds, seed=seed)
        try:
            for target, compared in targets.items():
                for part in measurement.measure(target, compared):
                    print("\n".join(lines(part)), flush=True)
        except (StageTrouble, Overdue, KafkaException, Refused) as error:
            print(f"onceproof cost: {error}. What was measured is in {folder}.", file=sys.stderr)
            return TROUBLE
        except KeyboardInterrupt as error:
            print(f"{interruption(error)} What was measured is in {folder}.", file=sys.stderr)
            return INTERRUPTED
    print(f"report   {folder / PAGE}\ndata     {folder / RESULT}")
    return exit_code(measurement.parts)


def exit_code(parts: Sequence[ComparisonPart]) -> int:
    """Return 3 if a comparison is invalid, 5 if nothing was resolved, else 0."""
    if not all(part.valid for part in parts):
        return TROUBLE
    return 0 if any(f.resolved for part in parts for f in part.figures) else _UNRESOLVED


def _targets(
    names: Sequence[str], setup: Setup, own: Sequence[str], value: str, *, grid: bool
) -> dict[str, Iterable[Comparison]]:
    """Return what is to be compared, by target; raise `BadRule` if that cannot be."""
    if wrong := sorted(set(names) - set(TARGETS)):
        raise BadRule(f"{wrong[0]}: expected one of {', '.join(TARGETS)}")
    if len(own) == 1:
        raise BadRule("--base and --other go together")
    if setup.commit_records and (own or set(names) - set(CLIENTS)):
        raise BadRule(f"--commit-records is for {' and '.join(CLIENTS)}")
    found: dict[str, Iterable[Comparison]] = {}
    if own:
        base, other = own
        found[NAME] = [comparison_of(base, other, value, setup)]
    for target in names or (() if own else USUAL_TARGETS):
        found[target] = comparisons(target, setup, full=grid)
    return found


class _Measurement:
    """All comparisons of one command."""

    def __init__(
        self, folder: Path, tools: Tools, *, rounds: int, seconds: float, seed: int
    ) -> None:
        self.parts: list[ComparisonPart] = []
        self._folder = folder
        self._tools = tools
        self._rounds, self._seconds, self._seed = rounds, seconds, seed
        self._began, self._clock = datetime.now(UTC), time.monotonic()

    def measure(self, target: str, compared: Iterable[Comparison]) -> Iterator[ComparisonPart]:
        """Measure a target on a stage of its own; yield each comparison when it is over."""
        assert self._tools.stage is not None, "the set-up has prepared a local stage"
        compared = list(compared)
        queues = queues_of(compared, self._tools)
        with alone(self._folder / target, self._tools.stage, queues=queues) as up:
            for comparison in compared:
                blocks, capacity = self._measured(up, comparison)
                self.parts.append(
                    comparison_part(target, comparison, blocks, self._latencies, capacity=capacity)
                )
                self._write()
                yield self.parts[-1]

    def _measured(self, up: Alone, comparison: Comparison) -> tuple[list[Block], float]:
        """Return the blocks, and the capacity whose parts the loads were."""
        if (version := comparison.setup.transaction_version) is not None:
            finalize(up.stage.bootstrap(AUDITOR), version)
        folder = self._folder / LATENCIES
        turns = Rounds(up, self._tools, comparison, folder=folder, seconds=self._seconds)
        try:
            blocks = turns.measure(
                self._rounds,
                seed=self._seed,
                progress=lambda what: print(
                    f"{comparison.name}: {what}", file=sys.stderr, flush=True
                ),
                over=self._over,
            )
            return blocks, turns.capacity
        finally:
            turns.end()

    def _over(self, block: Block) -> None:
        """Write a block as soon as it is over."""
        with (self._folder / BLOCKS).open("a") as file:
            file.write(json.dumps(asdict(block)) + "\n")

    def _latencies(self, block: Block) -> array[int]:
        return array("q", (self._folder / LATENCIES / block.file).read_bytes())

    def _write(self) -> None:
        assert self._tools.stage is not None, "the set-up has prepared a local stage"
        report = CostReport(
            started_at=self._began.isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - self._clock, 1),
            rounds=self._rounds,
            block_seconds=self._seconds,
            seed=self._seed,
            host=host(),
            versions={**self._tools.versions(), **self._tools.stage.versions()},
            comparisons=tuple(self.parts),
        )
        write_whole(self._folder / RESULT, report.model_dump_json(indent=2) + "\n")
        write_whole(self._folder / PAGE, render(report))
