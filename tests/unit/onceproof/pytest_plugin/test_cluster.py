"""What a test can do with a cluster, against a fake lab."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.pytest_plugin.cluster import Cluster, FaultDidNotBite, NotHealed


class FakeLab:
    """Answers like a lab; `effective` and `heals` determine what faults do."""

    def __init__(self, *, effective: bool = True, heals: bool = True) -> None:
        self.requests: list[tuple[str, Any]] = []
        self.effective, self.heals = effective, heals
        self.faults: list[dict[str, Any]] = []
        self.made, self.seed, self.folder = 0, 5, "runs/x"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        self.requests.append((f"{method} {path}", body))
        if path == "/topics":
            name, _, partitions = body["topic"].partition(":")
            return {"name": name, "partitions": int(partitions)}
        if path == "/faults" and method == "POST":
            name = f"{body['fault']}-{len(self.faults) + 1}"
            injected = {
                "name": name, "does": "so", "state": "injected", "took_effect": False,
                "detail": "seen",
            }  # fmt: skip
            self.faults.append(injected)
            return injected
        if path.endswith("/heal"):
            found = next(f for f in self.faults if f["name"] == path.split("/")[2])
            found |= {"state": "healed" if self.heals else "failed", "took_effect": self.effective}
            return found
        for fault in self.faults:
            fault["took_effect"] = self.effective
        assert path == "/faults"
        return self.faults

    def healed(self) -> list[str]:
        return [path.split("/")[2] for path, _ in self.requests if path.endswith("/heal")]


def cluster_of(lab: FakeLab) -> Cluster:
    return Cluster(lab)  # type: ignore[arg-type]


def test_topic_names_are_unique() -> None:
    lab = FakeLab()
    assert [cluster_of(lab).topic("orders", 3), cluster_of(lab).topic("orders")] == [
        "orders-1",
        "orders-2",
    ]
    assert lab.requests[0] == ("POST /topics", {"topic": "orders-1:3"})


def test_close_heals_remaining_faults_newest_first() -> None:
    lab = FakeLab()
    cluster = cluster_of(lab)
    cluster.fault("kill", "broker-1")
    with cluster.fault("isolate", "broker-2"):
        pass
    cluster.fault("cut", "producer", "broker-3")
    cluster.close()
    assert lab.healed() == ["isolate-2", "cut-3", "kill-1"]


def test_fault_without_effect_fails_the_test() -> None:
    cluster = cluster_of(FakeLab(effective=False))
    with pytest.raises(FaultDidNotBite, match=r"«so» \(kill-1\) had no effect"):
        cluster.fault("kill", "broker-1").wait_until_took_effect(0.4)
    with pytest.raises(FaultDidNotBite, match="this test proves nothing"):
        cluster.close()


def test_fault_without_effect_is_allowed_on_request() -> None:
    lab = FakeLab(effective=False)
    cluster = cluster_of(lab)
    cluster.fault("kill", "broker-1", must_take_effect=False)
    cluster.close()
    assert lab.healed() == ["kill-1"]


def test_error_of_the_test_itself_is_not_hidden() -> None:
    cluster = cluster_of(FakeLab(effective=False))
    with pytest.raises(ZeroDivisionError), cluster.fault("kill", "broker-1"):
        raise ZeroDivisionError


def test_failed_healing_is_reported_after_the_other_faults_are_healed() -> None:
    lab = FakeLab(heals=False)
    cluster = cluster_of(lab)
    cluster.fault("kill", "broker-1")
    cluster.fault("kill", "broker-2")
    with pytest.raises(NotHealed, match=r"kill-2.*could not be undone: seen"):
        cluster.close()
    assert lab.healed() == ["kill-2", "kill-1"]


def test_addresses_are_exposed() -> None:
    about = {"bootstrap": {"pipeline": "p:1", "auditor": "a:1"}, "database": {}}
    cluster = Cluster(SimpleNamespace(about=about))  # type: ignore[arg-type]
    assert (cluster.bootstrap, cluster.bootstraps["auditor"], cluster.database) == (
        "p:1",
        "a:1",
        "",
    )
