"""The runtimes that a run chose, installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Where the chosen runtimes are; what is not here is in its usual version.

    Attributes:
        versions: runtime → version, as asked for.
        jars: runtime → folder of its jars.
        pythons: runtime → interpreter that imports it in the chosen version.
    """

    versions: Mapping[str, str] = field(default_factory=dict)
    jars: Mapping[str, Path] = field(default_factory=dict)
    pythons: Mapping[str, Path] = field(default_factory=dict)
