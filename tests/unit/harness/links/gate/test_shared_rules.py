"""Rules that several links count together, and rules that count only after another one fired."""

from __future__ import annotations

from onceproof.harness.links.gate.messages import api_key
from onceproof.harness.links.gate.rulebook import Rulebook, RuleCounter
from onceproof.harness.links.gate.rules import MessageMatch, Rule

CLIENT = "lane1-1"


def rule(api: str, nth: int = 1) -> Rule:
    return MessageMatch(direction="request", api=api, client_id=CLIENT, nth=nth).rule("drop")


def meets(rules: Rulebook, api: str) -> bool:
    return bool(rules.meet("request", api_key(api), CLIENT, None))


def test_links_with_one_counter_count_together() -> None:
    one, other = Rulebook(), Rulebook()
    counted = RuleCounter(id=1, rule=rule("Produce", nth=3))
    for rules in (one, other):
        rules.put(counted)
    assert [meets(rules, "Produce") for rules in (one, other, one, other)] == [
        False, False, True, False,
    ]  # fmt: skip


def test_rule_on_another_link_stops_watching_after_it_fired() -> None:
    one, other = Rulebook(), Rulebook()
    counted = RuleCounter(id=1, rule=rule("Produce"))
    for rules in (one, other):
        rules.put(counted)
    assert meets(one, "Produce")
    assert not other.live
    assert not meets(other, "Produce")


def test_rule_counts_only_after_another_one_fired() -> None:
    rules = Rulebook()
    first = RuleCounter(id=1, rule=rule("EndTxn", nth=2))
    later = RuleCounter(id=2, rule=rule("Produce", nth=2), after=first)
    for counted in (first, later):
        rules.put(counted)
    seen = [
        (api, meets(rules, api))
        for api in ("Produce", "EndTxn", "Produce", "EndTxn", "Produce", "Produce", "Produce")
    ]
    assert [n for n, (api, met) in enumerate(seen) if api == "Produce" and met] == [5]


def test_rule_does_not_count_the_message_at_which_the_other_one_fires() -> None:
    rules = Rulebook()
    end = MessageMatch(direction="request", api="EndTxn", client_id=CLIENT)
    first = RuleCounter(id=1, rule=end.rule("report"))
    later = RuleCounter(id=2, rule=end.rule("drop"), after=first)
    for counted in (first, later):
        rules.put(counted)
    for expected in ([first], [later]):
        assert rules.meet("request", api_key("EndTxn"), CLIENT, None) == expected
