"""The published JSON Schemas of `report.json`, `onceproof diff --json` and `cost.json`.

`python -m onceproof.reports.schema` writes them; a test checks that they are current.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onceproof.reports.cost import model as cost
from onceproof.reports.diff import data as diff
from onceproof.reports.model import FORMAT, Report

_HERE = Path(__file__).parent


def schemas() -> Mapping[Path, str]:
    """Return the required content of each schema file."""
    return {
        _HERE / "report-5.schema.json": _text(
            FORMAT, Report.model_json_schema(mode="serialization")
        ),
        _HERE / f"diff-{diff.VERSION}.schema.json": _text(
            f"onceproof-diff/{diff.VERSION}", diff.schema()
        ),
        _HERE / "cost-1.schema.json": _text(
            cost.FORMAT, cost.CostReport.model_json_schema(mode="serialization")
        ),
    }


def _text(name: str, schema: Mapping[str, Any]) -> str:
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{name.replace('/', ':')}",
    }
    return json.dumps({**head, **schema, "title": name}, indent=2, ensure_ascii=False) + "\n"
