"""The run folder: where everything of one run lies.

The one thing to know: `history/*.jsonl` is what a run writes while it lasts. When it is over they
become Parquet tables, are read back, and only then are the lines removed, so that there is one
stored history and never two that differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq

from checkers.history import History
from checkers.tables import TABLES
from harness.recording.tables import DamagedHistory, Recorded, read_lines

LIMITS_FILE = "limits.json"
"""What limits a sealed history, in sentences."""


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @classmethod
    def create(cls, runs: Path, scenario: str, seed: int) -> RunFolder:
        """Make a new folder `<utc>-<scenario>-<seed>` under `runs`.

        Raises:
            OSError: it cannot be made.
        """
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        plain = re.sub(r"[^A-Za-z0-9-]+", "-", scenario).strip("-")
        for attempt in range(100):
            # Absolute, because the parts of a run work in folders of their own.
            path = runs.absolute() / f"{stamp}-{plain}-{seed}{f'-{attempt}' if attempt else ''}"
            try:
                path.mkdir(parents=True, mode=0o700)
            except FileExistsError:
                continue
            folder = cls(path)
            for part in (folder.history, folder.logs, folder.work):
                part.mkdir()
            return folder
        raise FileExistsError(f"{runs} has a hundred runs of this second already")

    @property
    def history(self) -> Path:
        """What was recorded."""
        return self.path / "history"

    @property
    def logs(self) -> Path:
        """Logs of brokers, proxies, database and pipeline."""
        return self.path / "logs"

    @property
    def work(self) -> Path:
        """Data of the stage, which does not outlive the run."""
        return self.path / "work"

    def load_history(self) -> tuple[History, tuple[str, ...]]:
        """The history, from tables if the run was finished, else from the lines.

        Returns:
            The history, and what limits it, in sentences.

        Raises:
            DamagedHistory, BadHistory: it cannot be read; the text says what and where.
        """
        if not self.history.is_dir():
            raise DamagedHistory(f"{self.path} has no folder `history`: nothing was recorded")
        names = [path.name for path in self.history.iterdir()]
        if missing_tables(names) and any(name.endswith(".jsonl") for name in names):
            recorded = read_lines(self.history)
            return History(recorded.tables, source=str(self.history)), _limits(recorded)
        check_whole(names, str(self.history))
        try:
            text = (self.history / LIMITS_FILE).read_text()
        except FileNotFoundError:
            return History.load(self.history), ()
        limits = parse_limits(text, str(self.history / LIMITS_FILE))
        return History.load(self.history), limits

    def seal(self) -> tuple[str, ...]:
        """Turn lines into tables, read them back, then remove the lines.

        Returns:
            What limits the history, in sentences.

        Raises:
            DamagedHistory: the lines cannot be read; they stay as they are.
            OSError: the tables cannot be written; the lines stay as they are.
        """
        if not any(self.history.glob("*.jsonl")):
            return self.load_history()[1]
        recorded = read_lines(self.history)
        limits = _limits(recorded)
        if limits:
            (self.history / LIMITS_FILE).write_text(json.dumps(limits) + "\n")
        for name, table in recorded.tables.items():
            part = self.history / f".{name}.parquet.part"
            pq.write_table(table, part)
            if pq.read_table(part).num_rows != table.num_rows:
                raise OSError(f"{part} does not hold what was written to it")
        for name in TABLES:
            (self.history / f".{name}.parquet.part").replace(self.history / f"{name}.parquet")
        for lines in self.history.glob("*.jsonl"):
            lines.unlink()
        return limits


def _limits(recorded: Recorded) -> tuple[str, ...]:
    return tuple(f"the last line of {name} was cut short" for name in recorded.cut_short)


def missing_tables(names: Collection[str]) -> list[str]:
    """The tables whose files a history folder lacks, by its names; none if it is sealed."""
    return [file for name in TABLES if (file := f"{name}.parquet") not in names]


def check_whole(names: Collection[str], place: str) -> None:
    """See that a run that was finished has all its tables: one that is gone is not empty.

    Raises:
        DamagedHistory: some are missing; `place` is named.
    """
    gone = missing_tables(names)
    if gone and len(gone) < len(TABLES):  # with none of them it was never finished
        raise DamagedHistory(
            f"{place}: expected a table of every kind, found no {', '.join(gone)}; restore what "
            "was removed. (A history that was not made by a run may leave tables out.)"
        )


def parse_limits(text: str, place: str) -> tuple[str, ...]:
    """The sentences that a file of limits holds.

    Raises:
        DamagedHistory: it is not JSON; `place` is named.
    """
    try:
        return tuple(map(str, json.loads(text)))
    except (ValueError, TypeError):
        raise DamagedHistory(f"{place} is not JSON that lists sentences; restore it") from None
