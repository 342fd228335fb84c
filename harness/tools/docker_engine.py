"""Find the Docker engine and the `docker` command.

The command supports contexts, the SDK only DOCKER_HOST, so both get the engine found here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import docker
from docker.errors import DockerException

from onceproof.harness.tools.error import SetupError

COMPOSE = (2, 23, 1)
"""The first version with inline `configs` in the compose file."""
_LOCAL = "or leave out `--backend docker`: the local stage needs no Docker"


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A working Docker engine, and how to reach it."""

    program: str
    host: str
    client: Any
    version: str
    compose: str
    """Version of its compose plugin; empty if it is not needed."""

    @property
    def environment(self) -> dict[str, str]:
        return {"DOCKER_HOST": self.host}


def connect(
    environ: Mapping[str, str] = os.environ, *, compose: bool = True, otherwise: str = _LOCAL
) -> Engine:
    """Connect to the engine of the user's `docker`.

    Args:
        compose: whether the compose plugin is needed.
        otherwise: advice in errors on what to do without Docker.

    Raises:
        SetupError: the command, its compose plugin or the engine is missing.
    """
    program = shutil.which("docker", path=environ.get("PATH", ""))
    if program is None:
        raise SetupError(
            f"Docker is missing: PATH has no `docker`. Install Docker Engine, {otherwise}."
        )
    plugin = _compose(program, environ, otherwise) if compose else ""
    host = environ.get("DOCKER_HOST") or _output(
        [program, "context", "inspect", "--format", "{{.Endpoints.docker.Host}}"], environ
    )
    host = host or "unix:///var/run/docker.sock"
    try:
        client = docker.from_env(environment={**environ, "DOCKER_HOST": host}, timeout=60)
        version = client.version()["Version"]
    except (DockerException, OSError) as error:
        reason = "permission denied" if "ermission denied" in str(error) else "no answer"
        raise SetupError(
            f"The Docker engine cannot be used: {reason} at {host}. Start it, or get access to it "
            f"(`docker info` must work), {otherwise}."
        ) from error
    return Engine(program=program, host=host, client=client, version=version, compose=plugin)


def _compose(program: str, environ: Mapping[str, str], otherwise: str) -> str:
    version = _output([program, "compose", "version", "--short"], environ)
    if version is None or _numbers(version) < COMPOSE:
        found = "is missing" if version is None else f"{version} is too old"
        minimum = ".".join(map(str, COMPOSE))
        raise SetupError(
            f"Docker's compose plugin {found}: `docker compose` {minimum} or newer is needed. "
            f"Install it, {otherwise}."
        )
    return version


def _output(command: list[str], environ: Mapping[str, str]) -> str | None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=30, check=False, env=dict(environ)
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)[:3])
