"""Compare all judges on thousands of correct and mutated histories.

    python -m tests.properties.checkers.agree --histories 6000 --spark 1000 --seed 1

Oracle and engines must agree on every finding and every row of its witness. In a correct
history they may find only anomalies that are legal and merely reported.
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
"""Minimum number of histories in which each anomaly must be found."""
TRIES: Final = 500
"""Maximum number of cases drawn for each one that must have a certain anomaly."""
BATCH: Final = 400
SPARK_BATCH: Final = 250
"""Histories per Spark job; some joins grow quadratically with them."""
DUCKDB: Final = {
    "duckdb": Settings(),
    "duckdb, no screen": Settings(screen=False),
}
SPARK: Final = {"spark": Settings(engine="spark", master="local[2]", memory=4 * 10**9)}


@dataclass(kw_only=True)
class Account:
    """Results so far."""

    histories: int = 0
    mutated: int = 0
    judged: Counter[str] = field(default_factory=Counter)
    """Judge → number of histories."""
    anomalies: Counter[str] = field(default_factory=Counter)
    """Anomaly → number of histories in which the oracle finds it."""
    mutations: Counter[str] = field(default_factory=Counter)
    places: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)
    false_alarms: list[str] = field(default_factory=list)

    @property
    def rare(self) -> list[str]:
        """Anomalies found in too few histories so far."""
        return [name for name in anomalies() if self.anomalies[name] < ENOUGH]

    @property
    def good(self) -> bool:
        """Whether all judges agree and every anomaly was found often enough."""
        return not (self.disagreements or self.false_alarms or self.rare)


def judge(cases: Sequence[Case], judges: dict[str, Settings], account: Account) -> None:
    """Run all judges on the cases and record the results."""
    worlds = [case.world for case in cases]
    found: dict[str, list[Found]] = {"oracle": [ask_oracle(world) for world in worlds]}
    for name, settings in judges.items():
        found[name] = ask_engine(worlds, settings)
    for number, case in enumerate(cases):
        case_findings = {name: all_found[number] for name, all_found in found.items()}
        _record(case, case_findings, account)


def _record(case: Case, found: dict[str, Found], account: Account) -> None:
    account.histories += 1
    account.mutated += bool(case.mutations)
    account.mutations.update(case.mutations.keys())
    account.places.update(case.mutations.values())
    account.judged.update(found.keys())
    account.anomalies.update({name for f in found["oracle"].values() for name in f})
    for text in disagreements(list(found), found):
        account.disagreements.append(f"{case}\n  {text}")
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


def _targeted(first_seed: int, targets: Sequence[str]) -> Iterator[Case]:
    """Cases in which the oracle finds these anomalies, each with one near miss.

    A mutation may be harmless where it lands, and judges must handle that as well. Most attempts at
    a rare anomaly miss, so only the last miss before each hit is kept.
    """
    for name in targets:
        seeds = iter(range(first_seed, first_seed + TRIES * ENOUGH))
        for _ in range(ENOUGH):
            missed: Case | None = None
            for seed in seeds:
                case = Case.of(seed, name)
                if any(name in found for found in ask_oracle(case.world).values()):
                    yield from (c for c in (missed, case) if c)
                    break
                missed = case


def run(histories: int, spark: int, seed: int, account: Account) -> None:
    """Judge the given number of histories, then more that aim at anomalies found too rarely."""
    begin, end = seed * 1_000_000, seed * 1_000_000 + histories
    for first_seed in range(begin, end, BATCH):
        judge(list(_cases(range(first_seed, min(first_seed + BATCH, end)))), DUCKDB, account)
        _progress(account)
    rare = list(_targeted(end, account.rare))
    for start in range(0, len(rare), BATCH):
        judge(rare[start : start + BATCH], DUCKDB, account)
        _progress(account)
    if spark:
        spark_account = Account()
        for first_seed in range(begin, begin + spark, SPARK_BATCH):
            judge(
                list(_cases(range(first_seed, min(first_seed + SPARK_BATCH, begin + spark)))),
                SPARK,
                spark_account,
            )
        account.judged["spark"] += spark_account.judged["spark"]
        account.disagreements += spark_account.disagreements
        account.false_alarms += spark_account.false_alarms


def _progress(account: Account) -> None:
    print(
        f"\r{account.histories} histories, {len(account.disagreements)} disagreements, "
        f"{len(account.rare)} anomalies still rare ",
        end="",
        file=sys.stderr,
        flush=True,
    )


def print_summary(account: Account, seconds: float) -> None:
    """Print a summary of the results."""
    print(f"\n{account.histories} histories, {account.mutated} of them mutated, {seconds:.0f} s")
    for name, number in account.judged.items():
        print(f"  {number:6} judged by {name}")
    print("anomalies, in how many histories:")
    for name in anomalies():
        print(f"  {account.anomalies[name]:6} {name}")
    print("mutations, at which kind of place:")
    for place, number in account.places.most_common():
        print(f"  {number:6} {place}")
    for text in account.disagreements[:20]:
        print(f"\nDISAGREEMENT on case {text}")
    for text in account.false_alarms[:20]:
        print(f"\nFALSE ALARM on case {text}")
    if account.disagreements or account.false_alarms:
        print("\nto repeat one: --only CASE, as it is called above, e.g. --only 1000017:lost-write")
    print(
        f"\n{len(account.disagreements)} disagreements, {len(account.false_alarms)} findings on "
        f"correct histories, {len(account.rare)} anomalies found fewer than {ENOUGH} times"
        + (f": {', '.join(account.rare)}" if account.rare else "")
    )


def _judge_one(name: str, spark: bool) -> Account:
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
    for text in (*account.disagreements, *account.false_alarms):
        print(f"\nDISAGREEMENT or FALSE ALARM on case {text}")
    return account


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns 0 if all judges agree and every anomaly was found often enough."""
    parser = argparse.ArgumentParser(prog="make agree", description=__doc__)
    parser.add_argument("--histories", type=int, default=6_000, help="how many at least")
    parser.add_argument("--spark", type=int, default=1_000, help="how many of them on Spark")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other histories")
    parser.add_argument("--only", metavar="CASE", help="judge one case, and show its history")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    if options.only:
        account = _judge_one(
            options.only, options.spark > 0 and "--spark" in (arguments or sys.argv)
        )
        return 1 if account.disagreements or account.false_alarms else 0
    account = Account()
    try:
        run(options.histories, options.spark, options.seed, account)
    finally:  # print partial results if an engine fails
        print_summary(account, time.monotonic() - began)
    return 0 if account.good else 1


if __name__ == "__main__":
    sys.exit(main())
