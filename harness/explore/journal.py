"""The journal of an exploration: every trial as one line, from which it can be resumed.

A line is written when its trial counts. So a trial that was under way when the exploration was
interrupted is made again, and none counts twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from onceproof.harness.explore.points import Passed
from onceproof.harness.explore.trials import Outcome, parse_key

JOURNAL: Final = "journal.jsonl"


class BadJournal(ValueError):
    """A journal is damaged, or belongs to another exploration; the text says what to do."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A trial that counts."""

    key: str
    outcome: Outcome


@dataclass(frozen=True, kw_only=True)
class Confirmed:
    """How often a violation was repeated, each time alone on a fresh stage."""

    key: str
    failed: int
    tries: int


@dataclass(frozen=True, kw_only=True)
class Shrunk:
    """The smallest faults and workload with which a violation was seen.

    Attributes:
        failed: in how many of `tries` they failed; 0 if that was not measured.
    """

    key: str
    to: str
    transactions: int
    records: int
    failed: int = 0
    tries: int = 0


@dataclass(kw_only=True)
class Known:
    """What a journal contains.

    Attributes:
        about: what is explored: subject, versions, options.
        quiet: the traces of trials without faults.
    """

    about: Mapping[str, Any] = field(default_factory=dict)
    quiet: list[tuple[Passed, ...]] = field(default_factory=list)
    trials: list[Entry] = field(default_factory=list)
    unsound: list[str] = field(default_factory=list)
    """Why batches did not count."""
    confirmed: dict[str, Confirmed] = field(default_factory=dict)
    shrunk: dict[str, Shrunk] = field(default_factory=dict)

    def like(self, entry: Entry) -> str | None:
        """Return the key of a shrunk violation by the same acts, with the same anomalies."""
        wanted = _kind(entry)
        return next(
            (e.key for e in self.trials if e.key in self.shrunk and _kind(e) == wanted), None
        )


class Journal:
    """An open journal.

    Raises:
        BadJournal: the file is damaged, or about something else.
    """

    def __init__(self, folder: Path, about: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / JOURNAL
        self.known = read(self.path) if self.path.exists() else Known()
        if self.known.about and self.known.about != about:
            raise BadJournal(
                f"{self.path} is about {_said(self.known.about)}, not {_said(about)}: choose "
                "another --out"
            )
        self._file = self.path.open("ab", buffering=0)
        self._file.truncate(_complete(self.path))
        if not self.known.about:
            self._write({"t": "about", **about})
            self.known.about = dict(about)

    def quiet(self, trace: Iterable[Passed]) -> None:
        self.known.quiet.append(tuple(trace))
        self._write({"t": "quiet", "trace": [passed.id for passed in self.known.quiet[-1]]})

    def trials(self, made: Sequence[Entry]) -> None:
        self.known.trials += made
        self._write(*({"t": "trial", "faults": e.key, **e.outcome.as_json()} for e in made))

    def unsound(self, why: str) -> None:
        self.known.unsound.append(why)
        self._write({"t": "unsound", "why": why})

    def confirmed(self, found: Confirmed) -> None:
        self.known.confirmed[found.key] = found
        self._write({"t": "confirmed", **vars(found)})

    def shrunk(self, found: Shrunk) -> None:
        self.known.shrunk[found.key] = found
        self._write({"t": "shrunk", **vars(found)})

    def close(self) -> None:
        self._file.close()

    def _write(self, *rows: Mapping[str, Any]) -> None:
        data = memoryview(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        while data:
            data = data[self._file.write(data) :]
        os.fsync(self._file.fileno())


def read(path: Path) -> Known:
    """Read a journal; its last line may be cut short.

    Raises:
        BadJournal: a line is damaged.
        OSError: the file cannot be read.
    """
    known = Known()
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break
            try:
                _take(known, json.loads(line))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise BadJournal(
                    f"{path}, line {number}: {type(error).__name__}: {error}; remove the folder to "
                    "begin again"
                ) from None
    return known


def merged(parts: Iterable[Known]) -> Known:
    """Merge the journals of shards.

    Raises:
        BadJournal: they are about different explorations.
    """
    whole = Known()
    keys: set[str] = set()
    for part in parts:
        about = {name: value for name, value in part.about.items() if name != "shard"}
        if whole.about and about != whole.about:
            raise BadJournal(f"cannot merge {_said(about)} with {_said(whole.about)}")
        whole.about = about
        whole.quiet += part.quiet
        whole.unsound += part.unsound
        # A trial that two shards made, of a drawn pair for instance, counts once.
        whole.trials += [entry for entry in part.trials if entry.key not in keys]
        keys |= {entry.key for entry in part.trials}
        whole.confirmed |= part.confirmed
        whole.shrunk |= part.shrunk
    return whole


def _take(known: Known, row: dict[str, Any]) -> None:
    match row.pop("t"):
        case "about":
            known.about = row
        case "quiet":
            known.quiet.append(tuple(map(Passed.parse, row["trace"])))
        case "trial":
            known.trials.append(Entry(key=row.pop("faults"), outcome=Outcome.from_json(row)))
        case "unsound":
            known.unsound.append(row["why"])
        case "confirmed":
            known.confirmed[row["key"]] = Confirmed(**row)
        case "shrunk":
            known.shrunk[row["key"]] = Shrunk(**row)
        case other:
            raise ValueError(f"unknown kind of line {other!r}")


def _kind(entry: Entry) -> tuple[object, ...]:
    acts = tuple(single.act.name for single in parse_key(entry.key))
    return (entry.outcome.violated, acts, entry.outcome.anomalies)


def _complete(path: Path) -> int:
    """Bytes up to the end of the last complete line."""
    return path.read_bytes().rfind(b"\n") + 1


def _said(about: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in about.items())
