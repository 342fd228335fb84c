"""A Docker engine for the tests: the running one, or one that is installed and started.

An engine that was started here is stopped again. Installed packages and built images stay, so
that the next session starts in seconds.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onceproof.harness.tools import go
from onceproof.harness.wait import wait_until

COMPOSE = "v2.39.4"
PLUGINS = Path.home() / ".docker" / "cli-plugins"


class NoEngine(RuntimeError):
    """No engine runs and none can be installed; the message says what to do."""


@contextlib.contextmanager
def engine() -> Iterator[None]:
    """Ensure an engine with the compose plugin for the duration of the block."""
    if shutil.which("docker") is None or (not answers() and shutil.which("dockerd") is None):
        install_engine()
    if run("docker", "compose", "version") is None:
        install_compose()
    with contextlib.ExitStack() as stack:
        if not answers():
            stack.enter_context(running_daemon())
        yield


def answers() -> bool:
    return run("docker", "version", "--format", "{{.Server.Version}}") is not None


def install_engine() -> None:
    """Install Docker from the distribution's packages."""
    install("Docker", "docker.io", "iptables")


def install(what: str, *packages: str) -> None:
    """Install packages of the distribution."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise NoEngine(f"{what} is missing: install it, then try again.")
    show_progress(f"installing {what} from packages")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    do("apt-get", "--quiet", "update", env=quiet)
    do("apt-get", "--quiet", "install", "--yes", "--no-install-recommends", *packages, env=quiet)


def install_compose() -> None:
    """Build the compose plugin from its Go module and install it.

    `go install` refuses the `replace` directives in its go.mod; a wrapper module that imports it
    ignores them.
    """
    found = go.in_path()
    if found is None:
        raise NoEngine("The compose plugin is missing, and Go to build it: install either.")
    show_progress(f"building docker compose {COMPOSE}")
    with tempfile.TemporaryDirectory(prefix="onceproof-compose-") as folder:
        work = Path(folder)
        package = "github.com/docker/compose/v2"
        (work / "go.mod").write_text("module compose\n\ngo 1.23\n")
        (work / "main.go").write_text(f'package compose\n\nimport _ "{package}/cmd"\n')
        environment = {
            **os.environ,
            "CGO_ENABLED": "0",
            "GOFLAGS": "-modcacherw",
            "GOMODCACHE": str(work / "modules"),
            "GOCACHE": str(work / "cache"),
            "GOWORK": "off",
        }
        version = f"-s -w -X {package}/internal.Version={COMPOSE}"
        for command in (
            ["get", f"{package}/cmd@{COMPOSE}"],
            ["build", "-trimpath", "-ldflags", version, "-o", "plugin", f"{package}/cmd"],
        ):
            do(found.program, *command, cwd=work, env=environment)
        PLUGINS.mkdir(parents=True, exist_ok=True)
        shutil.copy2(work / "plugin", PLUGINS / "docker-compose")


@contextlib.contextmanager
def running_daemon() -> Iterator[None]:
    """Run `dockerd` for the duration of the block."""
    if os.geteuid() != 0:
        raise NoEngine("The Docker engine does not run: start it, then try again.")
    show_progress("starting the Docker engine")
    with tempfile.TemporaryFile() as log:
        # The engine and its containers end with this process, even after a SIGKILL.
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", "dockerd"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip

        def is_ready() -> bool:
            if process.poll() is not None:
                log.seek(0)
                last = log.read().decode(errors="replace").strip().splitlines()[-3:]
                raise NoEngine(f"The Docker engine did not start: {' | '.join(last)}")
            return answers()

        try:
            wait_until(is_ready, what="the Docker engine to answer", seconds=60, every=0.2)
            yield
        finally:
            process.terminate()
            process.wait(60)


def do(*command: str | Path, **options: Any) -> None:
    """Run a long command with its output on standard error.

    Raises:
        NoEngine: The command failed.
    """
    try:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=2, **options)
    except subprocess.CalledProcessError as error:
        words = " ".join(map(str, command))
        raise NoEngine(f"`{words}` ended with {error.returncode}; see above.") from None


def run(*command: str) -> str | None:
    """The standard output of a command, or None if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def show_progress(what: str) -> None:
    """Print a step that takes long."""
    print(f"set-up   docker: {what}", flush=True)
