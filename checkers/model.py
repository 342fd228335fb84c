"""Data types of judging: hop, evidence, anomaly, finding, claim, verdict, judgement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from onceproof.checkers.mutations.mutator import Mutator

Value = str | int | bool | float | None
Row = Mapping[str, Value]


GUARANTEES: Final = (
    "at-most-once", "at-least-once", "exactly-once", "idempotent", "atomic", "ordered"
)  # fmt: skip


class Hop(StrEnum):
    """The part of the pipeline that a claim covers."""

    PRODUCE = "produce"  # application → topic
    PROCESS = "process"  # topic → sink
    END_TO_END = "end-to-end"  # application → sink

    @property
    def parts(self) -> tuple[Hop, ...]:
        return (Hop.PRODUCE, Hop.PROCESS) if self is Hop.END_TO_END else (self,)


class Evidence(StrEnum):
    """How findings of an anomaly prove it."""

    PRESENCE = "presence"  # sound on an incomplete history
    ABSENCE = "absence"  # needs complete settling and collection, else undecided
    LIVENESS = "liveness"  # stalls a run, refutes nothing


class Verdict(StrEnum):
    """The verdicts on a claim; the first that applies wins, in this order."""

    VIOLATED = "violated"
    INVALID = "invalid"
    STALLED = "stalled"
    UNKNOWN = "unknown"
    UNEXERCISED = "unexercised"
    HOLDS = "holds"


@dataclass(frozen=True, kw_only=True)
class Headline:
    """Phrases for the sentence at the top of a report that sums up an anomaly's findings.

    `{n}` is their number, `{input}` and `{sink}` are the claim's. `{record}` and `{records}` become
    "effect" and "effects" where a record has several. Each placeholder is a word of its own.
    """

    one: str
    many: str
    rank: int = 100
    """Anomalies with the lowest ranks are reported first."""


@dataclass(frozen=True, kw_only=True)
class Anomaly:
    """One way in which a claim can fail, and the query whose rows are its witnesses.

    `sql` is one SELECT in DuckDB's dialect. It must be translatable, so it uses no recursion, ASOF
    joins, QUALIFY or ordered lists. Rows with equal `trial` and `key` columns form one finding.
    """

    name: str
    hop: Hop
    evidence: Evidence
    definition: str
    example: str
    source: str
    key: tuple[str, ...]
    sentence: str
    """Template over a finding's first row, `rows` (their number) and `named` (which effect)."""
    sql: str
    empty_without: tuple[str, ...] = ()
    """Tables that must have rows for a finding to exist, besides those in FROM and JOIN."""
    undecided: str | None = None
    """A SELECT of the trials for which a needed part of the history was cut off."""
    minimal: Mapping[str, tuple[Row, ...]]
    """The smallest history with this anomaly: rows by table, as `History.of` takes them."""
    hint: str
    headline: Headline | None = None
    """None: a report counts the findings by the anomaly's name."""
    refutes: tuple[str, ...] = ()
    refutes_only_if: Mapping[str, Row] = field(default_factory=dict)
    """Guarantee → key values that a finding must have to refute it; other findings do not."""
    shown_with: tuple[str, ...] = ()
    """Guarantees with which it is looked for because it explains other findings."""
    implies: tuple[str, ...] = ()
    """Names of other anomalies that it may directly cause."""
    mutations: tuple[Mutator, ...] = ()
    """Mutations with which the self-check creates it in a copy of a history."""
    describe: Callable[[Sequence[Row]], str] | None = None
    """Builds a finding's sentence from all its rows, where the first row is not enough."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One anomaly with the smallest set of rows that proves it."""

    anomaly: str
    hop: Hop
    evidence: Evidence
    key: Mapping[str, Value]
    sentence: str
    witness: tuple[Row, ...]
    causes: tuple[Row, ...] = ()
    """Rows of `hazards` in the finding's micro-batch or attempt, with the fault's name."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All findings of one anomaly: their number, and the first of them in full."""

    anomaly: str
    hop: Hop
    evidence: Evidence
    count: int
    shown: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The part of a history that a claim covers."""

    input: str
    sink: str | None = None
    view: str | None = None
    """The view of the sink; `journal` combines all readers, from the sink's journal."""
    dead_letters: str | None = None
    """The dead-letter sink: each input leads either there or to effects."""
    others: tuple[tuple[str, str], ...] = ()
    """Further sinks and views that a claim of atomic outputs covers."""


@dataclass(frozen=True, kw_only=True)
class FinePrint:
    """A claim's answers to the three fine-print questions, and the fault kinds that they cover."""

    promise: str
    failures: str
    guarantee: str
    not_tested: str
    covers: frozenset[str] = frozenset({"crash", "partition", "timeout"})


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What a scenario expects of a claim: all of `anomalies`, and by timing some of `may`."""

    verdict: Verdict
    anomalies: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A named guarantee on a hop."""

    guarantee: str
    hop: Hop
    scope: Scope
    fine_print: FinePrint
    hazards: frozenset[str] = frozenset()
    """Kinds of hazard that must be observed before the verdict can be `holds`."""
    deduplicates: bool = False
    """The subject claims to drop repeated sends: a record counts once, not once per log entry."""
    expect: Expectation | None = None

    @property
    def name(self) -> str:
        """E.g. `exactly-once payments → ledger`; unique within a run."""
        if self.hop is Hop.PRODUCE:
            return f"{self.guarantee} producers → {self.scope.input}"
        start = "producers" if self.hop is Hop.END_TO_END else self.scope.input
        sinks = [self.scope.sink, *(sink for sink, _ in self.scope.others)]
        return f"{self.guarantee} {start} → {' + '.join(map(str, sinks))}"


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """One mutation of the self-check and its outcome."""

    name: str
    target: str
    must_find: str
    found: bool
    detail: str
    placed: bool = True
    """False if the history has no place for it; then it proves nothing, and is no failure."""


@dataclass(frozen=True, kw_only=True)
class ClaimJudgement:
    """A claim with its verdict."""

    claim: Claim
    verdict: Verdict
    reason: str
    """One sentence: why this verdict and not the next better one."""
    refuted_by: tuple[str, ...] = ()
    found: Mapping[str, int] = field(default_factory=dict)
    """Number of findings of each of these in the claim's scope."""
    undecided: tuple[str, ...] = ()
    """Names of anomalies that are undecidable on this history."""
    hazards_seen: Mapping[str, int] = field(default_factory=dict)
    expected: bool | None = None
    """None without an expectation."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The complete result of checking one history."""

    claims: tuple[ClaimJudgement, ...]
    findings: tuple[Findings, ...]
    mutation_check: tuple[Mutation, ...]
    unsealed: str | None = None
    """What differs from the seal, in a sentence; None if nothing does or there is no seal."""
    notes: tuple[str, ...] = ()
    """Limits of the judgement: truncated lines, missing tables, phases not reached."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Rows per table and relation that the judgement rests on."""
