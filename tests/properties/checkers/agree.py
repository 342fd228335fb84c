"""Do all judges agree? Thousands of worlds, correct and mutated, judged by the oracle and engines.

    python -m tests.properties.checkers.agree --histories 6000 --spark 1000 --seed 1

Judges must agree on every finding and on every row of its witness, and
nobody may find anything in a world where all went right, but what is legal and only reported.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from onceproof.checkers import anomalies
from onceproof.checkers.engines.settings import Settings
from tests.properties.checkers.cases import Case
from tests.properties.checkers.judges import Found, ask_engine, ask_oracle, disagreements
from tests.properties.checkers.strategies import LEGAL

ENOUGH: Final = 50
"""Histories that each anomaly must be found in."""
TRIES: Final = 500
"""How many cases may be drawn for each that has the anomaly that it was aimed at."""
BATCH: Final = 400
SPARK_BATCH: Final = 250
"""As many go into one job of Spark's: some of its joins grow with the square of the histories."""
DUCKDB: Final = {
    "duckdb": Settings(),
    "duckdb, no screen": Settings(screen=False),
}
SPARK: Final = {"spark": Settings(engine="spark", master="local[2]", memory=4 * 10**9)}


@dataclass(kw_only=True)
class Account:
    """What came out so far."""

    histories: int = 0
    mutated: int = 0
    judged: Counter[str] = field(default_factory=Counter)
    """Judge → histories."""
    anomalies: Counter[str] = field(default_factory=Counter)
    """Anomaly → histories in which the oracle finds it."""
    mutations: Counter[str] = field(default_factory=Counter)
    places: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)
    false_alarms: list[str] = field(default_factory=list)

    @property
    def rare(self) -> list[str]:
        """Anomalies that were not found often enough yet."""
        return [name for name in anomalies() if self.anomalies[name] < ENOUGH]

    @property
    def good(self) -> bool:
        """Nothing to complain of."""
        return not (self.disagreements or self.false_alarms or self.rare)


def judge(cases: Sequence[Case], judges: dict[str, Settings], account: Account) -> None:
    """Let all judges judge these cases, and write down what came out."""
    worlds = [case.world for case in cases]
    found: dict[str, list[Found]] = {"oracle": [ask_oracle(world) for world in worlds]}
    for name, settings in judges.items():
        found[name] = ask_engine(worlds, settings)
    for number, case in enumerate(cases):
        mine = {name: all_found[number] for name, all_found in found.items()}
        _note(case, mine, account)


def _note(case: Case, found: dict[str, Found], account: Account) -> None:
    account.histories += 1
    account.mutated += bool(case.mutations)
    account.mutations.update(case.mutations.keys())
    account.places.update(case.mutations.values())
    account.judged.update(found.keys())
    account.anomalies.update({name for f in found["oracle"].values() for name in f})
    for words in disagreements(list(found), found):
        account.disagreements.append(f"{case}\n  {words}")
    if not case.mutations:
        for name, by_stretch in found.items():
            for stretch, findings in by_stretch.items():
                for anomaly in findings.keys() - LEGAL:
                    account.false_alarms.append(
                        f"{case}\n  {name} finds {anomaly} on {stretch}: {findings[anomaly]}"
                    )


def _cases(seeds: Iterable[int]) -> Iterator[Case]:
    for seed in seeds:
        yield Case.of(seed)


def _aimed(first: int, toward: Sequence[str]) -> Iterator[Case]:
    """As many cases as it takes to see these anomalies, with as many that were aimed and missed.

    A mutation may land where it does no harm, which a judge must see as well; but most of what is
    aimed at a rare anomaly misses, and would keep the judges busy for nothing.
    """
    for name in toward:
        seeds = iter(range(first, first + TRIES * ENOUGH))
        for _ in range(ENOUGH):
            missed: Case | None = None
            for seed in seeds:
                case = Case.of(seed, name)
                if any(name in found for found in ask_oracle(case.world).values()):
                    yield from (c for c in (missed, case) if c)
                    break
                missed = case


