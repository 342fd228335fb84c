"""`onceproof config`: show the settings in effect, and the schema of a settings file."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from onceproof.reports.terminal import console
from onceproof.reports.text import line
from onceproof.settings.bad import hint
from onceproof.settings.effective import BUILT_IN, Effective, Value
from onceproof.settings.known import Known
from onceproof.settings.schema import schema

USAGE = 2


def show(settings: Effective, commands: Sequence[str], *, as_json: bool) -> int:
    for name in commands:
        if name not in settings.values:
            print(
                f"onceproof: there is no command «{name}» with settings. "
                f"{hint(name, settings.values)}",
                file=sys.stderr,
            )
            return USAGE
    shown = {c: v for c, v in settings.values.items() if not commands or c in commands}
    if as_json:
        print(json.dumps(_data(settings, shown), indent=2, ensure_ascii=False))
        return 0
    file = settings.file or "none (onceproof.toml, or [tool.onceproof] in pyproject.toml)"
    print(f"file     {file}\n")
    console(sys.stdout).print(_table(shown))
    return 0


def print_schema(known: Known) -> int:
    print(json.dumps(schema(known), indent=2, ensure_ascii=False))
    return 0


def _table(shown: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in ("setting", "value", "from"):
        table.add_column(column, overflow="fold")
    for command, values in shown.items():
        for key, found in values.items():
            style = "" if found.origin == BUILT_IN else "bold"
            cells = (f"{command}.{key}", _words(found), found.origin)
            table.add_row(*(Text(line(cell), style=style) for cell in cells))
    return table


def _words(found: Value) -> str:
    if found.value is None:
        return "–"
    return found.value if isinstance(found.value, str) else json.dumps(found.value, default=str)


def _data(settings: Effective, shown: dict[str, Any]) -> dict[str, Any]:
    return {
        "file": None if settings.file is None else str(settings.file),
        "settings": {
            command: {
                key: {"value": _plain(found.value), "from": found.origin}
                for key, found in values.items()
            }
            for command, values in shown.items()
        },
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | list | None) else str(value)
