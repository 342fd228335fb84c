"""`python -m reports.schema`: write the schema file anew."""

from __future__ import annotations

import sys

from reports.schema import SCHEMA_FILE, schema_text


def main() -> None:
    """Write the schema beside this module."""
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
    sys.stdout.write(f"wrote {SCHEMA_FILE.name}\n")


main()
