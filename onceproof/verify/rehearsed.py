"""What a rehearsal came to, in words: whether the trial itself can begin.

The one thing to know: without faults nothing is put to the test, so a rehearsal that went well says
nothing of the claim; it says that what comes out can be told by what went in.
"""

from __future__ import annotations

from typing import TextIO

from checkers.model import Verdict
from onceproof.outcome import Outcome
from reports.console import print_result
from reports.text import plural

_WELL = frozenset({Verdict.HOLDS, Verdict.UNEXERCISED})


def rehearsed(outcome: Outcome, out: TextIO) -> int:
    """Say it; returns the exit code: 0 if the trial can begin."""
    judged = outcome.judgement.claims
    if judged and all(claim.verdict in _WELL for claim in judged):
        sent, seen = (outcome.report.counts.get(name, 0) for name in ("sends", "effects"))
        out.write(
            "The rehearsal went well: every record that was sent has its effects, found by its "
            f"identity.\n{plural(sent, 'record was', 'records were')} sent, and "
            f"{plural(seen, 'effect')} found. "
            "Nothing was put to the test; leave out --dry-run for that.\n"
        )
        return 0
    print_result(outcome.report, out, outcome.folder)
    out.write(
        "\nThe rehearsal failed without any fault. Where it says that identities are unknown or "
        "missing, see --identity; where\neffects are missing or too many, see --effects and "
        "--dead-letters; where values differ, see --upserts;\nand what the pipeline itself said is "
        f"in {outcome.folder}/logs.\n"
    )
    return outcome.exit_code or 1
