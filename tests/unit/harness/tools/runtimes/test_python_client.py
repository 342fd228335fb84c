"""Hashes of runtimes, what the cache has, and what an old client knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import cimpl

from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes import locks
from onceproof.harness.tools.runtimes.known import FOLDER
from onceproof.harness.tools.runtimes.present import present
from onceproof.harness.tools.runtimes.settings import known_settings


def test_other_files_than_the_first_time_are_refused(tmp_path: Path) -> None:
    locks.check(tmp_path, "aiokafka-0.10.0", {"aiokafka==0.10.0": "ab"})
    locks.check(tmp_path, "aiokafka-0.10.0", {"aiokafka==0.10.0": "ab"})
    locks.check(tmp_path, "aiokafka-0.11.0", {"aiokafka==0.11.0": "cd"})
    with pytest.raises(SetupError, match=r"differs from what was installed before, in aiokafka=="):
        locks.check(tmp_path, "aiokafka-0.10.0", {"aiokafka==0.10.0": "ef"})
    with pytest.raises(SetupError, match="in more==1"):
        locks.check(tmp_path, "aiokafka-0.10.0", {"aiokafka==0.10.0": "ab", "more==1": "00"})


def test_the_cache_is_searched_by_name(tmp_path: Path) -> None:
    names = [
        "kafka-3.9.2-0123abcd",
        "kafka-clients-3.10.0-0123abcd",
        "kafka-clients-3.9.0-0123abcd",
    ]
    for name in (
        *names,
        "kafka-3.9.2-89ab0123",
        ".kafka-3.9.2-0123abcd.lock",
        "other-1.0-0123abcd",
    ):
        (tmp_path / FOLDER / name).mkdir(parents=True)
    assert present(tmp_path) == {"kafka": ["3.9.2"], "kafka-clients": ["3.9.0", "3.10.0"]}
    assert present(tmp_path / "nowhere") == {}


@pytest.mark.parametrize(("version", "knows"), [("2.2.0", False), ("2.3.0", True), (None, True)])
def test_settings_that_are_newer_than_a_client_are_left_out(
    version: str | None, knows: bool
) -> None:
    settings = {"acks": "all", "retry.backoff.max.ms": 200}
    expected = settings if knows else {"acks": "all"}
    assert known_settings("librdkafka", version, settings) == expected
    assert known_settings("aiokafka", version, settings) == settings


def test_the_imports_of_a_shared_object_are_found() -> None:
    # Imported by name only: the module that has it changes confluent-kafka when it is imported.
    source = Path(locks.__file__).with_name("older_library.py").read_text()
    found: dict[str, object] = {}
    exec(source.removesuffix("load()\n"), found)
    imports = found["imports"]
    assert callable(imports)
    content = Path(cimpl.__file__).read_bytes()
    assert len(list(imports(content, b"rd_kafka_version"))) == 1
    assert list(imports(content, b"rd_kafka_no_such")) == []
