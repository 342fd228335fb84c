"""An exploration of the toy protocol, and its page."""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.explore.exploration import Exploration, Limits, Load
from onceproof.harness.explore.funnel import Funnel
from onceproof.harness.explore.journal import Journal, Known
from onceproof.reports.explore.page import render
from tests.unit.harness.explore.toy import Bug, ToyBench

BUG = "request late @ producer/request/EndTxn/commit/first/transaction-coordinator"
MISSED = "request lost @ producer/request/EndTxn/abort/first/transaction-coordinator"
REPEAT = "onceproof explore {subject} --only '{key}' --transactions {transactions}"


def explored(folder: Path, bench: ToyBench, **more: object) -> tuple[Funnel, Known]:
    about = {"subject": "toy", "transactions": 3, "records": 2, "seed": 1}
    journal = Journal(folder, about)
    options = {"limits": Limits(), "load": Load(transactions=3, records=2), **more}
    figures = Exploration(bench=bench, journal=journal, **options).run()  # type: ignore[arg-type]
    journal.close()
    return figures, journal.known


def violated_in(folder: Path) -> tuple[Funnel, Known]:
    """An exploration with a violation, and a single that is never hit."""
    bench = ToyBench(bugs=[Bug((BUG,))], miss=lambda single, _: single == MISSED)
    return explored(folder, bench, with_pairs=False)


def page_of(found: tuple[Funnel, Known]) -> str:
    figures, known = found
    return render(figures, known, repeat=lambda about, key: REPEAT.format(key=key, **about))
