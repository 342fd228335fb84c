"""Variants of run folders: which base, which file, which damage, sealed or not."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from onceproof.checkers import Verdict
from onceproof.checkers.promised import PHASES
from onceproof.harness.history.folder import seal_folder
from tests.fuzz_runs.base import make_run
from tests.fuzz_runs.damage import damages, fresh
from tests.fuzz_runs.outcome import Outcome, outcome_of

BASES: Final[Mapping[str, Mapping[str, Any]]] = {
    "holds": {},
    "violated": {"duplicated": True},
    "unknown": {"sealed": False, "phases": PHASES[:3]},
}
"""Verdict of a base → arguments of `make_run`; the last run was interrupted."""
SEALS: Final = ("sealed", "unsealed", "no seal", "sealed anew")
"""Seal kept; judged with `--unsealed`; seal removed too; sealed after the damage."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A damaged run folder; its number seeds the random choices."""

    base: str
    file: str
    damage: str
    seal: str
    number: int

    def __str__(self) -> str:
        return f"{self.number}: {self.base}, {self.file}, {self.damage}, {self.seal}"


def make_bases(runs: Path) -> dict[str, Path]:
    """Make the undamaged run folders, by name, and judge each, so that it has reports."""
    bases = {name: make_run(runs, **arguments) for name, arguments in BASES.items()}
    for name, folder in bases.items():
        outcome = outcome_of(folder, unsealed=False, right=Verdict(name), whole=True)
        assert outcome.word == name, f"the base came to {outcome}"
    return bases


def draw_variants(bases: dict[str, Path], count: int, seed: int) -> Iterator[Variant]:
    """Yield `count` variants: every file with every damage, in an order drawn from the seed."""
    draws = random.Random(seed)
    every = [
        (base, str(path.relative_to(folder)), damage, seal)
        for base, folder in bases.items()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for damage in damages(path)
        for seal in (SEALS if (folder / "history" / "seal.json").exists() else SEALS[:1])
    ]
    for number in range(count):
        if number % len(every) == 0:
            draws.shuffle(every)
        base, file, damage, seal = every[number % len(every)]
        yield Variant(base=base, file=file, damage=damage, seal=seal, number=number)


def try_variant(variant: Variant, bases: dict[str, Path], place: Path, seed: int) -> Outcome:
    """Make a variant and check it.

    Args:
        variant: the variant.
        bases: the undamaged run folders.
        place: the parent of the damaged copy.
        seed: seeds the damage, together with the variant's number.
    """
    folder = fresh(bases[variant.base], place)
    rows = _rows(folder)
    path = folder / variant.file
    damages(path)[variant.damage](path, random.Random(f"{seed}/{variant.number}"))
    whole = _rows(folder) == rows
    seal = folder / "history" / "seal.json"
    if variant.seal == "no seal" and seal.is_file():
        seal.unlink()
    if variant.seal == "sealed anew":
        if path.is_file() and path.stat().st_size > _LARGEST:
            return Outcome(word="cannot be sealed")
        try:
            seal_folder(folder)
        except Exception:
            return Outcome(word="cannot be sealed")
    return outcome_of(
        folder,
        unsealed=variant.seal in ("unsealed", "no seal"),
        right=Verdict(variant.base),
        # In a run sealed after the damage, only cross-referenced tables show missing rows.
        whole=whole or (variant.seal == "sealed anew" and variant.file not in _CROSS_REFERENCED),
    )


_LARGEST: Final = 2**30
"""Largest file in bytes that is sealed here."""
_CROSS_REFERENCED: Final = frozenset(
    f"history/{table}.parquet"
    for table in ("log", "sends", "partitions", "faults", "phases", "expected", "effects")
)
"""Tables whose rows all have references in other tables."""


def _rows(folder: Path) -> dict[str, int]:
    """The number of rows of each table; -1 if it cannot be read."""
    found = {}
    for path in sorted((folder / "history").glob("*.parquet")):
        try:
            found[path.name] = pq.read_metadata(path).num_rows if path.is_file() else -1
        except Exception:
            found[path.name] = -1
    return found
