"""`python -m tests.fuzz_runs [--variants 2000] [--seed 7]`: try them, and count what came."""

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
from tests.fuzz_runs.variants import drawn, make_bases, tried


def main() -> int:
    """Returns 1 if something came that is not allowed."""
    parser = argparse.ArgumentParser(prog="fuzz-runs", description=__doc__)
    parser.add_argument("--variants", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    said = parser.parse_args()
    counts: Counter[str] = Counter()
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-runs-") as scratch,
        contextlib.suppress(KeyboardInterrupt),  # what came until then is told
    ):
        bases = make_bases(Path(scratch) / "bases")
        for variant in drawn(bases, said.variants, said.seed):
            # Should a library die or never return, then with the name of the variant.
            print(f"\r{variant}\x1b[K", end="", file=sys.stderr, flush=True)
            faulthandler.dump_traceback_later(3 * SECONDS, exit=True)
            came = tried(variant, bases, Path(scratch) / "variant", said.seed)
            faulthandler.cancel_dump_traceback_later()
            counts[came.word] += 1
            if not came.allowed:
                print(f"\n{came.word}: {variant}\n{came.said}", flush=True)
    print(file=sys.stderr)
    print(f"{counts.total()} variants in {time.monotonic() - began:.0f} s, seed {said.seed}")
    for word in [*sorted(counts.keys() - NOT_ALLOWED), *sorted(NOT_ALLOWED)]:
        print(f"  {counts[word]:5} {word}")
    return 1 if any(counts[word] for word in NOT_ALLOWED) else 0


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())
