"""Judging a history: relations, findings, self-proof, verdicts, for every scope that is claimed.

The one thing to know: work is shared. The produce hop is looked at once per input topic, the
process hop once per sink and view, and claims on the same stretch read the same findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from checkers.anomalies import anomalies
from checkers.circumstances import Circumstances
from checkers.controls import controls
from checkers.engines.duckdb import Layer, open_history
from checkers.history import History
from checkers.model import Claim, ClaimJudgement, Evidence, Findings, Hop, Judgement, Wound
from checkers.self_proof import prove
from checkers.verdict import judge_claim

_HOPS: Final[dict[Hop, tuple[Hop, ...]]] = {
    Hop.PRODUCE: (Hop.PRODUCE,),
    Hop.PROCESS: (Hop.PROCESS,),
    Hop.END_TO_END: (Hop.PRODUCE, Hop.PROCESS),
}


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What was found on one stretch."""

    findings: tuple[Findings, ...] = ()
    wounds: tuple[Wound, ...] = ()
    cut_off: tuple[str, ...] = ()


def check(history: History, claims: Iterable[Claim]) -> Judgement:
    """Judge a history against claims.

    Returns:
        A verdict for each claim, in their order, with every finding and the self-proof.
    """
    claims = tuple(claims)
    circumstances = Circumstances.of(history)
    counts = {name: table.num_rows for name, table in history.items()}
    with ExitStack() as stack:
        trial = _Trial(history, circumstances, stack)
        judged = tuple(trial.judge(claim) for claim in claims)
        trial.look_at_inputs(claims)
        seen = tuple(trial.seen.values())
        for layer in trial.layers:
            for name, rows in layer.counts().items():
                counts[name] = max(counts.get(name, 0), rows)
    return Judgement(
        claims=judged,
        findings=_merged([f for s in seen for f in s.findings], circumstances.complete),
        self_proof=tuple(wound for s in seen for wound in s.wounds),
        notes=_notes(history, circumstances, [f for s in seen for f in s.findings]),
        counts=counts,
    )


def find(history: History, claim: Claim) -> tuple[Findings, ...]:
    """What is found on a claim's hop, without a verdict: there is no self-proof behind it."""
    circumstances = Circumstances.of(history)
    with ExitStack() as stack:
        trial = _Trial(history, circumstances, stack)
        found = [f for hop in _HOPS[claim.hop] for f in trial.findings(hop, claim)]
    return _merged(found, circumstances.complete)


class _Trial:
    """The layers and findings of one history, made when a claim first needs them."""

    def __init__(self, history: History, circumstances: Circumstances, stack: ExitStack) -> None:
        self._history = history
        self._circumstances = circumstances
        self._stack = stack
        self._bottom = stack.enter_context(open_history(history))
        self._layers: dict[tuple[object, ...], Layer] = {}
        self.seen: dict[tuple[object, ...], _Seen] = {}

    @property
    def layers(self) -> Sequence[Layer]:
        """All layers that were made."""
        return tuple(self._layers.values())

    def judge(self, claim: Claim) -> ClaimJudgement:
        """The verdict on one claim."""
        stretches = [self._run(), *(self._stretch(hop, claim) for hop in _HOPS[claim.hop])]
        return judge_claim(
            claim,
            findings=[f for s in stretches for f in s.findings],
            circumstances=self._circumstances,
            wounds=[w for s in stretches for w in s.wounds],
            controls=controls(self._layer(claim.hop, claim), claim),
            cut_off=[name for s in stretches for name in s.cut_off],
        )

    def findings(self, hop: Hop, claim: Claim) -> tuple[Findings, ...]:
        """What is found on a hop."""
        return _findings(self._layer(hop, claim), hop=hop)

    def look_at_inputs(self, claims: Iterable[Claim]) -> None:
        """What producers did is shown also where no claim speaks of it: it explains."""
        for claim in claims:
            self._stretch(Hop.PRODUCE, claim)

    def _run(self) -> _Seen:
        if ("run",) not in self.seen:
            self.seen["run",] = _Seen(findings=_findings(self._bottom, liveness=True))
        return self.seen["run",]

    def _stretch(self, hop: Hop, claim: Claim) -> _Seen:
        key = _key(hop, claim)
        if key not in self.seen:
            layer = self._layer(hop, claim)
            self.seen[key] = _Seen(
                findings=self.findings(hop, claim),
                wounds=prove(layer, self._history, hop, _where(hop, claim)),
                cut_off=tuple(
                    a.name for a in anomalies().values() if a.hop is hop and layer.undecided(a)
                ),
            )
        return self.seen[key]

    def _layer(self, hop: Hop, claim: Claim) -> Layer:
        key = _key(hop, claim)
        if key not in self._layers:
            below = self._bottom if hop is Hop.PRODUCE else self._layer(Hop.PRODUCE, claim)
            change = (
                {"hop_input": self._hop_input(claim)}
                if hop is Hop.PRODUCE
                else {"hop_sink": _hop_sink(claim)}
            )
            self._layers[key] = self._stack.enter_context(below.above(change))
        return self._layers[key]

    def _hop_input(self, claim: Claim) -> pa.Table:
        collection = self._circumstances.collection or {}
        return pa.table(
            {
                "input": pa.array([claim.scope.input], pa.string()),
                "complete": pa.array([self._circumstances.complete]),
                "collected": pa.array([bool(collection)]),
                "collect_started": pa.array([collection.get("started_at")], pa.int64()),
                "collect_clock": pa.array([collection.get("clock")], pa.string()),
            }
        )


def _hop_sink(claim: Claim) -> pa.Table:
    return pa.table(
        {
            "sink": pa.array([claim.scope.sink], pa.string()),
            "view": pa.array([claim.scope.view], pa.string()),
            "deduplicates": pa.array([claim.deduplicates]),
        }
    )


def _key(hop: Hop, claim: Claim) -> tuple[object, ...]:
    if hop is Hop.PRODUCE:
        return ("produce", claim.scope.input)
    return ("process", claim.scope, claim.deduplicates)


def _where(hop: Hop, claim: Claim) -> str:
    scope = claim.scope
    return scope.input if hop is Hop.PRODUCE else f"{scope.sink} ({scope.view})"


def _findings(
    layer: Layer, *, hop: Hop | None = None, liveness: bool = False
) -> tuple[Findings, ...]:
    return tuple(
        layer.findings(anomaly)
        for anomaly in anomalies().values()
        if (anomaly.evidence is Evidence.LIVENESS) == liveness
        and (hop is None or anomaly.hop is hop)
    )


def _merged(findings: Iterable[Findings], complete: bool) -> tuple[Findings, ...]:
    """One entry per anomaly over all scopes; absence only where it proves something."""
    found: dict[str, Findings] = {}
    for f in findings:
        if f.count and (complete or f.evidence is not Evidence.ABSENCE):
            had = found.get(f.anomaly)
            found[f.anomaly] = (
                replace(f, count=had.count + f.count, shown=had.shown + f.shown) if had else f
            )
    return tuple(found[name] for name in anomalies() if name in found)


def _notes(
    history: History, circumstances: Circumstances, findings: Iterable[Findings]
) -> tuple[str, ...]:
    notes = []
    if history.missing:
        notes.append(f"missing tables, taken as empty: {', '.join(history.missing)}")
    if circumstances.interruption:
        notes.append(circumstances.interruption)
    if not circumstances.complete:
        notes += [
            f"{f.anomaly}: {f.count} would be found if the history were complete; it is not, so "
            "they are undecided and not shown"
            for f in findings
            if f.count and f.evidence is Evidence.ABSENCE
        ]
    return tuple(notes)
