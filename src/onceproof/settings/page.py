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

Defaults of options, so that they need not be typed again: in `onceproof.toml`, or under
`[tool.onceproof]` in `pyproject.toml`. A setting is called as its option is. What a command is told
wins in this order: on the command line, in the environment, in the file, built in. An option that
can be given several times is a list; given on the command line, it replaces the whole list.

```toml
#:schema docs/reference/settings.schema.json
out = "runs"            # all commands that have the option

[verify]                # one command, here `onceproof verify`
command = ["python", "job.py", "{bootstrap}", "{input}", "enriched"]
output = ["enriched"]
preset = "brutal"

[check]
memory = "2GB"
```

The file is looked for in the current folder and upwards, up to the root of the repository or the
home folder; `onceproof.toml` goes before `pyproject.toml`. One in a folder above that belongs to
another user is refused, because the command in it would be run. `onceproof --config FILE`, or
`ONCEPROOF_CONFIG`, names another; `--config none` does without file and environment. A relative
path in a file is meant from the file's folder, and a pipeline whose `command` is in a file is
started there. A key that is not known, or a value that its option would not take, is an error.

`onceproof config show` says what each setting is, and where that comes from. The schema is
[settings.schema.json](settings.schema.json), also from `onceproof config schema`.

## For all commands

| setting | environment | meaning |
| --- | --- | --- |
"""


def page(settings: Known) -> str:
    lines = [_HEAD]
    lines += [f"| `{k}` | `{variable(k)}` | {says} |\n" for k, says in SHARED.items()]
    for command, those in settings.items():
        lines.append(f"\n## [{command}]\n\nOf `onceproof {command}`.\n\n")
        lines.append("| setting | is | built in | environment | meaning |\n")
        lines.append("| --- | --- | --- | --- | --- |\n")
        lines += [_row(command, key, option) for key, option in those.items()]
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
