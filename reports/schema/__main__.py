"""`python -m onceproof.reports.schema`: write the schema files."""

from __future__ import annotations

import sys

from onceproof.reports.schema import schemas


def main() -> None:
    for file, text in schemas().items():
        file.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {file.name}\n")


main()
