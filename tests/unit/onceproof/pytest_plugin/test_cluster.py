"""What a test does with a cluster, against a lab that is made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.pytest_plugin.cluster import Cluster, FaultDidNotBite, NotHealed


class MadeUp:
    """Answers like a lab; `effective` and `heals` say what becomes of faults."""

    def __init__(self, *, effective: bool = True, heals: bool = True) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.effective, self.heals = effective, heals
        self.faults: list[dict[str, Any]] = []
        self.made, self.seed, self.folder = 0, 5, "runs/x"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        self.asked.append((f"{method} {path}", body))
        if path == "/topics":
            name, _, partitions = body["topic"].partition(":")
            return {"name": name, "partitions": int(partitions)}
        if path == "/faults" and method == "POST":
            name = f"{body['fault']}-{len(self.faults) + 1}"
            told = {
                "name": name, "does": "so", "state": "injected", "took_effect": False,
                "detail": "seen",
            }  # fmt: skip
            self.faults.append(told)
            return told
        if path.endswith("/heal"):
            found = next(f for f in self.faults if f["name"] == path.split("/")[2])
            found |= {"state": "healed" if self.heals else "failed", "took_effect": self.effective}
            return found
        for fault in self.faults:
            fault["took_effect"] = self.effective
        assert path == "/faults"
        return self.faults

    def healed(self) -> list[str]:
        return [path.split("/")[2] for path, _ in self.asked if path.endswith("/heal")]


def cluster(lab: MadeUp) -> Cluster:
    return Cluster(lab)  # type: ignore[arg-type]


def test_topics_have_names_of_their_own() -> None:
    lab = MadeUp()
    assert [cluster(lab).topic("orders", 3), cluster(lab).topic("orders")] == [
        "orders-1",
        "orders-2",
    ]
    assert lab.asked[0] == ("POST /topics", {"topic": "orders-1:3"})


def test_what_is_not_healed_yet_is_at_the_end_the_newest_first() -> None:
    lab = MadeUp()
    own = cluster(lab)
    own.fault("kill", "broker-1")
    with own.fault("isolate", "broker-2"):
        pass
    own.fault("cut", "producer", "broker-3")
    own.close()
    assert lab.healed() == ["isolate-2", "cut-3", "kill-1"]


def test_a_fault_that_did_not_bite_fails_the_test() -> None:
    own = cluster(MadeUp(effective=False))
    with pytest.raises(FaultDidNotBite, match=r"«so» \(kill-1\) had no effect"):
        own.fault("kill", "broker-1").wait_until_took_effect(0.4)
    with pytest.raises(FaultDidNotBite, match="this test proves nothing"):
        own.close()


def test_unless_it_need_not_bite() -> None:
    lab = MadeUp(effective=False)
    own = cluster(lab)
    own.fault("kill", "broker-1", must_take_effect=False)
    own.close()
    assert lab.healed() == ["kill-1"]


def test_a_failure_of_the_test_itself_is_not_hidden() -> None:
    own = cluster(MadeUp(effective=False))
    with pytest.raises(ZeroDivisionError), own.fault("kill", "broker-1"):
        raise ZeroDivisionError


def test_one_that_cannot_be_healed_is_told_and_the_others_are_healed() -> None:
    lab = MadeUp(heals=False)
    own = cluster(lab)
    own.fault("kill", "broker-1")
    own.fault("kill", "broker-2")
    with pytest.raises(NotHealed, match=r"kill-2.*could not be undone: seen"):
        own.close()
    assert lab.healed() == ["kill-2", "kill-1"]


def test_addresses() -> None:
    about = {"bootstrap": {"pipeline": "p:1", "auditor": "a:1"}, "database": {}}
    own = Cluster(SimpleNamespace(about=about))  # type: ignore[arg-type]
    assert (own.bootstrap, own.bootstraps["auditor"], own.database) == ("p:1", "a:1", "")
