"""All backends of a stage, and the only module that knows all of them."""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.links.blocks import Block
from onceproof.harness.processes import sweep as processes_of_dead_runs
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.sweep import Leftover
from onceproof.harness.queues.base import Queues
from onceproof.harness.stage.base import Stage
from onceproof.harness.stage.certificates import check_openssl
from onceproof.harness.stage.cluster_file import Cluster
from onceproof.harness.stage.external import ExternalStage
from onceproof.harness.stage.local import LocalStage
from onceproof.harness.stage.security import Security
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.progress import Progress, silent
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import Stop

LOCAL, SECURED, DOCKER = "local", "local-secured", "docker"
EXTERNAL = "external:"
"""Prefix of the path of the file that describes a user's own cluster."""
PLAIN_TEXT = "plain text"
"""Brokers accept connections without TLS and credentials."""
WITHOUT_IMAGE = frozenset({"nats", "valkey"})
"""Queue brokers that run as processes only."""
EVERYTHING = WITHOUT_IMAGE | {
    "kill",
    "stop",
    "pause",
    "cut",
    "links",
    "database",
    "gates",
    "queues",
    "http",
    PLAIN_TEXT,
}
BROKERS = 3
"""Default number of brokers, if a run needs any."""


def is_backend(word: str) -> bool:
    return word in (LOCAL, SECURED, DOCKER) or (word.startswith(EXTERNAL) and word != EXTERNAL)


def is_local(backend: str) -> bool:
    """Return whether the stage consists of tools that the setup downloads."""
    return backend in (LOCAL, SECURED)


def outlives_runs(backend: str) -> bool:
    """Return whether the stage exists before and after a run."""
    return backend.startswith(EXTERNAL)


def offers(backend: str) -> frozenset[str]:
    """Return what can be done to a stage; faults declare what they need.

    Raises:
        SetupError: the file of an external cluster is invalid.
    """
    if backend.startswith(EXTERNAL):
        cluster = _cluster(backend)
        return cluster.offers if cluster.properties else cluster.offers | {PLAIN_TEXT}
    if backend == SECURED:
        return EVERYTHING - {PLAIN_TEXT}
    return EVERYTHING - WITHOUT_IMAGE if backend == DOCKER else EVERYTHING


def prepare(backend: str, progress: Progress = silent) -> list[Leftover]:
    """Check that a backend can be used here; remove and return what dead runs left.

    Raises:
        SetupError: something is missing; the text says what to do.
    """
    if backend == SECURED:
        check_openssl()
    leftovers = processes_of_dead_runs.sweep()
    if backend == DOCKER:
        # Import Docker libraries only when they are needed.
        from onceproof.harness.stage import docker_sweep
        from onceproof.harness.stage.docker_compose import ensure_images
        from onceproof.harness.tools.docker_engine import connect

        engine = connect()
        leftovers += docker_sweep.sweep(engine)
        ensure_images(engine, progress)
    return leftovers


def new_stage(
    backend: str,
    *,
    tools: StageTools | None,
    processes: Processes,
    work: Path,
    block: Block,
    stop: Stop,
    brokers: int = BROKERS,
    queues: Queues | None = None,
    http: HttpSettings | None = None,
) -> Stage:
    """Return the stage of one run, not yet started; raise `SetupError` if something is missing.

    Args:
        work: folder for what does not outlive the run.
        block: loopback addresses for this run alone.
        stop: ends every wait when set.
        brokers: number of Kafka brokers, where it can be chosen.
        queues, http: settings of the queue broker and the HTTP service; None: there is none.
    """
    if backend.startswith(EXTERNAL):
        if queues is not None or http is not None:
            what = "queues" if queues is not None else "HTTP service"
            raise SetupError(f"{backend} has no {what}. Use --backend {LOCAL} or {DOCKER}.")
        return ExternalStage(
            _cluster(backend), marker=processes.marker, stop=stop, logs=processes.logs
        )
    if backend == DOCKER:
        from onceproof.harness.stage.docker import DockerStage
        from onceproof.harness.tools.docker_engine import connect

        return DockerStage(
            engine=connect(),
            processes=processes,
            work=work,
            block=block,
            stop=stop,
            brokers=brokers,
            queues=queues,
            http=http,
        )
    assert tools is not None, "a local stage needs its tools"
    return LocalStage(
        tools=tools,
        processes=processes,
        work=work,
        block=block,
        stop=stop,
        brokers=brokers,
        queues=queues,
        http=http,
        security=Security(processes.marker) if backend == SECURED else None,
    )


def _cluster(backend: str) -> Cluster:
    return Cluster.load(Path(backend.removeprefix(EXTERNAL)))
