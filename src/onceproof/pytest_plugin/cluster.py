"""A test's cluster, its own topics, and faults that are healed at the end of the test."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final

from onceproof.pytest_plugin.lab import HeldLab

EFFECT_SECONDS: Final = 60.0
_EVERY: Final = 0.2


class FaultDidNotBite(AssertionError):
    """A fault had no observable effect, so the test proves nothing."""


class NotHealed(RuntimeError):
    """A fault could not be undone; later tests on these brokers may fail because of it."""


class Fault:
    """An active fault; as a context manager it is healed at the end of the block.

    Attributes:
        name: such as `isolate-1`.
        does: description of the fault.
    """

    def __init__(self, lab: HeldLab, status: Mapping[str, Any], *, must_take_effect: bool) -> None:
        """Use `Cluster.fault` instead."""
        self.name: str = status["name"]
        self.does: str = status["does"]
        self._lab = lab
        self._must_take_effect = must_take_effect
        self._healed = False

    @property
    def now(self) -> dict[str, Any]:
        """The lab's current status of it: `state`, `took_effect`, `detail` and `target`."""
        for status in self._lab.ask("GET", "/faults"):
            if status["name"] == self.name:
                return dict(status)
        raise LookupError(f"the lab no longer has a fault {self.name!r}")

    @property
    def took_effect(self) -> bool:
        """Whether an effect was proved at any time."""
        return bool(self.now["took_effect"])

    def wait_until_took_effect(self, seconds: float = EFFECT_SECONDS) -> Fault:
        """Wait until an effect is proved.

        Raises:
            FaultDidNotBite: no effect within `seconds`.
        """
        deadline = time.monotonic() + seconds
        while not self.took_effect:
            if time.monotonic() >= deadline:
                raise self._no_effect(f"within {seconds:.0f} s")
            # The lab sends no notification, so poll.
            threading.Event().wait(_EVERY)
        return self

    def heal(self) -> None:
        """Undo the fault and verify that it is undone.

        Raises:
            NotHealed: it could not be undone.
            FaultDidNotBite: it never had an effect.
        """
        if self._healed:
            return
        status = self._lab.ask("POST", f"/faults/{self.name}/heal")
        if status["state"] == "failed":
            raise NotHealed(f"«{self.does}» ({self.name}) could not be undone: {status['detail']}")
        self._healed = True
        if self._must_take_effect and not self.took_effect:
            raise self._no_effect("before it was healed")

    @property
    def healed(self) -> bool:
        """Whether it is healed already."""
        return self._healed

    def __enter__(self) -> Fault:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.heal()
        except FaultDidNotBite:
            if error is None:
                raise

    def _no_effect(self, when: str) -> FaultDidNotBite:
        status = self.now
        return FaultDidNotBite(
            f"«{self.does}» ({self.name}) had no effect {when}, so this test proves nothing: "
            f"{status['state']}: {status['detail']}. Keep clients busy while the fault is active, "
            "or pass must_take_effect=False."
        )


class Cluster:
    """A cluster of three brokers for one test."""

    def __init__(self, lab: HeldLab) -> None:
        """Use the fixture `onceproof_cluster` instead."""
        self._lab = lab
        self._faults: list[Fault] = []

    @property
    def bootstrap(self) -> str:
        """`bootstrap.servers` for the pipeline under test; all connections go through proxies."""
        return self.bootstraps["pipeline"]

    @property
    def bootstraps(self) -> Mapping[str, str]:
        """`bootstrap.servers` by audience.

        `producer` and `pipeline` go through separate proxies, so that link faults can target one of
        them. `auditor` bypasses the proxies, for the test's own checks.
        """
        found: Mapping[str, str] = self._lab.about["bootstrap"]
        return found

    @property
    def database(self) -> str:
        """A connection string (libpq) of a PostgreSQL behind a proxy; empty if there is none."""
        return str(self._lab.about["database"].get("pipeline", ""))

    def topic(self, name: str = "topic", partitions: int = 1) -> str:
        """Create a topic with three replicas and return its name.

        A number is appended to the name, because tests share the brokers.

        Raises:
            LabRefused: the name is invalid, or the cluster rejected it.
        """
        self._lab.made += 1
        word = f"{name}-{self._lab.made}:{partitions}"
        return str(self._lab.ask("POST", "/topics", {"topic": word})["name"])

    def fault(self, name: str, *arguments: str, must_take_effect: bool = True) -> Fault:
        """Inject a fault, as `onceproof fault NAME ARGUMENTS` does.

        Args:
            name: such as `isolate`, `kill`, `cut`, `lose-responses`; `onceproof fault` lists all.
            arguments: such as `leader:orders-0` or `broker-2`.
            must_take_effect: fail the test if the fault never had an effect when it is healed.

        Raises:
            LabRefused: there is no such fault, or it could not act.
        """
        status = self._lab.ask("POST", "/faults", {"fault": name, "arguments": list(arguments)})
        fault = Fault(self._lab, status, must_take_effect=must_take_effect)
        self._faults.append(fault)
        return fault

    def status(self) -> dict[str, Any]:
        """Return nodes, partitions (leader, in-sync replicas), disturbed links and faults."""
        return dict(self._lab.ask("GET", "/status"))

    def properties(self) -> dict[str, str]:
        """Return what a test report should record."""
        faults = "; ".join(f"{fault.name}: {fault.does}" for fault in self._faults)
        return {
            "seed": str(self._lab.seed),
            "run": str(self._lab.folder),
            **({"faults": faults} if faults else {}),
        }

    def close(self) -> None:
        """Heal the remaining faults, newest first; raise the first error, after all were tried."""
        troubles: list[Exception] = []
        for fault in reversed(self._faults):
            try:
                fault.heal()
            except Exception as error:  # every fault gets its turn
                troubles.append(error)
        if troubles:
            raise troubles[0]
