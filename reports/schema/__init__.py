"""The published JSON Schema of `report.json`, made from the model.

The one thing to know: `python -m reports.schema` writes it; a test demands that it is current.
"""

from __future__ import annotations

import json
from pathlib import Path

from reports.model import FORMAT, Report

SCHEMA_FILE = Path(__file__).with_name("report-2.schema.json")


def schema_text() -> str:
    """The schema as the file must hold it."""
    schema = Report.model_json_schema(mode="serialization")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{FORMAT.replace('/', ':')}",
    }
    return json.dumps({**head, **schema, "title": FORMAT}, indent=2, ensure_ascii=False) + "\n"
