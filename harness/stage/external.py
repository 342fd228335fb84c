"""The external stage: the user's own cluster.

Onceproof creates and removes topics, sends, reads and judges. Other actions (kill a broker, cut a
link) are commands in the cluster's file. There is no proxy, so all audiences share one address, and
their connections cannot be told apart. Connection settings of onceproof's own clients are in the
file or in the environment.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from onceproof.harness.kafka.connecting.connection import connect_with, disconnect
from onceproof.harness.kafka.connecting.properties import (
    without_credentials,
)
from onceproof.harness.kafka.connecting.refused import CredentialsRefused
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.kafka.topics import delete_topics
from onceproof.harness.links.disturbances import CUT, Disturbance, Hold, Ledger
from onceproof.harness.links.topology import AUDIENCES, Link, broker_name, node_id
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.base import GatedLink, WithoutServices
from onceproof.harness.stage.cluster_file import Cluster, filled
from onceproof.harness.stage.sockets import reaching
from onceproof.harness.wait import Overdue, Stop, wait_until

_COMMAND_SECONDS: Final = 120.0
_SECONDS: Final = 60.0


class ExternalStage(WithoutServices):
    """A cluster that exists before and after the run."""

    backend = "external"

    def __init__(self, cluster: Cluster, *, marker: str, stop: Stop, logs: Path) -> None:
        self._cluster = cluster
        self._log = logs / "commands.log"
        self._stop = stop
        self._addresses: dict[str, str] = {}
        self._ledger = Ledger()
        self._cut: set[Link] = set()
        self._ended: set[str] = set()
        self._paused: set[str] = set()
        self._topics: list[str] = []
        self._command_lock = threading.RLock()
        """Held while a command runs, until its effect is recorded."""
        self._closed = False
        # Not in the run folder: these files must not outlive the run.
        self._secrets = Path(tempfile.gettempdir()) / f"onceproof-{marker}-connection"

    def start(self) -> None:
        """Find the brokers; raise `StageTrouble` if none answers or they refuse the credentials."""
        if self._cluster.properties:
            connect_with(self._cluster.properties, self._secrets)
        protocol = self._cluster.properties.get("security.protocol", "PLAINTEXT")
        try:
            wait_until(
                self._find_brokers,
                what=f"the cluster at {self._cluster.bootstrap} to answer",
                seconds=15,
                stop=self._stop,
            )
        except Overdue as error:
            raise StageTrouble(
                f"{error}; check that it is running and accepts {protocol} at this address"
            ) from None
        except CredentialsRefused as error:
            raise StageTrouble(str(error)) from None

    def stop(self) -> None:
        """Undo all disturbances, and remove the topics of the run.

        Raises:
            StageTrouble: something could not be undone; the text says what.
        """
        with self._command_lock:  # wait for a running command; no new one starts
            if self._closed:
                return  # what could not be undone was reported, to be undone by hand
            self._closed = True
        self._stop = Stop()  # the interruption of the run must not interrupt this
        undoing = [(str(link), partial(self._mend, link)) for link in self._cut]
        undoing += [(node, partial(self.resume, node)) for node in self._paused]
        undoing += [(node, partial(self.restart, node)) for node in self._ended]
        if self._topics:
            gone = partial(delete_topics, self._cluster.bootstrap, self._topics)
            undoing.append((f"topics {', '.join(self._topics)}", gone))
        failed = []
        for what, undo in undoing:
            try:
                undo()
            except Exception as error:
                failed.append(f"{what}: {error}")
        disconnect(self._secrets)
        if failed:
            raise StageTrouble(
                f"your cluster was not fully restored; undo by hand: {'; '.join(failed)}"
            )

    def created(self, topics: list[str]) -> None:
        self._topics += topics

    @property
    def scratch(self) -> tuple[Path, ...]:
        return (self._secrets,)

    @property
    def brokers(self) -> tuple[str, ...]:
        """Names of the brokers that existed when the run began."""
        return tuple(self._addresses)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Only brokers are known."""
        return self.brokers

    def alive(self, node: str) -> bool:
        """Return whether a broker answers or is paused; True for other nodes."""
        return node not in self._addresses or node in self._paused or self._answers(node)

    def kill(self, node: str, how: str) -> str:
        self._run_undoable("kill", node, self._ended)
        self._paused.discard(node)
        self._wait(node, "kill", answers=False)
        return f"{node} was killed by the cluster's `kill` command and does not answer"

    def shut_down(self, node: str, how: str) -> str:
        self._run_undoable("stop", node, self._ended)
        self._paused.discard(node)
        self._wait(node, "stop", answers=False)
        return f"{node} was stopped by the cluster's `stop` command and does not answer"

    def restart(self, node: str) -> None:
        self._command("restart", node=node)
        self._wait(node, "restart", answers=True)
        self._ended.discard(node)

    def pause(self, node: str) -> str:
        self._run_undoable("pause", node, self._paused)
        self._wait(node, "pause", answers=False)
        return f"{node} was paused by the cluster's `pause` command and does not answer"

    def resume(self, node: str) -> None:
        self._command("resume", node=node)
        self._wait(node, "resume", answers=True)
        self._paused.discard(node)

    def paused(self, node: str) -> bool:
        """Return whether it was paused by a fault and does not answer."""
        return node in self._paused and not self._answers(node)

    def bootstrap(self, audience: str, node: str | None = None) -> str:
        """Return the cluster's own addresses, the same for every audience."""
        return self._cluster.bootstrap if node is None else self._addresses[node]

    def database(self, audience: str) -> str:
        """Return the connection string of the cluster's file; empty without one."""
        return self._cluster.database

    def links(self) -> tuple[Link, ...]:
        """Return links from every audience to each broker, if there is a command to cut them."""
        if "cut" not in self._cluster.offers:
            return ()
        return tuple(Link(audience, node) for audience in AUDIENCES for node in self._addresses)

    def disturb(self, link: Link, how: Disturbance) -> Hold:
        """Cut the link with the user's command; nothing else is possible without a proxy."""
        if how != CUT:
            raise StageTrouble(f"{link}: a link of an external cluster can only be cut")
        number = self._ledger.note([str(link)], how)
        try:
            self._settle(link)
        except StageTrouble:
            self._ledger.strike(number)
            raise
        return Hold(partial(self._release, link, number))

    def entrance(self, link: Link) -> str:
        """Return the broker's own address."""
        return self._addresses[link.target]

    def gate(self, link: Link) -> GatedLink:
        """Refuse: there is no proxy."""
        raise StageTrouble(f"{link}: an external cluster has no gates")

    def ungate(self, link: Link) -> None:
        """Do nothing: there are no gates."""

    def connections(self, link: Link) -> int:
        """Return the number of connections from this machine to the broker, of any process."""
        return reaching({self._addresses[link.target]}) if link.target in self._addresses else 0

    def connected(self, audience: str) -> int:
        """Return 0: without proxies, a client's connections end with it."""
        return 0

    def disturbed(self) -> dict[str, str]:
        """Describe brokers that do not answer or are paused, and links that are cut."""
        wrong = {node: "does not answer" for node in self._addresses if not self.alive(node)}
        wrong |= dict.fromkeys(self._paused, "paused")
        return wrong | {str(link): "cut" for link in self._cut}

    def versions(self) -> dict[str, str]:
        return {"brokers": f"{len(self._addresses)} of an external cluster"}

    def settings(self) -> dict[str, object]:
        """Return the settings of the cluster's file without secrets."""
        return {
            "backend": self.backend,
            "bootstrap": self._cluster.bootstrap,
            "commands": sorted(self._cluster.commands),
            "security": self._cluster.properties.get("security.protocol", "PLAINTEXT"),
        }

    def _release(self, link: Link, number: int) -> None:
        self._ledger.strike(number)
        self._settle(link)

    def _settle(self, link: Link) -> None:
        """Cut or mend a link according to its holds."""
        enabled = self._ledger.wanted(str(link)).enabled
        if enabled and link in self._cut:
            self._mend(link)
        elif not enabled and link not in self._cut:
            with self._command_lock:
                self._check_open()
                self._cut.add(link)
                try:
                    self._command("cut", node=link.target, source=link.source)
                except StageTrouble:
                    with suppress(StageTrouble):  # it may have taken effect; stop() tries again
                        self._mend(link)
                    raise

    def _mend(self, link: Link) -> None:
        self._command("mend", node=link.target, source=link.source)
        self._cut.discard(link)

    def _find_brokers(self) -> bool:
        for address in self._cluster.bootstrap.split(","):
            # The id is not known yet, so any will do.
            with ClusterView({0: address.strip()}) as view:
                try:
                    found = view.advertised()
                except ValueError:  # no `host:port`
                    continue
            if found:
                self._addresses = {broker_name(node): where for node, where in found.items()}
                return True
        return False

    def _answers(self, node: str) -> bool:
        with ClusterView({node_id(node): self._addresses[node]}) as view:
            return bool(view.brokers())

    def _wait(self, node: str, command: str, *, answers: bool) -> None:
        """Wait until a broker answers, or does not."""
        wait_until(
            lambda: self._answers(node) is answers,
            what=f"{node} {'to' if answers else 'not to'} answer after `{command}`",
            seconds=_SECONDS,
            stop=self._stop,
        )

    def _run_undoable(self, command: str, node: str, done: set[str]) -> None:
        """Run a command that must be undone later."""
        with self._command_lock:
            self._check_open()
            answered = node in self._addresses and self._answers(node)
            try:
                self._command(command, node=node)
            except StageTrouble:
                if answered and not self._answers(node):
                    done.add(node)  # it took effect although it failed
                raise
            done.add(node)

    def _check_open(self) -> None:
        if self._closed:
            raise StageTrouble("the run has ended: no more commands are run on the cluster")

    def _command(self, name: str, **words: str) -> None:
        """Run one of the user's commands in a shell; raise `StageTrouble` if it fails.

        In its own session: Ctrl-C would leave a command half done.
        """
        try:
            text = self._cluster.commands[name]
        except KeyError:
            raise StageTrouble(
                f"the cluster's file has no command `{name}`; add it under [commands]"
            ) from None
        known = {**words, "id": str(node_id(words["node"]))}
        shown, text = filled(text, known), filled(text, {**self._cluster.values, **known})
        began = time.monotonic()
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", text],
                check=False,
                capture_output=True,
                text=True,
                timeout=_COMMAND_SECONDS,
                stdin=subprocess.DEVNULL,
                env=without_credentials(os.environ),
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            self._note(shown, f"did not finish within {_COMMAND_SECONDS:g} s")
            raise StageTrouble(f"`{shown}` did not finish within {_COMMAND_SECONDS:g} s") from None
        took = f"exited with code {done.returncode} after {time.monotonic() - began:.1f} s"
        self._note(shown, took)
        if done.returncode:
            output = (done.stderr or done.stdout).strip()[-300:]
            raise StageTrouble(f"`{shown}` exited with code {done.returncode}: {output}")

    def _note(self, command: str, how: str) -> None:
        """Log a command; a full disk must not keep it from being undone."""
        with suppress(OSError), self._log.open("a") as log:
            log.write(f"$ {command.strip()}\n# {how}\n\n")
