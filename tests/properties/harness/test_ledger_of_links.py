"""Proxies match the links that are still disturbed, in whatever order holds are released."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.links.disturbances import CUT, Disturbance, Hold, Toxic, lose
from onceproof.harness.links.topology import Link
from onceproof.harness.links.toxiproxy import AppliedToxic, ProxySpec, ProxyTrouble
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.proxied import ProxiedLinks

PROXIES = {
    Link("broker-1", "broker-2"): ("b1.b2.internal", "b1.b2.controller"),
    Link("broker-2", "broker-1"): ("b2.b1.internal", "b2.b1.controller"),
    Link("producer", "broker-1"): ("producer.b1",),
    Link("producer", "broker-2"): ("producer.b2",),
}
SLICED = Toxic(type="slicer", way="responses", attributes={})
DISTURBANCES: list[Disturbance] = [CUT, lose("requests"), lose("responses"), SLICED]
NODES = ("broker-1", "broker-2")


class Server:
    """A fake toxiproxy that fails on demand."""

    def __init__(self, fails: Iterator[bool]) -> None:
        self._fails = fails
        self.proxies: dict[str, dict[str, Any]] = {
            name: {"enabled": True, "toxics": []} for names in PROXIES.values() for name in names
        }

    def _maybe_fail(self) -> None:
        if next(self._fails, False):
            raise ProxyTrouble("refused")

    def state(self, proxy: str) -> dict[str, Any]:
        self._maybe_fail()
        return self.proxies[proxy]

    def set_enabled(self, proxy: str, enabled: bool) -> None:
        self._maybe_fail()
        self.proxies[proxy]["enabled"] = enabled

    def add_toxic(self, proxy: str, toxic: AppliedToxic) -> None:
        self._maybe_fail()
        assert toxic.name not in {t["name"] for t in self.proxies[proxy]["toxics"]}
        self.proxies[proxy]["toxics"].append(
            {"name": toxic.name, "type": toxic.type, "stream": toxic.stream}
        )

    def remake(self, proxy: str) -> None:
        self._maybe_fail()
        self.proxies[proxy].update(enabled=True, toxics=[])

    def remove_toxic(self, proxy: str, name: str) -> None:
        self._maybe_fail()
        toxics = self.proxies[proxy]["toxics"]
        assert all(t["type"] != "slicer" for t in toxics if t["name"] == name)
        toxics[:] = [t for t in toxics if t["name"] != name]

    def snapshot(self) -> dict[str, tuple[bool, list[str]]]:
        return {
            name: (proxy["enabled"], sorted(t["stream"] for t in proxy["toxics"]))
            for name, proxy in self.proxies.items()
        }


def oracle(
    current: list[tuple[Link, Disturbance]], down: set[str]
) -> dict[str, tuple[bool, list[str]]]:
    """The proxies' expected state, computed from all holds and stopped nodes."""
    stream = {"requests": "upstream", "responses": "downstream"}
    return {
        name: (
            (link, CUT) not in current and link.target not in down,
            sorted(
                stream[disturbance.way]
                for held_link, disturbance in current
                if held_link == link and isinstance(disturbance, Toxic)
            ),
        )
        for link, names in PROXIES.items()
        for name in names
    }


links = st.sampled_from(list(PROXIES))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("disturb"), links, st.sampled_from(DISTURBANCES)),
        st.tuples(st.just("release"), st.integers(0, 30)),
        st.tuples(st.just("node"), st.sampled_from(NODES), st.booleans()),
    ),
    max_size=30,
)


def links_on(server: Server) -> ProxiedLinks:
    specs = {
        link: tuple(ProxySpec(name=n, listen="", upstream="") for n in names)
        for link, names in PROXIES.items()
    }
    return ProxiedLinks(server, specs)  # type: ignore[arg-type]


@given(steps)
def test_proxies_match_all_current_holds(steps: list[tuple[Any, ...]]) -> None:
    server = Server(iter(()))
    stage = links_on(server)
    holds: list[Hold] = []
    held: dict[int, tuple[Link, Disturbance]] = {}
    down: set[str] = set()
    for step in steps:
        match step:
            case "disturb", link, disturbance:
                held[len(holds)] = (link, disturbance)
                holds.append(stage.disturb(link, disturbance))
            case "release", number if holds:
                holds[number % len(holds)].release()
                held.pop(number % len(holds), None)
            case "node", node, running:
                if (node in down) is running:
                    stage.lead_to(node, running)
                    (down.discard if running else down.add)(node)
        assert server.snapshot() == oracle(list(held.values()), down)


@given(steps, st.lists(st.booleans(), max_size=60))
def test_failed_operations_leave_no_disturbance_after_release(
    steps: list[tuple[Any, ...]], fails: list[bool]
) -> None:
    server = Server(iter(fails))
    stage = links_on(server)
    holds: list[Hold] = []
    for step in steps:
        try:
            match step:
                case "disturb", link, disturbance:
                    holds.append(stage.disturb(link, disturbance))
                case "release", number if holds:
                    holds[number % len(holds)].release()
        except StageTrouble:
            continue
    server._fails = iter(())
    for hold in holds:
        hold.release()
    # Operations that failed half-way are repaired by the next disturbance of their link.
    for link in PROXIES:
        stage.disturb(link, CUT).release()
    assert server.snapshot() == oracle([], set())
