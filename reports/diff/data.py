"""Write a `Diff` as JSON; its published schema is generated from this module.

`version` increases when a field is removed or changes its meaning.
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
    """The content of the file: format, version and headline, followed by the diff."""


_FILE: Final = TypeAdapter(DiffFile)


def diff_json(diff: Diff) -> str:
    file = DiffFile(headline=headline(diff), **vars(diff))
    content = _FILE.dump_python(file, mode="json")
    return storable(json.dumps(content, ensure_ascii=False, indent=2)) + "\n"


def schema() -> dict[str, Any]:
    return _FILE.json_schema(mode="serialization")
