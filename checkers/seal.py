"""The seal of a history: the state of its files when the run that wrote them ended.

It holds the rows and SHA-256 of each table, the checksum of the run's record, the end offsets up to
which each log had to be read, and its own digest. Loading a history rejects changed files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from onceproof.checkers.bad_history import BadHistory
from onceproof.checkers.folders import Folder

SEAL_FILE: Final = "seal.json"
FORMAT: Final = "onceproof-seal/1"
REMEDY: Final = "Restore it from a copy, or judge it as it is with --unsealed."


@dataclass(frozen=True, kw_only=True)
class SealedFile:
    """One file beside the seal; `size` is in bytes, `rows` is None if it holds no table."""

    sha256: str
    size: int
    rows: int | None = None


@dataclass(frozen=True, kw_only=True)
class LogEnd:
    """The end offsets of one partition, up to which its log had to be read."""

    topic: str
    partition: int
    log_start: int
    high_watermark: int


@dataclass(frozen=True, kw_only=True)
class Seal:
    """The content of a seal; `record` is the SHA-256 of the run's record."""

    record: str
    schedule: tuple[str, ...]
    files: Mapping[str, SealedFile]
    logs: tuple[LogEnd, ...]

    @property
    def rows(self) -> dict[str, int]:
        return {
            name.removesuffix(".parquet"): sealed.rows
            for name, sealed in self.files.items()
            if sealed.rows is not None
        }

    def text(self) -> str:
        content = {
            "format": FORMAT,
            "record": self.record,
            "schedule": list(self.schedule),
            "files": {name: asdict(sealed) for name, sealed in sorted(self.files.items())},
            "logs": [asdict(end) for end in self.logs],
        }
        return json.dumps({**content, "digest": _digest(content)}, indent=1) + "\n"


def read_seal(folder: Folder) -> Seal:
    """Read the seal of a folder of tables.

    Raises:
        BadHistory: there is no seal, or it was changed.
    """
    if SEAL_FILE not in folder.names():
        raise BadHistory(
            f"{folder.place}: expected {SEAL_FILE}, found none: it was removed, or the run was "
            f"made by an earlier version. {REMEDY}"
        )
    place = f"{folder.place}/{SEAL_FILE}"
    try:
        text = folder.text(SEAL_FILE)
    except BadHistory as error:
        raise BadHistory(f"{error} {REMEDY}") from None
    try:
        content: Any = json.loads(text)
        digest = content.pop("digest")
        if content["format"] != FORMAT:
            raise BadHistory(f"{place}: expected format {FORMAT}. {REMEDY}")
        if digest != _digest(content):
            raise BadHistory(f"{place} was changed since it was written. {REMEDY}")
        return Seal(
            record=content["record"],
            schedule=tuple(content["schedule"]),
            files={name: SealedFile(**sealed) for name, sealed in content["files"].items()},
            logs=tuple(LogEnd(**end) for end in content["logs"]),
        )
    except BadHistory:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BadHistory(
            f"{place} is not a valid seal: it was changed or truncated. {REMEDY}"
        ) from None


def check_seal(folder: Folder, *, unsealed: bool) -> tuple[dict[str, int], str | None]:
    """Compare a folder with its seal, if it has one; return the sealed rows and the changes.

    Raises:
        BadHistory: something was changed, and `unsealed` is false.
    """
    if SEAL_FILE not in folder.names():
        return {}, None
    seal = read_seal(folder)
    changed = describe_changes(changed_files(folder, seal))
    if changed and not unsealed:
        raise BadHistory(f"{folder.place}: {changed}. {REMEDY}")
    return seal.rows, changed


def describe_changes(changed: Sequence[str]) -> str | None:
    return f"{', '.join(changed)} since the run sealed it" if changed else None


def changed_files(folder: Folder, seal: Seal) -> tuple[str, ...]:
    there = folder.names()
    changed = []
    for name, sealed in sorted(seal.files.items()):
        if name not in there:
            changed.append(f"{name} was removed")
        # A file of a different size need not be read, however large it is.
        elif folder.size(name) != sealed.size or folder.sha256(name) != sealed.sha256:
            changed.append(f"{name} was changed")
    added = sorted(name for name in there - seal.files.keys() - {SEAL_FILE} if _belongs(name))
    return (*changed, *(f"{name} was added" for name in added))


def _belongs(name: str) -> bool:
    return name.endswith((".parquet", ".json"))


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
