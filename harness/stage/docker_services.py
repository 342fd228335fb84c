"""Containers that only some runs have: the queue broker and the HTTP service.

They share toxiproxy's network and listen on its loopback, so that a connection to a service that is
gone is refused at once, as on the local stage. The auditor reaches them through a published port of
toxiproxy's container.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from onceproof.harness.artemis.auditor import auditor as artemis_auditor
from onceproof.harness.artemis.broker import STARTED
from onceproof.harness.artemis.configuration import Artemis, broker_xml
from onceproof.harness.artemis.programs import artemis_programs
from onceproof.harness.http_service.control import HttpControl
from onceproof.harness.http_service.log import log_of
from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.java.programs import JavaPrograms
from onceproof.harness.links.topology import (
    AUDITOR,
    HTTP_SERVICE,
    QUEUE_AUDIENCES,
    QUEUE_BROKER,
    Link,
)
from onceproof.harness.links.toxiproxy import ProxySpec
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.queues.auditor import QueueAuditor
from onceproof.harness.queues.base import Queues
from onceproof.harness.stage import docker_python
from onceproof.harness.stage.base import NO_HTTP_SERVICE, NO_QUEUES
from onceproof.harness.stage.docker_compose import QUEUE_IMAGE
from onceproof.harness.stage.docker_node import DockerNode
from onceproof.harness.stage.docker_topology import DockerTopology, behind_toxiproxy, inside
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.jar_lock import ARTEMIS as VERSION

_DATA: Final = "/var/lib/artemis"


class DockerService(Protocol):
    """A service that one run has."""

    @property
    def name(self) -> str: ...

    @property
    def audiences(self) -> tuple[str, ...]:
        """Its clients behind proxies."""

    @property
    def image(self) -> str: ...

    def prepare(self) -> Mapping[str, Any]:
        """Write what the container needs; return its entry in a compose file.

        Raises:
            SetupError: something that it needs is not available.
        """

    def up(self, node: DockerNode) -> bool:
        """Return whether it is ready."""


class DockerArtemis:
    """The queue broker: the same program as locally, in an image that has Java."""

    name = QUEUE_BROKER
    audiences = QUEUE_AUDIENCES

    def __init__(
        self,
        wanted: Queues,
        settings: Artemis,
        *,
        image: str,
        topology: DockerTopology,
        processes: Processes,
        work: Path,
    ) -> None:
        self.wanted = wanted
        self.image = image
        self.auditor = artemis_auditor(self._start_auditor, self._logs, wanted.unconsumed)
        self._settings = settings
        self._topology = topology
        self._processes = processes
        self._configuration = (work / QUEUE_BROKER / "broker.xml").absolute()
        self._programs: JavaPrograms | None = None

    def prepare(self) -> Mapping[str, Any]:
        self._programs = artemis_programs(self.wanted.tools)
        self._configuration.parent.mkdir(parents=True)
        self._configuration.write_text(
            broker_xml(
                self._settings,
                folder=Path(_DATA),
                listen={a: behind_toxiproxy(QUEUE_BROKER, a) for a in (*QUEUE_AUDIENCES, AUDITOR)},
                addresses=self.wanted.addresses,
                unconsumed=self.wanted.unconsumed,
            )
        )
        program = JavaPrograms(java=Path("java"), class_path=self._programs.class_path)
        return {
            "entrypoint": [str(w) for w in program.command("QueueBroker", self._configuration)],
            "user": "0:0",
            "mem_limit": "384m",
            "volumes": [
                *(f"{path}:{path}:ro" for path in [self._configuration, *program.needs()]),
                f"{QUEUE_BROKER}:{_DATA}",
            ],
        }

    def up(self, node: DockerNode) -> bool:
        return node.life.log.exists() and STARTED in node.life.log.read_bytes()

    def _logs(self) -> list[Path]:
        return sorted(self._processes.logs.glob(f"{QUEUE_BROKER}.*.log"))

    def _start_auditor(self) -> Process:
        assert self._programs is not None, "prepare() must be called first"
        where = self._topology.service(QUEUE_BROKER, AUDITOR)
        command = self._programs.command("QueueAuditor", where)
        return self._processes.start("queue-auditor", command, pipes=True)


class DockerHttpService:
    """The HTTP service: the same program as locally, in an image that has Python."""

    name = HTTP_SERVICE
    audiences = ("pipeline",)

    def __init__(self, settings: HttpSettings, *, topology: DockerTopology, work: Path) -> None:
        self.settings = settings
        self.image = docker_python.image()
        self._log = log_of(work).absolute()
        self._modules = (work / "http-service-modules").absolute()
        self.control = HttpControl(place=topology.service(HTTP_SERVICE, AUDITOR), file=self._log)

    def prepare(self) -> Mapping[str, Any]:
        docker_python.copy_modules(self._modules, ["harness/http_service"])
        # An existing file keeps its owner, so that the harness can read it.
        self._log.parent.mkdir(parents=True)
        self._log.touch(mode=0o600)
        places = [behind_toxiproxy(HTTP_SERVICE, audience) for audience in ("pipeline", AUDITOR)]
        return {
            "entrypoint": [
                *docker_python.program("onceproof.harness.http_service"),
                *(*places, str(self._log), json.dumps(asdict(self.settings))),
            ],
            "user": "0:0",
            "mem_limit": "128m",
            "environment": docker_python.environment(),
            "volumes": [
                f"{self._modules}:{docker_python.PLACE}:ro",
                f"{self._log.parent}:{self._log.parent}",
            ],
        }

    def up(self, node: DockerNode) -> bool:
        return self.control.answers()


@dataclass(frozen=True, kw_only=True)
class Services:
    """The services of one run.

    Attributes:
        labels: labels of everything that the run creates.
    """

    artemis: DockerArtemis | None
    http: DockerHttpService | None
    topology: DockerTopology
    labels: Mapping[str, str]

    @classmethod
    def wanted(
        cls,
        queues: Queues | None,
        http: HttpSettings | None,
        *,
        image: str,
        topology: DockerTopology,
        processes: Processes,
        work: Path,
        labels: Mapping[str, str],
    ) -> Services:
        """Return the services with these settings; `image` has Java."""
        artemis = service = None
        if queues is not None:
            if not isinstance(queues.settings, Artemis):
                raise SetupError(
                    f"{queues.settings.product} is not available as a container. "
                    "Use --backend local."
                )
            artemis = DockerArtemis(
                queues,
                queues.settings,
                image=os.environ.get(QUEUE_IMAGE, image),
                topology=topology,
                processes=processes,
                work=work,
            )
        if http is not None:
            service = DockerHttpService(http, topology=topology, work=work)
        return cls(artemis=artemis, http=service, topology=topology, labels=labels)

    @property
    def all(self) -> Mapping[str, DockerService]:
        there: list[DockerService | None] = [self.artemis, self.http]
        return {service.name: service for service in there if service is not None}

    def queue_broker(self, audience: str) -> str:
        self.queues()
        return self.topology.service(QUEUE_BROKER, audience)

    def queues(self) -> QueueAuditor:
        if self.artemis is None:
            raise StageTrouble(NO_QUEUES)
        return self.artemis.auditor

    def http_address(self) -> str:
        self.http_service()
        return self.topology.service(HTTP_SERVICE, "pipeline")

    def http_service(self) -> HttpControl:
        if self.http is None:
            raise StageTrouble(NO_HTTP_SERVICE)
        return self.http.control

    def listening(self, name: str, audience: str) -> str | None:
        """Return where a service listens for an audience, in toxiproxy's network."""
        return behind_toxiproxy(name, audience) if name in self.all else None

    def versions(self) -> dict[str, str]:
        return {} if self.artemis is None else {"artemis": VERSION}

    def settings(self) -> dict[str, object]:
        queues = self.artemis and {"queue broker": self.artemis.wanted.settings.as_configured()}
        http = self.http and {"HTTP service": asdict(self.http.settings)}
        return {**(queues or {}), **(http or {})}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.all)

    def images(self) -> dict[str, str]:
        return {name: service.image for name, service in self.all.items()}

    def links(self) -> set[Link]:
        return {Link(a, name) for name, service in self.all.items() for a in service.audiences}

    def proxies(self) -> list[ProxySpec]:
        """Return the proxies of their links, as toxiproxy has them."""
        return [
            ProxySpec(
                name=f"{link.source}.{link.target}",
                listen=f"0.0.0.0:{inside(link.source, link.target)}",
                upstream=behind_toxiproxy(link.target, link.source),
            )
            for link in sorted(self.links())
        ]

    def write_compose_file(self, file: Path) -> None:
        """Write a compose file to merge over docker-compose.yml; raises as `prepare`."""
        entries = {
            name: {
                "image": service.image,
                "labels": dict(self.labels),
                "network_mode": "service:toxiproxy",
                "stop_grace_period": "3s",
                # `$` begins a variable in a compose file.
                **json.loads(json.dumps(service.prepare()).replace("$", "$$")),
            }
            for name, service in self.all.items()
        }
        ports = [
            self.topology.publish(name, audience)
            for name, service in self.all.items()
            for audience in (*service.audiences, AUDITOR)
        ]
        volumes = {QUEUE_BROKER: {"labels": dict(self.labels)}} if QUEUE_BROKER in self.all else {}
        content = {
            "services": {**entries, "toxiproxy": {"ports": ports}},
            "volumes": volumes,
        }
        file.write_text(json.dumps(content, indent=2))
