"""Build the report of an audit from counts and a judgement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from onceproof.audit.judging import Judged
from onceproof.audit.options import AuditOptions
from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.model import Claim, ClaimJudgement, Verdict
from onceproof.harness.audit.counts import Counts, PartitionCounts
from onceproof.harness.audit.plan import Plan
from onceproof.reports.audit.model import (
    AuditReport,
    Bucket,
    ClaimPart,
    FoundPart,
    OpenPart,
    OutputPart,
    PartitionPart,
    Result,
)
from onceproof.reports.text import cut, listed, number, plural

_LONG: Final = 4_000
_HANGING: Final = 900_000
"""Milliseconds after which an open transaction counts as hanging: the brokers' maximum timeout."""


def report_of(
    options: AuditOptions,
    made: Plan,
    counts: Counts,
    claims: Sequence[Claim],
    judged: Judged | None,
    *,
    seconds: float,
) -> AuditReport:
    """Build the report; `judged` is None if no input could be judged."""
    late = _late(options, made, counts)
    parts = tuple(
        _claim(claim, judged.judgement.claims[n] if judged else None, counts, late)
        for n, claim in enumerate(claims)
    )
    findings = _findings(options, judged)
    result = _worst([part.result for part in parts])
    return AuditReport(
        headline=_headline(options, result, findings, counts, late),
        result=result,
        input=options.input,
        bootstrap=options.bootstrap,
        started_at=_time(made.now) or "",
        seconds=round(seconds, 1),
        options=options.given(),
        partitions=tuple(_partition(p) for p in counts.partitions),
        outputs=tuple(
            OutputPart(
                name=o.name, view=o.view, judged=o.judged, others=o.others, unknown=o.unknown,
                nameless=o.nameless,
            )
            for o in counts.outputs
        ),
        open=tuple(
            OpenPart(
                topic=topic,
                partition=partition,
                since=_time(at) or "",
                hanging=made.now - at > _HANGING,
            )
            for topic, times in made.open.items()
            for partition, at in times.items()
        ),
        claims=parts,
        findings=findings,
        buckets=tuple(
            Bucket(start=_time(at) or "", inputs=inputs, found=found)
            for at, inputs, found in (judged.buckets if judged else ())
        ),
        repairs=judged.repairs if judged else 0,
        notes=_notes(options, made, counts, late),
        mutation_check=tuple(
            f"{m.name} in {m.target}" for m in judged.judgement.mutation_check if m.found
        )
        if judged
        else (),
    )  # fmt: skip


def _late(options: AuditOptions, made: Plan, counts: Counts) -> int:
    """Count undecided inputs that should be decided: with `--to` all of them, else the old ones."""
    tail = made.now - 2 * round(options.settle * 1000)
    return sum(
        p.undecided
        for p in counts.partitions
        if options.to is not None or (p.undecided and (p.undecided_since or -1) <= tail)
    )


def _claim(claim: Claim, judged: ClaimJudgement | None, counts: Counts, late: int) -> ClaimPart:
    result, reason = _result(judged, counts, late)
    return ClaimPart(name=claim.name, sink=claim.scope.sink or "", result=result, reason=reason)


def _result(judged: ClaimJudgement | None, counts: Counts, late: int) -> tuple[Result, str]:
    if judged is None:
        return Result.UNKNOWN, (
            "Nothing could be judged: there is no evidence that the pipeline reached any input of "
            "the window."
        )
    if judged.verdict is Verdict.VIOLATED:
        return Result.VIOLATED, judged.reason
    if judged.verdict is Verdict.INVALID:
        return Result.INVALID, judged.reason
    # An audit injects no faults, so a claim that nothing refutes may well be unexercised.
    if judged.verdict not in (Verdict.UNEXERCISED, Verdict.HOLDS):
        return Result.UNKNOWN, judged.reason
    if late:
        return Result.UNKNOWN, (
            f"Nothing was found, but {plural(late, 'input')} of the window "
            f"{'is' if late == 1 else 'are'} undecided: each lacks an effect, and the pipeline may "
            "not have reached it."
        )
    return Result.CLEAN, (
        f"No anomaly was found among {plural(_judged(counts), 'input')} and their effects."
    )


def _judged(counts: Counts) -> int:
    return sum(p.judged for p in counts.partitions)


def _worst(results: Sequence[Result]) -> Result:
    for result in (Result.VIOLATED, Result.INVALID, Result.UNKNOWN):
        if result in results:
            return result
    return Result.CLEAN


