"""Connection settings of a process and its children, and who can read them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onceproof.harness.kafka.connecting.connection import (
    JAVA,
    LIBRDKAFKA,
    VARIABLE,
    Connection,
    connect_with,
    connection,
    disconnect,
)
from onceproof.harness.kafka.connecting.properties import BadProperties

SCRAM = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "trial",
    "sasl.password": 'open "sesame"\\',
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path / "connection"


def test_default_connection_is_plaintext(folder: Path) -> None:
    assert connection("k:1").librdkafka() == {"bootstrap.servers": "k:1"}
    assert connection("k:1").in_python() == {}


def test_child_process_inherits_connection_until_disconnect(folder: Path) -> None:
    connect_with(SCRAM, folder)
    assert connection("k:1").librdkafka() == {**SCRAM, "bootstrap.servers": "k:1"}
    child = (
        "from onceproof.harness.kafka.connecting.connection import connection;"
        "print(connection('k:1').librdkafka()['sasl.password'])"
    )
    seen = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True)
    assert seen.stdout == SCRAM["sasl.password"] + "\n"
    disconnect(folder)
    assert connection("k:1").properties == {}
    assert not folder.exists()


def test_credential_files_are_private(folder: Path) -> None:
    before = os.umask(0)
    try:
        connect_with(SCRAM, folder)
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {f.name: f.stat().st_mode & 0o777 for f in folder.iterdir()} == {
        LIBRDKAFKA: 0o600,
        JAVA: 0o600,
    }
    disconnect(folder)


def test_repr_hides_the_password() -> None:
    one = Connection("k:1", SCRAM)
    assert "sesame" not in f"{one!r} {one}"


def test_in_python_translates_property_names() -> None:
    settings = Connection("k:1", {**SCRAM, "security.protocol": "SASL_PLAINTEXT"}).in_python()
    assert settings == {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "trial",
        "sasl_plain_password": SCRAM["sasl.password"],
    }
    with pytest.raises(BadProperties, match="cannot use OAUTHBEARER"):
        Connection(
            "k:1", {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"}
        ).in_python()
