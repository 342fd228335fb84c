"""Run one service of a user's compose project in the foreground, on the host's network.

`docker compose config` resolves the file, so that image, command, environment, user, volumes and
secrets are those that `docker compose --file FILE up` would take. What ties the service to its
project is left out: networks, published ports and dependencies. Named volumes are new in each run.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from docker.errors import ImageNotFound

from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.tools.docker_engine import Engine, connect
from onceproof.harness.tools.error import SetupError
from onceproof.harness.user_pipeline.container import Image, labels

_SECONDS: Final = 60.0
_PROJECT_ONLY: Final = frozenset(
    {"build", "container_name", "depends_on", "deploy", "expose", "external_links", "links",
     "networks", "ports", "profiles", "pull_policy", "restart", "scale"}
)  # fmt: skip
"""What a service says of its project, and what would start it again by itself."""
_SHARED: Final = ("volumes_from", "network_mode", "pid", "ipc")
"""What may be another service's."""
_HOST: Final = re.compile("HOST|SERVER|ADDR|BROKER|ENDPOINT|UR[IL]", re.IGNORECASE)
"""Variables whose value may be a host without a port."""
_ADVICE: Final = (
    (re.compile("kafka|redpanda|broker"), "{bootstrap}"),
    (re.compile("postgres"), "{database_url}"),
    (re.compile("artemis|activemq"), "{queues}"),
)


