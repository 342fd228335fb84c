"""Compare pipelines that are fed alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from onceproof.harness.cost.ways import (
    USUAL,
    Comparison,
    Fed,
    Setup,
    Start,
    Way,
    again,
)


def pipelines(
    title: str,
    setup: Setup,
    starts: Mapping[str, Start],
    *,
    fed: Fed,
    answers: bool = True,
    interval: float = 0.0,
    longer: int = 1,
    beside: Callable[[str], tuple[str, ...]] = lambda _: (),
) -> Comparison:
    """Return a comparison of pipelines.

    Args:
        title: name of the comparison.
        starts: names of the ways and what starts each: the base, the base again, what the base is
            compared with, and others that this is also compared with.
        answers: whether their programs say that they are ready.
        interval: seconds between two commits; 0 if they do not go by time.
        longer: how many times as long as others a measurement is.
        beside: more topics that a way needs, by its key.
    """
    base, same, main, *others = starts
    phases = {same: again(setup)}
    ways = tuple(
        Way(
            comparison=title,
            name=name,
            start=start,
            phases=tuple(replace(phase, longer=longer) for phase in phases.get(name, USUAL)),
            fed=fed,
            answers=answers,
            interval=interval,
            beside=beside(f"{title}-{name}"),
        )
        for name, start in starts.items()
    )
    return Comparison(
        name=title,
        setup=setup,
        ways=ways,
        pairs=tuple((each, main) for each in (base, *others)),
        again=same,
    )
