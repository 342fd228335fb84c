"""Print the outcome of a dry run: whether the trial can begin, and what it will test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TextIO

from onceproof.checkers.model import ClaimJudgement, Verdict
from onceproof.outcome import Outcome
from onceproof.reports.bare import failed_phase
from onceproof.reports.console import print_result
from onceproof.reports.text import plural
from onceproof.verify.fine_print import by_reason
from onceproof.verify.plan import ALL, Plan

_OF_THE_STAGE: Final = frozenset({"arrange", "heal"})
"""Phases of a dry run that need nothing of the pipeline."""
_AT_MOST: Final = "at-most-once"
_SUCCESS = frozenset({Verdict.HOLDS, Verdict.UNEXERCISED})


def succeeded(outcome: Outcome) -> bool:
    """Whether every input was found in the outputs."""
    judged = outcome.judgement.claims
    return bool(judged) and all(claim.verdict in _SUCCESS for claim in judged)


def print_success(outcome: Outcome, out: TextIO) -> None:
    count = outcome.report.counts.get
    result = f"{_found(outcome.judgement.claims)}, matched by identity"
    found = plural(count("effects", 0), "effect")
    if count("state") and not count("effects"):
        result = "the final state matches the records that were sent"
        found = plural(count("state", 0), "key")
    sent = plural(count("sends", 0), "record was", "records were")
    out.write(f"The dry run succeeded: {result}.\n{sent} sent, and {found} found.\n")


def print_failure(outcome: Outcome, out: TextIO) -> int:
    """Print why the trial cannot begin, and return the exit code."""
    print_result(outcome.report, out, outcome.folder)
    phase = failed_phase(outcome.report)
    if phase is not None and phase.phase in _OF_THE_STAGE:
        out.write(
            "\nThe stage failed, not your pipeline. If it timed out, the machine may be "
            "overloaded: try again.\n`onceproof doctor` checks the requirements of a run. Logs are "
            f"in {outcome.folder}/logs.\n"
        )
        return outcome.exit_code or 1
    out.write(
        "\nThe dry run failed, although no fault was injected. These options may be wrong:\n"
        "  unknown or missing identities             --identity\n"
        "  too few or too many effects               --effects, --dead-letters\n"
        "  different values of a key                 --upserts\n"
        "  outputs that appear after later inputs    --event-time\n"
        f"The pipeline's own output is in {outcome.folder}/logs.\n"
    )
    return outcome.exit_code or 1


def print_plan(profile: str, plan: Plan, out: TextIO, *, faults_named: bool = False) -> None:
    """Print the profile, the hazards that the trial tests, and why it does not test others."""
    accepted = {hazard.name for hazard in plan.accepted}
    heading = f"{len(plan.schedule)} faults for these hazards:"
    if faults_named:
        heading = "Only the faults that you named are injected. The pipeline has these hazards:"
        if plan.hazards:
            heading = (
                "Only the faults that you named are injected, but a claim is unexercised unless "
                f"all of\nthese hazards occur. --accept-untested HAZARD, or {ALL}, accepts missing "
                "ones:"
            )
    out.write(f"\nProfile: {profile}\n\n{heading}\n")
    for hazard in (*plan.hazards, *plan.accepted):
        may = " (may stay untested)" if hazard.name in accepted else ""
        out.write(f"  {hazard.name:26} {hazard.says}{may}\n")
    out.write("Hazards that this trial does not test:\n")
    out.writelines(f"  {', '.join(names)}: {why}\n" for why, names in by_reason(plan.absent))


def _found(judged: Sequence[ClaimJudgement]) -> str:
    """Say what was found; claims of at-most-once do not look for losses."""
    if all(claim.claim.guarantee == _AT_MOST for claim in judged):
        return "no record has more effects than expected"
    return "every record has its effects"