@dataclass(frozen=True, kw_only=True)
class ComposeService:
    """A service as `docker compose config` shows it.

    Attributes:
        project: the whole configuration.
        name: the name of the service.
    """

    engine: Engine
    file: Path
    name: str
    project: Mapping[str, Any]

    @classmethod
    def find(cls, file: Path, name: str) -> ComposeService:
        """Look up a service and its image.

        Raises:
            StageTrouble: there is no engine, the file cannot be used, it has no such service, or
                the engine does not have the image.
        """
        try:
            engine = connect(otherwise="or leave out `--compose`")
        except SetupError as error:
            raise StageTrouble(str(error).rstrip(".")) from None
        found = cls(engine=engine, file=file, name=name, project=_resolved(engine, file))
        if name not in found.project["services"]:
            there = ", ".join(sorted(found.project["services"]))
            raise StageTrouble(f"--service {name}: {file} has no such service; it has {there}")
        try:
            engine.client.images.get(found.image)
        except ImageNotFound:
            raise StageTrouble(
                f"--service {name}: the Docker engine does not have its image {found.image}; run "
                f"`docker compose --file {file} {'build' if found._built else 'pull'} {name}`"
            ) from None
        return found

    @property
    def image(self) -> str:
        named = self._said.get("image")
        return str(named or f"{self.project['name']}-{self.name}")

    def check(self, replaced: Collection[str], command: Sequence[str]) -> None:
        """Check that it can run alone.

        Args:
            replaced: environment variables that the trial sets.
            command: arguments that replace those of the service; empty: its own.

        Raises:
            StageTrouble: a variable or the command leads to another service, or it shares
                something with one, or writes to a volume that is not the trial's own.
        """
        self._check_alone()
        self._check_volumes()
        for name, text in self._texts(replaced, command):
            for other, said in self.project["services"].items():
                if other != self.name:
                    self._check_leads_not(other, said, name, text)

    def _check_alone(self) -> None:
        for key in _SHARED:
            said = self._said.get(key)
            if said and (key == "volumes_from" or str(said).startswith("service:")):
                raise StageTrouble(
                    f"service {self.name} has {key}: {said}, but no other service runs "
                    "in a trial; leave it out in a compose file for trials"
                )

    def _check_volumes(self) -> None:
        for mount in self._said.get("volumes") or []:
            spec = self.project.get("volumes", {}).get(mount.get("source")) or {}
            if mount.get("type") == "volume" and spec.get("external"):
                raise StageTrouble(
                    f"service {self.name} uses the external volume {mount['source']}, which a "
                    "trial would write to; leave it out in a compose file for trials"
                )

    def _check_leads_not(self, other: str, said: Mapping[str, Any], name: str, text: str) -> None:
        if not any(_leads_to(host, name, text) for host in _hosts(other, said)):
            return
        # Its value may have a password.
        what = f"the variable {name}" if name else f"an argument ({_public(text)})"
        word = _word_for(f"{other} {said.get('image', '')}")
        remedy = f"--env {name}={word}" if name else "the command after --"
        raise StageTrouble(
            f"{what} of service {self.name} leads to service {other}, which does not "
            f"run in a trial; give {remedy}"
        )

    def write(self, file: Path, marks: Mapping[str, str]) -> None:
        """Write a compose file with this service alone, and volumes of its own.

        Args:
            marks: labels of everything that the engine creates for it.
        """
        own = {key: value for key, value in self._said.items() if key not in _PROJECT_ONLY}
        if resources := (self._said.get("deploy") or {}).get("resources"):
            own["deploy"] = {"resources": resources}
        own |= {
            "image": self.image,
            "network_mode": "host",
            "labels": {**own.get("labels", {}), **marks},
        }
        volumes = {
            key: {"labels": dict(marks)}
            for key, spec in self.project.get("volumes", {}).items()
            if not (spec or {}).get("external")
        }
        parts = {key: self.project[key] for key in ("secrets", "configs") if key in self.project}
        content = {"services": {self.name: own}, "volumes": volumes, **parts}
        file.write_text(json.dumps(content, indent=2))

    @property
    def _said(self) -> Mapping[str, Any]:
        said: Mapping[str, Any] = self.project["services"][self.name]
        return said

    @property
    def _built(self) -> bool:
        return "build" in self._said

    def _texts(
        self, replaced: Collection[str], command: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        """Yield each variable, by its name, and each argument, without one."""
        for name, value in (self._said.get("environment") or {}).items():
            if name not in replaced and value is not None:
                yield name, value
        own = [] if command else self._said.get("command") or []
        yield from (("", word) for word in (*(self._said.get("entrypoint") or []), *own))


@dataclass(frozen=True, kw_only=True)
class ServiceContainers(Image):
    """The containers of a service in one run; `name` is the service's."""

    service: ComposeService
    folder: Path
    """For its compose file."""

    @classmethod
    def of(cls, service: ComposeService, processes: Processes, folder: Path) -> ServiceContainers:
        return cls(
            name=service.name,
            engine=service.engine,
            processes=processes,
            service=service,
            folder=folder,
        )

    def command(
        self, arguments: Sequence[str], *, variables: Iterable[str], folders: Collection[Path]
    ) -> list[str]:
        """Return the `docker compose run` command; arguments as for an image."""
        file = self.folder / "pipeline-compose.json"
        self.service.write(file, labels(self.processes))
        return [
            *(self.engine.program, "compose", "--file", str(file)),
            *("--project-name", f"onceproof-{self.processes.marker}-pipeline"),
            *("run", "--rm", "--no-TTY", "--pull", "never"),
            *(f"--volume={folder}:{folder}" for folder in folders),
            *(f"--env={name}" for name in variables),
            self.name,
            *arguments,
        ]


def _resolved(engine: Engine, file: Path) -> Mapping[str, Any]:
    command = [engine.program, "compose", "--file", str(file), "--profile", "*", "config"]
    try:
        done = subprocess.run(
            [*command, "--format", "json"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise StageTrouble(f"--compose {file}: no answer in {_SECONDS:g} s") from None
    if done.returncode != 0:
        *_, said = ["the command printed no error", *done.stderr.strip().splitlines()]
        raise StageTrouble(f"--compose {file} cannot be used: {said.rstrip('.')}")
    project: Mapping[str, Any] = json.loads(done.stdout)
    return project


def _hosts(service: str, said: Mapping[str, Any]) -> set[str]:
    """Return the names by which a service is reached."""
    networks = said.get("networks") or {}
    aliases = (a for spec in networks.values() for a in (spec or {}).get("aliases") or [])
    names = {service, said.get("container_name"), said.get("hostname"), *aliases}
    return {str(name) for name in names if name}


def _public(text: str) -> str:
    return re.sub(r"//[^@/]*@", "//…@", text)


def _leads_to(service: str, name: str, text: str) -> bool:
    """Return whether a text has a service as a host: `host:9092`, `//host/`, or `HOST=host`."""
    host = re.escape(service)
    if re.search(rf"(?<![\w.-]){host}:\d|(@|//){host}(?![\w.-])", text):
        return True
    return text == service and bool(_HOST.search(name))


def _word_for(described: str) -> str:
    return next((word for pattern, word in _ADVICE if pattern.search(described)), "…")
