"""What a rehearsal came to, in words: whether the trial itself can begin.

The one thing to know: without faults nothing is put to the test, so a rehearsal that went well says
nothing of the claim; it says that what comes out can be told by what went in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TextIO

from checkers.model import ClaimJudgement, Verdict
from onceproof.outcome import Outcome
from reports.console import print_result
from reports.text import plural

_AT_MOST: Final = "at-most-once"
_WELL = frozenset({Verdict.HOLDS, Verdict.UNEXERCISED})


def rehearsed(outcome: Outcome, out: TextIO) -> int:
    """Say it; returns the exit code: 0 if the trial can begin."""
    judged = outcome.judgement.claims
    if judged and all(claim.verdict in _WELL for claim in judged):
        sent, seen = (outcome.report.counts.get(name, 0) for name in ("sends", "effects"))
        out.write(
            f"The rehearsal went well: {_found(judged)}, found by its identity.\n"
            f"{plural(sent, 'record was', 'records were')} sent, and "
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


def _found(judged: Sequence[ClaimJudgement]) -> str:
    """What was seen: of who claims no more than at-most-once, losses were not looked for."""
    if all(claim.claim.guarantee == _AT_MOST for claim in judged):
        return "no record that was sent has more effects than it may"
    return "every record that was sent has its effects"
