"""What the brokers of every run begin with: a formatted storage, and the classes that they load.

Both are made once, of a broker that is formatted by Kafka's own tool and
started for nothing else, and kept with the downloads. The tool takes a second of a core for each
broker and a start two and a half; a copy costs nothing, and with the classes a start takes half.
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
from onceproof.harness.tools.class_archive import NotKept
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import Overdue, Stop

_STORAGE: Final = "storage"
_ENDING_SECONDS: Final = 60.0
"""A JVM takes some seconds to write its archive."""


@dataclass(frozen=True, kw_only=True)
class BrokerTemplate:
    """A formatted storage of some broker, and how a JVM is told of the classes."""

    storage: Path
    options: tuple[str, ...]

    def prepare(self, broker: LocalBroker, cluster: str) -> None:
        """Make a broker that has never run one of a cluster's, ready to be started.

        What `kafka-storage format` writes is the same for every broker of a version, but for the
        file that says whose it is.
        """
        broker.configure()
        if broker.secured:
            broker.format(cluster)  # its users are in its storage
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
    """The template for these tools, made if there is none yet.

    Args:
        topology: of a stage whose brokers do not run: one of their addresses is used.
        work: folder of the run, for a template of its own if none can be kept.
        marker: of the run, so that nothing of it outlives us.
        stop: ends every wait when set.

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
    except NotKept:
        home = work / "broker-template"
        formatted(home)
    return BrokerTemplate(storage=home / _STORAGE, options=class_archive.using(home))


def _record(broker: LocalBroker, folder: Path, stop: Stop) -> None:
    """Start a broker and end it again, with the classes that it has loaded going to a folder.

    Raises:
        NotKept: it did not come up or had to be killed. Whatever is wrong with it will be said of
            the run's own brokers.
    """
    broker.options = class_archive.recording(folder)
    broker.start()
    process = broker.process
    assert process is not None
    try:
        broker.wait_started(stop)
        process.stop("has loaded its classes", sig=signal.SIGTERM, seconds=_ENDING_SECONDS)
    except (StageTrouble, Overdue) as error:
        raise NotKept(str(error)) from error
    finally:
        process.kill("not needed any more")
        shutil.rmtree(broker.data.parent)
    if process.popen.returncode == -signal.SIGKILL:
        raise NotKept(f"{process.instance} had to be killed")  # half an archive is worse than none
