"""The run folder, which holds all files of one run.

A run writes `history/*.jsonl`. At its end these become Parquet tables, which are read back and
sealed; then the lines are removed. Until then only the lines count, afterwards only the tables.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq

from onceproof.checkers.bad_history import BadHistory
from onceproof.checkers.folders import Folder
from onceproof.checkers.history import History
from onceproof.checkers.local_folder import LocalFolder
from onceproof.checkers.regular import check_inside
from onceproof.checkers.seal import (
    REMEDY,
    SEAL_FILE,
    LogEnd,
    Seal,
    SealedFile,
    changed_files,
    describe_changes,
    read_seal,
)
from onceproof.checkers.tables import TABLES
from onceproof.harness.history.run_record import RUN_FILE, RunRecord
from onceproof.harness.history.tables import DamagedHistory, Recorded, read_lines

LIMITS_FILE = "limits.json"
"""Limits of a sealed history, as sentences."""


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @classmethod
    def create(cls, runs: Path, scenario: str, seed: int) -> RunFolder:
        """Make a new folder `<utc>-<scenario>-<seed>` under `runs`.

        Raises:
            OSError: the folder cannot be made.
        """
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        plain = re.sub(r"[^A-Za-z0-9-]+", "-", scenario).strip("-")
        for attempt in range(100):
            # Absolute, because the processes of a run have other working directories.
            path = runs.absolute() / f"{stamp}-{plain}-{seed}{f'-{attempt}' if attempt else ''}"
            try:
                path.mkdir(parents=True, mode=0o700)
            except FileExistsError:
                continue
            folder = cls(path)
            for part in (folder.history, folder.logs, folder.work):
                part.mkdir()
            return folder
        raise FileExistsError(f"{runs} already has 100 runs with this name from this second")

    @property
    def history(self) -> Path:
        return self.path / "history"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def work(self) -> Path:
        """Data of the stage; removed at the end of the run."""
        return self.path / "work"

    def load_history(self, *, unsealed: bool = False) -> Loaded:
        """Load the history from the tables of a finished run, or from the lines of another.

        Args:
            unsealed: accept tables that were changed since they were sealed.

        Raises:
            DamagedHistory, BadHistory: it cannot be read or was changed; the text says where.
        """
        check_inside(self.history, self.path)
        if not self.history.is_dir():
            raise DamagedHistory(f"{self.path} has no folder `history`: nothing was recorded")
        names = [path.name for path in self.history.iterdir()]
        if is_unfinished(names):
            recorded = read_lines(self.history)
            history = History(recorded.tables, source=str(self.history))
            return Loaded(history=history, limits=_limits(recorded))
        return load_tables(LocalFolder(self.path), unsealed=unsealed)

    def check_record(self) -> None:
        """Check that the record of a finished run is the one that was sealed.

        Raises:
            BadHistory: it was changed since.
        """
        folder = LocalFolder(self.path).folder("history")
        if not self.history.is_dir() or SEAL_FILE not in folder.names():
            return
        if LocalFolder(self.path).sha256(RUN_FILE) != read_seal(folder).record:
            raise BadHistory(
                f"{self.path / RUN_FILE} was changed since the run sealed it. Restore it from a "
                "copy."
            )

    def seal(self) -> tuple[str, ...]:
        """Turn lines into tables, read them back, seal them, then remove the lines.

        Returns:
            Limits of the history, as sentences.

        Raises:
            DamagedHistory: the lines cannot be read; they are kept.
            OSError: the tables cannot be written; the lines are kept.
        """
        if not any(self.history.glob("*.jsonl")):
            return self.load_history().limits
        recorded = read_lines(self.history)
        limits = _limits(recorded)
        parts = []
        if limits:
            parts.append(self.history / f".{LIMITS_FILE}.part")
            parts[-1].write_text(json.dumps(limits) + "\n", encoding="utf-8")
        for name, table in recorded.tables.items():
            parts.append(self.history / f".{name}.parquet.part")
            pq.write_table(table, parts[-1])
            if pq.read_table(parts[-1]).num_rows != table.num_rows:
                raise OSError(f"{parts[-1]} does not contain the rows that were written to it")
        for part in parts:
            _sync(part)
            part.replace(self.history / part.name[1:].removesuffix(".part"))
        seal_folder(self.path)
        for lines in self.history.glob("*.jsonl"):
            lines.unlink()
        return limits


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A history, and how far it can be relied on.

    Attributes:
        limits: limits of the history, as sentences.
        rows: table → number of sealed rows; empty without a seal.
        changed: what was changed since it was sealed, as a sentence; None if nothing was.
        doubt: why it is unknown whether all rows are present; None if that is known.
    """

    history: History
    limits: tuple[str, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)
    changed: str | None = None
    doubt: str | None = None


