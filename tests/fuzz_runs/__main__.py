"""`python -m tests.fuzz_runs [--variants 2000] [--seed 7]`: check variants, count outcomes."""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz_runs.outcome import NOT_ALLOWED, SECONDS
from tests.fuzz_runs.variants import draw_variants, make_bases, try_variant


def main() -> int:
    """Return 1 if an outcome is not allowed."""
    parser = argparse.ArgumentParser(prog="fuzz-runs", description=__doc__)
    parser.add_argument("--variants", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-runs-") as scratch,
        contextlib.suppress(KeyboardInterrupt),  # the counts until then are printed
    ):
        bases = make_bases(Path(scratch) / "bases")
        for variant in draw_variants(bases, arguments.variants, arguments.seed):
            # Printed first, so that a crash or hang of a library shows the variant.
            print(f"\r{variant}\x1b[K", end="", file=sys.stderr, flush=True)
            faulthandler.dump_traceback_later(3 * SECONDS, exit=True)
            outcome = try_variant(variant, bases, Path(scratch) / "variant", arguments.seed)
            faulthandler.cancel_dump_traceback_later()
            counts[outcome.word] += 1
            if not outcome.allowed:
                print(f"\n{outcome.word}: {variant}\n{outcome.message}", flush=True)
    print(file=sys.stderr)
    print(f"{counts.total()} variants in {time.monotonic() - began:.0f} s, seed {arguments.seed}")
    for word in [*sorted(counts.keys() - NOT_ALLOWED), *sorted(NOT_ALLOWED)]:
        print(f"  {counts[word]:5} {word}")
    return 1 if any(counts[word] for word in NOT_ALLOWED) else 0


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())
