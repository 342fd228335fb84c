"""A formatted storage and a class archive, copied for the brokers of every run.

Both are made once, by a broker started only for this purpose, and cached with the downloads. For
each broker, formatting costs one CPU second and a start two and a half; a copy costs nothing, and
the archive halves the start.
"""

from __future__ import annotations

import shutil
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from onceproof.harness.kafka.cluster_id import new_cluster_id
from onceproof.harness.links.topology import Topology
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.local_broker import JVM, LocalBroker
from onceproof.harness.tools import class_archive
from onceproof.harness.tools.class_archive import NoClassArchive
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import Overdue, Stop

_STORAGE: Final = "storage"
_ENDING_SECONDS: Final = 60.0
"""A JVM takes some seconds to write its archive."""


@dataclass(frozen=True, kw_only=True)
class BrokerTemplate:
    """A formatted storage, and the JVM options to use the class archive."""

    storage: Path
    options: tuple[str, ...]

    def prepare(self, broker: LocalBroker, cluster: str) -> None:
        """Prepare a new broker of a cluster for its first start.

        `kafka-storage format` writes the same for every broker of a version, except
        `meta.properties`.
        """
        broker.configure()
        if broker.secured:
            broker.format(cluster)  # SCRAM users are in the storage
            broker.options = self.options
            return
        shutil.copytree(self.storage, broker.data)
        (broker.data / "meta.properties").write_text(
            f"version=1\ncluster.id={cluster}\nnode.id={broker.node}\n"
            f"directory.id={new_cluster_id()}\n"
        )
        broker.options = self.options


def broker_template(
    tools: StageTools, *, topology: Topology, work: Path, marker: str, stop: Stop
) -> BrokerTemplate:
    """Return the template for these tools, and create it if there is none.

    Args:
        topology: of a stage whose brokers are not running: one of their addresses is used.
        work: folder of the run, for a template if none can be cached.
        marker: of the run, so that its processes do not outlive the harness.

    Raises:
        StageTrouble: Kafka's tool cannot format.
    """
    alone = replace(topology, brokers=1)

    def formatted(folder: Path) -> LocalBroker:
        broker = LocalBroker(
            node=1,
            topology=alone,
            tools=tools,
            processes=Processes(marker, folder),
            folder=folder / "broker",
        )
        broker.configure()
        broker.format(new_cluster_id())
        shutil.copytree(broker.data, folder / _STORAGE)
        return broker

    def build(folder: Path) -> None:
        _record(formatted(folder), folder, stop)

    try:
        home = class_archive.installed(
            "brokers", build, java=tools.java, jars=tools.kafka_libs, options=JVM
        )
    except NoClassArchive:
        home = work / "broker-template"
        formatted(home)
    return BrokerTemplate(storage=home / _STORAGE, options=class_archive.using(home))


def _record(broker: LocalBroker, folder: Path, stop: Stop) -> None:
    """Start and end a broker whose JVM writes its class archive to a folder.

    Raises:
        NoClassArchive: it did not start or had to be killed. The run's own brokers will report
            the cause.
    """
    broker.options = class_archive.recording(folder)
    broker.start()
    process = broker.process
    assert process is not None
    try:
        broker.wait_started(stop)
        process.stop("its classes are loaded", sig=signal.SIGTERM, seconds=_ENDING_SECONDS)
    except (StageTrouble, Overdue) as error:
        raise NoClassArchive(str(error)) from error
    finally:
        process.kill("no longer needed")
        shutil.rmtree(broker.data.parent)
    if process.popen.returncode == -signal.SIGKILL:
        raise NoClassArchive(
            f"{process.instance} had to be killed"
        )  # half an archive is worse than none
