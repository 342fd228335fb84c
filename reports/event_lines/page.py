"""Generate the reference page and the JSON Schema of `--json-events` from the model.

`python -m onceproof.reports.event_lines.page FOLDER` writes `events.md` and `events.schema.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from onceproof.reports.event_lines.model import FORMAT, LINES

PAGE: Final = "events.md"
SCHEMA: Final = "events.schema.json"
_HEAD: Final = f"""\
<!-- Made by `make reference`; do not edit. -->

# Events

`onceproof run --json-events FILE` writes one line of JSON for each event, as it happens. So do
`replay`, `verify`, `soak` and `matrix`. With `-` as the file, events go to standard output and all
other output goes to standard error. (`--json` is a different option: it writes the judgement of
`check` as one document.)

```console
$ onceproof run --json-events - | jq -r 'select(.event == "fault") | .fault + " " + .state'
```

The format is `{FORMAT}`, as the first line states. [events.schema.json](events.schema.json) is the
schema of a line. A version may gain fields and kinds of lines, so ignore those that you do not
know. Lines of several runs may follow one another: `run` names the run of a line. Each run of a
matrix is a separate command. Its lines are not included, only its start and its result.

A slow reader, or one that disconnects, does not stop the run.
"""


def page() -> str:
    found = LINES.json_schema(mode="serialization")
    lines = [_HEAD]
    for name, kind in _kinds(found):
        says = " ".join(kind["description"].split())
        lines.append(f"\n## {name}\n\n{says}\n\n| field | type | meaning |\n| --- | --- | --- |\n")
        for field, shape in kind["properties"].items():
            meaning = " ".join(shape.get("description", "").split())
            lines.append(f"| `{field}` | {_type(shape)} | {meaning} |\n")
    return "".join(lines)


def schema_text() -> str:
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{FORMAT.replace('/', ':')}",
        "title": FORMAT,
    }
    found = LINES.json_schema(mode="serialization")
    return json.dumps({**head, **found}, indent=2, ensure_ascii=False) + "\n"


def _kinds(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return each kind of line, in the order of the model."""
    definitions = schema["$defs"]
    names = [one["$ref"].rpartition("/")[2] for one in schema["oneOf"]]
    found = [definitions[name] for name in names]
    return [(kind["properties"]["event"]["const"], kind) for kind in found]


def _type(shape: dict[str, Any]) -> str:
    if "const" in shape:
        return f"`{shape['const']}`"
    if "anyOf" in shape:
        return " or ".join(_type(one) for one in shape["anyOf"])
    if "$ref" in shape:
        return str(shape["$ref"]).rpartition("/")[2].lower()
    if shape["type"] == "array":
        inside = shape["items"]
        return "list of claims" if "$ref" in inside else f"list of {_type(inside)}"
    return str(shape["type"])


def write(folder: Path) -> None:
    (folder / PAGE).write_text(page(), encoding="utf-8")
    (folder / SCHEMA).write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
