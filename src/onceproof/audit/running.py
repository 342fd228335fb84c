"""Run an audit from plan to report."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from onceproof.audit.judging import claims_of, judge
from onceproof.audit.options import AuditOptions
from onceproof.audit.progress import Progress
from onceproof.audit.telling import report_of
from onceproof.checkers.engines.settings import Settings
from onceproof.harness.audit.cluster import Cluster, Extent, Topic
from onceproof.harness.audit.folder import AuditFolder
from onceproof.harness.audit.history import make_history
from onceproof.harness.audit.judged import Judged, Side
from onceproof.harness.audit.plan import AuditRequest, OutputPlan, Plan, plan
from onceproof.harness.audit.reading import Extraction, Range, read_source
from onceproof.harness.audit.workers import Task, read_all
from onceproof.harness.kafka.connecting.connection import Connection
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.user_pipeline.outputs.kind import OutputAccess
from onceproof.harness.user_pipeline.outputs.kinds import output_kinds
from onceproof.harness.user_pipeline.outputs.output import Output
from onceproof.harness.wait import Stop
from onceproof.reports.audit.model import AuditReport
from onceproof.reports.audit.page import render
from onceproof.reports.write import write_whole

_FORMAT: Final = "onceproof-audit-plan/1"


class UnreadableAudit(ValueError):
    """A folder has no audit that can be resumed; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """One audit.

    Attributes:
        connection: cluster address and credentials, which are never written to disk.
        database: connection string of the outputs' database; never written to disk either.
    """

    folder: AuditFolder
    options: AuditOptions
    connection: Connection
    database: str
    settings: Settings

    def run(self, stop: Stop) -> AuditReport | None:
        """Read, judge and report; return None if it was stopped before everything was read.

        Raises:
            BadAudit, BadBound, UnreadableCluster, UnreadableOutput, BadRule: see there.
        """
        began = time.monotonic()
        wanted = self.options.wanted(self.database)
        made = self._plan(wanted)
        if not self._read(wanted, made, stop):
            return None
        print("judging  what was read", file=sys.stderr)
        sides = tuple(_side(wanted, made, n) for n in range(len(wanted.outputs)))
        aside = None if wanted.dead_letters is None else _side(wanted, made, len(sides))
        of = Judged(
            input=wanted.input,
            outputs=sides,
            dead=aside,
            window=made.window,
            settle=round(wanted.settle * 1000),
            now=made.now,
            committed=made.committed,
            whole=made.whole,
            nameless=self.options.ignore_nameless,
        )
        counts = make_history(of, self.folder, self.settings.memory)
        compacted = [name for name, out in made.outputs.items() if out.topic.compacted]
        claims = claims_of(
            self.options.claims, wanted.input, sides, compacted, aside.name if aside else None
        )
        judged = (
            judge(self.folder, claims, self.settings)
            if any(p.judged for p in counts.partitions)
            else None
        )
        report = report_of(
            self.options, made, counts, claims, judged, seconds=time.monotonic() - began
        )
        write_whole(self.folder.data, report.model_dump_json(indent=1) + "\n")
        write_whole(self.folder.page, render(report))
        return report

    def _plan(self, wanted: AuditRequest) -> Plan:
        if self.folder.plan.exists():
            return load_plan(self.folder)[1]
        made = plan(wanted, Cluster(self.connection), now=time.time_ns() // 1_000_000)
        content = {
            "format": _FORMAT,
            "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "options": json.loads(self.options.as_json()),
            "plan": asdict(made),
        }
        write_whole(self.folder.plan, json.dumps(content, indent=1) + "\n")
        return made

    def _read(self, wanted: AuditRequest, made: Plan, stop: Stop) -> bool:
        tasks = self._tasks(wanted, made)
        progress = Progress(
            total=sum(task.of.last - task.of.first for task in tasks), out=sys.stderr
        )
        with stop.in_order():
            done = read_all(
                tasks,
                self.connection.librdkafka(),
                workers=self.options.workers,
                read=progress.add,
                stop=stop,
            )
        if not done:
            return False
        for number, output in enumerate(wanted.places):
            if output.topic is None:
                source = self._source(output)
                take = Extraction(identity=output.rule, yields=wanted.yields[output.name])
                read_source(source, take, self.folder.raw(str(number)))
        return True

    def _tasks(self, wanted: AuditRequest, made: Plan) -> list[Task]:
        functions = {
            str(number): wanted.yields[output.name]
            for number, output in enumerate(wanted.places)
            if wanted.yields[output.name].function is not None
        }
        tasks = [_task(wanted.input, p, ends, "read_committed") for p, ends in made.read.items()]
        found = [
            Task(
                of=of,
                take=Extraction(
                    identity=wanted.input_identity, yields=functions, decode=wanted.decode_input
                ),
                folder=self.folder.raw("input"),
            )
            for of in tasks
        ]
        for number, output in enumerate(wanted.places):
            if output.topic is not None:
                take = Extraction(
                    identity=output.rule,
                    yields=wanted.yields[output.name],
                    decode=output.decode,
                )
                found += [
                    Task(
                        of=_task(output.topic, p, ends, output.view),
                        take=take,
                        folder=self.folder.raw(str(number)),
                    )
                    for p, ends in made.outputs[output.name].read.items()
                ]
        return found

    def _source(self, output: Output) -> Any:
        where = OutputAccess(
            database=self.database,
            reader=LogReader(ClusterView({}), {}),  # topics are read as ranges instead
            work=self.folder.path,
        )
        return output_kinds()[output.kind].views[output.view](output.place, where)


def load_plan(folder: AuditFolder) -> tuple[AuditOptions, Plan, str]:
    """Return options, plan and start time; raise `UnreadableAudit` if no audit can be resumed."""
    try:
        content = json.loads(folder.plan.read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            raise UnreadableAudit(f"{folder.plan}: expected {_FORMAT}; start a new audit")
        return (
            AuditOptions.from_json(content["options"]),
            _plan_from(content["plan"]),
            content["started_at"],
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnreadableAudit(
            f"{folder.path} contains no audit that can be resumed ({error}); give the folder that "
            "`onceproof audit` printed, or start a new audit"
        ) from None


def _plan_from(data: dict[str, Any]) -> Plan:
    return Plan(
        topic=_topic_from(data["topic"]),
        window=_offsets_from(data["window"]),
        read=_offsets_from(data["read"]),
        outputs={
            name: OutputPlan(
                read=_offsets_from(out["read"]),
                topic=_topic_from(out["topic"]),
                oldest=out["oldest"],
                newest=out["newest"],
            )
            for name, out in data["outputs"].items()
        },
        committed=data["committed"] and {int(p): at for p, at in data["committed"].items()},
        open={
            name: {int(p): at for p, at in times.items()} for name, times in data["open"].items()
        },
        now=data["now"],
    )


def _topic_from(data: dict[str, Any]) -> Topic:
    return Topic(
        name=data["name"],
        partitions={int(p): Extent(**extent) for p, extent in data["partitions"].items()},
        compacted=data["compacted"],
    )


def _offsets_from(data: dict[str, Any]) -> dict[int, tuple[int, int]]:
    return {int(p): (first, last) for p, (first, last) in data.items()}


def _task(topic: str, partition: int, ends: tuple[int, int], isolation: str) -> Range:
    return Range(topic=topic, partition=partition, first=ends[0], last=ends[1], isolation=isolation)


def _side(wanted: AuditRequest, made: Plan, number: int) -> Side:
    output = wanted.places[number]
    yields = wanted.yields[output.name]
    topic = made.outputs.get(output.name)
    return Side(
        name=output.name,
        view=output.view,
        number=number,
        topic=topic is not None,
        most=None if yields.function is not None else yields.most,
        optional=yields.optional,
        ranked=not yields.only_one and yields.key is None,
        oldest=None if topic is None else topic.oldest,
        newest=None if topic is None else topic.newest,
    )


def create(out: Path, topic: str) -> AuditFolder:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    return AuditFolder.create(out / f"{stamp}-audit-{topic}")
