"""`python -m onceproof.reports.schema`: write the schema files anew."""

from __future__ import annotations

import sys

from onceproof.reports.schema import schemas


def main() -> None:
    """Write each schema beside this module."""
    for file, text in schemas().items():
        file.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {file.name}\n")


main()
