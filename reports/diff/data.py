"""Two runs beside each other as JSON, for programs.

The one thing to know: `version` grows when a field changes its meaning or goes away.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Final

from reports.diff.model import Diff, FoundPair
from reports.diff.summary import headline
from reports.text import storable

VERSION: Final = 1


def diff_json(diff: Diff) -> str:
    """The text of the file."""
    told = asdict(diff)
    told["findings"] = [_found(pair) for pair in diff.findings]
    head = {"format": "onceproof-diff", "version": VERSION, "headline": headline(diff)}
    return storable(json.dumps(head | told, ensure_ascii=False, indent=2)) + "\n"


def _found(pair: FoundPair) -> dict[str, Any]:
    told = asdict(pair)
    told["records"] = [asdict(record) | {"key": dict(record.key)} for record in pair.records]
    return told
