"""Write the page that compares onceproof with Jepsen, case by case.

python -m tests.unit.checkers.imports.jepsen_cases.page
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.unit.checkers.imports.jepsen_cases import CASES, Case, Found

PAGE: Final = Path(__file__).parents[5] / "docs/reference/jepsen.md"
_HEAD: Final = """\
# Jepsen's cases

The unit tests of `jepsen.tests.kafka` (Jepsen 0.3.14-SNAPSHOT, `kafka_test.clj`) are small
histories, each with one kind of anomaly that Jepsen's checker must report, or must not. They are
written anew in `tests/unit/checkers/imports/jepsen_cases`. A test judges them and checks that this
page says what came out. Keys `:x` and `:y` are 5 and 6 there, values are numbers.

Jepsen's tests look at one kind of anomaly; the third column lists everything that we find, with the
records, offsets or transactions concerned. Most of the histories end without final polls: no claim
holds on them. How to check a history of Jepsen's is told in
[Check a history recorded elsewhere](../how-to/check-a-foreign-history.md#jepsen).

| Jepsen's test | Jepsen reports | we report | why it differs |
| --- | --- | --- | --- |
"""
_TAIL: Final = """
Not in the table:

- `empty-history`: Jepsen calls a history of nothing but `:assign` invalid; we refuse it, because
  nothing was sent that a claim could speak of.
- `op->max-offsets`, `log->last-index->values`, `log->value->first-index` and `gen-poll-unseen` test
  functions of Jepsen and its generator. There is no history in them.
"""


def page() -> str:
    return _HEAD + "".join(map(_row, CASES)) + _TAIL


def _row(case: Case) -> str:
    asserts = case.asserts or "nothing"
    return f"| {case.name} | {asserts} | {_links(case.ours)} | {case.why} |\n"


def _links(found: Found) -> str:
    """Anomalies as links, each with the names in its findings."""
    return "; ".join(
        f"[{name}](anomalies.md#{name.lower()}): {_names(found[name])}" for name in sorted(found)
    ) or "nothing"  # fmt: skip


def _names(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