def run(histories: int, spark: int, seed: int, account: Account) -> None:
    """Judge so many histories, and then some that are aimed at what was not found often enough."""
    begin, end = seed * 1_000_000, seed * 1_000_000 + histories
    for first in range(begin, end, BATCH):
        judge(list(_cases(range(first, min(first + BATCH, end)))), DUCKDB, account)
        _progress(account)
    rare = list(_aimed(end, account.rare))
    for start in range(0, len(rare), BATCH):
        judge(rare[start : start + BATCH], DUCKDB, account)
        _progress(account)
    if spark:
        shadow = Account()
        for first in range(begin, begin + spark, SPARK_BATCH):
            judge(
                list(_cases(range(first, min(first + SPARK_BATCH, begin + spark)))), SPARK, shadow
            )
        account.judged["spark"] += shadow.judged["spark"]
        account.disagreements += shadow.disagreements
        account.false_alarms += shadow.false_alarms


def _progress(account: Account) -> None:
    print(
        f"\r{account.histories} histories, {len(account.disagreements)} disagreements, "
        f"{len(account.rare)} anomalies still rare ",
        end="",
        file=sys.stderr,
        flush=True,
    )


def tell(account: Account, seconds: float) -> None:
    """Print what came out."""
    print(f"\n{account.histories} histories, {account.mutated} of them mutated, {seconds:.0f} s")
    for name, number in account.judged.items():
        print(f"  {number:6} judged by {name}")
    print("anomalies, in how many histories:")
    for name in anomalies():
        print(f"  {account.anomalies[name]:6} {name}")
    print("mutations, at which kind of place:")
    for place, number in account.places.most_common():
        print(f"  {number:6} {place}")
    for words in account.disagreements[:20]:
        print(f"\nDISAGREEMENT on case {words}")
    for words in account.false_alarms[:20]:
        print(f"\nFALSE ALARM on case {words}")
    if account.disagreements or account.false_alarms:
        print("\nto repeat one: --only CASE, as it is called above, e.g. --only 1000017:lost-write")
    print(
        f"\n{len(account.disagreements)} disagreements, {len(account.false_alarms)} findings on "
        f"correct histories, {len(account.rare)} anomalies found fewer than {ENOUGH} times"
        + (f": {', '.join(account.rare)}" if account.rare else "")
    )


def _only(name: str, spark: bool) -> Account:
    case = Case.named(name)
    print(case)
    for table, rows in case.world.rows.items():
        for row in rows:
            print(f"  {table}: { ({k: v for k, v in row.items() if v is not None}) }")
    account = Account()
    judge([case], DUCKDB | (SPARK if spark else {}), account)
    print("\nthe oracle finds:")
    for stretch, findings in ask_oracle(case.world).items():
        for anomaly, keys in findings.items():
            print(f"  {anomaly} on {stretch}: {keys}")
    for words in (*account.disagreements, *account.false_alarms):
        print(f"\nDISAGREEMENT or FALSE ALARM on case {words}")
    return account


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 0 if all agree and everything was seen often enough."""
    parser = argparse.ArgumentParser(prog="make agree", description=__doc__)
    parser.add_argument("--histories", type=int, default=6_000, help="how many at least")
    parser.add_argument("--spark", type=int, default=1_000, help="how many of them on Spark")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other histories")
    parser.add_argument("--only", metavar="CASE", help="judge one case, and show its history")
    given = parser.parse_args(arguments)
    began = time.monotonic()
    if given.only:
        account = _only(given.only, given.spark > 0 and "--spark" in (arguments or sys.argv))
        return 1 if account.disagreements or account.false_alarms else 0
    account = Account()
    try:
        run(given.histories, given.spark, given.seed, account)
    finally:  # what came out is worth telling also where an engine failed
        tell(account, time.monotonic() - began)
    return 0 if account.good else 1


if __name__ == "__main__":
    sys.exit(main())
