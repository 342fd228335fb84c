"""What the transformation makes of a record, for each sink: the rows of `expected`.

It is drawn once per record and sink, so that the same record yields the same
each time that it is processed; only what is optional may be there one time and not the next.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.properties.checkers.world.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Yield:
    """One effect that a record has in a sink."""

    effect_key: str
    digest: str
    optional: bool = False


Yields = dict[str, list[Yield]]
"""Record → its effects in one sink."""


def transformation(stage: Stage, sink: str, *, distinct: bool = False) -> Yields:
    """What each record yields in a sink, stated in `expected` unless it is one to one and unsaid.

    Args:
        stage: the world.
        sink: the sink.
        distinct: no record yields the very same twice, as behind upserts.
    """
    kind = stage.shape.yields
    made = {record: _of(stage, sink, kind, record) for record in stage.records}
    if distinct:
        made = {record: list(dict.fromkeys(rows)) for record, rows in made.items()}
    if kind != "unstated":
        for record, rows in [*made.items(), ("never sent", [Yield(effect_key="", digest="x")])]:
            for y in rows:
                optional = y.optional or stage.pick((False, None))
                stage.add("expected", sink=sink, record=record, effect_key=y.effect_key,
                          digest=y.digest, optional=optional)  # fmt: skip
    return made


def _of(stage: Stage, sink: str, kind: str, record: str) -> list[Yield]:
    digest = f"{sink}-{record}"
    if kind in ("one", "unstated"):
        return [Yield(effect_key="", digest=digest)]
    if kind == "filter":
        fate = stage.pick(("through", "away", "optional"))
        optional = fate == "optional"
        return [] if fate == "away" else [Yield(effect_key="", digest=digest, optional=optional)]
    keys = stage.pick(("", "a", "ab", "aa", "aab", "a?", "a2", "a2a2"))
    return [
        Yield(effect_key="a" if key in "2?" else key, digest=f"{digest}-{key}", optional=key == "?")
        for key in keys
    ]