def _findings(options: AuditOptions, judged: Judged | None) -> tuple[FoundPart, ...]:
    found = []
    all_found = judged.judgement.findings if judged else ()
    for findings in sorted(all_found, key=lambda each: _rank(each.anomaly)):
        headline = anomalies()[findings.anomaly].headline
        sinks = sorted({str(each.key.get("sink", "")) for each in findings.shown})
        words = "" if headline is None else headline.one if findings.count == 1 else headline.many
        found.append(
            FoundPart(
                anomaly=findings.anomaly,
                sink=listed(sinks),
                count=findings.count,
                headline=words.format(
                    n=number(findings.count),
                    input=options.input,
                    sink=listed(sinks),
                    record="input",
                    records="inputs",
                )
                or findings.anomaly,
                sentences=tuple(cut(each.sentence, _LONG) for each in findings.shown),
            )
        )
    return tuple(found)


def _rank(anomaly: str) -> int:
    headline = anomalies()[anomaly].headline
    return 100 if headline is None else headline.rank


def _headline(
    options: AuditOptions,
    result: Result,
    findings: Sequence[FoundPart],
    counts: Counts,
    late: int,
) -> str:
    if result is Result.VIOLATED:
        return listed(found.headline for found in findings)
    if result is Result.CLEAN:
        return f"Nothing lost, duplicated or wrong among {plural(_judged(counts), 'input')}"
    if result is Result.INVALID:
        return f"{options.input} could not be audited"
    if late:
        return f"{plural(late, 'input')} of {options.input} cannot be decided yet"
    return f"It is unknown whether {options.input} was processed correctly"


def _partition(counts: PartitionCounts) -> PartitionPart:
    return PartitionPart(
        partition=counts.partition,
        first=counts.first,
        last=counts.last,
        inputs=counts.inputs,
        judged=counts.judged,
        undecided=counts.undecided,
        nameless=counts.nameless,
        reached=counts.reached,
        from_at=_time(counts.from_at),
        to_at=_time(counts.to_at),
    )


def _notes(options: AuditOptions, made: Plan, counts: Counts, late: int) -> tuple[str, ...]:
    notes = [
        f"An effect is expected within {options.settle:g} s of its input, and clocks are assumed "
        "to differ by less (--settle).",
    ]
    undecided = sum(p.undecided for p in counts.partitions)
    if undecided:
        since = min(p.undecided_since for p in counts.partitions if p.undecided_since is not None)
        advice = "" if options.group else " Name the pipeline's consumer group with --group."
        notes.append(
            f"{plural(undecided, 'input')} of the window, the oldest of {_time(since)}, lack an "
            f"effect, and the pipeline may not have reached them: undecided, not lost.{advice}"
        )
    if nameless := sum(p.nameless for p in counts.partitions):
        notes.append(
            f"{plural(nameless, 'input')} of the window have no identity and were not judged."
        )
    for output in counts.outputs:
        if output.unknown and not made.whole:
            notes.append(
                f"{output.name} has {plural(output.unknown, 'effect')} of inputs that were not "
                "read: these are older than the inputs that were read, or were never sent. An "
                "earlier --from shows which."
            )
        if output.nameless and options.ignore_nameless:
            notes.append(
                f"{output.name} has {plural(output.nameless, 'effect')} without an identity, which "
                "were ignored: one of them may belong to an input that counts as lost."
            )
    if made.topic.compacted:
        notes.append(
            f"{options.input} is compacted: inputs that were compacted away are not judged."
        )
    started = [p for p, extent in made.topic.partitions.items() if extent.start > 0]
    if started and any(made.window[p][0] == made.topic.partitions[p].start for p in started):
        notes.append(
            f"Retention has deleted the beginning of {options.input}: the window begins with the "
            "oldest records that are left."
        )
    for name, output_plan in made.outputs.items():
        if output_plan.topic.compacted:
            notes.append(
                f"{name} is compacted: a missing effect may have been compacted away, so only "
                "duplicates are judged."
            )
        if output_plan.oldest is not None:
            notes.append(
                f"Retention has deleted the beginning of {name}: inputs whose effects may have "
                "been there are undecided."
            )
    notes.append(
        "Records of aborted transactions are not inputs. An effect of such a record counts as an "
        "effect of an input that was not read."
    )
    return tuple(notes)


def _time(at: int | None) -> str | None:
    if at is None or at < 0:
        return None
    return (
        datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    )