def load_tables(run: Folder, *, unsealed: bool = False) -> Loaded:
    """Load the history of a finished run from a local or remote folder.

    Raises:
        DamagedHistory, BadHistory: see `RunFolder.load_history`.
    """
    folder = run.folder("history")
    names = folder.names()
    seal, changed, doubt = None, None, None
    try:
        seal = read_seal(folder)
    except BadHistory as error:
        if not unsealed:
            raise
        doubt = changed = str(error).removesuffix(REMEDY).rstrip()
    if seal is not None:
        changed = _changed(run, folder, seal)
        if changed and not unsealed:
            raise BadHistory(f"{folder.place}: {changed}. {REMEDY}")
    check_whole(names, folder.place)
    limits: tuple[str, ...] = ()
    if LIMITS_FILE in names:
        limits = parse_limits(folder.text(LIMITS_FILE), f"{folder.place}/{LIMITS_FILE}")
    history = History.load(folder)
    if changed:
        # A damaged file may do worse to an engine than make it fail.
        history.check_readable()
    return Loaded(
        history=history,
        limits=limits,
        rows=seal.rows if seal else {},
        changed=changed,
        doubt=doubt,
    )


def _changed(run: Folder, folder: Folder, seal: Seal) -> str | None:
    # The record was read before, so its size is within the limit.
    record = () if run.sha256(RUN_FILE) == seal.record else (f"{RUN_FILE} was changed",)
    return describe_changes((*record, *changed_files(folder, seal)))


def seal_folder(run: Path) -> None:
    history = run / "history"
    files = {}
    for path in sorted([*history.glob("*.parquet"), *history.glob(LIMITS_FILE)]):
        table = path.suffix == ".parquet"
        files[path.name] = SealedFile(
            sha256=LocalFolder(history).sha256(path.name),
            size=path.stat().st_size,
            rows=pq.read_metadata(path).num_rows if table else None,
        )
    record = RunRecord.load(run)
    ends = pq.read_table(history / "partitions.parquet").to_pylist()
    seal = Seal(
        record=LocalFolder(run).sha256(RUN_FILE),
        schedule=tuple(step.fault for step in record.schedule),
        files=files,
        logs=tuple(
            LogEnd(**{name: end[name] for name in LogEnd.__dataclass_fields__}) for end in ends
        ),
    )
    part = history / f".{SEAL_FILE}.part"
    part.write_text(seal.text(), encoding="utf-8")
    _sync(part)
    part.replace(history / SEAL_FILE)
    _sync(history)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _limits(recorded: Recorded) -> tuple[str, ...]:
    return tuple(f"the last line of {name} was cut short" for name in recorded.cut_short)


def is_unfinished(names: Collection[str]) -> bool:
    """Return whether a history folder with these files has lines but no sealed tables."""
    return SEAL_FILE not in names and any(name.endswith(".jsonl") for name in names)


def missing_tables(names: Collection[str]) -> list[str]:
    return [file for name in TABLES if (file := f"{name}.parquet") not in names]


def check_whole(names: Collection[str], place: str) -> None:
    """Check that a finished run has all its tables; a missing one must not be taken for empty.

    Raises:
        DamagedHistory: some are missing; the text names `place`.
    """
    missing = missing_tables(names)
    if missing and len(missing) < len(TABLES):  # without any table the run was never finished
        raise DamagedHistory(
            f"{place}: missing {', '.join(missing)}; restore every table that was removed. (Only "
            "a history that was not recorded by a run may omit tables.)"
        )


def parse_limits(text: str, place: str) -> tuple[str, ...]:
    """Return the sentences of a limits file.

    Raises:
        DamagedHistory: it is not JSON; the text names `place`.
    """
    try:
        return tuple(map(str, json.loads(text)))
    except (ValueError, TypeError):
        raise DamagedHistory(
            f"{place} is not a JSON list of texts; restore it from a copy."
        ) from None
