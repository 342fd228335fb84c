"""Build the headline: the verdict as a sentence.

It is about one claim: the strongest guarantee that was judged, and its worst verdict. What weaker
claims of the same hop and sink add ("nothing was lost") is appended. Effects are counted; they are
called records only if each record has one effect.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from onceproof.checkers import anomalies
from onceproof.checkers.model import Headline, Hop, Verdict
from onceproof.reports.model import Claim, Fault
from onceproof.reports.text import listed, number, plural, sentence

_STRENGTH = ("exactly-once", "at-least-once", "at-most-once")
_SEVERITY = tuple(Verdict)
_HOPS = (Hop.END_TO_END, Hop.PROCESS, Hop.PRODUCE)


def principal(claims: Sequence[Claim]) -> Claim | None:
    """Return the claim that the headline is about."""
    return min(claims, key=_rank, default=None)


def headline(
    claims: Sequence[Claim],
    faults: Sequence[Fault],
    several: Collection[str],
) -> str:
    """Return the principal claim's verdict. In sinks `several`, records have several effects."""
    claim = principal(claims)
    if claim is None:
        return "No claim was judged."
    name, effective = label(claim), sum(fault.took_effect for fault in faults)
    match claim.verdict:
        case Verdict.VIOLATED:
            text = _violated(claim, claims, several)
        case Verdict.INVALID:
            text = f"no verdict, because the experiment failed: {claim.reason}"
        case Verdict.STALLED:
            text = f"stalled, so {name.lower()} is undecided: {claim.reason}"
        case Verdict.UNKNOWN:
            text = f"unknown, {name.lower()} is neither refuted nor confirmed: {claim.reason}"
        case Verdict.UNEXERCISED if claim.hazards_seen:
            text = f"{name} was not fully put to the test: {claim.reason}"
        case Verdict.UNEXERCISED:
            text = (
                f"not put to the test: {_nothing_found(claim)}, but nothing happened "
                f"that could have broken {name.lower()}"
            )
        case Verdict.HOLDS:
            seen = sum(claim.hazards_seen.values())
            tested = [plural(effective, "fault")] if effective else []
            tested += [plural(seen, "moment") + " that could have broken it"] if seen else []
            through = f" through {listed(tested)}" if tested else ""
            text = f"{name} held{through}: {_nothing_found(claim)}"
    return sentence(text)


def label(claim: Claim) -> str:
    """Return `Exactly once` for `exactly-once`."""
    return claim.guarantee.replace("-", " ").capitalize()


def phrase(anomaly: str, count: int, claim: Claim, *, several: bool) -> str:
    """Describe `count` findings of an anomaly. With `several`, they are of effects, not records."""
    texts = _headline_of(anomaly)
    if texts is None:
        return plural(count, f"finding of {anomaly}", f"findings of {anomaly}")
    sink = claim.sink or "the sink"
    # No str.format: names of topics and sinks may contain braces.
    parts = (texts.one if count == 1 else texts.many).split(" ")
    noun = "effect" if several else "record"
    filled = {"{n}": number(count), "{input}": claim.input, "{sink}": sink}
    filled |= {"{record}": noun, "{records}": f"{noun}s"}
    return " ".join(filled.get(word, word) for word in parts)


def _headline_of(anomaly: str) -> Headline | None:
    """Return the anomaly's headline; None if this version of onceproof does not know it."""
    known = anomalies().get(anomaly)
    return None if known is None else known.headline


def _rank_of(anomaly: str) -> int:
    texts = _headline_of(anomaly)
    return Headline.rank if texts is None else texts.rank


def _violated(
    claim: Claim,
    claims: Sequence[Claim],
    several: Collection[str],
) -> str:
    names = sorted(claim.refuted_by, key=_rank_of)
    effects = claim.sink in several
    parts = [phrase(name, claim.found.get(name, 1), claim, several=effects) for name in names[:3]]
    if len(names) > 3:
        parts.append(plural(len(names) - 3, "more kind of anomaly", "more kinds of anomaly"))
    text = f"not {label(claim).lower()}: {listed(parts) or claim.reason}"
    same = [c for c in claims if (c.hop, c.input, c.sink) == (claim.hop, claim.input, claim.sink)]
    intact = {c.guarantee for c in same if c.verdict in (Verdict.HOLDS, Verdict.UNEXERCISED)}
    if "at-least-once" in intact:
        text += "; nothing was lost"
    if "at-most-once" in intact:
        text += "; nothing was repeated"
    return text


def _nothing_found(claim: Claim) -> str:
    """Say what was looked for and not found."""
    what = {
        "exactly-once": "nothing was lost and nothing was repeated",
        "at-least-once": "nothing was lost",
        "at-most-once": "nothing was repeated",
        "atomic": "nothing was torn",
    }.get(claim.guarantee, "no anomaly was found")
    if claim.hop is Hop.PRODUCE:
        return f"{what} on the way into {claim.input}"
    start = claim.input if claim.hop is Hop.PROCESS else "the producers"
    # An atomic claim is about several outputs, which only its name lists.
    sinks = claim.name.rpartition(" → ")[2] if claim.guarantee == "atomic" else claim.sink
    return f"{what} on the way from {start} to {sinks or 'the sink'}"


def _rank(claim: Claim) -> tuple[int, int, int]:
    known = claim.guarantee in _STRENGTH
    strength = _STRENGTH.index(claim.guarantee) if known else len(_STRENGTH)
    return strength, _SEVERITY.index(claim.verdict), _HOPS.index(claim.hop)
