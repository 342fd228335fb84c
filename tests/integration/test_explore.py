"""Trials on real brokers: every act meets its message, and the judges catch a twin."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.context.run_context import fresh_reader
from onceproof.harness.explore.acts import Single, acts_at, singles
from onceproof.harness.explore.bench.lanes.reader import PARTITIONS
from onceproof.harness.explore.bench.stage_bench import StageBench
from onceproof.harness.explore.bench.subjects.every import SUBJECTS
from onceproof.harness.explore.bench.subjects.producers import ProducerSubject
from onceproof.harness.explore.bench.subjects.spark import SparkQuery
from onceproof.harness.explore.exploration import Load
from onceproof.harness.explore.points import Passed, Point, learn, place_of
from onceproof.harness.explore.trials import Aimed, Outcome, Trial
from onceproof.harness.tools.setup import ensure
from onceproof.harness.wait import Stop
from onceproof.harness.workload.senders.librdkafka import Librdkafka
from tests.end_to_end.catalogue import LATER

pytestmark = pytest.mark.integration
LOAD = Load(transactions=5, records=2)


def clients(kind: str) -> list[Any]:
    others = ("java", "kafka-python", "aiokafka")
    return [f"librdkafka-{kind}", *(pytest.param(f"{o}-{kind}", marks=LATER) for o in others)]


@pytest.fixture(scope="module", params=["librdkafka-transactional"])
def bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StageBench]:
    subject, folder = SUBJECTS[request.param], tmp_path_factory.mktemp("explore")
    with StageBench(subject, tools=ensure(), folder=folder, stop=Stop(), lanes=6) as bench:
        yield bench


def trial(trace: tuple[Passed, ...], *faults: Single) -> Trial:
    aimed = []
    for single in faults:
        place = place_of(single.point, trace)
        assert place is not None
        aimed.append(Aimed(single=single, place=place))
    return Trial(aimed=tuple(aimed))


def points(trace: tuple[Passed, ...], api: str, purpose: str) -> list[Point]:
    found = dict.fromkeys(passed.point for passed in trace)
    return [p for p in found if (p.api, p.purpose, p.ordinal) == (api, purpose, "first")]


def attempted(bench: StageBench, trials: list[Trial]) -> dict[str, Outcome]:
    batch = bench.attempt(trials, LOAD)
    assert batch.unsound is None
    return {trial.key: out for trial, out in zip(trials, batch.outcomes, strict=True)}


@LATER
def test_every_act_meets_the_commit_and_the_write(bench: StageBench) -> None:
    quiet = bench.quiet(3, LOAD)
    protocol = learn(quiet)
    assert {p.api for p in protocol.stable} >= {"InitProducerId", "Produce", "EndTxn"}
    assert {p.purpose for p in protocol.stable} >= {"start", "work", "commit", "abort"}
    trials = [
        trial(quiet[0], Single(point=point, act=act))
        for point in (*points(quiet[0], "EndTxn", "commit"), *points(quiet[0], "Produce", "work"))
        for act in acts_at(point)
        if not act.breaks
    ]
    found = attempted(bench, trials)
    assert {key: outcome.missed for key, outcome in found.items() if not outcome.hit} == {}
    for key, outcome in found.items():
        (at,) = outcome.hits
        assert outcome.trace[at].point.id.split("/")[:4] == key.partition(" @ ")[2].split("/")[:4]
        lives = {passed.life for passed in outcome.trace}
        assert lives == ({1, 2} if key.startswith("client killed") else {1})
    # A late EndTxn commits the next transaction: docs/findings/late-commit.md.
    late = [key for key, outcome in found.items() if outcome.violated]
    assert all("late" in key for key in late)


@LATER
def test_second_fault_meets_the_second_life(bench: StageBench) -> None:
    (quiet,) = bench.quiet(1, LOAD)
    (request, _) = points(quiet, "EndTxn", "commit")
    (killed,) = (a for a in acts_at(request) if a.name == "client killed before")
    first = trial(quiet, Single(point=request, act=killed))
    (outcome,) = attempted(bench, [first]).values()
    (at,) = outcome.hits
    (init,) = {
        p.point
        for p in outcome.trace[at:]
        if (p.point.api, p.point.direction) == ("InitProducerId", "response")
        and p.point.ordinal == "first"
    }
    place = place_of(init, outcome.trace, after=at)
    assert place is not None
    assert place.life == 2
    (lost,) = (a for a in acts_at(init) if a.name == "response lost")
    both = Trial(aimed=(*first.aimed, Aimed(single=Single(point=init, act=lost), place=place)))
    (outcome,) = attempted(bench, [both]).values()
    assert outcome.hit
    assert len(outcome.hits) == 2
    assert outcome.verdict == "holds"


@pytest.mark.parametrize("bench", clients("idempotent"), indirect=True)
def test_lost_response_duplicates_nothing(bench: StageBench) -> None:
    quiet = bench.quiet(3, LOAD)
    (_, response) = points(quiet[0], "Produce", "work")
    acts = [a for a in acts_at(response) if a.name in ("response lost", "response late")]
    found = attempted(bench, [trial(quiet[0], Single(point=response, act=act)) for act in acts])
    assert {o.missed or o.verdict for o in found.values()} == {"holds"}


@pytest.mark.parametrize("bench", clients("transactional"), indirect=True)
def test_lost_response_to_a_commit_tears_nothing(bench: StageBench) -> None:
    quiet = bench.quiet(3, LOAD)
    (_, response) = points(quiet[0], "EndTxn", "commit")
    (lost,) = (a for a in acts_at(response) if a.name == "response lost")
    (outcome,) = attempted(bench, [trial(quiet[0], Single(point=response, act=lost))]).values()
    assert (outcome.missed, outcome.verdict) == (None, "holds")
    # Some clients ask again, others give up and are replaced.
    assert {"EndTxn", "InitProducerId"} & set(outcome.signature.after)


@LATER
def test_unprotected_producer_is_no_sound_subject(tmp_path: Path) -> None:
    broken = ProducerSubject(sender=Librdkafka(idempotent=False), transactional=False)
    with StageBench(broken, tools=ensure(), folder=tmp_path, stop=Stop(), lanes=4) as bench:
        quiet = bench.quiet(3, LOAD)
        (_, response) = points(quiet[0], "Produce", "work")
        (lost,) = (a for a in acts_at(response) if a.name == "response lost")
        (outcome,) = attempted(bench, [trial(quiet[0], Single(point=response, act=lost))]).values()
    assert outcome.violated
    assert "duplicate" in outcome.anomalies


def acts_of(quiet: list[tuple[Passed, ...]], api: str, *, only: str = "") -> list[Trial]:
    """One trial for each act at the first messages of an API in its middle transaction."""
    return [
        trial(quiet[0], Single(point=point, act=act))
        for point in learn(quiet).stable
        if (point.api, point.ordinal) == (api, "first") and point.purpose in ("work", "commit")
        for act in acts_at(point)
        if only in act.name and (only or not act.breaks)
    ]


@LATER
@pytest.mark.parametrize("bench", ["consume-transform-produce-librdkafka"], indirect=True)
def test_inputs_are_written_among_aborted_transactions(bench: StageBench) -> None:
    with fresh_reader(bench._stage_on.up.stage) as reader:
        partitions = reader.read_topic("lane1in")
    assert len(partitions) == PARTITIONS
    for log in partitions:
        runs = [of for of, _ in groupby((e.kind, e.producer_id) for e in log.entries)]
        owners = list(dict.fromkeys(owner for _, owner in runs))
        # The second one aborts before it has written.
        assert [(kind, owners.index(owner)) for kind, owner in runs] == [
            ("data", 0), ("abort", 1), ("data", 1), ("abort", 1), ("data", 2), ("abort", 0),
        ]  # fmt: skip


@LATER
@pytest.mark.parametrize("bench", ["consume-transform-produce-librdkafka"], indirect=True)
def test_every_act_meets_the_offsets_of_a_group(bench: StageBench) -> None:
    quiet = bench.quiet(3, LOAD)
    trials = acts_of(quiet, "TxnOffsetCommit")
    assert len(trials) > 10
    found = attempted(bench, trials)
    # Late offsets take the group back in many trials: docs/findings/librdkafka-late-offsets.md.
    late = {key: out for key, out in found.items() if key.startswith("request late")}
    assert [o.missed for o in late.values()] == [None]
    assert set().union(*(o.anomalies for o in late.values())) <= {"offset-regressed"}
    others = {key: o.missed or o.verdict for key, o in found.items() if key not in late}
    assert others == dict.fromkeys(others, "holds")
    killed = [o for key, o in found.items() if key.startswith("client killed")]
    assert [{passed.life for passed in o.trace} for o in killed] == [{1, 2}] * len(killed)


@LATER
@pytest.mark.parametrize(
    "bench", ["stored-offsets-sqlite", "stored-offsets-postgres"], indirect=True
)
def test_killed_consumer_starts_from_its_stored_offsets(bench: StageBench) -> None:
    """The broken twin, which must be caught, is killed between its effects and their offsets."""
    quiet = bench.quiet(3, LOAD)
    trials = acts_of(quiet, "Fetch", only="client killed")
    found = attempted(bench, [*trials, *acts_of(quiet, "Fetch", only="response lost")])
    assert {key: out.missed or out.verdict for key, out in found.items()} == dict.fromkeys(
        found, "holds"
    )
    killed = [found[trial.key] for trial in trials]
    assert [{passed.life for passed in o.trace} for o in killed] == [{1, 2}, {1, 2}]


@LATER
@pytest.mark.parametrize("bench", ["kafka-connect-mirror-source"], indirect=True)
def test_killed_worker_copies_everything_once(bench: StageBench) -> None:
    """The broken twin, which must be caught, has its offsets apart from its copies."""
    found = attempted(bench, acts_of(bench.quiet(3, LOAD), "EndTxn", only="client killed"))
    assert {key: out.missed or out.verdict for key, out in found.items()} == dict.fromkeys(
        found, "holds"
    )
    lives = [{passed.life for passed in out.trace} for out in found.values()]
    assert lives == [{1, 2}, {1, 2}]


@LATER
@pytest.mark.parametrize(
    ("subject", "api", "act"),
    [
        ("stored-offsets-sqlite", "OffsetCommit", "client killed before"),
        ("stored-offsets-postgres", "OffsetCommit", "client killed before"),
        ("kafka-connect-mirror-source", "Produce", "client killed after"),
    ],
)
def test_offsets_apart_from_effects_are_no_sound_subject(
    tmp_path: Path, subject: str, api: str, act: str
) -> None:
    apart = SUBJECTS[subject].twin.subject
    with StageBench(apart, tools=ensure(), folder=tmp_path, stop=Stop(), lanes=4) as bench:
        trials = acts_of(bench.quiet(3, LOAD), api, only=act)
        (outcome,) = attempted(bench, trials).values()
    assert outcome.violated
    assert "duplicate-output" in outcome.anomalies


@LATER
@pytest.mark.parametrize("bench", ["group-aiokafka"], indirect=True)
def test_paused_member_comes_back_as_a_zombie(bench: StageBench) -> None:
    """docs/findings/aiokafka-zombie.md"""
    found = attempted(bench, acts_of(bench.quiet(3, LOAD), "TxnOffsetCommit", only="paused after"))
    (outcome,) = found.values()
    assert outcome.missed is None
    assert "duplicate-output" in outcome.anomalies


@LATER
@pytest.mark.parametrize("bench", ["group-java"], indirect=True)
def test_broker_fails_for_all_whose_messages_are_on_their_way(bench: StageBench) -> None:
    quiet = bench.quiet(3, LOAD)
    for how in ("target killed", "target isolated"):
        trials = [t for api in ("Produce", "EndTxn") for t in acts_of(quiet, api, only=how)]
        found = attempted(bench, trials)
        assert {key: out.missed or out.verdict for key, out in found.items()} == dict.fromkeys(
            found, "holds"
        )
        assert len(found) == len(trials)


@LATER
@pytest.mark.parametrize("bench", ["flink"], indirect=True)
def test_replaced_job_keeps_running(bench: StageBench) -> None:
    """docs/findings/flink-zombie.md"""
    quiet = bench.quiet(3, LOAD)
    (again,) = (
        point
        for point in learn(quiet).stable
        if point.id.startswith("job/request/InitProducerId/recovery/first")
    )
    acts = [act for act in acts_at(again) if "paused after" in act.name or act.kills]
    found = attempted(bench, [trial(quiet[0], Single(point=again, act=act)) for act in acts])
    verdicts = {key.partition(" @ ")[0]: out.missed or out.verdict for key, out in found.items()}
    assert verdicts == {"client paused after": "violated", "client killed before": "holds"}


@LATER
@pytest.mark.parametrize(
    "bench", ["amqp-forwarder-transacted", "jms-forwarder-transacted"], indirect=True
)
def test_every_act_meets_the_windows_of_a_forwarder(bench: StageBench) -> None:
    (quiet,) = bench.quiet(1, LOAD)
    windows = dict.fromkeys(passed.point for passed in quiet)
    assert [point.api for point in windows] == ["before-write", "before-commit", "after-commit"]
    trials = [trial(quiet, single) for single in singles(windows)]
    for breaks in (False, True):
        found = attempted(bench, [each for each in trials if bool(each.breaks) is breaks])
        assert {key: out.missed or out.verdict for key, out in found.items()} == dict.fromkeys(
            found, "holds"
        )
        for key, outcome in found.items():
            again = {passed.point.purpose for passed in outcome.trace} & {"recovery"}
            # A message is delivered again, unless it was consumed. A client that was paused may
            # have been sent the next one, which others have forwarded since.
            if "client paused" not in key:
                assert bool(again) is ("after-commit" not in key), key
            noticed = outcome.signature.perceived != "committed"
            assert noticed is not key.startswith("client killed"), key


@LATER
def test_forwarder_that_acknowledges_later_is_no_sound_subject(tmp_path: Path) -> None:
    apart = SUBJECTS["amqp-forwarder-transacted"].twin.subject
    with StageBench(apart, tools=ensure(), folder=tmp_path, stop=Stop(), lanes=4) as bench:
        one = Load(transactions=3, records=1)
        (quiet,) = bench.quiet(1, one)
        windows = dict.fromkeys(p.point for p in quiet)
        killed = [s for s in singles(windows) if s.act.name == "client killed"]
        batch = bench.attempt([trial(quiet, each) for each in killed], one)
    found = {s.point.api: out.verdict for s, out in zip(killed, batch.outcomes, strict=True)}
    assert found == {"before-write": "holds", "before-commit": "violated", "after-commit": "holds"}


@LATER
@pytest.mark.parametrize("bench", ["spark-foreachbatch-kafka"], indirect=True)
def test_query_is_killed_in_every_window(bench: StageBench) -> None:
    found = attempted(bench, in_windows(bench, "client killed"))
    assert {key: out.missed or out.verdict for key, out in found.items()} == {
        f"client killed @ query/window/{window}/first/checkpoint": "holds"
        for window in ("after-offset-log/work", "after-sink-write/commit", "after-commit/commit")
    }
    for outcome in found.values():
        (at,) = outcome.hits
        assert outcome.trace[at].life == 1
        assert max(passed.life for passed in outcome.trace) == 2


@LATER
def test_query_without_its_guard_repeats_a_batch(tmp_path: Path) -> None:
    """It is caught only where its transaction is committed and its batch is not."""
    broken = SparkQuery(job="foreachbatch-kafka-unguarded")
    with StageBench(broken, tools=ensure(), folder=tmp_path, stop=Stop(), lanes=2) as bench:
        found = attempted(bench, in_windows(bench, "client killed"))
    verdicts = {key.split("/")[2]: out.missed or out.verdict for key, out in found.items()}
    assert verdicts == {
        "after-offset-log": "holds",
        "after-sink-write": "violated",
        "after-commit": "holds",
    }
    (outcome,) = (out for out in found.values() if out.violated)
    assert "duplicate-output" in outcome.anomalies


def in_windows(bench: StageBench, act: str) -> list[Trial]:
    """One trial for an act in each window of the middle unit."""
    (quiet,) = bench.quiet(1, LOAD)
    windows = dict.fromkeys(p.point for p in quiet if p.point.direction == "window")
    return [trial(quiet, single) for single in singles(windows) if single.act.name == act]


def test_transaction_of_one_record_can_be_judged(bench: StageBench) -> None:
    assert len(bench.quiet(1, Load(transactions=2, records=1))) == 1
