"""Generate settings page and schema in FOLDER: `python -m onceproof.settings.page FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from onceproof.commands_page import all_commands
from onceproof.settings.kinds import Parameter, expected, help_of
from onceproof.settings.known import SHARED, Known, known, variable
from onceproof.settings.schema import schema

PAGE: Final = "settings.md"
SCHEMA: Final = "settings.schema.json"
_HEAD: Final = """\
<!-- Made by `make reference`; do not edit. -->

# Settings

Settings are defaults of options. They are in `onceproof.toml`, or under `[tool.onceproof]` in
`pyproject.toml`. A setting has the name of its option. The command line overrides the environment,
which overrides the file, which overrides the built-in defaults. A repeatable option is a list; on
the command line, it replaces the whole list.

```toml
#:schema docs/reference/settings.schema.json
out = "runs"            # for all commands that have the option

[verify]                # for one command, here `onceproof verify`
command = ["python", "job.py", "{bootstrap}", "{input}", "enriched"]
output = ["enriched"]
preset = "brutal"

[check]
memory = "2GB"
```

onceproof searches for the file in the current folder and its parents, up to the root of the
repository or the home folder; `onceproof.toml` takes precedence over `pyproject.toml`. A file in a
parent folder that belongs to another user is rejected, because its command would be run.
`onceproof --config FILE`, or `ONCEPROOF_CONFIG`, selects another file; `--config none` ignores file
and environment. Relative paths in a file are relative to its folder, and a pipeline whose `command`
is in a file is started there. An unknown key or an invalid value is an error.

`onceproof config show` prints each setting with its value and source. The JSON Schema is
[settings.schema.json](settings.schema.json), also printed by `onceproof config schema`.

## For all commands

| setting | environment | meaning |
| --- | --- | --- |
"""


def page(settings: Known) -> str:
    lines = [_HEAD]
    lines += [f"| `{k}` | `{variable(k)}` | {says} |\n" for k, says in SHARED.items()]
    for command, options in settings.items():
        lines.append(f"\n## [{command}]\n\nFor `onceproof {command}`.\n\n")
        lines.append("| setting | value | default | environment | meaning |\n")
        lines.append("| --- | --- | --- | --- | --- |\n")
        lines += [_row(command, key, option) for key, option in options.items()]
    return "".join(lines)


def _row(command: str, key: str, option: Parameter) -> str:
    built_in = "" if option.default is None else f"`{_plain(option.default)}`"
    says = " ".join(help_of(option).split()).replace("|", "\\|")
    cells = (f"`{key}`", expected(option), built_in, f"`{variable(command, key)}`", says)
    return f"| {' | '.join(cells)} |\n"


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def write(folder: Path) -> None:
    settings = all_settings()
    (folder / PAGE).write_text(page(settings), encoding="utf-8")
    (folder / SCHEMA).write_text(schema_text(settings), encoding="utf-8")


def schema_text(settings: Known) -> str:
    return json.dumps(schema(settings), indent=2, ensure_ascii=False) + "\n"


def all_settings() -> Known:
    return known(all_commands())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
