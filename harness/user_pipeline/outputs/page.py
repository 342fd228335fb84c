"""Write the reference page of outputs: `python -m onceproof.harness.user_pipeline.outputs.page`."""

from __future__ import annotations

import sys
from typing import Final

from onceproof.harness.user_pipeline.outputs.kind import OutputKind
from onceproof.harness.user_pipeline.outputs.kinds import output_kinds

_HEAD: Final = """\
<!-- Made by `make reference`; do not edit. -->

# Outputs

Values of `onceproof verify --output` and `--dead-letters`. `TOPIC` without a prefix is a topic. An
installed package can [add kinds](../how-to/add-an-output.md); the error for an unknown kind lists
them too. A view is how readers see an output; claims name it. The column `identity` lists the rules
(`--identity`) that can say where an effect carries the identity of its input.

| output | contents | views | identity | what a trial leaves untested |
| --- | --- | --- | --- | --- |
"""


def page() -> str:
    return _HEAD + "".join(map(_row, output_kinds().values()))


def _row(kind: OutputKind) -> str:
    views, rules = (", ".join(f"`{each}`" for each in some) for some in (kind.views, kind.rules))
    return f"| `{kind.usage}` | {kind.says} | {views} | {rules} | {kind.untested} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
