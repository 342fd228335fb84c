"""What is measured, section by section.

Each section is a generator of finished lines, so that what was measured so
far is told even if a later one fails.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.measure import run
from benchmarks.plan import Plan, Shape
from benchmarks.trial import Limit, Line, NotAsExpected, check, expected_findings, measure, python

MILLION: Final = 1_000_000
ALMOST_EMPTY: Final = 100
FAR: Final = 50 * MILLION


@dataclass(frozen=True, kw_only=True)
class Size:
    """One size of history: how often it is judged, how much the engine may hold, what is hoped."""

    records: int
    times: int
    memory: int | None = None
    """Bytes that the engine may hold; the process has more: Python, Arrow, the libraries."""
    limit: Limit | None = None


SIZES: Final = (
    Size(records=100_000, times=5, limit=Limit(seconds=1.5)),
    Size(records=MILLION, times=3),
    Size(
        records=10 * MILLION,
        times=3,
        memory=1_400_000_000,
        limit=Limit(seconds=20, peak=2_000_000_000),
    ),
    Size(
        records=100 * MILLION,
        times=1,
        memory=4_500_000_000,
        limit=Limit(seconds=300, peak=6_000_000_000),
    ),
)


@dataclass(frozen=True, kw_only=True)
class Suite:
    """How the sections are to be run."""

    cache: Path
    largest: int
    times: int | None
    memory: int | None
    keep: bool
    told: Callable[[str], None]

    def fixed(self) -> Iterator[Line]:
        """An almost empty history: what it costs to judge nothing."""
        size = Size(records=ALMOST_EMPTY, times=5)
        yield self._line("fixed cost", "almost empty", Plan(records=size.records), size)

    def growth(self) -> Iterator[Line]:
        """More and more records of one kind."""
        for size in SIZES:
            if size.records <= self.largest:
                yield self._line("size", "one to one", Plan(records=size.records), size)

    def kinds(self) -> Iterator[Line]:
        """As many records, mutated, sent in transactions, and transformed in other ways."""
        size = self._middle()
        # Two to three effects of each record, all compared in full: nothing is set aside before.
        more = replace(size, memory=size.memory and 2 * size.memory, limit=None, times=1)
        for what, plan, own in (
            ("ten mutations", Plan(records=size.records, drop=5, duplicate=5), size),
            ("transactions", Plan(records=size.records, transactions=True), size),
            ("filter", Plan(records=size.records, shape=Shape.FILTER), size),
            ("one to many", Plan(records=size.records, shape=Shape.ONE_TO_MANY), more),
        ):
            yield self._line("kind", what, plan, own)

    def offsets(self) -> Iterator[Line]:
        """Four records far behind the beginning of a log, against four at its beginning."""
        size = Size(records=4, times=7)
        near, far = (Plan(records=size.records, offset_base=base) for base in (0, FAR))
        yield self._line("offsets", f"{FAR:,} against 0", far, size, against=near)

    def spark(self) -> Iterator[Line]:
        """The other engine: its fixed cost, and how it grows with cores and with records."""
        for size in (Size(records=ALMOST_EMPTY, times=1), *SIZES[:3]):
            for master in ("local[1]", "local[2]"):
                if size.records <= self.largest:
                    yield self._line(
                        "spark", master, Plan(records=size.records), size, master=master
                    )

    def _middle(self) -> Size:
        """Ten million records, or fewer where no more are wanted."""
        fitting = [s for s in SIZES if s.records <= min(self.largest, 10 * MILLION)]
        return fitting[-1] if fitting else SIZES[0]

    def _line(
        self,
        section: str,
        what: str,
        plan: Plan,
        size: Size,
        *,
        master: str | None = None,
        against: Plan | None = None,
    ) -> Line:
        """Measure one history against a plain reading of it, or against judging another."""
        folder = self._history(plan)
        line = Line(
            section=section,
            what=what,
            records=size.records,
            expected=expected_findings(folder),
            limit=size.limit if master is None else None,
        )
        options = self._options(size, master)
        try:
            return measure(
                line,
                judge=check(folder, *options),
                against=check(self._history(against), *options)
                if against
                else python("scan", str(folder / "history")),
                times=self.times or (1 if master else size.times),
                told=self.told,
            )
        finally:
            if size.records > 10 * MILLION and not self.keep:
                shutil.rmtree(folder)

    def _options(self, size: Size, master: str | None) -> tuple[str, ...]:
        if master is not None:
            return ("--engine", "spark", "--master", master)
        memory = self.memory or size.memory
        return ("--memory", str(memory)) if memory else ()

    def _history(self, plan: Plan) -> Path:
        """The folder of a history; made in a process of its own, so that this one stays small."""
        options = [
            f"--records={plan.records}",
            f"--offset-base={plan.offset_base}",
            f"--shape={plan.shape}",
            f"--drop={plan.drop}",
            f"--duplicate={plan.duplicate}",
            f"--cache={self.cache}",
        ]
        if plan.transactions:
            options.append("--transactions")
        if not (self.cache / plan.name).exists():
            self.told(f"making {plan.name}")
        made = run(python("generate", *options))
        if made.exit_code:
            raise NotAsExpected(f"{plan.name} could not be made: {made.errors[-2000:]}")
        return Path(made.output.strip())
