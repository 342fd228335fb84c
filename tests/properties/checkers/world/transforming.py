"""Effects that the transformation yields for each record and sink: the rows of `expected`.

They are drawn once per record and sink, so that a record yields the same each time; only optional
effects may vary.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.properties.checkers.world.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Yield:
    """One effect of a record in a sink."""

    effect_key: str
    digest: str
    optional: bool = False


Yields = dict[str, list[Yield]]
"""Record → its effects in one sink."""


def transformation(stage: Stage, sink: str, *, distinct: bool = False) -> Yields:
    """The effects of each record in a sink, recorded in `expected` unless unstated.

    Args:
        stage: the world.
        sink: the sink.
        distinct: a record yields no two equal effects, as required for upserts.
    """
    kind = stage.shape.yields
    yields = {record: _yields(stage, sink, kind, record) for record in stage.records}
    if distinct:
        yields = {record: list(dict.fromkeys(rows)) for record, rows in yields.items()}
    if kind != "unstated":
        for record, rows in [*yields.items(), ("never sent", [Yield(effect_key="", digest="x")])]:
            for y in rows:
                optional = y.optional or stage.pick((False, None))
                stage.add("expected", sink=sink, record=record, effect_key=y.effect_key,
                          digest=y.digest, optional=optional)  # fmt: skip
    return yields


def _yields(stage: Stage, sink: str, kind: str, record: str) -> list[Yield]:
    digest = f"{sink}-{record}"
    if kind in ("one", "unstated"):
        return [Yield(effect_key="", digest=digest)]
    if kind == "filter":
        outcome = stage.pick(("through", "away", "optional"))
        optional = outcome == "optional"
        return [] if outcome == "away" else [Yield(effect_key="", digest=digest, optional=optional)]
    keys = stage.pick(("", "a", "ab", "aa", "aab", "a?", "a2", "a2a2"))
    return [
        Yield(effect_key="a" if key in "2?" else key, digest=f"{digest}-{key}", optional=key == "?")
        for key in keys
    ]
