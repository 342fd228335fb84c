"""What a test gets: a cluster, topics of its own, and faults that are healed at its end."""

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
    """A fault of a test had no effect that could be seen, so the test shows nothing."""


class NotHealed(RuntimeError):
    """A fault could not be undone: what runs on these brokers next may fail for that reason."""


class Fault:
    """One fault, from when it is at work until it is healed.

    As a context manager it is healed at the end of the block.

    Attributes:
        name: such as `isolate-1`.
        does: what it does, in words.
    """

    def __init__(self, lab: HeldLab, status: Mapping[str, Any], *, must_take_effect: bool) -> None:
        """Made by `Cluster.fault`."""
        self.name: str = status["name"]
        self.does: str = status["does"]
        self._lab = lab
        self._must_take_effect = must_take_effect
        self._healed = False

    @property
    def now(self) -> dict[str, Any]:
        """What the lab says of it: `state`, `took_effect`, `detail` and `target`."""
        for status in self._lab.ask("GET", "/faults"):
            if status["name"] == self.name:
                return dict(status)
        raise LookupError(f"the lab knows no fault {self.name!r} any more")

    @property
    def took_effect(self) -> bool:
        """Whether there was proof, at any time, that it had an effect."""
        return bool(self.now["took_effect"])

    def wait_until_took_effect(self, seconds: float = EFFECT_SECONDS) -> Fault:
        """Wait until there is proof that it has an effect.

        Raises:
            FaultDidNotBite: there was none in that time.
        """
        deadline = time.monotonic() + seconds
        while not self.took_effect:
            if time.monotonic() >= deadline:
                raise self._did_not_bite(f"within {seconds:.0f} s")
            # Nothing tells us: the lab is looked at again.
            threading.Event().wait(_EVERY)
        return self

    def heal(self) -> None:
        """Undo it, and see that it is undone.

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
            raise self._did_not_bite("before it was healed")

    @property
    def healed(self) -> bool:
        """Whether it was healed already."""
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

    def _did_not_bite(self, when: str) -> FaultDidNotBite:
        status = self.now
        return FaultDidNotBite(
            f"«{self.does}» ({self.name}) had no effect {when}, so this test shows nothing: "
            f"{status['state']}: {status['detail']}. Let clients be at work while it acts, or say "
            "must_take_effect=False."
        )


class Cluster:
    """A cluster of three brokers for one test."""

    def __init__(self, lab: HeldLab) -> None:
        """Made by the fixture `onceproof_cluster`."""
        self._lab = lab
        self._faults: list[Fault] = []

    @property
    def bootstrap(self) -> str:
        """`bootstrap.servers` for what is on trial: every byte goes through proxies."""
        return self.bootstraps["pipeline"]

    @property
    def bootstraps(self) -> Mapping[str, str]:
        """`bootstrap.servers` by audience.

        `producer` and `pipeline` are two ways through proxies, so that faults of links can tell
        them apart; `auditor` goes past them all, for what a test itself looks at.
        """
        found: Mapping[str, str] = self._lab.about["bootstrap"]
        return found

    @property
    def database(self) -> str:
        """A libpq connection string of a PostgreSQL, through a proxy; empty if there is none."""
        return str(self._lab.about["database"].get("pipeline", ""))

    def topic(self, name: str = "topic", partitions: int = 1) -> str:
        """Make a topic with three replicas.

        Returns:
            Its name: the one given and a number, since tests share the brokers.

        Raises:
            LabRefused: the name is none, or the cluster did not take it.
        """
        self._lab.made += 1
        word = f"{name}-{self._lab.made}:{partitions}"
        return str(self._lab.ask("POST", "/topics", {"topic": word})["name"])

    def fault(self, name: str, *arguments: str, must_take_effect: bool = True) -> Fault:
        """Let a fault act, as `onceproof fault NAME ARGUMENTS` does; `onceproof fault` lists them.

        Args:
            name: such as `isolate`, `kill`, `cut`, `lose-responses`.
            arguments: such as `leader:orders-0` or `broker-2`.
            must_take_effect: the test fails if it is healed and never had an effect.

        Raises:
            LabRefused: there is no such fault, or it could not act.
        """
        status = self._lab.ask("POST", "/faults", {"fault": name, "arguments": list(arguments)})
        fault = Fault(self._lab, status, must_take_effect=must_take_effect)
        self._faults.append(fault)
        return fault

    def status(self) -> dict[str, Any]:
        """Nodes, partitions with leaders and in-sync replicas, disturbed links, faults."""
        return dict(self._lab.ask("GET", "/status"))

    def properties(self) -> dict[str, str]:
        """What a test report should say of it."""
        faults = "; ".join(f"{fault.name}: {fault.does}" for fault in self._faults)
        return {
            "seed": str(self._lab.seed),
            "run": str(self._lab.folder),
            **({"faults": faults} if faults else {}),
        }

    def close(self) -> None:
        """Heal what is still at work, the newest first, and tell of what never took effect."""
        troubles: list[Exception] = []
        for fault in reversed(self._faults):
            try:
                fault.heal()
            except Exception as error:  # every fault gets its turn
                troubles.append(error)
        if troubles:
            raise troubles[0]
