"""Which pairs are chosen, and why."""

from __future__ import annotations

from dataclasses import replace

from onceproof.harness.explore.acts import Single, acts_at
from onceproof.harness.explore.pairs import pairs
from onceproof.harness.explore.points import (
    Message,
    Passed,
    Point,
    Purpose,
    passed_by,
    place_of,
)
from onceproof.harness.explore.trials import Aimed, Outcome, Signature, Trial
from tests.unit.harness.explore.toy import COORDINATOR, both

SIGNATURE = Signature(perceived="", after=(), epochs=1, reconnected=False)


def transactions(*ends: Purpose) -> list[Message]:
    found = []
    for unit, end in enumerate(ends):
        found += both(unit, "TxnOffsetCommit", "work", "group-coordinator")
        found += both(unit, "EndTxn", end, COORDINATOR)
    return found


def kills_chosen(*ends: Purpose) -> set[str]:
    """The kills that are chosen behind a refused commit of offsets in the first transaction."""
    quiet, met = passed_by(transactions("commit", "commit", "commit")), transactions(*ends)
    refused = Single.parse(f"refused UNKNOWN_MEMBER_ID @ {quiet[0].point.id}")
    place = place_of(refused.point, quiet)
    assert place is not None
    outcome = Outcome(missed=None, trace=passed_by(met), hits=(0,), signature=SIGNATURE)
    assert Trial(aimed=(Aimed(single=refused, place=place),))
    chosen = pairs(quiet, {refused: outcome}, seed=1).chosen
    return {
        trial.faults[1].id
        for trial, reason in chosen.items()
        if reason == "the client is killed at the commit that follows an abort"
    }


def test_client_is_killed_at_the_commit_that_follows_an_abort() -> None:
    at = f"EndTxn/commit/first/{COORDINATOR}"
    assert kills_chosen("abort", "commit", "commit") == {
        f"client killed before @ producer/request/{at}",
        f"client killed after @ producer/response/{at}",
    }
    assert kills_chosen("commit", "abort", "commit") == set()
    assert kills_chosen("commit", "commit", "commit") == set()


def test_two_faults_at_one_window_of_a_life_are_no_pair() -> None:
    """They would act together: only a message has a number in its life."""
    window = Point.parse("forwarder/window/before-write/work/first/queue-broker")
    again = replace(window, purpose="recovery")
    quiet = tuple(
        Passed(point=replace(window, api=api), unit=unit, life=1, ends=api == "after-commit")
        for unit in range(3)
        for api in ("before-write", "after-commit")
    )
    closed, killed = (
        next(a for a in acts_at(window) if a.name == name)
        for name in ("connection closed", "client killed")
    )
    place = 2  # the third one is in the middle unit
    for act, life in ((closed, 1), (killed, 2)):
        more = (
            Passed(point=again, unit=1, life=life),
            Passed(point=replace(again, api="after-commit"), unit=1, life=life, ends=True),
        )
        outcome = Outcome(
            missed=None,
            trace=(*quiet[: place + 1], *more),
            hits=(place,),
            signature=SIGNATURE,
        )
        found = pairs(quiet, {Single(point=window, act=act): outcome}, seed=1)
        seconds = {trial.faults[1].point for trial in found.chosen}
        assert (again in seconds) is (life == 2)
        assert replace(again, api="after-commit") in seconds
