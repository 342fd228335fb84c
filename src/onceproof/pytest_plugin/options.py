"""What a test run says of onceproof: on its command line, or in its ini file."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, kw_only=True)
class Options:
    """What holds for every fixture of this process.

    Attributes:
        out: folder that gets run folders.
        backend: what stages are made of.
        seed: of everything; None: each draws its own.
    """

    out: Path
    backend: str
    seed: int | None

    @classmethod
    def of(cls, config: pytest.Config) -> Options:
        """Read them."""
        return cls(
            out=config.rootpath / str(config.getini("onceproof_out")),
            backend=str(
                config.getoption("onceproof_backend") or config.getini("onceproof_backend")
            ),
            seed=config.getoption("onceproof_seed"),
        )

    def some_seed(self) -> int:
        """The seed, or a new one."""
        return random.SystemRandom().randrange(1, 1_000_000) if self.seed is None else self.seed
