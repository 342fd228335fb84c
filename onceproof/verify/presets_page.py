"""The reference page of the presets, made from them: `python -m onceproof.verify.presets_page`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from harness.scenario import At
from onceproof.verify.presets import PRESETS, preset

_HEAD: Final = """\
<!-- Made by `make reference`; do not edit. -->

# Presets of `onceproof verify`

What `--preset` does to a pipeline, one fault after the other: the first when a twentieth of the
records is acknowledged, each other when the one before it is over. What a stage cannot do is left
out, and said. `--fault` takes the place of a preset by faults of [the whole list](faults.md).

A Spark job is one whose command has `{checkpoint}`, by which its commits can be seen; of any other
program they are seen by the messages that it sends to Kafka. Where an output is a queue, what
stands under that heading comes to it at the end.
"""
_KINDS: Final = (("any program", False), ("a Spark job", True))
_COLUMNS: Final = "| fault | what is done | until |\n| --- | --- | --- |\n"


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for name in PRESETS:
        parts.append(f"\n## {name}\n")
        for kind, spark in _KINDS:
            parts += [f"\nFor {kind}:\n\n{_COLUMNS}", *_rows(preset(name, spark=spark))]
        alone = preset(name, spark=False)
        if added := preset(name, spark=False, queues=True)[len(alone) :]:
            parts += [f"\nWhere an output is a queue:\n\n{_COLUMNS}", *_rows(added)]
    return "".join(parts)


def _rows(lines: Sequence[At]) -> list[str]:
    return [f"| {at.name} | {at.do.describe()} | {at.until.describe()} |\n" for at in lines]


if __name__ == "__main__":
    sys.stdout.write(page())
