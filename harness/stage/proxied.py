"""Links as toxiproxy has them: the same on every backend.

The one thing to know: a link is one proxy or several (between brokers replication and Raft), and
whatever is done to a link is done to all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.links.toxiproxy import ProxySpec, Toxic, ToxiproxyServer
from harness.stage.base import StageTrouble
from harness.stage.topology import Link

_LOST = "onceproof-lost"


class ProxiedLinks:
    """The links of one stage."""

    def __init__(
        self, server: ToxiproxyServer, proxies: Mapping[Link, tuple[ProxySpec, ...]]
    ) -> None:
        self._server = server
        self._proxies = dict(proxies)

    @property
    def all(self) -> tuple[Link, ...]:
        """Every link that there is."""
        return tuple(self._proxies)

    @property
    def specs(self) -> list[ProxySpec]:
        """Every proxy of every link."""
        return [spec for specs in self._proxies.values() for spec in specs]

    def of(self, link: Link) -> tuple[ProxySpec, ...]:
        """The proxies of a link."""
        try:
            return self._proxies[link]
        except KeyError:
            known = ", ".join(sorted(map(str, self._proxies)))
            raise StageTrouble(f"there is no link {link}; there are {known}") from None

    def cut(self, link: Link) -> None:
        """Close the link's connections and refuse new ones."""
        for proxy in self.of(link):
            self._server.set_enabled(proxy.name, False)

    def mend(self, link: Link) -> None:
        """Undo `cut`."""
        for proxy in self.of(link):
            self._server.set_enabled(proxy.name, True)

    def lose(self, link: Link, *, responses: bool) -> None:
        """Swallow one direction: `timeout` with 0 drops all bytes and never closes."""
        stream = "downstream" if responses else "upstream"
        toxic = Toxic(
            name=f"{_LOST}-{stream}", type="timeout", stream=stream, attributes={"timeout": 0}
        )
        for proxy in self.of(link):
            self._server.add_toxic(proxy.name, toxic)

    def restore(self, link: Link) -> None:
        """Undo `lose`; removing the toxic closes the connections that lost bytes."""
        for proxy in self.of(link):
            for stream in ("downstream", "upstream"):
                self._server.remove_toxic(proxy.name, f"{_LOST}-{stream}")

    def lead_to(self, node: str, there: bool) -> None:
        """Enable or disable every proxy that leads to a node, as its life begins and ends."""
        for link, specs in self._proxies.items():
            if link.target == node:
                for spec in specs:
                    self._server.set_enabled(spec.name, there)

    def disturbed(self) -> dict[str, str]:
        """Links that are cut or toxic, with what is wrong."""
        wrong = self._server.disturbed()
        return {
            str(link): wrong[spec.name]
            for link, specs in self._proxies.items()
            for spec in specs
            if spec.name in wrong
        }
