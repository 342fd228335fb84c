"""A worker of Kafka Connect whose source connector copies the records of a trial elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.checkers import Claim, exactly_once
from onceproof.harness.explore.bench.lanes.base import in_turn, kind_of
from onceproof.harness.explore.bench.lanes.copier import VIEW, CopierLane
from onceproof.harness.explore.bench.lanes.reader import PARTITIONS
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.blocks import free_ports
from onceproof.harness.processes.processes import Process
from onceproof.harness.sinks.copies import CopiesTopic
from onceproof.harness.sinks.topic import TopicSink
from onceproof.harness.subjects.connect.login import Login
from onceproof.harness.subjects.connect.offsets import SourceOffsets
from onceproof.harness.subjects.connect.rest import RestClient
from onceproof.harness.subjects.connect.source import MirrorSource
from onceproof.harness.subjects.connect.worker import WorkerTask, connect_program

_HOST: Final = "127.0.0.1"
_LIFE: Final = "ONCEPROOF_LIFE"
"""Environment variable of a worker with the beginning of its client ids."""
_STORES: Final = ("config", "offset", "status")
"""What a worker keeps in topics."""
_CLIENTS: Final = ("producer.override", "consumer.override", "admin.override", "source.consumer")
"""Prefixes of the settings of a connector's clients."""


@dataclass(kw_only=True)
class ConnectLane(CopierLane):
    """A worker with MirrorMaker's source connector, in a group and with topics of its own.

    The connector's settings are in a topic, so all lives have the same ones; they take the client
    ids from the environment. The clients that the worker uses for its own topics have other client
    ids, so that they are not explored: they work when they like.

    Attributes:
        exactly: whether the offsets are in the transactions of the records.
    """

    role: ClassVar[str] = "worker"
    at_once: ClassVar[bool] = False
    exactly: bool = True
    _addresses: list[str] = field(default_factory=list, init=False)
    """Host and port of each life's REST API."""
    _created: bool = field(default=False, init=False)
    _running: bool = field(default=False, init=False)
    _failures: list[str] = field(default_factory=list, init=False)

    def client_ids(self, life: int) -> str:
        return f"{self.name}-{life}-*"

    @cached_property
    def _connector(self) -> MirrorSource:
        return MirrorSource(topic=self.source, exactly=self.exactly)

    @property
    def output(self) -> str:
        return self._connector.sink

    @property
    def topics(self) -> Mapping[str, int]:
        return {self.source: PARTITIONS, self.output: PARTITIONS}

    def claims(self) -> Sequence[Claim]:
        return [exactly_once(self.source, into=self.output, view=VIEW)]

    def prepare(self, reader: LogReader) -> None:
        """Create the worker's own topics: otherwise it does, which takes part of the trial."""
        create_topics(
            ",".join(self.around.addresses.values()),
            [self._store(what) for what in _STORES],
            partitions=1,
            brokers=len(self.around.addresses),
            settings={"cleanup.policy": "compact"},
        )

    def _store(self, what: str) -> str:
        return f"{self.name}-{what}"

    def _begin(self, member: str, client_id: str) -> Process:
        self._addresses.append(f"{_HOST}:{free_ports([_HOST], count=1)}")
        program = connect_program(self.around.tools)
        task = WorkerTask(
            **self._places(f"{client_id}-worker"),
            address=self._addresses[-1],
            settings={
                **self._connector.worker_settings,
                **{f"{what}.storage.topic": self._store(what) for what in _STORES},
                "plugin.path": str(self._folder / "plugins"),
                "config.providers": "env",
                "config.providers.env.class": (
                    "org.apache.kafka.common.config.provider.EnvVarConfigProvider"
                ),
            },
        )
        file = self._folder / f"{client_id}.properties"
        task.save(file)
        return self.around.processes.start(
            client_id, program.command(self._login.jaas, file), environment={_LIFE: client_id}
        )

    @cached_property
    def _folder(self) -> Path:
        folder = self.around.work / f"connect-{self.name}"
        (folder / "plugins").mkdir(parents=True)
        return folder

    @cached_property
    def _login(self) -> Login:
        return Login.new(self._folder)

    @cached_property
    def _rest(self) -> RestClient:
        return RestClient(self._login.authorization)

    def restart(self) -> None:
        """Start a worker that ended by itself, and tend the connector, which Connect does not."""
        super().restart()
        self._running = False
        if not self._created:
            self._created = self._joined() and self._create()
            return
        status = self._rest.status(self._answering(), self.name) or {}
        parts = [status.get("connector", {}), *status.get("tasks", ())]
        failed = [str(part.get("trace", "")) for part in parts if part.get("state") == "FAILED"]
        self._running = any(task["state"] == "RUNNING" for task in status.get("tasks", ()))
        if failed and any(self._rest.restart_failed(at, self.name) for at in self._answering()):
            self._failures += map(kind_of, failed)

    def _joined(self) -> bool:
        found = self.group.describe()
        return found.state == "Stable" and f"{self.lives[-1].name}-worker" in found.members

    def _create(self) -> bool:
        clients = dict.fromkeys(_CLIENTS, f"${{env:{_LIFE}}}-task")
        around = self.around
        own = self._connector.settings(around.bootstrap, brokers=len(around.addresses))
        settings = {
            **{name: value for name, value in own.items() if not name.startswith("offset-syncs")},
            # They are written outside the transactions, by a producer that is not explored.
            "emit.offset-syncs.enabled": "false",
            **{f"{prefix}.client.id": client for prefix, client in clients.items()},
        }
        return self._rest.create(self._addresses[-1], self.name, settings)

    def _answering(self) -> list[str]:
        """Return the addresses of the workers that can answer."""
        every = zip(self._addresses, self.lives, strict=True)
        return [at for at, life in every if life.leader_alive() and not life.frozen()]

    def ready(self) -> bool:
        """Return whether the task has once been running, so that each trial begins alike."""
        return bool(self._ends) or self._running

    @cached_property
    def _offsets(self) -> SourceOffsets:
        connector = self._connector
        return SourceOffsets(
            self.name, connector.place, self.around.reader, topic=self._store("offset")
        )

    def _offsets_so_far(self) -> Mapping[int, int]:
        return {commit.partition: commit.offset for commit in self._offsets.look()}

    def positions(self, reader: LogReader) -> list[Commit]:
        """Return the offsets in Connect's offsets topic, oldest first."""
        return self._offsets.look()

    @property
    def atomic_with(self) -> Sequence[str]:
        return [self.output] if self.exactly else []

    def perceived(self) -> str:
        return in_turn(self._failures) or "committed"

    def open_sink(self, reader: LogReader) -> TopicSink:
        return CopiesTopic(reader, topic=self.output, view=VIEW, keyed=self._connector.keyed)

    def expected(self) -> Iterable[Mapping[str, Any]]:
        return self.expected_of(self._connector)
