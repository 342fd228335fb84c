"""The unit-test cases of `jepsen.tests.kafka`, rewritten, with the results of both checkers."""

from __future__ import annotations

from typing import Final

from tests.unit.checkers.imports.jepsen_cases import order, writes
from tests.unit.checkers.imports.jepsen_cases.base import Case, Found

__all__ = ["CASES", "Case", "Found"]

CASES: Final = (*writes.CASES, *order.CASES)
"""Every case that has a history."""
