"""Start docker-compose.yml for one run.

Users can start the same file by hand; a run only adds variables. They are passed to the command
through `env`, so that the harness's own environment does not change, and the command carries the
run's marker, by which the reaper finds it.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from testcontainers.compose import DockerCompose

from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage import docker_python
from onceproof.harness.tools.docker_engine import Engine
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.progress import Progress, Step

FILE = Path(__file__).with_name("docker-compose.yml")
PROFILE = "ONCEPROOF_PROFILE"
"""Names an additional compose file, with other images and their settings."""
QUEUE_IMAGE = "QUEUE_IMAGE"
"""Names the image of the queue broker; without it that of the Kafka brokers is used."""
_VARIABLES = {
    "toxiproxy": "TOXIPROXY_IMAGE",
    "postgres": "POSTGRES_IMAGE",
    "gate": docker_python.IMAGE,
}


class Compose:
    """The compose project of one run."""

    def __init__(self, engine: Engine, variables: Mapping[str, str]) -> None:
        files = [str(FILE)]
        if profile := os.environ.get(PROFILE):
            files.append(str(Path(profile).absolute()))
        self._compose = DockerCompose(
            context=FILE.parent, compose_file_name=files, wait=False, keep_volumes=False
        )
        command = [engine.program, *self._compose.compose_command_property[1:]]
        variables = {**engine.environment, **variables}
        self._compose.compose_command_property = [
            *("env", *(f"{name}={value}" for name, value in variables.items())),
            *command,
        ]

    def add(self, file: Path) -> None:
        """Merge another compose file over the others."""
        self._compose.compose_command_property += ["--file", str(file.absolute())]

    def up(self, services: Sequence[str]) -> None:
        """Create and start these services; raise `StageTrouble` if the command fails."""
        self._compose.services = list(services)
        try:
            self._compose.start()
        except subprocess.CalledProcessError as error:
            raise StageTrouble(f"`docker compose up` failed: {_last_line(error.stderr)}") from error
        finally:
            self._compose.services = None  # everything goes down

    def down(self) -> None:
        """Remove containers, networks and volumes; raise `StageTrouble` if the command fails."""
        try:
            self._compose.stop()
        except subprocess.CalledProcessError as error:
            raise StageTrouble(
                f"`docker compose down` failed: {_last_line(error.stderr)}"
            ) from error

    def services(self) -> dict[str, dict[str, Any]]:
        """Return every service, with variables substituted; raise `SetupError` if that fails."""
        command = [*self._compose.compose_command_property, "config", "--format", "json"]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=FILE.parent, timeout=60
        )
        if done.returncode != 0:
            profile = f" or {os.environ[PROFILE]}" if PROFILE in os.environ else ""
            raise SetupError(f"{FILE.name}{profile} cannot be used: {_last_line(done.stderr)}")
        services: dict[str, dict[str, Any]] = json.loads(done.stdout)["services"]
        return services


def ensure_images(engine: Engine, progress: Progress) -> None:
    """Pull missing images; raise `SetupError` if one cannot be pulled."""
    services = Compose(engine, {}).services()
    more = [os.environ[QUEUE_IMAGE]] if QUEUE_IMAGE in os.environ else []
    for image in dict.fromkeys(
        [*(s["image"] for s in services.values()), docker_python.image(), *more]
    ):
        if _has_image(engine, image):
            continue
        progress(Step(tool="docker", message=f"pulling {image}"))
        done = subprocess.run(
            [engine.program, "pull", "--quiet", image],
            env={**os.environ, **engine.environment},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            name = next((n for n, s in services.items() if s["image"] == image), "gate")
            variable = QUEUE_IMAGE if image in more else _VARIABLES.get(name, "KAFKA_IMAGE")
            raise SetupError(
                f"The image {image} is missing and cannot be pulled: {_last_line(done.stderr)} Set "
                f"{variable} to another image, or add the image with `docker load`."
            )


def _has_image(engine: Engine, image: str) -> bool:
    from docker.errors import ImageNotFound

    try:
        engine.client.images.get(image)
    except ImageNotFound:
        return False
    return True


def _last_line(output: str | bytes) -> str:
    """Return the last line of a command's output, as a sentence."""
    text = output.decode(errors="replace") if isinstance(output, bytes) else output
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{lines[-1].rstrip('.')}." if lines else "the command printed no error."
