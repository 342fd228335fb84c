"""The verdict as a sentence.

It speaks of one claim, the strongest guarantee that was judged and there
the worst verdict; what weaker claims of the same stretch add ("nothing was lost") is appended.
What is counted are effects; they are called records only where each record has one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from onceproof.checkers.model import Hop, Verdict
from onceproof.reports.model import Claim, Fault
from onceproof.reports.text import listed, number, plural, sentence

_STRENGTH = ("exactly-once", "at-least-once", "at-most-once")
_SEVERITY = tuple(Verdict)
_HOPS = (Hop.END_TO_END, Hop.PROCESS, Hop.PRODUCE)

_PHRASES: Mapping[str, tuple[str, str]] = {
    "lost-output": (
        "{n} {record} of {input} is missing from {sink}",
        "{n} {records} of {input} are missing from {sink}",
    ),
    "duplicate-output": (
        "{n} {record} of {input} appears more than once in {sink}",
        "{n} {records} of {input} appear more than once in {sink}",
    ),
    "wrong-output": (
        "{n} {record} is in {sink} with the wrong content",
        "{n} {records} are in {sink} with the wrong content",
    ),
    "phantom-output": (
        "{n} record is in {sink} that nobody sent",
        "{n} records are in {sink} that nobody sent",
    ),
    "unfounded-output": (
        "{n} record is in {sink} without a committed input",
        "{n} records are in {sink} without a committed input",
    ),
    "state-mismatch": (
        "{n} result in {sink} is not what the input yields",
        "{n} results in {sink} are not what the input yields",
    ),
    "lost-write": (
        "{n} record was acknowledged and is missing from {input}",
        "{n} records were acknowledged and are missing from {input}",
    ),
    "duplicate": (
        "{n} record is in {input} more often than it was sent",
        "{n} records are in {input} more often than they were sent",
    ),
    "phantom": (
        "{n} record was seen in {input} that nobody had sent",
        "{n} records were seen in {input} that nobody had sent",
    ),
    "corrupt": (
        "{n} record in {input} differs from what was sent",
        "{n} records in {input} differ from what was sent",
    ),
    "inconsistent-offsets": (
        "{n} offset was seen with different records",
        "{n} offsets were seen with different records",
    ),
    "aborted-read": (
        "{n} record of an aborted transaction was read as committed",
        "{n} records of aborted transactions were read as committed",
    ),
    "precommitted-read": (
        "{n} record was read as committed before its commit was called",
        "{n} records were read as committed before their commit was called",
    ),
    "torn-transaction": (
        "{n} transaction took effect in part",
        "{n} transactions took effect in part",
    ),
    "reordered-send": (
        "{n} pair of records is in {input} in the wrong order",
        "{n} pairs of records are in {input} in the wrong order",
    ),
    "reordered-output": (
        "{n} pair of effects is in {sink} in the wrong order",
        "{n} pairs of effects are in {sink} in the wrong order",
    ),
    "offset-ahead": (
        "{n} stored position lies beyond an input whose effect is missing",
        "{n} stored positions lie beyond inputs whose effects are missing",
    ),
    "offset-behind": (
        "{n} stored position lies before an input whose effect is there",
        "{n} stored positions lie before inputs whose effects are there",
    ),
    "offset-regressed": (
        "{n} stored position went backwards",
        "{n} stored positions went backwards",
    ),
    "offset-gap": (
        "{n} range of offsets was processed in no micro-batch or in two",
        "{n} ranges of offsets were processed in no micro-batch or in two",
    ),
}


def principal(claims: Sequence[Claim]) -> Claim | None:
    """The claim that the headline speaks of."""
    return min(claims, key=_rank, default=None)


def headline(
    claims: Sequence[Claim],
    faults: Sequence[Fault],
    several: Collection[str],
) -> str:
    """The verdict of the principal claim as a sentence.

    In the sinks `several` one record has several effects.
    """
    claim = principal(claims)
    if claim is None:
        return "No claim was judged."
    name, bit = label(claim), sum(fault.bit for fault in faults)
    match claim.verdict:
        case Verdict.VIOLATED:
            said = _violated(claim, claims, several)
        case Verdict.INVALID:
            said = f"no verdict, the experiment itself failed: {claim.reason}"
        case Verdict.STALLED:
            said = f"stalled, {name.lower()} is not decided: {claim.reason}"
        case Verdict.UNKNOWN:
            said = f"undecided, {name.lower()} is neither refuted nor borne out: {claim.reason}"
        case Verdict.UNEXERCISED if claim.hazards_seen:
            said = f"not put to the test as {name.lower()} has to be: {claim.reason}"
        case Verdict.UNEXERCISED:
            said = (
                f"not put to the test: {_clean(claim)}, but nothing happened "
                f"that could have broken {name.lower()}"
            )
        case Verdict.HOLDS:
            seen = sum(claim.hazards_seen.values())
            tested = [plural(bit, "fault")] if bit else []
            tested += [plural(seen, "moment") + " that could have broken it"] if seen else []
            through = f" through {listed(tested)}" if tested else ""
            said = f"{name} held{through}: {_clean(claim)}"
    return sentence(said)


def label(claim: Claim) -> str:
    """`Exactly once` for `exactly-once`."""
    return claim.guarantee.replace("-", " ").capitalize()


def phrase(anomaly: str, count: int, claim: Claim, *, several: bool) -> str:
    """What `count` findings of one anomaly amount to, in words; `several`: of effects."""
    forms = _PHRASES.get(anomaly)
    if forms is None:
        return plural(count, f"finding of {anomaly}", f"findings of {anomaly}")
    sink = claim.sink or "the sink"
    # One pass by replace: names of topics and sinks may hold braces.
    words = forms[0 if count == 1 else 1].split(" ")
    noun = "effect" if several else "record"
    filled = {"{n}": number(count), "{input}": claim.input, "{sink}": sink}
    filled |= {"{record}": noun, "{records}": f"{noun}s"}
    return " ".join(filled.get(word, word) for word in words)


def _violated(
    claim: Claim,
    claims: Sequence[Claim],
    several: Collection[str],
) -> str:
    order = list(_PHRASES)
    names = sorted(claim.refuted_by, key=lambda n: order.index(n) if n in order else len(order))
    effects = claim.sink in several
    parts = [phrase(name, claim.found.get(name, 1), claim, several=effects) for name in names[:3]]
    if len(names) > 3:
        parts.append(plural(len(names) - 3, "more kind of anomaly", "more kinds of anomaly"))
    said = f"not {label(claim).lower()}: {listed(parts) or claim.reason}"
    same = [c for c in claims if (c.hop, c.input, c.sink) == (claim.hop, claim.input, claim.sink)]
    intact = {c.guarantee for c in same if c.verdict in (Verdict.HOLDS, Verdict.UNEXERCISED)}
    if "at-least-once" in intact:
        said += "; nothing was lost"
    if "at-most-once" in intact:
        said += "; nothing was repeated"
    return said


def _clean(claim: Claim) -> str:
    """What was looked for and not found, in the words of the guarantee."""
    what = {
        "exactly-once": "nothing was lost and nothing was repeated",
        "at-least-once": "nothing was lost",
        "at-most-once": "nothing was repeated",
    }.get(claim.guarantee, "no anomaly was found")
    if claim.hop is Hop.PRODUCE:
        return f"{what} on the way into {claim.input}"
    start = claim.input if claim.hop is Hop.PROCESS else "the producers"
    return f"{what} on the way from {start} to {claim.sink or 'the sink'}"


def _rank(claim: Claim) -> tuple[int, int, int]:
    known = claim.guarantee in _STRENGTH
    strength = _STRENGTH.index(claim.guarantee) if known else len(_STRENGTH)
    return strength, _SEVERITY.index(claim.verdict), _HOPS.index(claim.hop)
