"""Assemble the parts of a run, and tear them down, even if `arrange` failed half-way."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from onceproof.checkers.claims import claim_to_json
from onceproof.harness.clock import clock_id
from onceproof.harness.context.pipeline import Pipeline, PipelineParts
from onceproof.harness.context.recorder import Recorder
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.context.subject import OnQueues
from onceproof.harness.history.folder import RunFolder
from onceproof.harness.history.run_record import RunRecord, Step, Written
from onceproof.harness.kafka.features import TRANSACTION_VERSION, finalize
from onceproof.harness.kafka.single_partition_log import SinglePartitionLog
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.blocks import take_block
from onceproof.harness.links.topology import AUDITOR, Link
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.processes.watchdog import Watchdog
from onceproof.harness.queues.base import Queues
from onceproof.harness.queues.log import QueueLog
from onceproof.harness.run.empty_sink import check_empty
from onceproof.harness.schedule.as_json import schedule_to_json
from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.stage.backends import BROKERS, LOCAL, new_stage, outlives_runs
from onceproof.harness.subjects.expected import write_expected
from onceproof.harness.tools.runtimes.known import CHOSEN, OF_THE_STAGE
from onceproof.harness.tools.runtimes.python_client import distribution_version, exact_version
from onceproof.harness.tools.runtimes.settings import known_settings
from onceproof.harness.tools.runtimes.usual import usual
from onceproof.harness.tools.setup import Tools
from onceproof.harness.tools.versions import host, versions
from onceproof.harness.wait import Interrupted, Stop
from onceproof.harness.workload.control import Producers
from onceproof.harness.workload.file_log import FileLog
from onceproof.harness.workload.senders.base import Versioned


class RunAssembly:
    """The parts of one run."""

    def __init__(
        self,
        *,
        scenario: Scenario,
        seed: int,
        folder: RunFolder,
        tools: Tools,
        recorder: Recorder,
        stop: Stop,
        marker: str,
        repeat: str,
        remove: Sequence[Path] = (),
        backend: str = LOCAL,
    ) -> None:
        self._scenario = scenario
        self._seed = seed
        self._folder = folder
        self._tools = tools
        self._recorder = recorder
        self._stop = stop
        self._repeat = repeat
        self._backend = backend
        self._block = take_block()
        self._processes = Processes(marker, folder.logs, recorder.process)
        self._stage = new_stage(
            backend,
            tools=tools.stage,
            processes=self._processes,
            work=folder.work,
            block=self._block,
            stop=stop,
            brokers=BROKERS if scenario.all_topics else 0,
            queues=_queues(scenario, tools),
            http=scenario.http,
        )
        self._record = self._new_record()
        self._record.save(folder.path)
        self._watchdog = Watchdog(
            marker,
            log=folder.logs / "reaper.log",
            holds=[self._block.fileno()],
            remove=[folder.work, *self._stage.scratch, *remove],
        )
        self._pipeline: Pipeline | None = None
        self._producers: Producers | None = None

    def arrange(self) -> RunContext:
        """Write the expected effects, start the stage, create topics."""
        expected, contributions = write_expected(
            self._folder.history, self._scenario.subject, self._scenario.workload, self._seed
        )
        # Also in the run record, so that a row that is lost later is noticed.
        self._record.model_copy(update={"written": self._written(expected, contributions)}).save(
            self._folder.path
        )
        self._stage.start()
        if (version := self._scenario.transaction_version) is not None:
            finalize(self._stage.bootstrap(AUDITOR), version, stop=self._stop)
        workload, subject = self._scenario.workload, self._scenario.subject
        for topic in self._scenario.all_topics:
            create_topics(
                self._stage.bootstrap(AUDITOR),
                [topic.name],
                partitions=topic.partitions,
                brokers=len(self._stage.brokers),
                settings=topic.settings,
            )
            self._stage.created([topic.name])
        self._place_gates()
        self._pipeline = subject.pipeline(
            PipelineParts(
                stage=self._stage,
                tools=self._tools,
                processes=self._processes,
                work=self._folder.work,
                history=self._folder.history,
                address=self._block.address(30, 1),
                topic=workload.topic,
                seed=self._seed,
                stop=self._stop,
            )
        )
        self._producers = Producers(
            workload=workload,
            seed=self._seed,
            bootstrap=(
                self._stage.queue_broker("producer")
                if self._scenario.into_queues
                else self._stage.bootstrap("producer")
            ),
            processes=self._processes,
            history=self._folder.history,
            work=self._folder.work,
            stop=self._stop,
            sender=self._scenario.sender,
            # A sender that is not under test stays as it is.
            tools=self._tools if subject.sends else self._tools.usual,
        )
        elsewhere = self._elsewhere()
        topics = [*elsewhere, *(topic.name for topic in self._scenario.all_topics)]
        context = RunContext(
            stage=self._stage,
            subject=subject,
            pipeline=self._pipeline,
            producers=self._producers,
            recorder=self._recorder,
            stop=self._stop,
            topic=workload.topic,
            topics=tuple(sorted(topics, key=lambda name: name not in workload.topics)),
            work=self._folder.work,
            elsewhere=elsewhere,
        )
        if outlives_runs(self._backend):
            check_empty(context)
        return context

    def _elsewhere(self) -> dict[str, SinglePartitionLog]:
        files, queues = self._scenario.files, self._scenario.queues
        return {
            **{name: FileLog(self._folder.work / name, name) for name in files},
            **{name: QueueLog(self._stage.queues(), name) for name in queues},
        }

    def _place_gates(self) -> None:
        """Place gates on producers' links before records flow, because it closes connections."""
        if any("gates" in at.needs for at in self._scenario.schedule):
            for broker in self._stage.brokers:
                self._stage.gate(Link("producer", broker))

    def start_workload(self) -> None:
        assert self._producers is not None, "arrange() must be called first"
        self._producers.start()

    def tear_down(self) -> None:
        """End every process and remove the stage's data.

        Raises:
            ExceptionGroup: some steps failed; all others were carried out.
        """
        failures: list[Exception] = []
        steps: list[Callable[[], None]] = [
            self._stage.stop,
            lambda: self._processes.kill_all("torn down"),
        ]
        if self._pipeline is not None:
            # After close() nothing restarts processes; kill those started in the meantime.
            steps += [self._pipeline.close, lambda: self._processes.kill_all("torn down")]
        for step in steps:
            try:
                step()
            except Exception as error:
                failures.append(error)
            except Interrupted as reason:  # an interrupt of the run must not stop its tear-down
                failures.append(StageTrouble(f"interrupted: {reason}"))
        if failures:
            raise ExceptionGroup(f"tear-down failed: {'; '.join(map(str, failures))}", failures)

    def remove(self) -> None:
        """Remove the work folder and release the reaper and the loopback block."""
        shutil.rmtree(self._folder.work, ignore_errors=True)
        self._watchdog.release()
        self._block.release()

    def _written(self, expected: Mapping[str, int], contributions: Mapping[str, int]) -> Written:
        scenario = self._scenario
        return Written(
            records=scenario.workload.records,
            logs={
                **dict.fromkeys((*scenario.files, *scenario.queues), 1),
                **{topic.name: topic.partitions for topic in scenario.all_topics},
            },
            in_bytes=list(scenario.files),
            # Queues have no offsets, and those of a user's pipeline may be unknown.
            positions=bool(scenario.subject.sink) and not isinstance(scenario.subject, OnQueues),
            expected=dict(expected),
            contributions=dict(contributions),
        )

    def _settings_of_sender(self) -> dict[str, Any]:
        scenario, sender = self._scenario, self._scenario.sender
        settings = sender.settings(transactional=bool(scenario.workload.transaction))
        name = sender.runtime if scenario.subject.sends else None
        if name is None:
            return dict(settings)
        return known_settings(name, self._tools.chosen.versions.get(name), settings)

    def _settings_of_subject(self) -> dict[str, Any]:
        found = dict(self._scenario.subject.configuration())
        if (version := self._tools.chosen.versions.get("flink")) is not None:
            found["flink"] = {**found["flink"], "version": version}
        return found

    def _versions(self) -> dict[str, str]:
        """Return what runs: the harness's parts, the stage's, and the runtimes on trial."""
        on_trial = self._scenario.runtimes - OF_THE_STAGE
        chosen = self._tools.chosen
        exact = {name: exact_version(python) for name, python in chosen.pythons.items()}
        packages = dict(distribution_version(*each) for each in chosen.pythons.items())
        if self._scenario.subject.sends and isinstance(self._scenario.sender, Versioned):
            packages |= self._scenario.sender.versions()
        return {
            **versions(),
            **self._tools.versions(),
            **self._stage.versions(),
            **packages,
            # Flink has one usual version per scenario, which is in the configuration.
            **{name: usual(name) for name in sorted(on_trial - {"flink"})},
            **{name: v for name, v in {**chosen.versions, **exact}.items() if name in on_trial},
        }

    def _new_record(self) -> RunRecord:
        scenario = self._scenario
        return RunRecord(
            run=self._folder.path.name,
            scenario=scenario.name,
            source=scenario.source,
            title=scenario.title,
            seed=self._seed,
            repeat=self._repeat,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            clock=clock_id(),
            monotonic_ns=time.monotonic_ns(),
            wall_ns=time.time_ns(),
            host=host(),
            versions=self._versions(),
            subject=scenario.subject.name,
            subject_says=scenario.subject.says,
            system=scenario.subject.system,
            workload=asdict(scenario.workload),
            configuration={
                **self._stage.settings(),
                "producers": {
                    "client": scenario.sender.name,
                    **self._settings_of_sender(),
                },
                **self._settings_of_subject(),
                **(
                    {"features": {TRANSACTION_VERSION: scenario.transaction_version}}
                    if scenario.transaction_version is not None
                    else {}
                ),
                **({CHOSEN: dict(chosen)} if (chosen := self._tools.chosen.versions) else {}),
            },
            schedule=[
                Step(
                    fault=at.name,
                    kind=at.do.kind,
                    when=at.when(),
                    do=at.do.describe(),
                    until=at.until.describe(),
                    required=at.required,
                )
                for at in scenario.schedule
            ],
            plan=schedule_to_json(scenario.schedule),
            claims=[claim_to_json(claim) for claim in scenario.claims],
        )


def _queues(scenario: Scenario, tools: Tools) -> Queues | None:
    settings, subject = scenario.queue_broker, scenario.subject
    if settings is None:
        return None
    if isinstance(subject, OnQueues) and not subject.from_queues:
        return Queues(unconsumed=scenario.queues, settings=settings, tools=tools)
    return Queues(addresses=scenario.queues, settings=settings, tools=tools)
