"""What chosen versions cannot do."""

from __future__ import annotations

import pytest

from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.rules import conflicts, refuse, unsupported, with_needed


@pytest.mark.parametrize("version", [0, 1, 2])
def test_transaction_version_needs_kafka_4(version: int) -> None:
    with pytest.raises(SetupError, match=rf"^unsupported: transaction.version {version} .* 3.9.2"):
        refuse({"kafka": "3.9.2"}, transaction_version=version)
    refuse({"kafka": "4.0.0"}, transaction_version=version)


def test_old_consumers_need_old_brokers() -> None:
    with pytest.raises(SetupError, match=r"librdkafka 1.6.1 .* Add --with kafka=3.9.2"):
        refuse({"librdkafka": "1.6.1"}, reads=True)
    refuse({"librdkafka": "1.6.1"})
    refuse({"librdkafka": "1.6.1", "kafka": "3.9.2"}, reads=True)
    refuse({"librdkafka": "1.8.2"}, reads=True)


def test_needed_versions_are_added_to_the_chosen_ones() -> None:
    needed = {"spark": "3.5.3"}
    assert with_needed({}, {}, "a subject") == {}
    assert with_needed({"kafka": "3.9.2"}, needed, "a subject") == {"kafka": "3.9.2", **needed}
    assert with_needed(needed, needed, "a subject") == needed
    with pytest.raises(SetupError, match=r"works only with spark 3\.5\.3, not with 4\.0\.1"):
        with_needed({"spark": "4.0.1"}, needed, "a subject")


def test_a_chosen_version_that_a_subject_needs_is_no_conflict() -> None:
    """So `matrix --with spark=3.5.3` has the subjects that need it."""
    needed = {"spark": "3.5.3"}
    assert conflicts({"spark": "3.5.3", "kafka": "3.9.2"}, needed) == []
    assert conflicts({"spark": "4.0.1"}, needed) == ["spark"]
    assert conflicts({}, needed) == conflicts({"kafka": "3.9.2"}, needed) == []


def test_everything_else_is_possible() -> None:
    assert unsupported({}, transaction_version=2) is None
    assert unsupported({"kafka": "3.9.2", "kafka-clients": "3.0.0"}) is None
