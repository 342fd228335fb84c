"""Run a pipeline's Docker image in the foreground, on the host's network.

`docker run`, or `docker compose run`, is our child process and forwards SIGTERM. The container is
not, so pausing and killing go through the Docker engine. A watchdog removes the containers of a
killed harness.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from docker.errors import DockerException, ImageNotFound

from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.sweep import where
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.processes.watchdog import Watchdog
from onceproof.harness.stage import docker_reaper
from onceproof.harness.tools.docker_engine import Engine, connect
from onceproof.harness.tools.error import SetupError
from onceproof.harness.wait import wait_until

_ROLE: Final = "onceproof.role"
_PIPELINE: Final = "pipeline"
_SECONDS: Final = 30.0


def engine_with(image: str) -> Engine:
    """Connect to the Docker engine; raise `StageTrouble` without one, or without the image."""
    try:
        engine = connect(otherwise="or leave out `--image`", compose=False)
        engine.client.images.get(image)
    except SetupError as error:
        raise StageTrouble(str(error).rstrip(".")) from None
    except ImageNotFound:
        raise StageTrouble(
            f"--image {image}: the Docker engine has no such image; build it, or pull it with "
            f"`docker pull {image}`"
        ) from None
    return engine


def labels(processes: Processes) -> dict[str, str]:
    """Return the labels of a pipeline's containers."""
    return {
        docker_reaper.LABEL: processes.marker,
        docker_reaper.WHERE: where(),
        _ROLE: _PIPELINE,
    }


@dataclass(frozen=True, kw_only=True)
class Image:
    """An image that the Docker engine has; its containers carry the marker of `processes`."""

    name: str
    engine: Engine
    processes: Processes

    @classmethod
    def find(cls, name: str, processes: Processes) -> Image:
        """Look up the image; raises as `engine_with` does."""
        return cls(name=name, engine=engine_with(name), processes=processes)

    def command(
        self, arguments: Sequence[str], *, variables: Iterable[str], folders: Collection[Path]
    ) -> list[str]:
        """Return the `docker run` command.

        Args:
            variables: names of environment variables to pass on to the container.
            folders: mounted in the container at the same paths.
        """
        return [
            *(self.engine.program, "run", "--rm", "--pull=never", "--network=host"),
            *(f"--label={name}={value}" for name, value in labels(self.processes).items()),
            *(f"--volume={folder}:{folder}" for folder in folders),
            *(f"--env={name}" for name in variables),
            self.name,
            *arguments,
        ]

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that point the `docker` command to the engine."""
        return self.engine.environment


@dataclass(kw_only=True)
class Watch:
    """A watchdog that removes the containers of a dead harness; a Docker stage has one already."""

    image: Image
    _watchdog: Watchdog | None = None

    def start(self) -> None:
        self._watchdog = self._watchdog or Watchdog(
            self.image.processes.marker,
            program=docker_reaper,
            arguments=[self.image.engine.program],
            environment=self.image.engine.environment,
            log=self.image.processes.logs / "container-reaper.log",
        )

    def check(self) -> None:
        """Do nothing: the watchdog does not fail while the harness lives."""

    def close(self) -> None:
        """Let the watchdog clean up once more, then end it."""
        if self._watchdog is not None:
            self._watchdog.release()
            self._watchdog = None


@dataclass(frozen=True, kw_only=True)
class Container:
    """The pipeline's containers, controlled through the Docker engine."""

    image: Image

    def kill(self) -> str:
        """SIGKILL all processes in the containers.

        Raises:
            StageTrouble: the engine refuses.
            Overdue: a container is still running.
        """
        found = self._found()
        for one in found:
            with suppress(DockerException):  # not paused
                one.unpause()
            with suppress(DockerException):  # already ended
                one.kill()
        wait_until(
            lambda: not self._found(), what=f"containers of {self.image.name} to end",
            seconds=_SECONDS, seen=lambda: f"{len(self._found())} running",
        )  # fmt: skip
        return f"killed by the Docker engine, with {len(found)} containers of {self.image.name}"

    def pause(self) -> None:
        """Freeze all processes; raise `StageTrouble` if none is running or the engine refuses."""
        found = self._found()
        if not found:
            raise StageTrouble(f"no container of {self.image.name} is running")
        self._each(found, lambda one: one.pause())

    def resume(self) -> None:
        self._each([one for one in self._found() if one.status == "paused"], lambda o: o.unpause())

    def paused(self) -> bool:
        found = self._found()
        return bool(found) and all(one.status == "paused" for one in found)

    def _found(self) -> list[Any]:
        marked = labels(self.image.processes)
        wanted = [f"{name}={marked[name]}" for name in (docker_reaper.LABEL, _ROLE)]
        try:
            return list(self.image.engine.client.containers.list(filters={"label": wanted}))
        except DockerException as error:
            raise StageTrouble(f"the Docker engine does not answer: {error}") from error

    def _each(self, found: Sequence[Any], do: Callable[[Any], None]) -> None:
        try:
            for one in found:
                do(one)
        except DockerException as error:
            raise StageTrouble(f"container of {self.image.name}: {error}") from error
