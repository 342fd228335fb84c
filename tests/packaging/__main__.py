"""Build the distributions into `dist/`, and check them: `python -m tests.packaging [--release]`.

They are built twice, and must be identical. Nothing is uploaded.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from tests.packaging.building import ROOT, build, git
from tests.packaging.looking import not_released, wrong


def main() -> int:
    """Return 0 if nothing is wrong, else 1 after a line for each problem."""
    options = argparse.ArgumentParser(prog="make dist", description=__doc__.partition("\n")[0])
    options.add_argument(
        "--release", action="store_true", help="also see that it is a version, and all committed"
    )
    release = options.parse_args().release
    out = ROOT / "dist"
    shutil.rmtree(out, ignore_errors=True)
    built = build(out)
    found = list(wrong(built))
    with tempfile.TemporaryDirectory() as folder:
        again = build(Path(folder))
        for one, other in ((built.sdist, again.sdist), (built.wheel, again.wheel)):
            if one.read_bytes() != other.read_bytes():
                found.append(f"{one.name} came out otherwise when it was built again")
    missing = list(not_released((ROOT / "CHANGELOG.md").read_text()))
    if dirty := git("status", "--porcelain"):
        missing.append(f"not committed yet: {', '.join(line[3:] for line in dirty.splitlines())}")
    for path in (built.sdist, built.wheel):
        total = hashlib.sha256(path.read_bytes()).hexdigest()
        print(f"dist/{path.name}  {path.stat().st_size:,} bytes  sha256 {total}")
    for sentence in (*found, *(missing if release else ())):
        print(f"onceproof: {sentence}", file=sys.stderr)
    if missing and not release:
        print("This is no release yet:", "; ".join(missing))
    return 1 if found or (release and missing) else 0


if __name__ == "__main__":
    sys.exit(main())
