"""Which pairs are chosen, and why."""

from __future__ import annotations

from onceproof.harness.explore.acts import Single
from onceproof.harness.explore.pairs import pairs
from onceproof.harness.explore.points import Message, Purpose, passed_by, place_of
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
