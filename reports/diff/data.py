"""Two runs beside each other as JSON, for programs; its published schema is made from here.

`version` grows when a field changes its meaning or goes away.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from onceproof.reports.diff.model import Diff
from onceproof.reports.diff.summary import headline
from onceproof.reports.text import storable

VERSION: Final = 1


@dataclass(frozen=True, kw_only=True)
class _Head:
    format: Literal["onceproof-diff"] = "onceproof-diff"
    version: Literal[1] = VERSION
    headline: str


@dataclass(frozen=True, kw_only=True)
class DiffFile(Diff, _Head):
    """What is in the file: the head, and then everything that is told of the two runs."""


_FILE: Final = TypeAdapter(DiffFile)


def diff_json(diff: Diff) -> str:
    """The text of the file."""
    file = DiffFile(headline=headline(diff), **vars(diff))
    content = _FILE.dump_python(file, mode="json")
    return storable(json.dumps(content, ensure_ascii=False, indent=2)) + "\n"


def schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    return _FILE.json_schema(mode="serialization")
