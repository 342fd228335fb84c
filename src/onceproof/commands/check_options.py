"""Parse the options of `onceproof check`, and reject invalid ones before anything is read."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, cast

from onceproof.checkers.engines.settings import Settings

__all__ = ["BadOption", "reader_options", "settings"]

_ENGINES: Final = ("duckdb", "spark")
_ISOLATIONS: Final = ("read_committed", "read_uncommitted")
_SIZE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_LEAST: Final = 10**8
"""No engine starts with less memory, in bytes."""


class BadOption(ValueError):
    """An invalid option; the message says what was expected."""


def settings(
    *,
    engine: str,
    master: str | None,
    memory: str | None,
    threads: int | None,
    exact: bool,
) -> Settings:
    """Return how to judge; raise `BadOption` for an unknown engine, or contradictory options."""
    if engine not in _ENGINES:
        raise BadOption(f"--engine: expected {' or '.join(_ENGINES)}, found {engine}")
    if master is not None and engine != "spark":
        raise BadOption("--master works only with --engine spark")
    if threads is not None and engine != "duckdb":
        raise BadOption(
            "--threads works only with --engine duckdb; for Spark, use --master local[N]"
        )
    return Settings(
        engine=cast("Literal['duckdb', 'spark']", engine),
        master=master,
        memory=None if memory is None else _bytes(memory),
        threads=threads,
        screen=not exact,
    )


def reader_options(*, isolation: str | None, transactions: bool | None) -> dict[str, Any]:
    """Return the options of a Jepsen history; raise `BadOption` for an unknown isolation level."""
    if isolation is not None and isolation not in _ISOLATIONS:
        raise BadOption(f"--isolation: expected {' or '.join(_ISOLATIONS)}, found {isolation}")
    options = {"isolation": isolation, "transactions": transactions}
    return {name: value for name, value in options.items() if value is not None}


def _bytes(text: str) -> int:
    """Parse a size as DuckDB does: 2GB → 2 000 000 000, 2GiB → 2 147 483 648."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise BadOption(f"--memory: expected a size such as 2GB or 512MiB, found {text}")
    number, unit, binary = match.groups()
    size = int(float(number) * (1024 if binary else 1000) ** " kmgt".index(unit.lower() or " "))
    if size < _LEAST:
        raise BadOption(f"--memory: expected at least 100MB, found {text}")
    return size
