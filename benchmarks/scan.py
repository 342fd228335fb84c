"""Read once what a claim needs: `python -m benchmarks.scan FOLDER`.

This is the floor under every judgement: open the same files, decode the same
columns, do next to nothing with them. Each value is touched (its length or its sum), because a mere
count is answered from the files' footers.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

import duckdb

COLUMNS: Final = {
    "sends": (
        "attempt", "record", "key", "digest", "txn", "topic", "partition", "offset", "outcome",
    ),
    "log": (
        "topic", "partition", "offset", "kind", "record", "attempt", "key", "digest", "committed",
    ),
    "effects": (
        "sink", "view", "record", "effect_key", "digest", "source_topic", "source_partition",
        "source_offset", "owner",
    ),
    "expected": ("sink", "record", "effect_key", "digest"),
    "positions": ("owner", "role", "kind", "by", "sink", "topic", "partition", "offset", "ordinal"),
    "ranges": ("owner", "batch", "topic", "partition", "start_offset", "end_offset"),
}  # fmt: skip
"""What an exactly-once claim must look at in every row."""
_NUMBERS: Final = frozenset(
    {"partition", "offset", "source_partition", "source_offset", "ordinal", "batch"}
    | {"start_offset", "end_offset", "committed"}
)


def scan(folder: Path) -> int:
    """Read the columns; returns a number that depends on every value."""
    total = 0
    with duckdb.connect() as database:
        for table, columns in COLUMNS.items():
            touched = ", ".join(
                f'sum("{c}")' if c in _NUMBERS else f'sum(strlen("{c}"))' for c in columns
            )
            path = str(folder / f"{table}.parquet")
            row = database.execute(f"SELECT {touched} FROM read_parquet(?)", [path]).fetchone()
            total += sum(int(value or 0) for value in row or ())
    return total


def main() -> None:
    """Read the folder that the command line names."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("folder", type=Path)
    print(scan(options.parse_args().folder))


if __name__ == "__main__":
    main()
