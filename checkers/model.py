"""The words of judging: hop, evidence, anomaly, finding, claim, verdict, judgement.

These are plain data. An anomaly says which guarantees it refutes; the lattice of verdicts is in
`verdict`, presentation nowhere in this package.
"""

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
    """The stretch that a claim speaks of."""

    PRODUCE = "produce"  # application → topic
    PROCESS = "process"  # topic → sink
    END_TO_END = "end-to-end"  # application → sink

    @property
    def parts(self) -> tuple[Hop, ...]:
        """The hops that it is made of: itself, but end to end both others."""
        return (Hop.PRODUCE, Hop.PROCESS) if self is Hop.END_TO_END else (self,)


class Evidence(StrEnum):
    """How an anomaly proves itself."""

    PRESENCE = "presence"  # sound on a partial history
    ABSENCE = "absence"  # needs complete settling and collection, else undecided
    LIVENESS = "liveness"  # stalls a run, refutes nothing


class Verdict(StrEnum):
    """What can be said of a claim; the first that applies wins, in this order."""

    VIOLATED = "violated"
    INVALID = "invalid"
    STALLED = "stalled"
    UNKNOWN = "unknown"
    UNEXERCISED = "unexercised"
    HOLDS = "holds"


@dataclass(frozen=True, kw_only=True)
class Headline:
    """What the findings of an anomaly amount to, for the sentence at the top of a report.

    `{n}` is how many there are, `{input}` and `{sink}` are the claim's, `{record}` and `{records}`
    become effects where a record has several. Each of them is a word of its own.
    """

    one: str
    many: str
    rank: int = 100
    """Of several anomalies those with the lowest ranks are told first."""


@dataclass(frozen=True, kw_only=True)
class Anomaly:
    """One way in which a claim can fail, and the query whose rows are its witnesses.

    `sql` is one SELECT over tables and relations in DuckDB's dialect, without recursion, ASOF
    joins, QUALIFY or ordered lists, so that it can be translated. Rows of one `trial` with equal
    `key` columns belong to one finding.
    """

    name: str
    hop: Hop
    evidence: Evidence
    definition: str
    example: str
    source: str
    key: tuple[str, ...]
    sentence: str
    """What one finding says, as a `str.format` template over the columns of its first row, `rows`
    (how many rows the witness has) and `named` (which of several effects of a record it is)."""
    sql: str
    empty_without: tuple[str, ...] = ()
    """Tables each of which must have rows, or there is nothing to find; those that its rows come
    from by FROM and JOIN need not be named."""
    undecided: str | None = None
    """A SELECT of the trials for which it cannot be decided, because a part of the history that is
    needed was cut off, for instance below the start of a log."""
    minimal: Mapping[str, tuple[Row, ...]]
    """The smallest history that has it: rows by table, as `History.of` takes them."""
    hint: str
    """What engineers usually find to be the cause."""
    headline: Headline | None = None
    """None: a report counts its findings by its name."""
    refutes: tuple[str, ...] = ()
    """Guarantees that it refutes on its hop, of `GUARANTEES`."""
    refutes_only_if: Mapping[str, Row] = field(default_factory=dict)
    """For some of them, what the key of a finding must be like; other findings do not refute it."""
    shown_with: tuple[str, ...] = ()
    """Guarantees that it does not refute, and is looked for with because it explains others."""
    implies: tuple[str, ...] = ()
    """Names of other anomalies that it may bring with it, directly."""
    mutations: tuple[Mutator, ...] = ()
    """How the self-check brings it about in a copy of a history; it must then be found."""
    describe: Callable[[Sequence[Row]], str] | None = None
    """Makes a finding's sentence from all of its rows, where one row is not enough."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One anomaly, with the smallest set of rows that proves it."""

    anomaly: str
    hop: Hop
    evidence: Evidence
    key: Mapping[str, Value]
    sentence: str
    witness: tuple[Row, ...]
    causes: tuple[Row, ...] = ()
    """Rows of `hazards` that share the finding's micro-batch or attempt, with the fault's name."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All findings of one anomaly: how many there are, and the first of them in full."""

    anomaly: str
    hop: Hop
    evidence: Evidence
    count: int
    shown: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The part of a history that a claim speaks of."""

    input: str
    """The input topic."""
    sink: str | None = None
    view: str | None = None
    """Who looks at the sink; `journal`: everybody who ever looked, as its journal tells."""
    dead_letters: str | None = None
    """The sink of records that could not be processed: an input leads there or to its effects."""
    others: tuple[tuple[str, str], ...] = ()
    """Other sinks, each with a view, that a claim of atomic outputs speaks of beside `sink`."""


@dataclass(frozen=True, kw_only=True)
class FinePrint:
    """The three questions of every claim, answered, and the fault kinds that the answers cover."""

    promise: str
    failures: str
    guarantee: str
    not_tested: str
    covers: frozenset[str] = frozenset({"crash", "partition", "timeout"})


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What a scenario expects of a claim.

    `anomalies` are the refuting anomalies that must be found. Others make the run unexpected, but
    for those in `may`, which depend on timing.
    """

    verdict: Verdict
    anomalies: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A named guarantee on a hop."""

    guarantee: str
    """at-most-once, at-least-once, exactly-once, idempotent, atomic or ordered."""
    hop: Hop
    scope: Scope
    fine_print: FinePrint
    hazards: frozenset[str] = frozenset()
    """Kinds of hazard that must have been observed before `holds` may be said."""
    deduplicates: bool = False
    """True where the subject claims to drop records that were sent twice: × 1, not × positions."""
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
    """One mutation of the self-check: what was done to a copy of this history, and whether
    the checkers saw it.
    """

    name: str
    target: str
    must_find: str
    found: bool
    detail: str
    placed: bool = True
    """Whether the history has a place for it; without one it proves nothing, and nothing failed."""


@dataclass(frozen=True, kw_only=True)
class ClaimJudgement:
    """A claim with its verdict."""

    claim: Claim
    verdict: Verdict
    reason: str
    """One sentence: why this verdict and not the next better one."""
    refuted_by: tuple[str, ...] = ()
    """Names of the refuting anomalies that are proven."""
    found: Mapping[str, int] = field(default_factory=dict)
    """How many findings of each of these there are where the claim looks."""
    undecided: tuple[str, ...] = ()
    """Names of anomalies that were looked for but cannot be decided on this history."""
    hazards_seen: Mapping[str, int] = field(default_factory=dict)
    expected: bool | None = None
    """Whether the verdict and the anomalies are as the scenario expects; None without one."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Everything the checkers have to say about one history."""

    claims: tuple[ClaimJudgement, ...]
    findings: tuple[Findings, ...]
    mutation_check: tuple[Mutation, ...]
    unsealed: str | None = None
    """What is not as the run sealed it, in a sentence; None if everything is, or nothing was."""
    notes: tuple[str, ...] = ()
    """What limits the judgement: lines cut short, missing tables, phases not reached."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Rows per table and relation that the judgement rests on."""
