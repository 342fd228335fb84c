"""Parse options that can be given once for each input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.user_pipeline.named_values import values_by_name
from onceproof.verify.options import PAYMENTS, InputOptions


def inputs_of(topics: Sequence[str], given: Mapping[str, Sequence[str]]) -> list[InputOptions]:
    """Return the options of each topic, in order.

    Args:
        given: field of `InputOptions` → its values: `TOPIC=VALUE`, or a value for all.

    Raises:
        typer.BadParameter: an option is given twice for a topic.
    """
    try:
        return list(_each(topics, given))
    except BadRule as error:
        raise typer.BadParameter(str(error)) from error


def options_of(one: InputOptions) -> dict[str, Any]:
    return {each.name: getattr(one, each.name) for each in fields(one)}


def _each(topics: Sequence[str], given: Mapping[str, Sequence[str]]) -> Iterator[InputOptions]:
    names = list(dict.fromkeys(topics))
    found = {
        name: values_by_name(f"--{name.replace('_', '-')}", texts, names, thing="inputs")
        for name, texts in given.items()
    }
    for n, topic in enumerate(topics):
        values: dict[str, Any] = {name: of[topic] for name, of in found.items() if topic in of}
        if "data" in values:
            values["data"] = Path(values["data"])
        yield InputOptions(topic=topic, **{**({"identity": PAYMENTS} if n else {}), **values})
