"""Which runtimes and versions can be chosen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.known import (
    POSTGRESQL,
    RUNTIMES,
    asked,
    check_used,
    numbers,
    words,
)

_PARTS = st.lists(st.integers(0, 99), min_size=2, max_size=4)


@given(st.dictionaries(st.sampled_from(sorted(RUNTIMES)), _PARTS))
def test_what_is_asked_for_is_read_back_from_its_options(parts: dict[str, list[int]]) -> None:
    newer = {name: [90, *of[1:]] for name, of in parts.items()}
    if POSTGRESQL in newer:
        newer[POSTGRESQL] = newer[POSTGRESQL][:2]
    wanted = {name: ".".join(map(str, of)) for name, of in newer.items()}
    assert asked(words(wanted)[1::2], "local") == wanted


@given(_PARTS, _PARTS)
def test_versions_are_compared_by_their_numbers(one: list[int], other: list[int]) -> None:
    texts = [".".join(map(str, each)) for each in (one, other)]
    padded = [each + [0] * (4 - len(each)) for each in (one, other)]
    assert (numbers(texts[0]) < numbers(texts[1])) == (padded[0] < padded[1])


def test_pips_way_of_writing_is_understood_too() -> None:
    assert asked(["aiokafka==0.10.0"]) == {"aiokafka": "0.10.0"}


@pytest.mark.parametrize(
    ("asked_for", "says"),
    [
        (["kafka"], "expected NAME=VERSION"),
        (["kafka=newest"], "expected NAME=VERSION"),
        (["libkafka=2.0.0"], "Did you mean librdkafka?"),
        (["kafka=3.9.2", "kafka=3.9.1"], "kafka=3.9.2 is given too"),
        (["librdkafka=1.3.0"], "unsupported: the binding calls functions"),
    ],
)
def test_what_cannot_be_chosen_is_refused(asked_for: list[str], says: str) -> None:
    with pytest.raises(SetupError, match=says):
        asked(asked_for)


@pytest.mark.parametrize("backend", ["docker", "external:cluster.toml"])
def test_other_backends_have_versions_of_their_own(backend: str) -> None:
    for word in ("kafka=3.9.2", "postgresql=16.4"):
        with pytest.raises(SetupError, match="unsupported on the backend"):
            asked([word], "local", backend)
    assert asked(["librdkafka=1.9.2"], backend) == {"librdkafka": "1.9.2"}


def test_postgresql_has_one_name_for_a_version() -> None:
    assert asked(["postgresql=16.4.0", "postgresql=16.4"]) == {"postgresql": "16.4"}


def test_a_runtime_that_is_not_used_is_refused() -> None:
    check_used({"kafka": "3.9.2"}, {"kafka", "librdkafka"}, "it")
    with pytest.raises(SetupError, match="it does not use aiokafka, but only kafka, librdkafka"):
        check_used({"aiokafka": "0.10.0"}, {"kafka", "librdkafka"}, "it")
