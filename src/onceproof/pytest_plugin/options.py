"""The plugin's options, from the command line or the ini file."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for every fixture of this process.

    Attributes:
        out: parent of the run folders.
        backend: `local`, `docker`, or `external:FILE`.
        versions: `NAME=VERSION` of runtimes that are not in their usual version.
        seed: one seed for everything; None: random seeds.
    """

    out: Path
    backend: str
    seed: int | None
    versions: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: pytest.Config) -> Options:
        """Read the options from pytest's configuration."""
        return cls(
            out=config.rootpath / str(config.getini("onceproof_out")),
            backend=str(
                config.getoption("onceproof_backend") or config.getini("onceproof_backend")
            ),
            versions=tuple(config.getoption("onceproof_with") or config.getini("onceproof_with")),
            seed=config.getoption("onceproof_seed"),
        )

    @property
    def words(self) -> list[str]:
        """The options that choose versions."""
        return [word for version in self.versions for word in ("--with", version)]

    def some_seed(self) -> int:
        """Return the seed, or a random one."""
        return random.SystemRandom().randrange(1, 1_000_000) if self.seed is None else self.seed
