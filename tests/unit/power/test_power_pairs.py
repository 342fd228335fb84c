"""The pairs can be called: what their `pair.toml` says means something to `onceproof verify`."""

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


def test_there_are_at_least_forty() -> None:
    assert len(ALL) >= 40
    assert len({pair.sentence for pair in ALL}) == len(ALL)


@pytest.mark.parametrize("pair", ALL, ids=lambda pair: pair.name)
class TestAPair:
    def test_what_it_says_is_known(self, pair: Pair) -> None:
        assert pair.claim in CLAIMS
        assert pair.anomalies
        assert set(pair.anomalies) <= anomalies().keys()

    def test_its_twins_differ_in_little(self, pair: Pair) -> None:
        if pair.broken:
            one, other = ((pair.program(v), pair.called(v)) for v in VARIANTS)
            assert one != other
            return
        broken, mended = (pair.program(v).read_text().splitlines() for v in VARIANTS)
        assert pair.program("broken").suffix == pair.program("mended").suffix
        opcodes = difflib.SequenceMatcher(None, broken, mended, autojunk=False).get_opcodes()
        other = [max(b - a, d - c) for tag, a, b, c, d in opcodes if tag != "equal"]
        assert 0 < sum(other) <= 45

    def test_verify_takes_its_command(self, pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tests.power.start._run", lambda program: (str(program),))
        for variant in VARIANTS:
            trial = Trial(pair=pair, variant=variant, seed=1, preset="standard")
            command = trial.job(FOLDER).command
            words = itertools.dropwhile(lambda word: word != "verify", command)
            assert wrong(" ".join(["onceproof", *(f"'{word}'" for word in words)])) == []


def test_a_pair_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownPair, match="there is no pair nobody"):
        pairs(["nobody"])
