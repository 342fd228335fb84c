"""A user's pipeline as a subject: its command is started unchanged.

The harness knows only its outputs, and whether it keeps a Spark checkpoint in a folder that the
harness can watch: it does if its command has the placeholder `{checkpoint}`.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from onceproof.harness.artemis.configuration import Artemis
from onceproof.harness.context.pipeline import Pipeline, PipelineParts
from onceproof.harness.context.run_context import addresses
from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.history.system import System
from onceproof.harness.history.tables import read_lines
from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.kafka.following import Followers
from onceproof.harness.kafka.log_reader import LogReader, PartitionLog
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.processes import ExternalProcess, Process
from onceproof.harness.queues.log import QueueLog
from onceproof.harness.sinks.base import Sink
from onceproof.harness.stage.backends import DOCKER
from onceproof.harness.stage.database_login import credentials, for_programs
from onceproof.harness.subjects.spark.subject import DRIVER
from onceproof.harness.user_pipeline.command import keep_running
from onceproof.harness.user_pipeline.dead_letters import DeadLetters
from onceproof.harness.user_pipeline.deployed import deployed
from onceproof.harness.user_pipeline.driver_classes import DriverClasses
from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.feed import feed_of
from onceproof.harness.user_pipeline.final_state import contributions
from onceproof.harness.user_pipeline.group_commits import GroupCommits
from onceproof.harness.user_pipeline.health import health_of
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.user_pipeline.instances import PLACEHOLDER, several
from onceproof.harness.user_pipeline.kill_command import KillCommand
from onceproof.harness.user_pipeline.lateness import lateness, timed
from onceproof.harness.user_pipeline.look import QUIET, Look, inputs_of
from onceproof.harness.user_pipeline.meanings import CLIENT_FILES, DATABASE, meanings_of
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.outputs.http import HTTP
from onceproof.harness.user_pipeline.outputs.kind import OutputAccess
from onceproof.harness.user_pipeline.outputs.output import Output
from onceproof.harness.user_pipeline.placeholders import fill, input_word, words
from onceproof.harness.user_pipeline.program import PROGRAM, Companion, Program
from onceproof.harness.user_pipeline.several_inputs import SeveralInputs
from onceproof.harness.user_pipeline.spark import OwnSpark
from onceproof.harness.user_pipeline.together import CombinedOutputs, OwnOutput

NAME: Final = "own-pipeline"
_SYSTEMS: Final[Mapping[str, System]] = {
    "queue": System.QUEUE,
    HTTP: System.WEB,
    "postgres": System.DATABASE,
    "topic": System.CONSUMER,
}
"""By kind of output; the first that it has counts."""
_SPARK_DIRS: Final = "SPARK_LOCAL_DIRS"


@dataclass(frozen=True, kw_only=True)
class OwnPipeline(SubjectBase):
    """A user's pipeline.

    Attributes:
        command: program and arguments, with placeholders.
        orders: its inputs, in one topic or several.
        instances: number of processes of the command.
        dead_letters: where it writes inputs that it could not process.
        idempotency_key: header by which the HTTP service recognizes a repeated request.
        healthy: URL that answers 2xx while it is healthy; `{instance}` for each of several.
        image: Docker image to run with `command` as arguments; empty: run a program.
        compose, service: compose file and the service in it to run, with `command` instead of its
            own if there is one; empty: run a program.
        variables: environment variables, with placeholders in their values.
        feed: command that puts inputs where it reads them; empty: it reads a topic.
        stop_command, kill_command: end a service that is not a child process, because `command`
            only starts it and returns; with placeholders.
        upserts: where a value in its outputs has its key, if they keep one value per key.
        rest: seconds without a change after which its outputs are considered idle.
        pause: its longest usual pause between two writes, in seconds.
        profile: what the dry run learned, for the report.
        prepares: whether its next process may commit transactions of this one.
    """

    command: tuple[str, ...]
    folder: str
    outputs: tuple[Output, ...]
    orders: Orders | SeveralInputs
    instances: int = 1
    dead_letters: Output | None = None
    idempotency_key: str | None = None
    healthy: str | None = None
    image: str = ""
    compose: str = ""
    service: str = ""
    variables: tuple[tuple[str, str], ...] = ()
    feed: tuple[str, ...] = ()
    stop_command: tuple[str, ...] = ()
    kill_command: tuple[str, ...] = ()
    upserts: Rule | None = None
    rest: float = QUIET
    pause: float = 0.0
    profile: str | None = None
    prepares: bool = False

    @property
    def name(self) -> str:
        return NAME

    @property
    def says(self) -> str:
        return f"Your pipeline, started unchanged: {self.started_by}"

    @property
    def system(self) -> System | None:
        """As far as its command, its outputs and the dry run tell."""
        if self.spark:
            return System.SPARK
        if self.prepares:
            return System.FLINK
        kinds = {output.kind for output in self.outputs}
        return next((system for kind, system in _SYSTEMS.items() if kind in kinds), None)

    @property
    def started_by(self) -> str:
        """The command as typed in a shell."""
        before = [f"{name}={value}" for name, value in self.variables]
        if self.image:
            before = ["docker", "run", *(f"--env={one}" for one in before), self.image]
        if self.compose:
            run = ["docker", "compose", "--file", self.compose, "run"]
            before = [*run, *(f"--env={one}" for one in before), self.service]
        return shlex.join([*before, *self.command])

    @property
    def contained(self) -> bool:
        """Whether it is a container."""
        return bool(self.image or self.compose)

    @property
    def asked(self) -> frozenset[str]:
        """All placeholders that its commands use."""
        values = [value for _, value in self.variables]
        parts = (*self.command, *values, *self.stop_command, *self.kill_command)
        return frozenset[str]().union(*map(words, parts))

    @property
    def sink(self) -> str:
        return self.outputs[0].name

    @property
    def sinks(self) -> tuple[str, ...]:
        return tuple(output.name for output in self.outputs)

    @property
    def places(self) -> tuple[Output, ...]:
        """All its outputs, including dead letters."""
        return (*self.outputs, *(() if self.dead_letters is None else (self.dead_letters,)))

    @property
    def view(self) -> str:
        return self.outputs[0].view

    @property
    def queues(self) -> tuple[str, ...]:
        return tuple(place.queue for place in self.places if place.queue is not None)

    @property
    def http(self) -> HttpSettings | None:
        """The HTTP service, if an output is one."""
        paths = tuple(place.place for place in self.places if place.kind == HTTP)
        return HttpSettings(paths=paths, key=self.idempotency_key) if paths else None

    @property
    def from_queues(self) -> bool:
        """False: it consumes a topic."""
        return False

    @property
    def queue_broker(self) -> Artemis:
        """The default settings of a broker."""
        return Artemis()

    @property
    def named_by_header(self) -> bool:
        """Whether its effects would name even an input with a null value."""
        return all(str(place.identity) == f"header:{RECORD_HEADER}" for place in self.places)

    def comes_to(self, sink: str) -> Mapping[str | None, ExpectedEffects]:
        """Return the effects of an input in an output, by topic; None is the only topic."""
        return self.orders.by_input(sink)

    def comes_to_in_words(self, sink: str) -> str:
        """Describe how many effects each input has in an output."""
        of = self.comes_to(sink).items()
        return ", ".join(f"{topic}: {each}" if topic else str(each) for topic, each in of)

    @property
    def _state_orders(self) -> Orders | None:
        """The workload, if the outputs are state tables."""
        orders = self.orders
        return orders if isinstance(orders, Orders) and orders.states else None

    @property
    def spark(self) -> bool:
        """Whether it keeps a checkpoint in a watched folder."""
        return any("checkpoint" in words(part) for part in self.command)

    @property
    def deployed(self) -> bool:
        """Whether it is a service that only commands control."""
        return bool(self.kill_command)

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({DRIVER if self.spark else PROGRAM})

    def configuration(self) -> Mapping[str, Any]:
        settings = {
            "command": self.started_by,
            "outputs": ", ".join(str(output) for output in self.outputs),
            "effects per input": ", ".join({self.comes_to_in_words(s): s for s in self.sinks}),
        }
        if self.instances > 1:
            settings["instances"] = str(self.instances)
        if (times := self.orders.times) is not None:
            settings["event time"] = str(times)
        if self.dead_letters is not None:
            settings["dead letters"] = str(self.dead_letters)
        if self.profile is not None:
            settings["profile"] = self.profile
        if self.deployed:
            settings["stop command"] = shlex.join(self.stop_command)
            settings["kill command"] = shlex.join(self.kill_command)
        if self.feed:
            settings["feed command"] = shlex.join(self.feed)
        if self.healthy is not None:
            settings["health URL"] = self.healthy
        if self.upserts is not None:
            settings["upsert key"] = str(self.upserts)
        return {"pipeline": settings}

    def pipeline(self, parts: PipelineParts) -> Pipeline:
        checkpoint = parts.work / "checkpoint"
        asked = self.asked
        meanings = meanings_of(parts, checkpoint, asked)
        meanings |= {input_word(topic): topic for topic in self.orders.topics}
        meanings["instance"] = PLACEHOLDER if self.instances > 1 else "0"
        meanings |= {
            "output": self.outputs[0].place,
            "group": NAME,
            "client_id": f"{NAME}-{meanings['instance']}",
        }
        command = [fill(part, meanings) for part in self.command]
        if self.instances > 1:
            command = several(self.instances, command)
        look = self._look(parts)
        look.check_empty()
        health = None if self.healthy is None else health_of(self.healthy, self.instances)
        if health is not None:
            health.check_free()
        look.close()  # a Spark job is observed by other means
        environment = {"SPARK_LOCAL_IP": parts.address}
        if asked & DATABASE:
            environment |= for_programs(parts.stage.database("pipeline"))[1]
        if _SPARK_DIRS not in os.environ:
            # A driver removes its local files only in an orderly end.
            environment[_SPARK_DIRS] = str(parts.work / "spark-local")
        variables = {name: fill(value, meanings) for name, value in self.variables}
        environment |= variables
        folder = Path(self.folder)
        if self.spark:
            classes = DriverClasses(self.command, self.folder)
            learned = self.profile is not None
            environment |= classes.using() if learned else classes.recording()
            return OwnSpark(
                command=command,
                checkpoint=checkpoint,
                parts=parts,
                environment=environment,
                folder=folder,
            )

        outside: ExternalProcess | None = None
        beside: list[Companion] = []
        if self.feed:
            beside.append(feed_of(self.feed, folder=folder, parts=parts, meanings=meanings))
        if self.contained:
            # Slow to import, and not needed without Docker.
            from onceproof.harness.user_pipeline.compose_service import (
                ComposeService,
                ServiceContainers,
            )
            from onceproof.harness.user_pipeline.container import Container, Image, Watch

            image = (
                Image.find(self.image, parts.processes)
                if self.image
                else ServiceContainers.of(
                    ComposeService.find(Path(self.compose), self.service),
                    parts.processes,
                    parts.work,
                )
            )
            outside = Container(image=image)
            beside += [Watch(image=image)] if parts.stage.backend != DOCKER else []
            if asked & DATABASE:
                variables["PGPASSWORD"] = credentials(parts.stage.database("pipeline")).password
            seen = {parts.work, *(Path(meanings[w]).parent for w in asked & CLIENT_FILES.keys())}
            command = image.command(command, variables=variables, folders=sorted(seen))
            environment |= {**variables, **image.environment}
        elif self.kill_command and health is not None:
            kill = tuple(fill(part, meanings) for part in self.kill_command)
            outside = KillCommand(command=kill, health=health)

        def began(process: Process) -> None:
            process.outside = outside

        if self.deployed:
            command = deployed(command, [fill(part, meanings) for part in self.stop_command])
        supervisor = keep_running(
            "pipeline",
            command,
            processes=parts.processes,
            environment=environment,
            folder=folder,
            progress=look.size,
            began=began,
        )
        return Program(supervisor, look, parts.stop, health, prepares=self.prepares, beside=beside)

    def lateness(
        self, logs: Sequence[PartitionLog], sink: Sink, history: Path
    ) -> Mapping[tuple[int, int], str]:
        times = self.orders.times
        if times is None:
            return {}
        assert isinstance(sink, CombinedOutputs), "expected the result of open_sink"
        sends = read_lines(history).tables["sends"].to_pylist()
        inputs = timed(logs, times=times, served=sink.named(), sends=sends)
        return lateness(inputs, times.lateness)

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> CombinedOutputs:
        where = OutputAccess(database=database, reader=reader, work=work)
        sinks = [self._open(output, where) for output in self.outputs]
        if self.dead_letters is None:
            return CombinedOutputs(sinks)
        letters = self.dead_letters.open(
            where, dict.fromkeys(self.comes_to(self.sink), ExpectedEffects())
        )
        return CombinedOutputs(
            sinks, DeadLetters(letters, [output.view for output in self.outputs])
        )

    def _open(self, output: Output, where: OutputAccess) -> OwnOutput:
        yields = self.comes_to(output.name)
        if self.upserts is None:
            return output.open(where, yields)
        (only,) = yields.values()
        return output.open_upserts(where, self.upserts, only)

    def _look(self, parts: PipelineParts) -> Look:
        stage = parts.stage
        queues = {name: QueueLog(stage.queues(), name) for name in self.queues}
        followers = Followers(addresses(stage), queues)
        reader = followers.reader
        return Look(
            topics=self.orders.topics,
            groups=GroupCommits(
                self.orders.topics, addresses=addresses(stage).values(), reader=reader
            ),
            reader=reader,
            sink=lambda reader: self.open_sink(
                database=stage.database(AUDITOR), reader=reader, work=parts.work
            ),
            sent=frozenset(
                record.record
                for n in range(self.orders.producers)
                for record in self.orders.sends(producer=n, seed=parts.seed)
            ),
            required=self.orders.required(seed=parts.seed),
            elsewhere=tuple(self.orders.elsewhere(sink, seed=parts.seed) for sink in self.sinks),
            sentinels=self.orders.required_sentinels(seed=parts.seed),
            rest=self.rest,
            pause=self.pause,
            upserts=self.upserts is not None,
            keys=tuple(
                orders.state_keys(sink, seed=parts.seed)
                for orders in filter(None, [self._state_orders])
                for sink in self.sinks
            ),
            close=followers.close,
        )

    def contributions_of_log(self, reader: LogReader) -> Iterator[dict[str, Any]]:
        """Yield contributions to state tables, whose contents depend on the order of the log."""
        orders = self._state_orders
        if orders is None:
            return
        partitions = [
            [
                (
                    entry.headers[RECORD_HEADER].decode(),
                    None if entry.value is None else entry.value.decode(),
                )
                for entry in inputs_of(log)
            ]
            for log in reader.read_topic(orders.topic)
        ]
        for sink in self.sinks:
            yield from contributions(orders.final(sink), partitions, sink=sink)
