"""Trials: one attempt to inject a set of faults, and its outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from onceproof.harness.explore.acts import Breaks, Single
from onceproof.harness.explore.points import Passed, Place

Verdict = Literal["holds", "violated", "stalled", "unknown"]
Faults = tuple[Single, ...]
"""The faults of a trial, in the order of their messages."""


@dataclass(frozen=True, kw_only=True)
class Aimed:
    """A fault and where it acts."""

    single: Single
    place: Place


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A trial that is to be made; without faults it is a quiet one."""

    aimed: tuple[Aimed, ...] = ()

    @property
    def faults(self) -> Faults:
        return tuple(aimed.single for aimed in self.aimed)

    @property
    def key(self) -> str:
        return key_of(self.faults)

    @property
    def breaks(self) -> Breaks | None:
        """How a broker fails; at most one fault makes it fail."""
        return next((f.act.breaks for f in self.faults if f.act.breaks), None)


@dataclass(frozen=True, kw_only=True)
class Signature:
    """What makes two trials alike.

    Attributes:
        perceived: outcomes that the client reported, such as `committed, info`.
        after: APIs of the requests that followed the fault, without lookups and repetitions.
        epochs: number of producer ids and epochs.
        reconnected: whether the client opened a connection after the fault.
    """

    perceived: str = ""
    after: tuple[str, ...] = ()
    epochs: int = 0
    reconnected: bool = False


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a trial.

    Attributes:
        missed: why a fault did not act exactly once on its message; None if all did.
        verdict: of the worst claim; `anomalies` are those that refute it.
        trace: what it passed, in order.
        hits: for each fault, the number in the trace of the message that it met.
        kept: of a violated trial, arguments of `onceproof check` for its history, the path relative
            to the folder of the exploration.
    """

    missed: str | None = None
    verdict: Verdict = "holds"
    anomalies: frozenset[str] = frozenset()
    reason: str = ""
    signature: Signature = field(default_factory=Signature)
    trace: tuple[Passed, ...] = ()
    hits: tuple[int, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def hit(self) -> bool:
        return self.missed is None

    @property
    def violated(self) -> bool:
        """Whether it is a violation; a trial that missed proves nothing about its faults."""
        return self.hit and self.verdict == "violated"

    @property
    def held(self) -> bool:
        return self.hit and self.verdict == "holds"

    def same_failure(self, other: Outcome) -> bool:
        """Whether both are violations with an anomaly in common."""
        return self.violated and other.violated and bool(self.anomalies & other.anomalies)

    def as_json(self) -> dict[str, Any]:
        return {
            "missed": self.missed,
            "verdict": self.verdict,
            "anomalies": sorted(self.anomalies),
            "reason": self.reason,
            "signature": asdict(self.signature),
            "trace": [passed.id for passed in self.trace],
            "hits": list(self.hits),
            "kept": list(self.kept),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Outcome:
        """Reverse `as_json`."""
        signature = dict(data["signature"])
        signature["after"] = tuple(signature["after"])
        return cls(
            missed=data["missed"],
            verdict=data["verdict"],
            anomalies=frozenset(data["anomalies"]),
            reason=data["reason"],
            signature=Signature(**signature),
            trace=tuple(map(Passed.parse, data["trace"])),
            hits=tuple(data["hits"]),
            kept=tuple(data["kept"]),
        )


def key_of(faults: Sequence[Single]) -> str:
    """The name of a set of faults, the same in every run."""
    return " + ".join(single.id for single in faults) or "no fault"


def parse_key(text: str) -> Faults:
    """Reverse `key_of`; raise `ValueError` if the text does not name faults."""
    if text == "no fault":
        return ()
    return tuple(map(Single.parse, text.split(" + ")))


def together(trials: Iterable[Trial]) -> list[Trial]:
    """Return those in which a broker fails as in the first one, since it fails once for all."""
    found = list(trials)
    return [trial for trial in found if trial.breaks == found[0].breaks]
