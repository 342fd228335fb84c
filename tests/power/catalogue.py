"""The pairs that there are."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from onceproof.harness.subjects.spark.subject import JOBS

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
        options: more of `onceproof verify`; `{payments}` is a file of payments, `{folder}` that of
            the pair.
        workers: how many instances there are; each gets its number as last argument.
        broken: of a twin of our own scenarios: its job of `subjects/spark/jobs`, with arguments.
        mended: the same of the subject that holds.
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
    broken: tuple[str, ...] = field(default=(), repr=False)
    mended: tuple[str, ...] = field(default=(), repr=False)

    def program(self, variant: Variant) -> Path:
        """The file of one of the two programs."""
        if job := self._job(variant):
            return JOBS / job[0]
        (file,) = (FOLDER / self.name).glob(f"{variant}.*")
        return file

    def called(self, variant: Variant) -> tuple[str, ...]:
        """The arguments of one of the two programs."""
        number = ("{instance}",) if self.workers > 1 else ()
        return (*self._job(variant)[1:], *self.arguments, *number)

    def digest(self, variant: Variant) -> str:
        """A short sum of a program and of how it is called."""
        said = [repr(self), *self._job(variant)]
        content = self.program(variant).read_bytes() + "\0".join(said).encode()
        return hashlib.sha256(content).hexdigest()[:12]

    def _job(self, variant: Variant) -> tuple[str, ...]:
        return self.broken if variant == "broken" else self.mended


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
