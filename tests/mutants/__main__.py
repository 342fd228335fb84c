"""Mutate every query, and report the mutants that no history catches.

    python -m tests.mutants
    python -m tests.mutants --query lost --all

The last line is `N of M caught`, where M leaves out invalid mutants and those listed as equivalent.
It fails if N is not M.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from tests.mutants.account import Account, report
from tests.mutants.equivalents import listed
from tests.mutants.judging import all_mutants, judged


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if every mutant is caught or listed."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--query", default="", help="only queries whose name has this part")
    parser.add_argument("--processes", type=int, default=2, help="how many work at once")
    parser.add_argument("--all", action="store_true", help="tell of every mutant")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    account = Account(entries=listed())
    todo = all_mutants(options.query)
    for number, (mutant, fate) in enumerate(judged(todo, options.processes), start=1):
        account.add(mutant, fate)
        if sys.stderr.isatty() and number % 10 == 0:
            print(f"\r{number} of {len(todo)} mutants ", end="", file=sys.stderr, flush=True)
    report(account, time.monotonic() - began, every=options.all, whole=not options.query)
    return 0 if account.good(whole=not options.query) else 1


if __name__ == "__main__":
    sys.exit(main())
