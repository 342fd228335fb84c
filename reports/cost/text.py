"""Tell a comparison in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from onceproof.reports.cost.model import ComparisonPart
from onceproof.reports.cost.words import described, proof, value


def lines(found: ComparisonPart) -> Iterator[str]:
    """Yield the headline, the proofs of the instrument, and every figure."""
    yield found.headline
    base = next(found.pairs())[0]
    for each in found.proofs:
        known, measured, verdict = proof(each, base)
        yield f"  proof: {known}, measured as {measured}: {verdict}"
    for base, other, figures in found.pairs():
        yield f"  {other} instead of {base}"
        for figure in figures:
            yield f"    {described(figure):55} {value(figure)}"
