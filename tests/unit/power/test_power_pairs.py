"""The `pair.toml` of each pair is valid for `onceproof verify`."""

from __future__ import annotations

import difflib
import itertools

import pytest

from onceproof.checkers.anomalies import anomalies
from onceproof.verify.options import CLAIMS
from tests.power.catalogue import FOLDER, VARIANTS, Pair, UnknownPair, pairs
from tests.power.trial import Trial
from tests.unit.docs.command_lines import wrong

ALL = pairs()


def test_there_are_at_least_forty_distinct_pairs() -> None:
    assert len(ALL) >= 40
    assert len({pair.sentence for pair in ALL}) == len(ALL)


@pytest.mark.parametrize("pair", ALL, ids=lambda pair: pair.name)
class TestPair:
    def test_claim_and_anomalies_are_known(self, pair: Pair) -> None:
        assert pair.claim in CLAIMS
        assert pair.anomalies
        assert set(pair.anomalies) <= anomalies().keys()

    def test_variants_differ_in_few_lines(self, pair: Pair) -> None:
        if pair.broken:
            one, other = ((pair.program(v), pair.called(v)) for v in VARIANTS)
            assert one != other
            return
        broken, mended = (pair.program(v).read_text().splitlines() for v in VARIANTS)
        assert pair.program("broken").suffix == pair.program("mended").suffix
        opcodes = difflib.SequenceMatcher(None, broken, mended, autojunk=False).get_opcodes()
        other = [max(b - a, d - c) for tag, a, b, c, d in opcodes if tag != "equal"]
        assert 0 < sum(other) <= 45

    def test_verify_accepts_its_command(self, pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tests.power.start._run", lambda program: (str(program),))
        for variant in VARIANTS:
            trial = Trial(pair=pair, variant=variant, seed=1, preset="standard")
            command = trial.job(FOLDER).command
            words = itertools.dropwhile(lambda word: word != "verify", command)
            assert wrong(" ".join(["onceproof", *(f"'{word}'" for word in words)])) == []


def test_unknown_pair_is_refused() -> None:
    with pytest.raises(UnknownPair, match="there is no pair nobody"):
        pairs(["nobody"])
