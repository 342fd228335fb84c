"""Histories of a few rows, written by hand, each to tell two meanings of a query apart.

Every file here is one topic and has a constant `SAMPLES`; a test asks that
the definitions demand just the findings that a sample names, of the oracle and of the engine.
"""

from __future__ import annotations

from functools import cache

from onceproof.checkers.scan import members
from tests.properties.checkers.corpus.base import Sample

__all__ = ["Sample", "samples"]


@cache
def samples() -> tuple[Sample, ...]:
    """All samples, by file and then in their order there."""
    return tuple(s for some in members(__name__, "SAMPLES") for s in some)
