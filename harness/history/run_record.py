"""The run record, `run.json`: everything needed to judge, report and repeat a run.

It is complete before the stage starts, so that a run which dies half-way can still be judged from
its folder alone. Only a lab adds its faults later.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from onceproof.checkers.regular import NotRegular, read_regular
from onceproof.harness.history.system import System

RUN_FILE = "run.json"
LARGEST = 64 * 2**20
"""Maximum size in bytes; our records are far below one million."""


class UnreadableRun(ValueError):
    """The folder is not a onceproof run, or its record is damaged; the text says what to do."""


class Step(BaseModel):
    """One fault of the schedule, described for readers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fault: str = Field(description="name of the fault, unique in the schedule")
    kind: str = Field(description="crash, partition or timeout")
    when: str = Field(description="description of the trigger")
    do: str = Field(description="description of the fault")
    until: str = Field(description="description of what ends it")
    required: bool = True


class Note(BaseModel):
    """A note that the user of a lab wrote while it ran."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: int = Field(description="monotonic clock in nanoseconds")
    text: str


class Written(BaseModel):
    """What the history of a finished run must contain, known before the run starts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    records: int = Field(description="number of records sent; 0 in a lab, where the user decides")
    logs: dict[str, int] = Field(
        description="partitions of each log that is read to its end, by log"
    )
    in_bytes: list[str] = Field(
        description="logs whose offsets count bytes, because they are files"
    )
    positions: bool = Field(description="whether the pipeline's committed positions are recorded")
    expected: dict[str, int] = Field(description="rows of the table `expected`, by sink")
    contributions: dict[str, int] = Field(description="rows of the table `contributions`, by sink")


class RunRecord(BaseModel):
    """The content of `run.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["onceproof-run/1"] = "onceproof-run/1"
    run: str = Field(description="name of the run folder")
    scenario: str = Field(description="name that `onceproof run` takes")
    source: str | None = Field(
        default=None, description="FILE.py:NAME of a scenario in a file; null if it is installed"
    )
    title: str = Field(description="the scenario in one sentence")
    seed: int
    repeat: str = Field(description="the command that repeats the run")
    started_at: str = Field(description="wall clock, UTC, ISO 8601")
    clock: str = Field(description="clock id of the harness: boot id and clock")
    monotonic_ns: int = Field(description="monotonic clock in nanoseconds at started_at")
    wall_ns: int = Field(description="wall clock in nanoseconds since 1970 at monotonic_ns")
    host: dict[str, str] = Field(description="cores, memory, kernel, …")
    versions: dict[str, str] = Field(description="onceproof, Kafka, Spark, toxiproxy, …")
    subject: str = Field(description="name of the subject")
    subject_says: str = Field(description="description of the subject in one or two sentences")
    system: System | None = Field(
        default=None, description="the kind of system that it is; null: of no such kind"
    )
    workload: dict[str, Any] = Field(description="records, producers, keys, partitions, …")
    configuration: dict[str, Any] = Field(description="settings of brokers, clients and pipeline")
    schedule: list[Step]
    plan: list[dict[str, Any]] | None = Field(
        default=None, description="the schedule as data, for replay; null if it cannot be replayed"
    )
    notes: list[Note] = Field(
        default_factory=list, description="notes of a lab's user, in the order of their times"
    )
    claims: list[dict[str, Any]] = Field(description="claims as written by checkers.claims")
    written: Written | None = Field(
        default=None, description="what the history must contain; null in earlier versions"
    )

    def save(self, folder: Path) -> None:
        """Write `run.json` atomically."""
        target = folder / RUN_FILE
        part = target.with_suffix(".part")
        try:
            part.write_text(self.model_dump_json(indent=2) + "\n")
            with part.open() as written:
                os.fsync(written.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    @classmethod
    def load(cls, folder: Path) -> RunRecord:
        """Read the record of a run folder.

        Raises:
            UnreadableRun: no such file, not JSON, or not a record of this format.
        """
        path = folder / RUN_FILE
        try:
            return cls.parse(read_regular(path, folder, at_most=LARGEST).decode(), str(path))
        except FileNotFoundError:
            raise UnreadableRun(
                f"{folder} is not a run folder: it has no {RUN_FILE}. "
                "Give a folder that `onceproof run` printed, such as runs/<time>-<scenario>-<seed>."
            ) from None
        except NotADirectoryError:
            raise UnreadableRun(f"{folder} is a file; a run is a folder with {RUN_FILE}.") from None
        except OSError as error:
            raise UnreadableRun(f"{path} cannot be read: {error.strerror or error}") from None
        except UnicodeDecodeError as error:
            raise UnreadableRun(f"{path} is not JSON ({error}); restore it from a copy.") from None
        except NotRegular as error:
            raise UnreadableRun(str(error)) from None

    @classmethod
    def parse(cls, text: str, place: str) -> RunRecord:
        """Parse a record.

        Raises:
            UnreadableRun: not JSON, or not a record of this format; the text names `place`.
        """
        try:
            return cls.model_validate(json.loads(text))
        except RecursionError:
            raise UnreadableRun(f"{place} is nested too deeply; restore it from a copy.") from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the whole file"
            raise UnreadableRun(
                f"{place}: {where}: {first['msg']}. It was written by another version of "
                "onceproof or edited; restore it from a copy."
            ) from None
        except ValueError as error:  # not JSON, or numbers with more digits than Python reads
            raise UnreadableRun(f"{place} is not JSON ({error}); restore it from a copy.") from None
