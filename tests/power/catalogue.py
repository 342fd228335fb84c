"""The pairs that there are."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

FOLDER: Final = Path(__file__).parent / "pairs"
Variant = Literal["broken", "mended"]
VARIANTS: Final[tuple[Variant, ...]] = ("broken", "mended")


class UnknownPair(ValueError):
    """A pair was asked for that there is not; the text says what there is."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One known fault and its mended twin.

    Attributes:
        name: of its folder.
        sentence: what is wrong with the broken one.
        form: language, client and sink.
        claim: the guarantee on trial.
        outputs: as `onceproof verify --output` takes them.
        arguments: of the program, with words in braces.
        caught_by: what a trial must do to see the fault.
        anomalies: of which one at least must be found in the broken one.
        options: more of `onceproof verify`.
        workers: how many processes the command starts; each gets its number as last argument.
    """

    name: str
    sentence: str
    form: str
    claim: str
    outputs: tuple[str, ...]
    arguments: tuple[str, ...]
    caught_by: str
    anomalies: tuple[str, ...]
    options: tuple[str, ...] = ()
    workers: int = 1

    def program(self, variant: Variant) -> Path:
        """The file of one of the two programs."""
        (file,) = (FOLDER / self.name).glob(f"{variant}.*")
        return file

    def digest(self, variant: Variant) -> str:
        """A short sum of a program and of how it is called."""
        content = self.program(variant).read_bytes() + repr(self).encode()
        return hashlib.sha256(content).hexdigest()[:12]


def pairs(only: Iterable[str] = ()) -> tuple[Pair, ...]:
    """All pairs by name, or those that are asked for.

    Raises:
        UnknownPair: there is none of that name.
    """
    known = {file.parent.name: file for file in sorted(FOLDER.glob("*/pair.toml"))}
    wanted = tuple(only) or tuple(known)
    if odd := [name for name in wanted if name not in known]:
        raise UnknownPair(f"there is no pair {', '.join(odd)}; there are {', '.join(known)}")
    return tuple(_read(known[name]) for name in wanted)


def _read(file: Path) -> Pair:
    said = tomllib.loads(file.read_text(encoding="utf-8"))
    lists = {key: tuple(value) for key, value in said.items() if isinstance(value, list)}
    return Pair(name=file.parent.name, **{**said, **lists})
