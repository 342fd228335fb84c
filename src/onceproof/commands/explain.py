"""`onceproof explain`: show an anomaly with a minimal history, or list all anomalies."""

from __future__ import annotations

import difflib
import sys

from onceproof.checkers import anomalies
from onceproof.errors import USAGE, exit_on_error
from onceproof.reports.anomalies.entry import entry
from onceproof.reports.anomalies.names import harmless
from onceproof.reports.anomalies.terminal import print_entry, print_list


def explain(name: str | None) -> int:
    with exit_on_error():
        if name is None:
            print_list(sys.stdout)
            return 0
        known = {_plain(known): known for known in anomalies()}
        found = known.get(_plain(name))
        if found is None:
            print(f"onceproof: {_unknown(name, known)}", file=sys.stderr)
            return USAGE
        print_entry(entry(found), sys.stdout)
        return 0


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def _unknown(name: str, known: dict[str, str]) -> str:
    near = difflib.get_close_matches(_plain(name), known, n=3, cutoff=0.4)
    hint = (
        f"Did you mean {' or '.join(known[n] for n in near)}?"
        if near
        else "`onceproof explain` lists all."
    )
    return f"there is no anomaly «{harmless(name)[:80]}». {hint}"
