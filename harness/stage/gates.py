"""Gates on the links of one stage, behind their proxies.

Client → toxiproxy → gate → broker. To insert a gate, the link's proxies are redirected to it, so
other faults still work in front of it, and links without a gate have no overhead. A gate without
active rules and held frames disturbs nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from onceproof.harness.links.gate.client import COMMAND, Gate, Placed
from onceproof.harness.links.gate.gated import Route
from onceproof.harness.links.gate.rules import Rule
from onceproof.harness.links.gate.tls import Tls
from onceproof.harness.links.topology import AUDIENCES, POSTGRES, Link
from onceproof.harness.links.toxiproxy import ProxySpec, ToxiproxyServer
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.proxied import ProxiedLinks

START_SECONDS: Final = 20.0
TopicId = Callable[[str], UUID | None]


@dataclass(frozen=True, kw_only=True)
class OnGate:
    """A link with a gate on it."""

    link: Link
    gate: Gate
    topic_id: TopicId

    def put(self, rule: Rule) -> Placed:
        if rule.message.topic is not None and (found := self.topic_id(rule.message.topic)):
            self.gate.teach({found: rule.message.topic})
        return self.gate.put([str(self.link)], rule)

    def state(self) -> dict[str, Any]:
        return self.gate.state()[str(self.link)]


class Gates:
    """All gates of one stage, in one process that is started with the first."""

    def __init__(
        self,
        server: ToxiproxyServer,
        links: ProxiedLinks,
        *,
        processes: Processes,
        address: Callable[[ProxySpec], str],
        topic_id: TopicId,
        tls: Tls | None = None,
        command: Sequence[str] = COMMAND,
        seconds: float = START_SECONDS,
    ) -> None:
        """Start nothing yet.

        Args:
            address: returns the address of the gate behind a proxy.
            tls: for links of audiences.
            command: runs the gate's process.
            seconds: how long it may take to start.
        """
        self._server = server
        self._links = links
        self._processes = processes
        self._address = address
        self._topic_id = topic_id
        self._tls = tls
        self._command, self._seconds = command, seconds
        self._gate: Gate | None = None
        self._on: dict[Link, OnGate] = {}
        # Faults run concurrently, and other threads call `disturbed` meanwhile.
        self._lock = threading.RLock()

    def gate(self, link: Link) -> OnGate:
        """Put a gate on a link; keep an existing one.

        Raises:
            StageTrouble: it cannot be done; the link is unchanged.
        """
        with self._lock:
            return self._on[link] if link in self._on else self._put_on(link)

    def _put_on(self, link: Link) -> OnGate:
        if link.target == POSTGRES:
            raise StageTrouble(f"{link} cannot have a gate: it does not carry the Kafka protocol")
        proxies = self._links.of(link)
        if self._gate is None:
            self._gate = Gate(self._processes, self._command, seconds=self._seconds)
        tls = self._tls if link.source in AUDIENCES else None
        self._gate.open(
            str(link),
            [Route(listen=self._address(p), upstream=p.upstream, tls=tls) for p in proxies],
        )
        self._on[link] = OnGate(link=link, gate=self._gate, topic_id=self._topic_id)
        try:
            for proxy in proxies:
                self._server.set_upstream(proxy.name, self._address(proxy))
        except BaseException:
            self.ungate(link)
            raise
        return self._on[link]

    def ungate(self, link: Link) -> None:
        """Remove a gate, even if its process is gone; frames that it held are lost."""
        with self._lock:
            if link in self._on:
                self._take_off(link)

    def _take_off(self, link: Link) -> None:
        for proxy in self._links.of(link):
            self._server.set_upstream(proxy.name, proxy.upstream)
        gate = self._on.pop(link).gate
        if gate.alive:
            gate.close(str(link))
        else:
            self._gate = None  # the link works without it, and the next gate starts a new process

    def sever(self, node: str) -> None:
        """Close the gates' connections to a broker that is gone."""
        with self._lock:
            for link, on in self._on.items():
                if link.target == node:
                    on.gate.sever(str(link))

    def disturbed(self) -> dict[str, str]:
        """Describe links with active rules or held frames, or whose gate is gone."""
        with self._lock:
            return {str(link): wrong for link, on in self._on.items() if (wrong := _wrong(on))}


def _wrong(on: OnGate) -> str | None:
    try:
        state = on.state()
    except StageTrouble as error:
        return str(error)
    if state["rules"] or state["held"]:
        return f"gate: rules {len(state['rules'])}, held {state['held']}"
    return None
