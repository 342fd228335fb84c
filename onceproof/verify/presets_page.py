"""The reference page of the presets, made from them: `python -m onceproof.verify.presets_page`."""

from __future__ import annotations

import sys
from typing import Final

from onceproof.verify.presets import PRESETS, preset

_HEAD: Final = """\
<!-- Made by `make reference`; do not edit. -->

# Presets of `onceproof verify`

What `--preset` does to a pipeline, one fault after the other: the first when a twentieth of the
records is acknowledged, each other when the one before it is over. What a stage cannot do is left
out, and said. `--fault` takes the place of a preset by faults of [the whole list](faults.md).

A Spark job is one whose command has `{checkpoint}`, by which its commits can be seen; of any other
program they are seen by the messages that it sends to Kafka.
"""
_KINDS: Final = (("any program", False), ("a Spark job", True))


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for name in PRESETS:
        parts.append(f"\n## {name}\n")
        for kind, spark in _KINDS:
            parts.append(
                f"\nFor {kind}:\n\n| fault | what is done | until |\n| --- | --- | --- |\n"
            )
            parts += [
                f"| {at.name} | {at.do.describe()} | {at.until.describe()} |\n"
                for at in preset(name, spark=spark)
            ]
    return "".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
