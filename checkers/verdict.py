"""Pure functions that decide on one verdict per claim: the first in order that applies.

`holds` is never a default: it remains when every reason against it was checked and none applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from onceproof.checkers.circumstances import NOWHERE, Circumstances, OutOfScope
from onceproof.checkers.claims import refutes
from onceproof.checkers.controls import Control
from onceproof.checkers.model import Claim, ClaimJudgement, Evidence, Findings, Mutation, Verdict
from onceproof.checkers.refutations import refutations, shown_by

INTERRUPTED: Final = 130
NOTHING_JUDGED: Final = 5
_EXIT_CODES: Final[dict[Verdict, int]] = {
    Verdict.VIOLATED: 1,
    Verdict.INVALID: 3,
    Verdict.STALLED: 4,
    Verdict.UNKNOWN: 5,
    Verdict.UNEXERCISED: 5,
    Verdict.HOLDS: 1,  # something else was expected: a broken twin was not caught
}


def judge_claim(
    claim: Claim,
    *,
    findings: Sequence[Findings],
    circumstances: Circumstances,
    mutations: Sequence[Mutation] = (),
    controls: Sequence[Control] = (),
    missing: Sequence[Control] = (),
    cut_off: Iterable[str] = (),
    elsewhere: OutOfScope = NOWHERE,
) -> ClaimJudgement:
    """Decide on one claim.

    Args:
        cut_off: names of anomalies that need a part of the history that was cut off.
        elsewhere: work on topics and sinks outside the claim.
    """
    lacking = _incomplete(circumstances, missing)
    absence_proves = circumstances.complete and all(control.passed for control in controls)
    refuting = [f for f in findings if refutes(claim, f)]
    proven = [f for f in refuting if f.evidence is Evidence.PRESENCE or absence_proves]
    names = refutations(claim.guarantee, claim.hop)
    undecided = {name for name in cut_off if name in names}
    undecided |= {f.anomaly for f in refuting if f not in proven}
    if not circumstances.complete:
        undecided |= {
            f.anomaly for f in findings if f.evidence is Evidence.ABSENCE and f.anomaly in names
        }
    uncovered = circumstances.uncovered(claim.fine_print.covers)
    seen = circumstances.hazards_seen(claim.hop, elsewhere)
    convicting = () if uncovered or lacking else tuple(f.anomaly for f in proven)
    verdict, reason = (
        lacking
        or _violated(proven, uncovered)
        or _invalid(circumstances, mutations, controls)
        or _stalled(findings)
        or _unknown(circumstances, proven, uncovered, undecided)
        or _not_shown(claim, mutations)
        or _unexercised(claim, circumstances, seen, elsewhere)
        or (
            Verdict.HOLDS,
            "Nothing was found, everything was settled and collected, and the claim was put to "
            f"the test by {_times(seen)}.",
        )
    )
    hung = circumstances.hung
    return ClaimJudgement(
        claim=claim,
        verdict=verdict,
        reason=f"{reason} {hung}" if hung else reason,
        refuted_by=convicting,
        found={f.anomaly: f.count for f in proven if f.anomaly in convicting},
        undecided=tuple(sorted(undecided)),
        hazards_seen=seen,
        expected=_expected(claim, verdict, convicting),
    )


def exit_code(judgements: Iterable[ClaimJudgement], interrupted: bool = False) -> int:
    """Return the exit code of the command.

    0 if every claim is as expected (without an expectation: holds); 130 after an interruption; 5 if
    nothing was judged; else the code of the first unexpected claim in the order of verdicts. That
    is 1 for violated and for an unexpected holds, 3 invalid, 4 stalled, 5 unknown or unexercised.
    """
    if interrupted:
        return INTERRUPTED
    judged = tuple(judgements)
    if not judged:
        return NOTHING_JUDGED
    return code_of_unexpected(j.verdict for j in judged if not _as_expected(j))


def code_of_unexpected(verdicts: Iterable[Verdict]) -> int:
    """Return the exit code for the verdicts of unexpected claims; 0 if there are none."""
    unexpected = set(verdicts)
    for verdict in Verdict:
        if verdict in unexpected:
            return _EXIT_CODES[verdict]
    return 0


def _as_expected(judged: ClaimJudgement) -> bool:
    if judged.claim.expect is None:
        return judged.verdict is Verdict.HOLDS
    return judged.expected is True


def _expected(claim: Claim, verdict: Verdict, refuted_by: Sequence[str]) -> bool | None:
    if claim.expect is None:
        return None
    if verdict is not claim.expect.verdict:
        return False
    if verdict is not Verdict.VIOLATED:
        return True
    found, expect = frozenset(refuted_by), claim.expect
    return expect.anomalies <= found <= expect.anomalies | expect.may


_Reason = tuple[Verdict, str]


def _incomplete(circumstances: Circumstances, missing: Sequence[Control]) -> _Reason | None:
    """Report missing rows first: without them, others may only seem to be too many."""
    ended = circumstances.failure or circumstances.interruption or circumstances.stalled
    for control in missing:
        if control.even_if_interrupted or not ended:
            return _sentence(Verdict.INVALID, control.detail)
    return None


def _violated(proven: Sequence[Findings], uncovered: str | None) -> _Reason | None:
    if not proven or uncovered:
        return None
    counts = ", ".join(f"{f.anomaly} ({f.count})" for f in proven)
    first = next((f.shown[0].sentence for f in proven if f.shown), "")
    return Verdict.VIOLATED, f"Found {counts}: {first}." if first else f"Found {counts}."


def _invalid(
    circumstances: Circumstances, mutations: Sequence[Mutation], controls: Sequence[Control]
) -> _Reason | None:
    if circumstances.failure:
        return _sentence(Verdict.INVALID, circumstances.failure)
    interrupted = circumstances.interruption is not None
    for control in controls:
        if not control.passed and (
            control.even_if_interrupted
            or not (interrupted or circumstances.stalled or circumstances.held_back)
        ):
            return _sentence(Verdict.INVALID, control.detail)
    if interrupted:
        return None  # later checks may not have been reached
    if without_effect := circumstances.without_effect():
        return _sentence(Verdict.INVALID, without_effect)
    if circumstances.complete:
        for mutation in mutations:
            if mutation.placed and not mutation.found:
                return _sentence(
                    Verdict.INVALID,
                    f"the mutation self-check failed: mutation «{mutation.name}» must be found as "
                    f"{mutation.must_find}, but was not ({mutation.detail})",
                )
    return None


def _stalled(findings: Sequence[Findings]) -> _Reason | None:
    for found in findings:
        if found.evidence is Evidence.LIVENESS and found.count:
            first = found.shown[0].sentence if found.shown else found.anomaly
            return _sentence(Verdict.STALLED, first)
    return None


def _unknown(
    circumstances: Circumstances,
    proven: Sequence[Findings],
    uncovered: str | None,
    undecided: Iterable[str],
) -> _Reason | None:
    if proven and uncovered:
        counts = ", ".join(f"{f.anomaly} ({f.count})" for f in proven)
        return _sentence(
            Verdict.UNKNOWN, f"found {counts}, but outside the fine print: {uncovered}"
        )
    if circumstances.interruption:
        return _sentence(Verdict.UNKNOWN, circumstances.interruption)
    if circumstances.doubt:
        return _sentence(
            Verdict.UNKNOWN,
            "absence proves nothing, because it is unknown whether this history is complete: "
            f"{circumstances.doubt}",
        )
    if circumstances.held_back:
        return _sentence(Verdict.UNKNOWN, circumstances.held_back)
    if not circumstances.complete:
        return _sentence(
            Verdict.UNKNOWN, (
                "the run did not settle or was not collected to its end, so absence proves nothing"
            )
        )  # fmt: skip
    if names := sorted(undecided):
        return _sentence(
            Verdict.UNKNOWN,
            f"{', '.join(names)} cannot be decided: needed log entries were deleted or compacted, "
            "an amount is unknown, or inputs may have been dropped as late because their partition "
            "was read behind others",
        )
    return None


def _not_shown(claim: Claim, mutations: Sequence[Mutation]) -> _Reason | None:
    """Report unknown if nothing in this history could have refuted the claim."""
    shown = {mutation.must_find for mutation in mutations if mutation.found}
    for hop in claim.hop.parts:
        ways = shown_by(claim.guarantee, hop)
        if not any(names <= shown for names in ways):
            lacking = " or ".join(", ".join(sorted(names - shown)) for names in ways)
            return _sentence(
                Verdict.UNKNOWN,
                f"nothing was found, but this history could not show {lacking}: it has no place "
                "where such a mutation could be made and found",
            )
    for mutation in mutations:
        if not mutation.placed and mutation.must_find in refutations(claim.guarantee, claim.hop):
            return _sentence(
                Verdict.UNKNOWN,
                f"nothing was found, but this history could not show {mutation.must_find}: for "
                f"mutation «{mutation.name}» {mutation.detail}",
            )
    return None


def _unexercised(
    claim: Claim, circumstances: Circumstances, seen: dict[str, int], elsewhere: OutOfScope
) -> _Reason | None:
    if lacking := sorted(claim.hazards - seen.keys()):
        somewhere = {str(row["hazard"]) for row in circumstances.hazards}.intersection(lacking)
        but = (
            "; it was observed only on another hop or for a writer elsewhere, which does not test "
            "this claim"
            if somewhere == set(lacking)
            else ""
        )
        plural = len(lacking) > 1
        return _sentence(
            Verdict.UNEXERCISED,
            f"nothing was found, but hazard{'s' if plural else ''} {', '.join(lacking)}, which the "
            f"claim requires, {'were' if plural else 'was'} not observed on hop "
            f"{claim.hop.value}{but}",
        )
    # If no hazard is required, any will do, but on each hop.
    for hop in () if claim.hazards else claim.hop.parts:
        if not circumstances.hazards_seen(hop, elsewhere):
            return _sentence(
                Verdict.UNEXERCISED,
                f"nothing was found, but no hazard was observed on hop {hop.value}, so nothing "
                "was tested there",
            )
    return None


def _sentence(verdict: Verdict, text: str) -> _Reason:
    return verdict, f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _times(seen: dict[str, int]) -> str:
    return ", ".join(f"{kind} ({count})" for kind, count in seen.items())
