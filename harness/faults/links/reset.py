"""Reset new connections on a link.

Open connections get an ordinary close, because Toxiproxy resets only connections made while the
toxic exists. The container engine also turns a reset into an ordinary close.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.probe import Probe
from onceproof.harness.faults.links.probed_link import OnLink
from onceproof.harness.faults.roles import AnyNode
from onceproof.harness.faults.words import Source
from onceproof.harness.links.disturbances import Toxic
from onceproof.harness.links.topology import Link
from onceproof.harness.stage.base import Stage


@dataclass(frozen=True, kw_only=True)
class Reset:
    """Reset the connections of an audience or a broker to a node when they are opened."""

    example: ClassVar[str] = "reset pipeline postgres"
    kind: ClassVar[str] = "partition"
    needs = "links"
    source: Source
    target: AnyNode

    def describe(self) -> str:
        return f"reset the connections of {self.source} to {self.target.describe()}"

    def inject(self, context: RunContext, name: str) -> OnLink:
        link = Link(self.source, self.target.resolve(context))
        how = Toxic(type="reset_peer", way="requests", attributes={"timeout": 0})
        return OnLink(context, link, how, _Refused(context.stage, link))


class _Refused:
    def __init__(self, stage: Stage, link: Link) -> None:
        self._stage = stage
        self._link = link

    def before(self, probe: Probe) -> None:
        """Nothing to measure."""

    def met(self, probe: Probe) -> str | None:
        """Return what happened to a new connection, and to an old one."""
        try:
            with Probe(self._stage, self._link) as fresh:
                fresh.ask()
        except ConnectionError as error:
            new = "was reset" if isinstance(error, ConnectionResetError) else "was closed at once"
            old = "stayed open" if probe.silent(0) else "was closed"
            return f"a new connection of a probe {new}, and its earlier connection {old}"
        return None

    def after(self, probe: Probe) -> None:
        """Nothing to check."""
