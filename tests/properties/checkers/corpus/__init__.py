"""Hand-written histories of a few rows, each separating two possible meanings of a query.

Every module here covers one topic and has a constant `SAMPLES`. A test requires that the oracle
and the engine find exactly the anomalies that a sample names.
"""

from __future__ import annotations

from functools import cache

from onceproof.checkers.scan import members
from tests.properties.checkers.corpus.base import Sample

__all__ = ["Sample", "samples"]


@cache
def samples() -> tuple[Sample, ...]:
    """All samples, by module and in their order there."""
    return tuple(s for module_samples in members(__name__, "SAMPLES") for s in module_samples)
