"""A sample of `make fuzz-runs`, and that it notices what is not allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onceproof.checkers import Verdict
from tests.fuzz_runs.outcome import HUNG, TRACEBACK, UNDESERVED, came_of
from tests.fuzz_runs.variants import Variant, drawn, make_bases, tried

SEED = 11
SAMPLE = 12


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_bases(tmp_path_factory.mktemp("bases"))


def test_a_sample_of_damaged_runs_is_told(bases: dict[str, Path], tmp_path: Path) -> None:
    for variant in drawn(bases, SAMPLE, SEED):
        came = tried(variant, bases, tmp_path, SEED)
        assert came.allowed, f"{variant}: {came}"


@pytest.mark.parametrize("file", ["run.json", "history/log.parquet", "history/seal.json"])
@pytest.mark.parametrize("damage", ["fifo", "device", "folder", "unix_socket", "link_out", "huge"])
def test_what_is_no_file_is_refused(
    bases: dict[str, Path], tmp_path: Path, file: str, damage: str
) -> None:
    variant = Variant(base="holds", file=file, damage=damage, seal="sealed", number=0)
    came = tried(variant, bases, tmp_path, SEED)
    assert came.word == "refused", came
    assert Path(file).name in came.said


@pytest.mark.parametrize(
    ("table", "seal"),
    [
        *((table, "sealed anew") for table in ("faults", "log", "sends", "positions", "phases")),
        *((table, "unsealed") for table in ("ranges", "clocks")),
        ("ranges", "no seal"),
    ],
)
def test_rows_that_are_missing_let_nothing_hold(
    bases: dict[str, Path], tmp_path: Path, table: str, seal: str
) -> None:
    file = f"history/{table}.parquet"
    variant = Variant(base="holds", file=file, damage="no_rows", seal=seal, number=0)
    came = tried(variant, bases, tmp_path, SEED)
    assert came.word in ("invalid", "unknown"), came


def test_what_holds_without_deserving_it_is_noticed(bases: dict[str, Path]) -> None:
    came = came_of(bases["holds"], unsealed=False, right=Verdict.VIOLATED, whole=True)
    assert came.word == UNDESERVED
    came = came_of(bases["holds"], unsealed=False, right=Verdict.HOLDS, whole=False)
    assert came.word == UNDESERVED


def test_tracebacks_and_hangs_are_noticed(bases: dict[str, Path]) -> None:
    def forever(*_: object, **__: object) -> int:
        while True:
            pass

    def came(judge: Callable[..., Any]) -> tuple[str, bool]:
        asked = {"unsealed": False, "right": Verdict.HOLDS, "whole": True}
        found = came_of(bases["holds"], judge=judge, seconds=1, **asked)
        return found.word, found.allowed

    assert came(lambda *_, **__: 1 / 0) == (TRACEBACK, False)
    assert came(forever) == (HUNG, False)
