"""Control a toxiproxy server through toxiproxy-python; the only client of it in the project.

The library keeps host and port in a class, sets no timeouts, and treats server errors as success.
Here each server has its own class, each call a timeout; answers are checked and changes read back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import requests
from toxiproxy.api import APIConsumer
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists

SECONDS = 30.0
"""Timeout; to disable a proxy, the server first waits for a pending upstream connect."""


class ProxyTrouble(RuntimeError):
    """A call to toxiproxy failed; the message has the call and the answer."""


@dataclass(frozen=True, kw_only=True)
class ProxySpec:
    """A proxy's name, listen address, and upstream address."""

    name: str
    listen: str
    upstream: str


@dataclass(frozen=True, kw_only=True)
class AppliedToxic:
    """A toxic on a proxy, with toxiproxy's type and attributes.

    `stream` is `upstream` for bytes from client to server and `downstream` for the answers.
    """

    name: str
    type: str
    stream: str
    attributes: Mapping[str, int]


class ToxiproxyServer:
    """One toxiproxy server."""

    def __init__(self, host: str, port: int) -> None:
        # Subclass for each server: the library keeps host and port in class attributes.
        self._api: Any = type("_Api", (APIConsumer,), {"host": host, "port": port})
        self.address = f"{host}:{port}"

    def version(self) -> str | None:
        try:
            answer = self._api.get("/version", timeout=SECONDS)
        except requests.RequestException:
            return None
        if answer.status_code != 200:
            return None
        return str(answer.json()["version"]) if answer.content else None

    def populate(self, proxies: Sequence[ProxySpec]) -> None:
        """Create all proxies in one call and verify that each exists and is enabled."""
        body = [
            {"name": p.name, "listen": p.listen, "upstream": p.upstream, "enabled": True}
            for p in proxies
        ]
        self._call("post", "/populate", 201, json=body)
        present = self._call("get", "/proxies", 200).json()
        for proxy in proxies:
            if not present.get(proxy.name, {}).get("enabled"):
                raise ProxyTrouble(f"toxiproxy did not create {proxy.name} on {proxy.listen}")

    def proxies(self) -> list[ProxySpec]:
        found = self._call("get", "/proxies", 200).json()
        return [
            ProxySpec(name=name, listen=proxy["listen"], upstream=proxy["upstream"])
            for name, proxy in sorted(found.items())
        ]

    def set_enabled(self, proxy: str, enabled: bool) -> None:
        """Enable a proxy, or close its listener and connections, and verify that."""
        self._call("post", f"/proxies/{proxy}", 200, json={"enabled": enabled})
        if self.state(proxy)["enabled"] is not enabled:
            raise ProxyTrouble(f"proxy {proxy} did not become {'en' if enabled else 'dis'}abled")

    def set_upstream(self, proxy: str, upstream: str) -> None:
        """Change a proxy's upstream, which closes its connections, and verify that."""
        self._call("post", f"/proxies/{proxy}", 200, json={"upstream": upstream})
        if (found := self.state(proxy)["upstream"]) != upstream:
            raise ProxyTrouble(f"proxy {proxy} has upstream {found}, expected {upstream}")

    def add_toxic(self, proxy: str, toxic: AppliedToxic) -> None:
        body = {
            "name": toxic.name,
            "type": toxic.type,
            "stream": toxic.stream,
            "toxicity": 1.0,
            "attributes": dict(toxic.attributes),
        }
        self._call("post", f"/proxies/{proxy}/toxics", 200, json=body)
        if toxic.name not in self.toxics(proxy):
            raise ProxyTrouble(f"toxic {toxic.name} is not on proxy {proxy} after it was added")

    def remove_toxic(self, proxy: str, name: str) -> None:
        """Remove a toxic, if it is present, and verify that."""
        if name in self.toxics(proxy):
            self._call("delete", f"/proxies/{proxy}/toxics/{name}", 204)
        if name in self.toxics(proxy):
            raise ProxyTrouble(f"toxic {name} is still on proxy {proxy} after it was removed")

    def remake(self, proxy: str) -> None:
        """Delete a proxy and recreate it, enabled and without toxics; its connections close."""
        state = self.state(proxy)
        self._call("delete", f"/proxies/{proxy}", 204)
        spec = ProxySpec(name=proxy, listen=state["listen"], upstream=state["upstream"])
        self.populate([spec])

    def toxics(self, proxy: str) -> list[str]:
        return [t["name"] for t in self.state(proxy)["toxics"]]

    def state(self, proxy: str) -> dict[str, Any]:
        found: dict[str, Any] = self._call("get", f"/proxies/{proxy}", 200).json()
        return found

    def disturbed(self) -> dict[str, str]:
        """Return the proxies that are disabled or have toxics: name → what is wrong."""
        found = {}
        for name, proxy in self._call("get", "/proxies", 200).json().items():
            if not proxy["enabled"]:
                found[name] = "disabled"
            elif proxy["toxics"]:
                found[name] = "toxics " + ", ".join(t["name"] for t in proxy["toxics"])
        return found

    def _call(self, verb: str, path: str, expected: int, **kwargs: Any) -> requests.Response:
        try:
            answer: requests.Response = getattr(self._api, verb)(path, timeout=SECONDS, **kwargs)
        except (requests.RequestException, NotFound, InvalidToxic, ProxyExists) as error:
            raise ProxyTrouble(
                f"toxiproxy at {self.address}: {verb} {path} failed: {error}"
            ) from error
        if answer.status_code != expected:
            raise ProxyTrouble(
                f"toxiproxy at {self.address}: {verb} {path} answered {answer.status_code} "
                f"({answer.text[:200]}), expected {expected}"
            )
        return answer
