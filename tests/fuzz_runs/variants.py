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
from tests.fuzz_runs.outcome import Came, came_of

ARRANGED: Final[Mapping[str, Mapping[str, Any]]] = {
    "holds": {},
    "violated": {"duplicated": True},
    "unknown": {"sealed": False, "phases": PHASES[:3]},
}
"""Base, by its verdict → how it is made; the last was broken off."""
SEALS: Final = ("sealed", "unsealed", "no seal", "sealed anew")
"""As it was; judged all the same; the seal gone as well; sealed after the damage."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One of them; everything about it follows from its number."""

    base: str
    file: str
    damage: str
    seal: str
    number: int

    def __str__(self) -> str:
        return f"{self.number}: {self.base}, {self.file}, {self.damage}, {self.seal}"


def make_bases(runs: Path) -> dict[str, Path]:
    """The run folders that are damaged, by name; each was judged, so that it has reports."""
    bases = {name: make_run(runs, **arranged) for name, arranged in ARRANGED.items()}
    for name, folder in bases.items():
        came = came_of(folder, unsealed=False, right=Verdict(name), whole=True)
        assert came.word == name, f"the base came to {came}"
    return bases


def drawn(bases: dict[str, Path], count: int, seed: int) -> Iterator[Variant]:
    """So many variants: every file with every damage in turn, in an order that the seed says."""
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


def tried(variant: Variant, bases: dict[str, Path], place: Path, seed: int) -> Came:
    """Make a variant and check it.

    Args:
        variant: which.
        bases: the folders that are damaged.
        place: where the copy goes.
        seed: with the variant's number it says what exactly is damaged.
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
            return Came(word="cannot be sealed")
        try:
            seal_folder(folder)
        except Exception:
            return Came(word="cannot be sealed")
    return came_of(
        folder,
        unsealed=variant.seal in ("unsealed", "no seal"),
        right=Verdict(variant.base),
        # Of what was sealed after the damage only the tables that speak of each other can tell.
        whole=whole or (variant.seal == "sealed anew" and variant.file not in _TELLING),
    )


_LARGEST: Final = 2**30
"""Bytes of a file that is summed here."""
_TELLING: Final = frozenset(
    f"history/{table}.parquet"
    for table in ("log", "sends", "partitions", "faults", "phases", "expected", "effects")
)
"""Tables of which every row is spoken of elsewhere."""


def _rows(folder: Path) -> dict[str, int]:
    """How many rows each table has; none where that cannot be read."""
    found = {}
    for path in sorted((folder / "history").glob("*.parquet")):
        try:
            found[path.name] = pq.read_metadata(path).num_rows if path.is_file() else -1
        except Exception:
            found[path.name] = -1
    return found
