"""Links through toxiproxy, the same for every backend.

A link is one or several proxies (between brokers: replication and Raft), and a fault applies to all
of them. A ledger records all disturbances, and proxies are set up from it, so a restarted node does
not open a link that a fault has cut.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from onceproof.harness.links.disturbances import CUT, Disturbance, Hold, Ledger
from onceproof.harness.links.topology import Link
from onceproof.harness.links.toxiproxy import AppliedToxic, ProxySpec, ProxyTrouble, ToxiproxyServer
from onceproof.harness.processes.trouble import StageTrouble

_STREAMS = {"requests": "upstream", "responses": "downstream"}

_STICKY = "slicer"
"""A toxic that is not removed; the proxy is recreated instead. Toxiproxy 2.12 waits until each
piece in flight is passed on, and once stopped answering altogether after that."""


class ProxiedLinks:
    """The links of one stage. Thread-safe."""

    def __init__(
        self, server: ToxiproxyServer, proxies: Mapping[Link, tuple[ProxySpec, ...]]
    ) -> None:
        self._server = server
        self._proxies = dict(proxies)
        self._ledger = Ledger()
        self._down: dict[str, Hold] = {}
        # Ledger and proxies must change together.
        self._lock = threading.RLock()

    @property
    def all(self) -> tuple[Link, ...]:
        return tuple(self._proxies)

    @property
    def specs(self) -> list[ProxySpec]:
        return [spec for specs in self._proxies.values() for spec in specs]

    def of(self, link: Link) -> tuple[ProxySpec, ...]:
        try:
            return self._proxies[link]
        except KeyError:
            known = ", ".join(sorted(map(str, self._proxies)))
            raise StageTrouble(f"unknown link {link}: expected {known}") from None

    def disturb(self, link: Link, how: Disturbance) -> Hold:
        """Disturb a link until the hold is released.

        Raises:
            StageTrouble: it failed; partial changes are undone where possible.
        """
        return self._hold([spec.name for spec in self.of(link)], how)

    def lead_to(self, node: str, there: bool) -> None:
        """Disable every proxy that leads to a node when it ends; enable them when it starts.

        Raises:
            StageTrouble: it cannot be done.
        """
        with self._lock:
            if there and node in self._down:
                self._down[node].release()
                del self._down[node]
            elif not there:
                leading = [link for link in self._proxies if link.target == node]
                names = [spec.name for link in leading for spec in self._proxies[link]]
                self._down[node] = self._hold(names, CUT)

    def disturbed(self) -> dict[str, str]:
        """Describe cut or toxic links; raise `StageTrouble` if toxiproxy does not answer."""
        try:
            wrong = self._server.disturbed()
        except ProxyTrouble as error:
            raise StageTrouble(str(error)) from error
        return {
            str(link): wrong[spec.name]
            for link, specs in self._proxies.items()
            for spec in specs
            if spec.name in wrong
        }

    def _hold(self, proxies: Sequence[str], how: Disturbance) -> Hold:
        with self._lock:
            number = self._ledger.note(proxies, how)
            try:
                self._settle(proxies)
            except StageTrouble:
                with suppress(StageTrouble):
                    self._release(number, proxies)
                raise
            return Hold(partial(self._release, number, proxies))

    def _release(self, number: int, proxies: Sequence[str]) -> None:
        with self._lock:
            self._ledger.strike(number)
            self._settle(proxies)

    def _settle(self, proxies: Sequence[str]) -> None:
        """Set up proxies as the ledger requires; each change is read back."""
        try:
            for proxy in proxies:
                self._apply(proxy)
        except ProxyTrouble as error:
            raise StageTrouble(str(error)) from error

    def _apply(self, proxy: str) -> None:
        wanted, state = self._ledger.wanted(proxy), self._server.state(proxy)
        present = {toxic["name"]: toxic["type"] for toxic in state["toxics"]}
        unwanted = present.keys() - wanted.toxics.keys()
        if any(present[name] == _STICKY for name in unwanted):
            self._server.remake(proxy)
            state, present, unwanted = self._server.state(proxy), {}, set()
        for name in sorted(unwanted):
            self._server.remove_toxic(proxy, name)
        for name, how in wanted.toxics.items():
            if name not in present:
                stream = _STREAMS[how.way]
                toxic = AppliedToxic(
                    name=name, type=how.type, stream=stream, attributes=how.attributes
                )
                self._server.add_toxic(proxy, toxic)
        if state["enabled"] is not wanted.enabled:
            self._server.set_enabled(proxy, wanted.enabled)
