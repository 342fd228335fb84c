"""How a history is to be judged: by which engine, with how much memory.

Settings change cost, never meaning. Every engine must find the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Which engine judges, and within which limits."""

    engine: Literal["duckdb", "spark"] = "duckdb"
    master: str | None = None
    """Spark's master, e.g. `local[2]` or `spark://…`; None: what Spark is configured for."""
    memory: int | None = None
    """Bytes that the engine may hold before it spills to disk; None: little for as long as that
    suffices, then the engine's own limit."""
    threads: int | None = None
    """Threads of DuckDB; None: one per core."""
    screen: bool = True
    """Set aside what a cheap look shows to be in order, before anything is compared in full."""
