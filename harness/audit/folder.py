"""The folder of an audit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class AuditFolder:
    """The files of one audit, readable by the owner only, since they contain identities."""

    path: Path

    @classmethod
    def create(cls, path: Path) -> AuditFolder:
        path.mkdir(parents=True, mode=0o700)
        return cls(path)

    @property
    def plan(self) -> Path:
        """The plan, from which an interrupted audit resumes."""
        return self.path / "audit.json"

    @property
    def history(self) -> Path:
        """The history, which `onceproof check` can judge again."""
        return self.path / "history"

    @property
    def repairs(self) -> Path:
        return self.path / "repairs.jsonl"

    @property
    def page(self) -> Path:
        return self.path / "report.html"

    @property
    def data(self) -> Path:
        return self.path / "report.json"

    def raw(self, what: str) -> Path:
        """Rows read of the input, or of an output by its number."""
        return self.path / "read" / what

    def table(self, name: str) -> Path:
        self.history.mkdir(exist_ok=True)
        return self.history / f"{name}.parquet"
