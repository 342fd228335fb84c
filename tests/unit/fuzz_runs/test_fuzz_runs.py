"""A sample of `make fuzz-runs`, and its detection of outcomes that are not allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onceproof.checkers import Verdict
from tests.fuzz_runs.outcome import HUNG, TRACEBACK, UNDESERVED, outcome_of
from tests.fuzz_runs.variants import Variant, draw_variants, make_bases, try_variant

SEED = 11
SAMPLE = 12


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_bases(tmp_path_factory.mktemp("bases"))


def test_sample_of_damaged_runs_has_allowed_outcomes(
    bases: dict[str, Path], tmp_path: Path
) -> None:
    for variant in draw_variants(bases, SAMPLE, SEED):
        outcome = try_variant(variant, bases, tmp_path, SEED)
        assert outcome.allowed, f"{variant}: {outcome}"


@pytest.mark.parametrize("file", ["run.json", "history/log.parquet", "history/seal.json"])
@pytest.mark.parametrize("damage", ["fifo", "device", "folder", "unix_socket", "link_out", "huge"])
def test_special_or_huge_file_is_refused(
    bases: dict[str, Path], tmp_path: Path, file: str, damage: str
) -> None:
    variant = Variant(base="holds", file=file, damage=damage, seal="sealed", number=0)
    outcome = try_variant(variant, bases, tmp_path, SEED)
    assert outcome.word == "refused", outcome
    assert Path(file).name in outcome.message


@pytest.mark.parametrize(
    ("table", "seal"),
    [
        *((table, "sealed anew") for table in ("faults", "log", "sends", "positions", "phases")),
        *((table, "unsealed") for table in ("ranges", "clocks")),
        ("ranges", "no seal"),
    ],
)
def test_run_with_missing_rows_is_invalid_or_unknown(
    bases: dict[str, Path], tmp_path: Path, table: str, seal: str
) -> None:
    file = f"history/{table}.parquet"
    variant = Variant(base="holds", file=file, damage="no_rows", seal=seal, number=0)
    outcome = try_variant(variant, bases, tmp_path, SEED)
    assert outcome.word in ("invalid", "unknown"), outcome


def test_undeserved_verdict_is_detected(bases: dict[str, Path]) -> None:
    outcome = outcome_of(bases["holds"], unsealed=False, right=Verdict.VIOLATED, whole=True)
    assert outcome.word == UNDESERVED
    outcome = outcome_of(bases["holds"], unsealed=False, right=Verdict.HOLDS, whole=False)
    assert outcome.word == UNDESERVED


def test_tracebacks_and_hangs_are_detected(bases: dict[str, Path]) -> None:
    def forever(*_: object, **__: object) -> int:
        while True:
            pass

    def checked(judge: Callable[..., Any]) -> tuple[str, bool]:
        options = {"unsealed": False, "right": Verdict.HOLDS, "whole": True}
        found = outcome_of(bases["holds"], judge=judge, seconds=1, **options)
        return found.word, found.allowed

    assert checked(lambda *_, **__: 1 / 0) == (TRACEBACK, False)
    assert checked(forever) == (HUNG, False)
