"""The fates of all mutants, and the report of them.

A survivor is excused if it is listed, or if it only compares more records in full than necessary:
that costs time and changes no answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.mutants.equivalents import Equivalent, is_listed, stale_patterns
from tests.mutants.kill import Fate
from tests.mutants.operators import Mutant


@dataclass(kw_only=True)
class Account:
    """Mutants by their fate."""

    entries: Sequence[Equivalent]
    invalid: list[tuple[Mutant, Fate]] = field(default_factory=list)
    """Refused by the engine."""
    caught: list[tuple[Mutant, Fate]] = field(default_factory=list)
    more_suspects: list[tuple[Mutant, Fate]] = field(default_factory=list)
    listed: list[tuple[Mutant, Fate]] = field(default_factory=list)
    missed: list[tuple[Mutant, Fate]] = field(default_factory=list)

    def add(self, mutant: Mutant, fate: Fate) -> None:
        """Add a mutant to the group of its fate."""
        if fate.invalid:
            group = self.invalid
        elif fate.caught_by:
            group = self.caught
        elif is_listed(mutant.id, self.entries):
            group = self.listed
        elif fate.only_more_suspects:
            group = self.more_suspects
        else:
            group = self.missed
        group.append((mutant, fate))

    @property
    def stale_patterns(self) -> list[str]:
        """Listed patterns that match no survivor."""
        return stale_patterns([mutant.id for mutant, _ in self.listed], self.entries)

    def good(self, *, whole: bool) -> bool:
        """Whether all are caught or excused and, if all were tried, no pattern is stale."""
        return not self.missed and not (whole and self.stale_patterns)


def report(account: Account, seconds: float, *, every: bool, whole: bool) -> None:
    """Print the fates; the last line is the total."""
    if every:
        for mutant, fate in account.caught:
            print(f"caught by {fate.caught_by}: {mutant}")
        for mutant, fate in account.invalid:
            print(f"invalid: {mutant}: {fate.invalid}")
        for mutant, _ in account.more_suspects:
            print(f"only more suspects: {mutant}")
        for mutant, _ in account.listed:
            print(f"listed: {mutant}")
    for mutant, fate in account.missed:
        seen = f" (though these came out otherwise: {_names(fate)})" if fate.changed else ""
        print(f"NOT CAUGHT: {mutant}{seen}")
        if every:
            print(f"    {mutant.sql}")
    for pattern in account.stale_patterns if whole else ():
        print(f"LISTED, but no survivor is called so: {pattern}")
    by_query = Counter(mutant.query for mutant, _ in account.missed)
    for query, number in by_query.most_common():
        print(f"  {number:4} missed in {query}")
    caught, missed = len(account.caught), len(account.missed)
    print(
        f"\n{seconds:.0f} s; {len(account.invalid)} more that no engine takes, "
        f"{len(account.listed)} listed as equivalent, "
        f"{len(account.more_suspects)} that only compare more records in full"
    )
    print(f"{caught} of {caught + missed} caught")


def _names(fate: Fate) -> str:
    return ", ".join(sorted(fate.changed)) + (", hides suspects" if fate.hidden else "")
