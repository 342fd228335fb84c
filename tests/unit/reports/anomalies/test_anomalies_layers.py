"""The layout of the implication graph is layered and deterministic."""

from __future__ import annotations

from itertools import pairwise

from onceproof.checkers import anomalies
from onceproof.checkers.model import Evidence, Hop
from onceproof.reports.anomalies.implication_graph import boxes, draw
from onceproof.reports.anomalies.layers import laid_out
from tests.implications import implied

IMPLIES = {name: frozenset(anomaly.implies) for name, anomaly in anomalies().items()}
KINDS = dict.fromkeys(IMPLIES, (Hop.PRODUCE, Evidence.PRESENCE))


def graph(**implies: str) -> dict[str, frozenset[str]]:
    return {name: frozenset(others) for name, others in implies.items()}


def test_implying_anomaly_is_in_an_earlier_layer() -> None:
    layout = laid_out([("a", "b"), ("b", "c"), ("a", "c")])
    assert [[s for s in layer if isinstance(s, str)] for layer in layout.layers] == [
        ["a"], ["b"], ["c"],
    ]  # fmt: skip
    assert layout.ways["a", "c"] == ("a", ("a", "c", 1), "c")


def test_paths_advance_one_layer_per_step() -> None:
    _, arrows = boxes(IMPLIES)
    layout = laid_out(sorted(arrows))
    depth = {spot: n for n, layer in enumerate(layout.layers) for spot in layer}
    assert layout.ways.keys() == arrows
    for path in layout.ways.values():
        assert all(depth[b] - depth[a] == 1 for a, b in pairwise(path))
    assert layout == laid_out(sorted(arrows, reverse=True))


def test_mutual_implications_share_a_box() -> None:
    box_of, arrows = boxes(graph(a="b", b="c", c="ad", e="b"))
    assert box_of == dict.fromkeys("abc", ("a", "b", "c")) | {"d": ("d",), "e": ("e",)}
    assert arrows == {("a", "d"), ("e", "a")}


def test_omits_redundant_arrows() -> None:
    assert boxes(graph(a="bc", b="c"))[1] == {("a", "b"), ("b", "c")}
    assert boxes(graph(a="bcd", b="c", c="d"))[1] == {("a", "b"), ("b", "c"), ("c", "d")}


def test_boxes_and_arrows_preserve_implications() -> None:
    box_of, arrows = boxes(IMPLIES)
    for name in IMPLIES:
        reached, waiting = {box_of[name][0]}, [box_of[name][0]]
        while waiting:
            new = {b for a, b in arrows if a == waiting[-1]} - reached
            waiting.pop()
            reached |= new
            waiting += new
        assert {n for n, box in box_of.items() if box[0] in reached} == implied(name)


def test_graph_links_every_name() -> None:
    svg = draw(IMPLIES, KINDS)
    touched = {n for n, others in IMPLIES.items() if others} | {
        n for others in IMPLIES.values() for n in others
    }
    assert all(f'href="#{name}"' in svg for name in touched)
    assert svg == draw(dict(reversed(IMPLIES.items())), KINDS)


def test_draws_an_empty_graph() -> None:
    assert "<svg" in draw({}, {})
