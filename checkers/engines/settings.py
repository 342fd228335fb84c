"""Engine settings. They change the cost of judging, never its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The engine, and its limits."""

    engine: Literal["duckdb", "spark"] = "duckdb"
    master: str | None = None
    """The Spark master, e.g. `local[2]` or `spark://…`; None: Spark's own configuration."""
    memory: int | None = None
    """Bytes held before spilling to disk; None: little at first, then the engine's own limit."""
    threads: int | None = None
    """DuckDB threads; None: one per core."""
    screen: bool = True
    """Skip the full comparison of records that cheap hashes show to be in order."""
